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

/* Writes all of it; 0 or -1 with errno. */
int store_write_all(int fd, const void *data, size_t len);

/* The critical section. How long a call waits for it is a variable for the sake of tests. */
extern unsigned int store_lock_wait_ms;
int store_lock(struct store *store, struct error *err);
void store_unlock(struct store *store);

/* Where the log ends: what the head file says, and what the next record builds on. */
struct store_tail {
	uint64_t seq;          /* of the last record; 0 when there is none */
	char hash[SHA256_HEX]; /* of the last line, newline included; zeros when there is none */
	uint64_t bytes;        /* of the log */
};

/* 1, 0 when the head file is empty or damaged, or -1 with err. */
int store_head_read(const struct store *store, struct store_tail *ret, struct error *err);
void store_head_write(const struct store *store, const struct store_tail *tail);

/* Finds where the log ends, and repairs what a crash left. The lock is held. */
int store_tail_find(struct store *store, struct store_tail *ret, struct error *err);
/* One record behind the tail, which moves on. The lock is held. */
int store_line_append(struct store *store, struct store_tail *tail, const char *body, bool durable,
		      struct error *err);

/* Gives the reserved room back to the file system; false when there was none. */
bool store_reserve_release(struct store *store);

#endif
