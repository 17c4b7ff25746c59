// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_AUDIT_CMD_LOG_H
#define SBOX_AUDIT_CMD_LOG_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arena.h"
#include "store.h"
#include "store_segment.h"

/*
 * A store, read from its first record to the last one that was whole at the start,
 * through all of its segments, oldest first. Two ways, which may be mixed:
 *
 *     struct cmd_log log;
 *     if (cmd_log_open(&log, dir, &arena) < 0)
 *             return EXIT_BAD;
 *     for (json_t *record; (record = cmd_log_next(&log)) != NULL; json_decref(record))
 *             ...                              parsed: about 5 us a record
 *     for (struct cmd_line line; cmd_log_line(&log, &line);)
 *             ...                              as it is: gigabytes a second
 *     cmd_log_close(&log);
 *
 * A line is where it is: log.segments.item[line.segment].name, line.offset. An index may
 * keep the pair (name, offset), or the sequence number of a segment's first record, which
 * is in its name: old segments never change, they only go (sbox audit prune), and log.jsonl
 * becomes an old one by a new name. cmd_log_seek() goes on at such a place:
 *
 *     if (cmd_log_seek(&log, "log-00000000000000000001.jsonl", 4711)) ...
 */
struct cmd_log_mark {
	char text[300];
	size_t len; /* 0: no such file, or an empty one */
};

struct cmd_log {
	struct store store;
	struct cmd_log_mark head, key;  /* these files, as they were with the segments' sizes */
	struct store_segments segments; /* oldest first; the last one is log.jsonl */
	size_t segment;                 /* that is being read */
	int fd;                         /* of it, or -1 */
	uint64_t left;                  /* bytes of it not yet in the buffer */
	char *buffer;
	size_t room, start, end; /* what is in it and not yet handed out */
	uint64_t offset;         /* in the segment, of buffer[start] */
	unsigned long number;    /* of the line last handed out, in its segment; 0 after a seek */
	unsigned long bad;       /* lines that were no records: each was named on stderr */
};

/* Lives until the next call. The newline is part of it, unless the end of the log is torn. */
struct cmd_line {
	const char *text; /* not terminated by NUL */
	size_t len;
	size_t segment;       /* index in log.segments */
	uint64_t offset;      /* in the segment's file */
	unsigned long number; /* in the segment, from 1; 0 after a seek */
};

/* The store that --store names, as an absolute path; NULL: the default one. */
int cmd_store_dir(struct arena *arena, const char *dir, const char **ret, struct error *err);
/* 0, or -1 after saying why on stderr. dir NULL: the default. */
int cmd_log_open(struct cmd_log *log, const char *dir, struct arena *arena);
/* The next record, to be released with json_decref(); NULL at the end. */
json_t *cmd_log_next(struct cmd_log *log);
/* The next line, record or not; false at the end. */
bool cmd_log_line(struct cmd_log *log, struct cmd_line *ret);
/* Goes on at an offset of a segment, or at the store's first record when name is NULL.
 * False when there is no such segment, or it is shorter: then nothing has changed. */
bool cmd_log_seek(struct cmd_log *log, const char *name, uint64_t offset);
void cmd_log_close(struct cmd_log *log);

#endif
