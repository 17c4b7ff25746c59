// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_STORE_INTERNAL_H
#define SBOX_STORE_INTERNAL_H

#include "sha256.h"
#include "store.h"

/* ERROR_AUDIT with ": strerror(errno)" and what to do about it, when that is known. */
int store_fail(struct error *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/*
 * Opens NAME below dir_fd, making it when flags have O_CREAT. The file must be
 * regular, the owner's, without other names and not writable by others. `where`
 * is dir_fd's path, for the message. Returns the fd, or -1: err->errnum is
 * ENOENT when there is no such file. ret_made may be NULL.
 */
int store_file_open(int dir_fd, const char *where, const char *name, int flags, uid_t owner,
		    bool *ret_made, struct error *err);
/* A folder right below the store; made when `make`. Same rules, same answers. */
int store_folder_open(const struct store *store, const char *name, bool make, struct error *err);
/* 1-128 of [A-Za-z0-9._-], the first one no dot. */
int store_check_name(const char *name, struct error *err);

/* Opens log.jsonl and head, making them; store->log_fd and head_fd are replaced. */
int store_log_open(struct store *store, struct error *err);

/* For readers: the log that is current now. */
int store_log_reopen_to_read(struct store *store, struct error *err);

/* Writes all of it; 0 or -1 with errno. */
int store_write_all(int fd, const void *data, size_t len);

/* The critical section. How long a call waits for it is a variable for the sake of tests. */
extern unsigned int store_lock_wait_ms;
int store_lock(struct store *store, struct error *err);
void store_unlock(struct store *store);

/* Waits until the record that `own` ends with is on disk. The lock is not held. */
struct store_tail;
int store_sync(struct store *store, const struct store_tail *own, struct error *err);
/* Somebody syncs for all at this moment. */
bool store_sync_is_shared(const struct store *store);
/* Records are numbered anew, or were lost: nothing is known to be on disk. The lock is held. */
void store_sync_forget(const struct store *store);
void store_sync_close(struct store *store);

uint64_t store_now_ns(void); /* since the epoch */

/* Key of the next record of a sealed log: number `sealed`, counted from 0. */
struct store_key {
	uint64_t every;  /* records a key is used for; 0: the log is not sealed */
	uint64_t sealed; /* records so far */
	uint8_t key[SHA256_BYTES];
};

/* The last number that a record can have, also among those with a MAC: a reader of JSON may know no
 * larger one. A log that claims to be there was not written by this. */
#define STORE_SEQ_MAX ((uint64_t)INT64_MAX)

/* Where the log ends: what the head file says, and what the next record builds on. */
struct store_tail {
	uint64_t seq;          /* of the last record; 0 when there is none */
	char hash[SHA256_HEX]; /* of the last line, newline included; zeros when there is none */
	uint64_t bytes;        /* of the file */
	uint64_t first;        /* number of the file's first record; 0 when there is none */
	uint64_t since;        /* seconds since the epoch, when the file was begun */
	uint64_t sealed;       /* records with a MAC so far */
	struct store_key key;  /* read by store_tail_find(), not in the head file */
};

/* 1, 0 when the head file is empty or damaged, or -1 with err. */
int store_head_read(const struct store *store, struct store_tail *ret, struct error *err);
void store_head_write(const struct store *store, const struct store_tail *tail);
enum { STORE_HEAD_ROOM = 300 };
bool store_head_parse(const char *text, size_t len, struct store_tail *ret);

/* Finds where the log ends, and repairs what a crash left. The lock is held. */
int store_tail_find(struct store *store, struct store_tail *ret, struct error *err);
int store_tail_take_key(struct store *store, struct store_tail *tail, struct error *err);
/* One record behind the tail, which moves on. The lock is held. */
int store_line_append(struct store *store, struct store_tail *tail, const char *body, bool durable,
		      struct error *err);
/* The line that would be appended, from malloc, and the tail behind it. */
char *store_line_make(const struct store_tail *tail, const char *body, size_t *ret_len);
void store_tail_advance(struct store_tail *tail, const char *line, size_t len);
/* What the first bytes of a line say. */
struct store_line {
	uint64_t seq;
	const char *prev;    /* 64 digits within the line */
	uint64_t sealed;     /* which sealed record it is, from 1; 0: it has no MAC */
	const char *mac;     /* 64 digits, or NULL */
	const char *body;    /* what follows the store's own members */
	const char *covered; /* the MAC covers line..covered and body..end */
};
/* False when it is no record by its first and last bytes. */
bool store_line_parse(const char *line, size_t len, struct store_line *ret);

/* The log goes on in a new file. When that fails, nothing has changed. */
int store_rotate(struct store *store, struct store_tail *tail, const char *reason,
		 struct error *err);
void store_anchor(const struct store *store);
enum { STORE_ANCHOR_ROOM = 4600 };

/* The key file. The lock is held. */
enum { STORE_KEY_ROOM = 256 };
int store_key_read(struct store *store, struct store_key *ret, struct error *err);
int store_key_write(struct store *store, const struct store_key *key, struct error *err);
bool store_key_parse(const char *text, size_t len, struct store_key *ret);
bool store_key_from_hex(const char *hex, uint8_t ret[SHA256_BYTES]);
bool store_key_is_there(const struct store *store);
void store_key_evolve(uint8_t key[SHA256_BYTES]);
/* One record further; `count` of them. */
void store_key_advance(struct store_key *key, uint64_t count);
void store_key_mac(const uint8_t key[SHA256_BYTES], const char *start, size_t start_len,
		   const char *rest, size_t rest_len, char ret_hex[SHA256_HEX]);

/* Gives the reserved room back to the file system; false when there was none. */
bool store_reserve_release(struct store *store);

/* Nobody else can put another folder in the place of this one. */
int store_check_ancestors(int dir_fd, const char *dir, uid_t owner, struct error *err);

#endif
