// SPDX-License-Identifier: Apache-2.0
#include "store_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "json.h"
#include "record.h"
#include "render_parts.h"

enum { FIRST_WINDOW = 64 * 1024, LAST_WINDOW = 256 * 1024 * 1024, KEPT_MAX = 16 * 1024 * 1024 };

/* A key is one record behind at most, or an old copy was put back: hashing up to it takes a second.
 */
enum { KEY_BEHIND_MAX = 1000 * 1000 };

static const struct store_tail empty_log = {
	.hash = "0000000000000000000000000000000000000000000000000000000000000000",
};

static int read_at(int fd, void *data, size_t len, uint64_t offset)
{
	for (size_t done = 0; done < len;) {
		ssize_t got = pread(fd, (char *)data + done, len - done, (off_t)(offset + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got == 0)
			errno = EIO; /* shorter than it was: nobody but us may write here */
		if (got <= 0)
			return -1;
		done += (size_t)got;
	}
	return 0;
}

/* Whether these bytes, newline included, are a record by their shape.
 * A power cut can leave zeros in the middle of a line: no control byte is ever in one. */
static bool is_record(const char *line, size_t len, struct store_line *ret)
{
	for (size_t i = 0; i + 1 < len; i++)
		if ((unsigned char)line[i] < 0x20)
			return false;
	return store_line_parse(line, len, ret);
}

/* The last record that ends within text; false when it does not hold a whole one. */
static bool last_in_window(const char *text, size_t len, bool is_from_start, struct store_tail *ret)
{
	const char *newline = memrchr(text, '\n', len);

	while (newline != NULL) {
		const char *before = memrchr(text, '\n', (size_t)(newline - text));
		const char *line = before != NULL ? before + 1 : text;
		size_t size = (size_t)(newline + 1 - line);

		struct store_line parsed;

		if ((before != NULL || is_from_start) && is_record(line, size, &parsed)) {
			ret->seq = parsed.seq;
			ret->sealed = parsed.sealed;
			sha256_hex_of(line, size, ret->hash);
			ret->bytes = (uint64_t)(newline + 1 - text);
			return true;
		}
		newline = before;
	}
	return false;
}

/* The last whole record within the first `size` bytes of the log. */
static int find_last(const struct store *store, uint64_t size, struct store_tail *ret,
		     struct error *err)
{
	uint64_t window = FIRST_WINDOW;
	bool found = false;

	for (; !found && window <= LAST_WINDOW; window *= 4) {
		uint64_t from = size > window ? size - window : 0;
		char *text = calloc(1, (size_t)(size - from) + 1);

		if (text == NULL)
			abort();
		int rc = read_at(store->log_fd, text, (size_t)(size - from), from);
		found = rc == 0 && last_in_window(text, (size_t)(size - from), from == 0, ret);
		free(text);
		if (rc < 0)
			return store_fail(err, "audit store %s/log.jsonl: cannot read", store->dir);
		if (found)
			ret->bytes += from;
		else if (from == 0) {
			*ret = empty_log;
			return 0;
		}
	}
	if (!found)
		return error_set(err, ERROR_AUDIT,
				 "audit store %s/log.jsonl: no record at its end: move it and head "
				 "away",
				 store->dir);
	return 0;
}

struct recovery {
	const char *reason;
	const struct store_tail *head; /* what the head file said, or NULL */
	uint64_t log_bytes;            /* before */
	uint64_t dropped_bytes;
	char sha256[SHA256_HEX]; /* of what is dropped; "" when nothing is */
	const char *kept;        /* its copy in the store, or NULL */
};

static char *recovery_body(struct arena *arena, const struct recovery *recovery)
{
	struct json json;

	json_begin(&json, arena);
	json_object_begin(&json);
	render_text(&json, "type", "log.recovered");
	render_time(&json, "time", store_now_ns());
	render_text(&json, "reason", recovery->reason);
	render_number(&json, "log_bytes", recovery->log_bytes);
	render_number(&json, "dropped_bytes", recovery->dropped_bytes);
	render_text(&json, "dropped_sha256", recovery->sha256[0] ? recovery->sha256 : NULL);
	render_text(&json, "dropped_kept", recovery->kept);
	json_put_key(&json, "head");
	if (recovery->head == NULL) {
		json_put_null(&json);
	} else {
		json_object_begin(&json);
		render_number(&json, "seq", recovery->head->seq);
		render_text(&json, "hash", recovery->head->hash);
		render_number(&json, "bytes", recovery->head->bytes);
		json_object_end(&json);
	}
	json_object_end(&json);
	return json_finish(&json);
}

/* What is cut off is evidence: it stays beside the log, as far as there is room for it. */
static int keep_dropped(struct store *store, struct arena *arena, const struct store_tail *last,
			struct recovery *recovery, struct error *err)
{
	struct error ignored;
	size_t len =
		recovery->dropped_bytes < KEPT_MAX ? (size_t)recovery->dropped_bytes : KEPT_MAX;

	if (recovery->dropped_bytes == 0)
		return 0;
	char *text = arena_alloc(arena, len);
	if (read_at(store->log_fd, text, len, last->bytes) < 0)
		return store_fail(err, "audit store %s/log.jsonl: cannot read", store->dir);
	sha256_hex_of(text, len, recovery->sha256);
	char *name = arena_printf(arena, "dropped-%s", recovery->sha256);
	if (store_keep(store, "output", name, text, len, &ignored) == 0)
		recovery->kept = arena_printf(arena, "output/%s", name);
	if (ftruncate(store->log_fd, (off_t)last->bytes) < 0)
		return store_fail(err, "audit store %s/log.jsonl: cannot cut a torn record",
				  store->dir);
	return 0;
}

static const char *recovery_reason(const struct recovery *recovery, const struct store_tail *last)
{
	const struct store_tail *head = recovery->head;

	if (head != NULL && head->first >= last->first && head->bytes > recovery->log_bytes)
		return "log_shorter_than_head";
	if (recovery->dropped_bytes > 0)
		return "torn_tail";
	if (head == NULL)
		return last->seq == 0 ? NULL : "head_missing_or_damaged";
	if (last->seq <= head->seq)
		return "head_of_another_log";
	/* a crash between record and head: the record is whole, nothing is lost */
	return last->seq == head->seq + 1 ? NULL : "head_behind";
}

/* What else a tail has: the file's first record, and the key of a sealed log. */
static int complete_tail(struct store *store, struct store_tail *tail, struct error *err)
{
	char start[256] = "";
	uint64_t bytes = tail->bytes;
	size_t len = bytes < sizeof(start) - 3 ? (size_t)bytes : sizeof(start) - 3;
	struct store_line line;

	tail->first = tail->since = 0;
	if (read_at(store->log_fd, start, len, 0) < 0)
		return store_fail(err, "audit store %s/log.jsonl: cannot read", store->dir);
	memcpy(start + len, "}\n", 2); /* the start is all that is looked at */
	if (bytes > 0 && store_line_parse(start, len + 2, &line)) {
		tail->first = line.seq;
		tail->since = store_now_ns() / 1000000000; /* its age starts again */
	}
	if (tail->sealed == 0 && !store_key_is_there(store))
		return 0;
	return store_tail_take_key(store, tail, err);
}

static int recover(struct store *store, const struct store_tail *head, uint64_t log_bytes,
		   struct store_tail *ret, struct error *err)
{
	struct recovery recovery = {.head = head, .log_bytes = log_bytes};
	struct arena arena = {0};

	*ret = empty_log;
	if (find_last(store, log_bytes, ret, err) < 0 || complete_tail(store, ret, err) < 0)
		return -1;
	recovery.dropped_bytes = log_bytes - ret->bytes;
	recovery.reason = recovery_reason(&recovery, ret);
	if (recovery.reason == NULL)
		return 0;
	int rc = keep_dropped(store, &arena, ret, &recovery, err);
	if (rc == 0) {
		/* a number is never given twice: what was lost stays visible as a gap */
		if (head != NULL && head->seq > ret->seq)
			ret->seq = head->seq;
		rc = store_line_append(store, ret, recovery_body(&arena, &recovery), true, err);
	}
	arena_free(&arena);
	return rc;
}

/* The log may have been moved away since it was opened, or another process may have begun a
 * new one: then that is the one to write to. */
static int current_log(struct store *store, struct stat *ret, struct error *err)
{
	struct stat named;

	if (fstat(store->log_fd, ret) < 0)
		return store_fail(err, "audit store %s/log.jsonl", store->dir);
	if (fstatat(store->dir_fd, "log.jsonl", &named, AT_SYMLINK_NOFOLLOW) == 0 &&
	    named.st_ino == ret->st_ino && named.st_dev == ret->st_dev)
		return 0;
	if (store_log_open(store, err) < 0)
		return -1;
	if (fstat(store->log_fd, ret) < 0)
		return store_fail(err, "audit store %s/log.jsonl", store->dir);
	return 0;
}

int store_tail_take_key(struct store *store, struct store_tail *tail, struct error *err)
{
	if (store_key_read(store, &tail->key, err) < 0)
		return -1;
	/* behind: a crash between record and key. Ahead: records are gone, and the gap stays */
	if (tail->key.sealed < tail->sealed && tail->sealed - tail->key.sealed > KEY_BEHIND_MAX)
		return error_set(err, ERROR_AUDIT,
				 "audit store %s/key: %" PRIu64 " records behind the log: put the "
				 "right one back, or move the store away",
				 store->dir, tail->sealed - tail->key.sealed);
	if (tail->key.sealed < tail->sealed)
		store_key_advance(&tail->key, tail->sealed - tail->key.sealed);
	tail->sealed = tail->key.sealed;
	return 0;
}

int store_tail_find(struct store *store, struct store_tail *ret, struct error *err)
{
	struct store_tail head;
	struct stat st;

	if (current_log(store, &st, err) < 0)
		return -1;
	store->log_room = (uint64_t)st.st_blocks * 512;
	int known = store_head_read(store, &head, err);
	if (known < 0)
		return -1;
	/* it is written over in place: one that is too long would stay so, and damaged for ever */
	if (known == 0 && ftruncate(store->head_fd, 0) < 0)
		return store_fail(err, "audit store %s/head: cannot be cut", store->dir);
	if (known > 0 && head.bytes == (uint64_t)st.st_size) {
		*ret = head;
		return head.sealed > 0 ? store_tail_take_key(store, ret, err) : 0;
	}
	store_sync_forget(store);
	if (known == 0 && st.st_size == 0) {
		*ret = empty_log;
		return store_key_is_there(store) ? store_tail_take_key(store, ret, err) : 0;
	}
	return recover(store, known > 0 ? &head : NULL, (uint64_t)st.st_size, ret, err);
}
