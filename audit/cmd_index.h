// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_AUDIT_CMD_INDEX_H
#define SBOX_AUDIT_CMD_INDEX_H

#include <jansson.h>
#include <stdint.h>

#include "cmd.h"
#include "cmd_scan.h"

/*
 * One row a run, with all that list, the filters, stats and grep need, so that a
 * question does not read the log. In the store's folder index/:
 *
 *   rows   a page with struct index_head, then struct index_row, in order of the log
 *   text   strings of the rows, already safe for a terminal
 *   json   members of --json, ready to print; members of records that grep looks at
 *   lock   flock while one of them is opened and brought up to date
 *
 * It is a copy and nothing more: verify never looks at it, and it is made again
 * when it is missing, of another version, or does not fit the log. Only the
 * owner's own is used; for another reader (root) and on a full disk it is made
 * in memory, for the one question.
 */

enum { INDEX_VERSION = 2, INDEX_RUN = 26, INDEX_PROGRAM_WIDTH = 48 };
enum { INDEX_HAS_START = 1, INDEX_HAS_END = 2, INDEX_IS_CORE = 4 };

/* A piece of text or json. */
struct index_ref {
	uint64_t at : 40, len : 24;
};

/* Where a record is: the first seq of its segment, and the line there. */
struct index_place {
	uint64_t segment, offset;
	uint32_t len;
};

struct index_row {
	char run[INDEX_RUN]; /* other letters than of a run id are '?' */
	uint8_t flags, kind; /* enum end_kind, END_KIND_MAX: another */
	int32_t code;        /* exit status or signal; -1: none */
	uint32_t real_uid;
	uint32_t denials; /* different ones */
	uint8_t user_width, profile_width, program_width;
	uint64_t start_ns, end_ns;                            /* 0: no such record */
	uint64_t wall_ns, cpu_ns, memory_bytes, output_bytes; /* UNKNOWN */
	struct index_ref user, profile, program;              /* safe text */
	struct index_ref labels;                              /* key NUL value NUL ... */
	struct index_ref start_json, end_json;
	struct index_ref end_search;           /* execs and denials, as the record has them */
	struct index_ref start_kept, end_kept; /* index_kept_next() */
	struct index_place start, end;
};

struct index_head {
	char magic[8];
	uint32_t version, row_size;
	uint64_t rows, text_bytes, json_bytes;
	uint64_t oldest;           /* first seq of the oldest segment */
	uint64_t segment, covered; /* up to where: first seq of a segment, bytes of it */
	uint64_t last_len;         /* of the last line before that */
	char last_sha256[65];
	uint64_t bad; /* lines that were no records */
};

/* What a record calls kept, in text: letter, where NUL name NUL. */
enum { INDEX_KEPT_SCRIPT = 's', INDEX_KEPT_OUTPUT = 'o' };

/* A file that grows: what is in it, and what is still to be written. */
struct index_area {
	int fd;
	const char *map;
	uint64_t len; /* with what is in the buffer */
	char *buffer;
	size_t held;
	bool is_full; /* the disk is: what is in here is not whole */
};

/* The text of the row before, which is often the same. */
struct index_seen {
	char text[64];
	struct index_ref ref;
};

struct index {
	struct cmd_log *log;
	struct index_head head;
	struct index_area text, json;
	int rows_fd, folder_fd, lock_fd; /* folder -1: in memory */
	struct index_row *rows;          /* head.rows of them */
	uint64_t room, loaded;           /* for how many; how many the file has */
	uint64_t *first_seqs;            /* of each of log->segments; 0: empty */
	struct span *maps;               /* of segments, while records are read */
	struct index_seen user, profile;
	struct arena arena; /* of what a record needs while it is looked at */
	uint64_t arena_records;
	bool is_changed; /* there is something to write */
};

/* Opens the log and brings the index up to date; -1 after saying why. */
int index_open(struct index *index, struct cmd_log *log, const char *dir, struct arena *arena);
void index_close(struct index *index);
/* EXIT_BAD, and a word on it, when the log has lines that are no records. */
int index_status(const struct index *index);

struct bytes index_text(const struct index *index, struct index_ref ref);
struct bytes index_json(const struct index *index, struct index_ref ref);

/* The next thing kept of a list, which gets shorter; false at its end. */
struct index_kept {
	char letter;              /* INDEX_KEPT_ */
	const char *where, *name; /* "script", "stdout"; "output/NAME" */
};
bool index_kept_next(struct bytes *list, struct index_kept *ret);
/* A member of json text; .at NULL: there is none of that name. */
struct span index_member(struct bytes members, const char *key);

/* The record itself: as a line, or parsed; NULL when it is not there. */
struct span index_line(struct index *index, const struct index_place *place);
json_t *index_record(struct index *index, const struct index_place *place);

/* "running", "finished", "unfinished". */
const char *index_state(const struct index *index, const struct index_row *row);

/* cmd_index_file.c: the three files, and their place in memory. */
int index_files_open(struct index *index, bool in_memory);
void index_files_forget(struct index *index); /* starts anew with empty ones */
void index_put(struct index_area *area, const void *data, size_t len, struct index_ref *ret);
/* Writes what is held, then the head: -1 when there is no room. */
int index_files_write(struct index *index);
/* What was written, into memory to read; others may have the files now. */
int index_files_map(struct index *index);
void index_files_close(struct index *index);
/* Both move the rows: no pointer to one outlives them. */
struct index_row *index_row_add(struct index *index);
void index_row_changed(struct index *index, uint64_t number);

/* cmd_index_build.c: rows from the lines behind head.covered. False: it does not fit the log. */
bool index_build(struct index *index);

/* cmd_index_row.c: what is taken from a record. */
struct index_fields {
	struct span type, run, time, who, argv, profile, labels, end, usage, denials, dropped;
	struct span out, err, in, seq, files, execs;
};
/* The command, as far as it fits into so many columns. */
const char *index_program_text(struct arena *arena, const json_t *argv, size_t columns);
void index_row_start(struct index *index, struct index_row *row, const struct index_fields *fields);
void index_row_end(struct index *index, struct index_row *row, const struct index_fields *fields);

#endif
