// SPDX-License-Identifier: Apache-2.0
#include "store_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "json.h"
#include "render_parts.h"
#include "store_segment.h"

/*
 * log.jsonl becomes log-N.jsonl and a new log.jsonl goes on. In this order, each step on
 * disk before the next, so that a crash between any two loses nothing:
 *
 *   1. log.next, with its first line, log.opened, which names the old file's last record
 *   2. log.closed as the last line of log.jsonl
 *   3. log.jsonl gets its old name, log-N.jsonl
 *   4. log.next becomes log.jsonl: by us, or by whoever opens the store and finds none
 *   5. key and head, which the next append would put right as well
 *
 * After 1 alone, log.next is thrown away by the next rotation. After 2 alone, the log goes on
 * behind log.closed, and the next append tries again.
 */

struct rotation {
	struct store_tail closed, opened; /* behind the two new lines */
	char *closed_line, *opened_line;  /* from malloc */
	size_t closed_len, opened_len;
	char old_name[STORE_SEGMENT_NAME];
	int next_fd;
};

static char *closed_body(struct arena *arena, const char *reason, const char *next)
{
	struct json json;

	json_begin(&json, arena);
	json_object_begin(&json);
	render_text(&json, "type", "log.closed");
	render_time(&json, "time", store_now_ns());
	render_text(&json, "reason", reason);
	render_text(&json, "next", next);
	json_object_end(&json);
	return json_finish(&json);
}

static char *opened_body(struct arena *arena, const char *previous, const struct store_tail *closed)
{
	struct json json;

	json_begin(&json, arena);
	json_object_begin(&json);
	render_text(&json, "type", "log.opened");
	render_time(&json, "time", store_now_ns());
	render_text(&json, "previous", previous);
	render_number(&json, "last_seq", closed->seq);
	render_text(&json, "last_hash", closed->hash);
	json_object_end(&json);
	return json_finish(&json);
}

static void make_lines(struct rotation *rotation, const struct store_tail *tail, const char *reason)
{
	struct arena arena = {0};
	char next_name[STORE_SEGMENT_NAME];

	store_segment_name(rotation->old_name, tail->first);
	store_segment_name(next_name, tail->seq + 2);
	rotation->closed = *tail;
	rotation->closed_line = store_line_make(tail, closed_body(&arena, reason, next_name),
						&rotation->closed_len);
	store_tail_advance(&rotation->closed, rotation->closed_line, rotation->closed_len);
	rotation->opened = rotation->closed;
	rotation->opened.bytes = rotation->opened.first = 0;
	rotation->opened_line = store_line_make(
		&rotation->closed, opened_body(&arena, rotation->old_name, &rotation->closed),
		&rotation->opened_len);
	store_tail_advance(&rotation->opened, rotation->opened_line, rotation->opened_len);
	arena_free(&arena);
}

static int fail(struct store *store, struct error *err)
{
	return store_fail(err, "audit store %s: cannot begin a new file", store->dir);
}

static int make_next(struct store *store, struct rotation *rotation, struct error *err)
{
	unlinkat(store->dir_fd, "log.next", 0);
	rotation->next_fd =
		store_file_open(store->dir_fd, store->dir, "log.next",
				O_RDWR | O_APPEND | O_CREAT | O_EXCL, store->owner, NULL, err);
	if (rotation->next_fd < 0)
		return -1;
	if (store_write_all(rotation->next_fd, rotation->opened_line, rotation->opened_len) < 0 ||
	    fdatasync(rotation->next_fd) < 0)
		return fail(store, err);
	return 0;
}

/* Steps 2 and 3; undone when they fail. */
static int close_old(struct store *store, const struct rotation *rotation, uint64_t bytes,
		     struct error *err)
{
	if (store_write_all(store->log_fd, rotation->closed_line, rotation->closed_len) == 0 &&
	    fdatasync(store->log_fd) == 0 &&
	    faccessat(store->dir_fd, rotation->old_name, F_OK, AT_SYMLINK_NOFOLLOW) < 0 &&
	    renameat(store->dir_fd, "log.jsonl", store->dir_fd, rotation->old_name) == 0)
		return 0;
	fail(store, err);
	(void)!ftruncate(store->log_fd, (off_t)bytes);
	return -1;
}

/* Whoever opened the store meanwhile may have done it for us. */
static int name_new(struct store *store, const struct rotation *rotation, struct error *err)
{
	struct stat ours, named;

	if (renameat(store->dir_fd, "log.next", store->dir_fd, "log.jsonl") == 0)
		return 0;
	if (fstat(rotation->next_fd, &ours) == 0 &&
	    fstatat(store->dir_fd, "log.jsonl", &named, AT_SYMLINK_NOFOLLOW) == 0 &&
	    ours.st_ino == named.st_ino)
		return 0;
	return fail(store, err);
}

static int switch_over(struct store *store, struct rotation *rotation,
		       const struct store_tail *tail, struct error *err)
{
	if (make_next(store, rotation, err) < 0 ||
	    close_old(store, rotation, tail->bytes, err) < 0) {
		unlinkat(store->dir_fd, "log.next", 0);
		return -1;
	}
	if (name_new(store, rotation, err) < 0) {
		renameat(store->dir_fd, rotation->old_name, store->dir_fd, "log.jsonl");
		(void)!ftruncate(store->log_fd, (off_t)tail->bytes);
		return -1;
	}
	fsync(store->dir_fd);
	return 0;
}

int store_rotate(struct store *store, struct store_tail *tail, const char *reason,
		 struct error *err)
{
	struct rotation rotation = {.next_fd = -1};
	struct error ignored;

	make_lines(&rotation, tail, reason);
	int rc = switch_over(store, &rotation, tail, err);
	if (rc == 0) {
		(void)!ftruncate(store->log_fd, (off_t)rotation.closed.bytes); /* spare blocks */
		close(store->log_fd);
		store->log_fd = rotation.next_fd;
		store->log_room = rotation.opened_len;
		if (rotation.opened.key.every > 0) /* behind is put right later */
			store_key_write(store, &rotation.opened.key, &ignored);
		store_head_write(store, &rotation.opened);
		*tail = rotation.opened;
	} else if (rotation.next_fd >= 0) {
		close(rotation.next_fd);
	}
	free(rotation.closed_line);
	free(rotation.opened_line);
	explicit_bzero(&rotation, sizeof(rotation));
	return rc;
}
