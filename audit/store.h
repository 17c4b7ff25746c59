// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_STORE_H
#define SBOX_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "arena.h"
#include "error.h"

/*
 * The audit store: a folder of mode 0700 that belongs to the caller.
 *
 *   log.jsonl     one record a line, in order
 *   head          {"seq":N,"hash":"…","bytes":N,"check":"…"}: written after each record
 *   lock          flock of the one critical section
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
	int reserve_fd; /* file that holds room for run.end, or -1 */
	uid_t owner;
};

/* The folder when no other is named: /var/log/sbox for root, else sbox below
 * XDG_STATE_HOME or ~/.local/state. ERROR_AUDIT when the environment names neither. */
int store_default_dir(struct arena *arena, uid_t euid, const char **ret, struct error *err);

/* Opens the store, making it when it is not there. Refuses (ERROR_AUDIT) a
 * store or a file in it that is somebody else's, a link, not a regular file or
 * folder, or writable by others. */
int store_open(struct store *store, const char *dir, uid_t owner, struct error *err);
/* For readers: makes nothing, takes the folder's owner for the store's. */
int store_open_to_read(struct store *store, const char *dir, struct error *err);
void store_close(struct store *store);

/*
 * Appends one record: `body` is a JSON object without its seq and prev fields,
 * which are put in front. One write, then fdatasync when `durable`, then the
 * head file. The lock is waited for at most 10 s. A torn tail left by an
 * earlier crash is cut back to the last whole line first, and a log.recovered
 * record says what was dropped. Errors: ERROR_AUDIT; nothing half-written stays.
 */
int store_append(struct store *store, const char *body, bool durable, struct error *err);

/* Room for run.end is reserved at the start, so that a full disk refuses a run
 * rather than lose its end: after this call an append of up to `bytes` works. */
int store_reserve(struct store *store, size_t bytes, struct error *err);

/* Keeps bytes under DIR/NAME (name is made by the caller; same name: kept once). */
int store_keep(struct store *store, const char *dir, const char *name, const void *data, size_t len,
	       struct error *err);

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

/* SHA-256 of an open file, from the cache when the file has not changed since.
 * hex gets 64 digits and a NUL. */
int store_hash_file(struct store *store, int fd, char hex[65], struct error *err);

/* New run id: 26 characters of Crockford base32, 48 bits of milliseconds and 80 random bits. */
void run_id_make(char id[27]);

#endif
