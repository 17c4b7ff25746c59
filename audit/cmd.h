// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_AUDIT_CMD_H
#define SBOX_AUDIT_CMD_H

#include <jansson.h>
#include <stdio.h>

#include "arena.h"
#include "cmd_log.h"
#include "store.h"

/* What the verbs of sbox-audit share. */

enum { EXIT_OK = 0, EXIT_BAD = 1, EXIT_USAGE = 2 };

/*
 * A verb parses its own options: argv[0] is the program, argv[1] the first word
 * behind the verb. What it returns is sbox-audit's exit status. cmd_read.h has others.
 */
int cmd_init(int argc, char **argv);
int cmd_prune(int argc, char **argv);
int cmd_verify(int argc, char **argv);

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
/* One line; tabs and backslashes stay. */
const char *text_line(struct arena *arena, struct bytes bytes);
/* Many lines, as they are, each behind a bar. */
void text_print_block(struct arena *arena, struct bytes bytes);

/* "12 ms", "3.250 s", "2m05s"; "-" for null. */
const char *text_duration(struct arena *arena, const json_t *nanoseconds);
enum { DURATION_SIZE = 32 };
void text_duration_into(char text[DURATION_SIZE], uint64_t nanoseconds); /* UINT64_MAX: "-" */
/* "exited 0", "signaled SIGSEGV", "timeout". */
const char *text_end(struct arena *arena, const json_t *record);
/* Columns that it takes, wide characters aside. */
size_t text_width(const char *text);
/* At most `width` columns of it, with "…" where something is missing. */
const char *text_cut(struct arena *arena, const char *text, size_t width);

#endif
