// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_OPTIONS_H
#define SBOX_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arena.h"
#include "error.h"
#include "profile.h"
#include "record.h"

/* The command line, as one table reads it (options.c); help and man page follow the table. */
struct options {
	const char *profile;   /* name or path; "agent" when not given */
	const char *store_dir; /* --store, or NULL */
	bool json, strict, quiet, help, version;
	int status_fd; /* -1: none */
	struct profile_override *overrides;
	size_t override_count;
	struct record_label *labels;
	size_t label_count;
	const char *verb; /* "check", "show", "audit", …; NULL: run a program */
	char **arguments; /* the program and its arguments, or the verb's; NULL-terminated */
	int argument_count;
	char **original;     /* main's argv, to be wiped in pid 1 */
	uint64_t file_bytes; /* the caller's soft limit of file size */
};

int options_parse(struct arena *arena, int argc, char **argv, struct options *ret_options,
		  struct error *err);
/* What --help prints. */
char *options_help(struct arena *arena);

#endif
