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
	int record_fd; /* where the whole record of the end is written, for `sbox learn`; 0: nowhere
			*/
	int watch_fd;  /* where all that the program uses is written (watch.h); 0: nowhere */
	struct profile_override *overrides;
	size_t override_count;
	struct record_label *labels;
	size_t label_count;
	const char *verb; /* "check", "show", "audit", …; NULL: run a program */
	char **arguments; /* the program and its arguments, or the verb's; NULL-terminated */
	int argument_count;
	const char *own_file; /* what locate.c starts from; NULL: this program's file */
	char **original;      /* main's argv, to be wiped in pid 1 */
	uint64_t file_bytes;  /* the caller's soft limit of file size */
};

/* One of sbox's own options; value: what follows it, or NULL. help NULL: not for people. */
struct option {
	const char *name, *value, *help;
};
/* help NULL: not for people, so not shown. A word before the first blank of `arguments` that
 * has '|' in it lists the verb's own verbs. */
struct verb {
	const char *name, *arguments, *help;
};
extern const struct option option_table[];
extern const size_t option_count;
/* Those of `sbox learn`, which has a program of its own behind it. */
extern const struct option learn_option_table[];
extern const size_t learn_option_count;
extern const struct verb verb_table[];
extern const size_t verb_count;

int options_parse(struct arena *arena, int argc, char **argv, struct options *ret_options,
		  struct error *err);
/* What --help prints. */
char *options_help(struct arena *arena);

#endif
