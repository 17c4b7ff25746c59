// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_AUDIT_CMD_H
#define SBOX_AUDIT_CMD_H

#include <jansson.h>
#include <stdio.h>

#include "arena.h"
#include "store.h"

/* What the verbs of sbox-audit share. */

enum { EXIT_OK = 0, EXIT_BAD = 1, EXIT_USAGE = 2 };

struct cmd_options {
	const char *store_dir; /* NULL: the default */
	unsigned long limit;   /* 0: none */
	bool json, unfinished, last;
	const char *run; /* first letters of a run id, or NULL */
};

/* Each verb returns sbox-audit's exit status. */
int cmd_list(const struct cmd_options *options);
int cmd_show(const struct cmd_options *options);

/* A store, read from its first record to the last one that was whole at the start. */
struct cmd_log {
	struct store store;
	FILE *file;
	off_t left; /* bytes not yet read */
	char *line;
	size_t room;
	unsigned long number; /* of the line */
	unsigned long bad;    /* lines that were no records: each was named on stderr */
};

/* 0, or -1 after saying why on stderr. */
int cmd_log_open(struct cmd_log *log, const char *dir, struct arena *arena);
/* The next record, to be released with json_decref(); NULL at the end. */
json_t *cmd_log_next(struct cmd_log *log);
void cmd_log_close(struct cmd_log *log);

/* "finished", "running" or "unfinished". */
const char *cmd_run_state(struct cmd_log *log, const char *run, bool has_end);

/*
 * Text from records, made safe for a terminal: controls and whatever else
 * utf8_is_active() names become \e, \n, \x07, \u202e; bytes that are not UTF-8
 * become \xff. All results live in the arena.
 */
struct bytes {
	const char *data; /* NULL: null or absent in the record */
	size_t len;
};

/* What a record's string, or its {"base64":…}, stands for. */
struct bytes text_bytes(struct arena *arena, const json_t *value);
/* One line; a backslash is doubled. "-" for null. */
const char *text_value(struct arena *arena, const json_t *value);
const char *text_member(struct arena *arena, const json_t *object, const char *key);
/* Quoted as for a shell, where that is needed. */
const char *text_argument(struct arena *arena, struct bytes bytes);
const char *text_arguments(struct arena *arena, const json_t *argv);
/* Many lines, as they are, each behind a bar. */
void text_print_block(struct arena *arena, struct bytes bytes);

/* "12 ms", "3.250 s", "2m05s"; "-" for null. */
const char *text_duration(struct arena *arena, const json_t *nanoseconds);
/* "exited 0", "signaled SIGSEGV", "timeout". */
const char *text_end(struct arena *arena, const json_t *record);
/* Columns that it takes, wide characters aside. */
size_t text_width(const char *text);

#endif
