// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_AUDIT_CMD_VERIFY_H
#define SBOX_AUDIT_CMD_VERIFY_H

#include "cmd.h"
#include "store_internal.h"

/*
 * sbox audit verify: one pass over all lines (cmd_verify_chain.c), which looks at what is
 * between lines; then what the store and others say about its end (cmd_verify_ends.c).
 * Nothing is believed that cannot be computed from the lines themselves.
 */

/* Bits of the exit status. */
enum { VERIFY_BROKEN = 4, VERIFY_INCOMPLETE = 8, VERIFY_UNFINISHED = 16 };

enum verdict {
	INTEGRITY,    /* lines are not what was written */
	COMPLETENESS, /* lines are gone, or nothing says that none are */
	NOTE,         /* worth a look, and no proof of anything */
	VERDICT_MAX
};

struct findings {
	size_t count; /* all */
	const char *text[20];
};

/* What somebody outside the store noted: the record of this number has this hash. */
struct point {
	uint64_t seq;
	char hash[SHA256_HEX];
	bool is_expected; /* --expect; else from --anchors */
	bool is_met;
};

struct points {
	struct point *item; /* by number */
	size_t count, next;
	size_t met, skipped; /* skipped: of another store, or of a record that was pruned */
};

/* A segment that log.pruned says went. */
struct pruned {
	uint64_t last_seq;
	const char *last_hash;
};

struct open_runs {
	char (*slot)[27]; /* "": free; a first byte of 1: freed */
	size_t room, used, count;
};

struct verify {
	struct arena arena;
	struct cmd_log log;
	struct findings findings[VERDICT_MAX];

	bool has_seal, has_anchors;
	struct store_seal seal;
	struct store_key key; /* of the next sealed line, computed from the seal */
	struct points points;
	struct store_tail head;
	bool has_head, head_is_met;
	struct open_runs runs;
	const char **unfinished;
	size_t unfinished_count, running_count;

	/* the line before, and what has been seen so far */
	unsigned long number; /* of the line, in its segment */
	char hash[SHA256_HEX];
	const char *successor; /* that the last log.closed named */
	uint64_t seq, sealed;
	size_t segment, segment_before;
	uint64_t records, bytes, sealed_records;
	uint64_t no_records, lost; /* lines that are none; numbers that the store itself left out */
	uint64_t first_seq;
	char first_prev[SHA256_HEX];
	struct pruned *pruned;
	size_t pruned_count;
	bool is_torn;
};

void verify_find(struct verify *verify, enum verdict verdict, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* "log.jsonl:12" */
const char *verify_where(struct verify *verify, size_t segment, unsigned long number);
const char *verify_line_where(struct verify *verify, const struct cmd_line *line);

void verify_chain(struct verify *verify);
/* A log.* record: what it says about segments. */
void verify_log_record(struct verify *verify, const struct cmd_line *line, const char *body);
/* The MAC of a line, and that sealed lines follow each other. */
void verify_seal_line(struct verify *verify, const struct cmd_line *line,
		      const struct store_line *parsed);
void verify_ends(struct verify *verify);

/* SEQ:HASH, and syslog lines that store_anchor() wrote for the store `dir`. -1: said why on stderr.
 */
int points_add_expected(struct verify *verify, const char *text);
int points_add_anchors(struct verify *verify, const char *path, const char *dir);
void points_sort(struct points *points);
void points_check(struct verify *verify, const struct cmd_line *line, uint64_t seq,
		  const char *hash);

void runs_open(struct open_runs *runs, const char id[26]);
void runs_close(struct open_runs *runs, const char id[26]);

/* Prints all of it; the exit status. */
int verify_report(struct verify *verify, bool json);

#endif
