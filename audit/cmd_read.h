// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_AUDIT_CMD_READ_H
#define SBOX_AUDIT_CMD_READ_H

#include "cmd.h"
#include "cmd_index.h"

/* The verbs that read: argv[0] is the program, argv[1] the first word after the verb. */
int list_main(int argc, char **argv);
int show_main(int argc, char **argv);
int grep_main(int argc, char **argv);
int replay_main(int argc, char **argv);
int export_main(int argc, char **argv);
int stats_main(int argc, char **argv);
int report_main(int argc, char **argv);

/* Which runs, and how they are shown: the options that these verbs share. */
struct query {
	const char *store_dir;       /* NULL: the default */
	uint64_t since_ns, until_ns; /* until 0: no end */
	const char *user, *profile, *label;
	uint32_t kinds; /* bits of enum end_kind; 0: all */
	bool failed, denied, unfinished;
	uint64_t limit; /* the last ones; 0: all */
	bool json;
	/* of single verbs */
	bool last, is_regex, ignore_case, files_only, raw, ocsf, csv;
	const char *in, *output;
	double speed, max_wait_s;
	uint64_t details;
	const char *word; /* run or pattern; NULL: not given */
};

/* What a verb takes beyond --store: a set of these. */
enum {
	TAKES_FILTERS = 1,
	TAKES_JSON = 2,
	TAKES_WORD = 4, /* must have one */
	TAKES_RUN = 8,  /* a run, or --last */
	TAKES_GREP = 16,
	TAKES_REPLAY = 32,
	TAKES_EXPORT = 64,
	TAKES_REPORT = 128
};

/* EXIT_OK, or EXIT_USAGE after saying why. */
int query_parse(const char *verb, unsigned int takes, int argc, char **argv, struct query *ret);
int query_error(const char *verb, const char *text, const char *value);
bool query_matches(const struct query *query, const struct index *index,
		   const struct index_row *row);
/* Numbers of the rows that match, oldest first, from malloc. */
uint64_t *query_rows(const struct query *query, const struct index *index, uint64_t *ret_count);

/* The one run that query->word or --last means: its row, or NULL after saying why. */
const struct index_row *query_run(const struct query *query, const struct index *index);

/* The line of --json: of list, and of grep --runs. */
void list_print_json(const struct index *index, const struct index_row *row);

/* cmd_json.c: ASCII without a control character; for_html: nor "<", ">" and "&". */
void json_write(FILE *out, const json_t *value, bool for_html);
void json_write_line(const json_t *value); /* to stdout */

/* cmd_kept.c: what a record calls "FOLDER/NAME", uncompressed, at most `max` bytes of it; no
 * data when it is gone. The result lives in the arena. */
enum { KEPT_MAX = 256 << 20 };
struct bytes kept_read(struct arena *arena, struct store *store, const char *kept, size_t max);
/* The same of a stream, timing or file of a record; whether it is still what was kept. */
struct bytes kept_of(struct arena *arena, struct store *store, const json_t *object,
		     bool *ret_is_changed);
/* The name in a stream's, timing's or file's member kept, or NULL. */
const char *kept_name(const json_t *object);

#endif
