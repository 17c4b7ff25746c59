// SPDX-License-Identifier: Apache-2.0
#include "cmd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store_internal.h"

enum { CHUNK = 256 * 1024 };

static void read_mark(struct cmd_log *log, const char *name, struct cmd_log_mark *ret)
{
	struct error ignored;
	int fd = store_file_open(log->store.dir_fd, log->store.dir, name, O_RDONLY,
				 log->store.owner, NULL, &ignored);
	ssize_t len = fd < 0 ? -1 : read(fd, ret->text, sizeof(ret->text));

	ret->len = len < 0 ? 0 : (size_t)len;
	if (fd >= 0)
		close(fd);
}

/*
 * A record that is just being written is no torn one, and a segment that is just being
 * renamed is no lost one: sizes and names are taken under the lock.
 */
static int take_sizes(struct cmd_log *log, struct error *err)
{
	struct error ignored;

	store_lock_wait_ms = 2000;
	bool locked = log->store.lock_fd >= 0 && store_lock(&log->store, &ignored) == 0;
	int rc = store_segments_list(&log->store, &log->segments, err);
	if (rc == 0)
		rc = store_log_reopen_to_read(&log->store, err);
	read_mark(log, "head", &log->head);
	read_mark(log, "key", &log->key);
	if (locked)
		store_unlock(&log->store);
	return rc;
}

/* The file must be the store's own. One that went since the list was made is skipped. */
static bool open_segment(struct cmd_log *log)
{
	struct store_segment *segment = &log->segments.item[log->segment];
	struct error err;

	if (segment->first_seq == 0) /* its name may mean another file by now */
		log->fd = dup(log->store.log_fd);
	else
		log->fd = store_file_open(log->store.dir_fd, log->store.dir, segment->name,
					  O_RDONLY, log->store.owner, NULL, &err);
	log->left = log->fd < 0 ? 0 : segment->bytes;
	log->start = log->end = 0;
	log->offset = 0;
	log->number = 0;
	if (log->fd >= 0 || segment->bytes == 0)
		return log->fd >= 0;
	log->bad++;
	fprintf(stderr, "sbox-audit: %s\n", err.text);
	return false;
}

static void close_segment(struct cmd_log *log)
{
	if (log->fd >= 0)
		close(log->fd);
	log->fd = -1;
}

int cmd_store_dir(struct arena *arena, const char *dir, const char **ret, struct error *err)
{
	if (dir == NULL)
		return store_default_dir(arena, geteuid(), ret, err);
	*ret = dir;
	if (dir[0] != '/') {
		char *cwd = getcwd(NULL, 0);

		if (cwd == NULL)
			return error_sys(err, "audit store %s: no current folder", dir);
		*ret = arena_printf(arena, "%s/%s", cwd, dir);
		free(cwd);
	}
	return 0;
}

int cmd_log_open(struct cmd_log *log, const char *dir, struct arena *arena)
{
	struct error err;

	*log = (struct cmd_log){.fd = -1};
	if (cmd_store_dir(arena, dir, &dir, &err) < 0)
		goto fail;
	if (store_open_to_read(&log->store, dir, &err) < 0)
		goto fail;
	if (take_sizes(log, &err) < 0) {
		store_close(&log->store);
		goto fail;
	}
	open_segment(log);
	return 0;
fail:
	fprintf(stderr, "sbox-audit: %s\n", err.text);
	return -1;
}

void cmd_log_close(struct cmd_log *log)
{
	close_segment(log);
	free(log->buffer);
	store_segments_free(&log->segments);
	store_close(&log->store);
}

/* More of the segment into the buffer; what is in it moves to its front. */
static bool fill(struct cmd_log *log)
{
	size_t held = log->end - log->start;

	if (log->left == 0)
		return false;
	if (log->buffer != NULL && log->start > 0)
		memmove(log->buffer, log->buffer + log->start, held);
	log->start = 0;
	log->end = held;
	if (log->room - held < CHUNK) {
		log->room = 2 * (held + CHUNK);
		log->buffer = realloc(log->buffer, log->room);
		if (log->buffer == NULL)
			abort();
	}
	size_t wanted = log->room - held < log->left ? log->room - held : (size_t)log->left;
	ssize_t got = pread(log->fd, log->buffer + held, wanted, (off_t)(log->offset + held));

	if (got < 0 && errno == EINTR)
		return true;
	if (got <= 0) {
		log->left = 0; /* shorter than it was */
		return false;
	}
	log->end += (size_t)got;
	log->left -= (uint64_t)got;
	return true;
}

/* The length of the next line of this segment; 0 when it is at its end. */
static size_t next_length(struct cmd_log *log)
{
	size_t seen = 0;

	do {
		size_t held = log->end - log->start;
		const char *from = held > seen ? log->buffer + log->start + seen : NULL;
		const char *newline = from ? memchr(from, '\n', held - seen) : NULL;

		if (newline != NULL)
			return (size_t)(newline + 1 - (log->buffer + log->start));
		seen = held;
	} while (fill(log));
	return log->end - log->start;
}

bool cmd_log_line(struct cmd_log *log, struct cmd_line *ret)
{
	size_t len;

	while ((len = next_length(log)) == 0) {
		if (log->segment + 1 >= log->segments.count)
			return false;
		close_segment(log);
		log->segment++;
		open_segment(log);
	}
	/* after a seek nobody knows which one it is */
	if (log->offset == 0 || log->number > 0)
		log->number++;
	*ret = (struct cmd_line){.text = log->buffer + log->start,
				 .len = len,
				 .segment = log->segment,
				 .offset = log->offset,
				 .number = log->number};
	log->start += len;
	log->offset += len;
	return true;
}

bool cmd_log_seek(struct cmd_log *log, const char *name, uint64_t offset)
{
	size_t index = 0;

	while (name != NULL && index < log->segments.count &&
	       strcmp(log->segments.item[index].name, name) != 0)
		index++;
	if (index == log->segments.count || offset > log->segments.item[index].bytes)
		return false;
	close_segment(log);
	log->segment = index;
	if (!open_segment(log))
		return offset == 0;
	log->left -= offset;
	log->offset = offset;
	return true;
}

static json_t *parse(const struct cmd_line *line, const char **ret_why)
{
	json_error_t error;
	json_t *record =
		json_loadb(line->text, line->len, JSON_ALLOW_NUL | JSON_REJECT_DUPLICATES, &error);

	if (line->text == NULL || line->len == 0 || line->text[line->len - 1] != '\n')
		*ret_why = "its end is missing";
	else if (record == NULL)
		*ret_why = "not JSON";
	else if (!json_is_string(json_object_get(record, "type")) ||
		 !json_is_integer(json_object_get(record, "seq")))
		*ret_why = "no type or no seq";
	else
		return record;
	json_decref(record);
	return NULL;
}

json_t *cmd_log_next(struct cmd_log *log)
{
	struct cmd_line line;
	const char *why;

	while (cmd_log_line(log, &line)) {
		json_t *record = parse(&line, &why);

		if (record != NULL)
			return record;
		log->bad++;
		fprintf(stderr, "sbox-audit: %s/%s:%lu: not a record: %s\n", log->store.dir,
			log->segments.item[line.segment].name, line.number, why);
	}
	return NULL;
}

const char *cmd_run_state(struct cmd_log *log, const char *run, bool has_end)
{
	if (has_end)
		return "finished";
	return store_run_alive(&log->store, run) ? "running" : "unfinished";
}
