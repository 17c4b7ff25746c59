// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_STORE_H
#define SBOX_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "arena.h"
#include "error.h"

/* When a record is on disk. */
enum store_sync {
	STORE_SYNC_NONE,  /* when the kernel likes */
	STORE_SYNC_EACH,  /* when the append returns: a writer alone syncs in the critical
			   * section, and takes back what it could not sync; when several
			   * meet, as GROUP */
	STORE_SYNC_GROUP, /* the same, but after it, so that writers at the same time share a sync:
			   * a record whose sync fails is in the log all the same */
};

/* What the profile asks of the store; 0 is no limit. */
struct store_policy {
	enum store_sync sync; /* of run.start and run.end */
	bool has_anchor;      /* a line to syslog for each record */
	uint64_t keep_ms, keep_bytes;
	uint64_t segment_ms, segment_bytes;
};

/*
 * The audit store: a folder of mode 0700 that belongs to the caller.
 *
 *   log.jsonl     one record a line, in order; older ones in log-N.jsonl (store_segment.h)
 *   head          where the log ends: written after each record
 *   lock          flock of the one critical section; how far the log is synced
 *   key           of a sealed store: the key of the next record
 *   runs/         while a run is going: ID.lock (flock held by the supervisor
 *                 as long as it lives) and ID.undo (what to remove)
 *   reserve/      allocated blocks, so that a run can always write its end
 *   output/       kept head and tail of streams
 *   scripts/      kept program text, named by hash
 *   cache/        hashes of executables by device, inode, size and ctime
 *
 * Nothing here is ever visible inside a sandbox.
 */
struct store {
	const char *dir; /* the caller's string: it must live as long */
	int dir_fd;
	int lock_fd;
	int log_fd;
	int head_fd;
	int reserve_fd;    /* file that holds room for run.end, or -1 */
	int key_fd;        /* -1 as long as the log is not sealed */
	uint64_t log_room; /* bytes of log_fd that have their blocks */
	void *shared;      /* store_sync.c: mapped when several writers meet */
	uid_t owner;
	struct store_policy policy; /* may be changed after store_open() */
	uint64_t last_seq; /* of the last record that this process appended, and its hash */
	char last_hash[65];
	bool is_prune_due; /* that record was one of every so many */
	bool has_waited;   /* for the lock, the last time */
};

/* "30d, 5G": a time, a size or both, in any order; "all" or empty: neither. NULL, or what is wrong
 * with it. */
const char *store_parse_limits(const char *text, uint64_t *ret_ms, uint64_t *ret_bytes);

/* The folder when no other is named: /var/log/sbox for root, else sbox below
 * XDG_STATE_HOME or ~/.local/state. ERROR_AUDIT when the environment names neither. */
int store_default_dir(struct arena *arena, uid_t euid, const char **ret, struct error *err);

/* Opens the store, making it when it is not there. Refuses (ERROR_AUDIT) a
 * store or a file in it that is somebody else's, a link, not a regular file or
 * folder, or writable by others; and one below a folder in which somebody else
 * could put another store in its place. */
int store_open(struct store *store, const char *dir, uid_t owner, struct error *err);
/* For readers: makes nothing, takes the folder's owner for the store's. */
int store_open_to_read(struct store *store, const char *dir, struct error *err);
void store_close(struct store *store);

/*
 * Appends one record: `body` is a JSON object without its seq and prev fields,
 * which are put in front. One write, then fdatasync as `sync` says, then the
 * head file. The lock is waited for at most 10 s. A torn tail left by an
 * earlier crash is cut back to the last whole line first, and a log.recovered
 * record says what was dropped. A log that is too large or too old goes on in a
 * new file. Errors: ERROR_AUDIT; nothing half-written stays.
 */
int store_append(struct store *store, const char *body, enum store_sync sync, struct error *err);

/* Room for run.end is reserved at the start, so that a full disk refuses a run
 * rather than lose its end: after this call an append of up to `bytes` works. */
int store_reserve(struct store *store, size_t bytes, struct error *err);

/* Keeps bytes under DIR/NAME (name is made by the caller; same name: kept once). */
int store_keep(struct store *store, const char *dir, const char *name, const void *data, size_t len,
	       struct error *err);

/* Whether something is there under that name; store_keep() tells whether it is any good. */
bool store_is_kept(struct store *store, const char *dir, const char *name);

/* Marks a run as going for as long as the returned fd, or a copy of it in a child, is open. */
int store_run_begin(struct store *store, const char *run, int *ret_fd, struct error *err);
/* Appends a line to the run's undo list: "cgroup PATH", "dir PATH". */
int store_run_undo(struct store *store, const char *run, const char *line, struct error *err);
void store_run_finish(struct store *store, const char *run, int fd);
/* Calls undo(line, ctx), last line first, for each line left by runs whose lock is free (their
 * supervisor is dead), then forgets them. Cheap when there are none. */
int store_run_sweep(struct store *store, void (*undo)(const char *line, void *ctx), void *ctx,
		    struct error *err);
/* True while the run's supervisor lives. */
bool store_run_alive(struct store *store, const char *run);

/*
 * Retention. What is older than keep_ms goes, then what is over keep_bytes: kept
 * output and program text, oldest first, and only then whole old segments, oldest
 * first; never log.jsonl. A log.pruned record comes first, so that the rest of the
 * chain can still be verified. ret may be NULL. Nothing to do: no record.
 */
struct store_pruned {
	uint64_t files, segments; /* kept files; files of the log */
	uint64_t bytes;           /* of both */
	uint64_t left_bytes;
};
int store_prune(struct store *store, uint64_t keep_ms, uint64_t keep_bytes, bool dry_run,
		struct store_pruned *ret, struct error *err);
/* The same by the store's policy, when it is due. Another run that is at it already is enough. */
void store_prune_when_due(struct store *store);

/*
 * Sealing: every record from now on has a MAC, whose key changes one-way after `every`
 * records; the old one is overwritten. The seal is the first key: it is in no file, and
 * whoever has it can check all MACs (sbox audit verify --key), or forge them. ERROR_AUDIT
 * when the store is sealed already.
 */
struct store_seal {
	uint64_t every; /* records a key is used for */
	uint64_t seq;   /* of the first sealed record */
	char prev[65];  /* its prev */
	char key[65];
};
int store_seal(struct store *store, uint64_t every, struct store_seal *ret, struct error *err);

/* SHA-256 of an open file, from the cache when the file has not changed since.
 * hex gets 64 digits and a NUL. */
int store_hash_file(struct store *store, int fd, char hex[65], struct error *err);
/*
 * The same in pieces. Either the cache has it, *ret is NULL and hex is set; or the hash
 * is begun, over what the file is now, and ends with store_hash_end(), which reads what
 * is left. can_wait: the file is worth the trouble, and a change after this moment will
 * be seen. more: a piece (a fraction of a millisecond); false: nothing is left.
 */
struct store_hashing;
int store_hash_begin(struct store *store, int fd, char hex[65], struct store_hashing **ret,
		     struct error *err);
bool store_hash_can_wait(const struct store_hashing *hashing);
bool store_hash_more(struct store_hashing *hashing);
int store_hash_end(struct store_hashing *hashing, bool *ret_unchanged, char hex[65],
		   struct error *err);

/* New run id: 26 characters of Crockford base32, 48 bits of milliseconds and 80 random bits. */
void run_id_make(char id[27]);

#endif
