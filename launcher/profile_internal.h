// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_PROFILE_INTERNAL_H
#define SBOX_PROFILE_INTERNAL_H

#include "keys.h"
#include "profile.h"
#include "sha256.h"

/*
 * From a name to a profile:
 *
 *   profile_lookup.c   name -> path, and the note or the "not found"
 *   profile_file.c     path -> bytes: opened once, owner and mode checked by fd
 *   profile_ini.c      bytes -> document: inih behind a guard, keys known, no duplicates
 *   profile_value.c    text -> number or word: one function a type
 *   profile_expand.c   ${cwd}, ${home}, ${user}, ${uid}, ${0xHH}
 *   profile_token.c    what an element of a list, or a text, may look like
 *   profile_list.c     text -> list elements; adding, clearing
 *   profile_write.c    what may not be writable; a profile protects itself
 *   profile_load.c     the whole: extends, then own keys, then --set
 *   profile_dump.c     profile -> INI
 *   profile_manual.c   key table -> manual page
 *   profile_text.c     growing text, and values made fit for a message
 */

enum {
	PROFILE_FILE_BYTES = 1024 * 1024,
	/* inih's buffer is 200 bytes; the line end and the NUL are in it. */
	PROFILE_LINE_BYTES = 198,
	PROFILE_SECTION_BYTES = 49,
	PROFILE_EXTENDS_DEPTH = 8,
	PROFILE_FILES = 64,
	PROFILE_PATH_BYTES = 4095,
};

/* Text that grows in an arena. */
struct text {
	struct arena *arena;
	char *data; /* NULL while empty */
	size_t len, size;
};

void text_add(struct text *text, const char *data, size_t len);
void text_puts(struct text *text, const char *string);
void text_printf(struct text *text, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The text so far, terminated; never NULL. */
char *text_string(struct text *text);
/* A value in quotes for a message: control bytes as ${0xHH}, long ones cut. */
const char *text_show(struct arena *arena, const char *value);
/* The same without quotes, for file names. */
const char *text_show_bare(struct arena *arena, const char *value);

/* Where a value stands, for messages and origins. */
struct place {
	struct arena *arena;
	const char *file; /* shown name; "--set" for an override */
	int line;
	const struct key *key;
	const char *override; /* the override's text, or NULL */
};

/* "[section] key: ..." at file and line, or "--set TEXT: ...". Returns -1. */
int place_error(const struct place *place, struct error *err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* One file, read once. */
struct source {
	const char *path;  /* what is opened: absolute */
	const char *shown; /* what messages call it */
	char *bytes;       /* and a NUL */
	size_t size;
	dev_t device;
	ino_t inode;
	bool open; /* on the way from the asked-for profile down to the one being read */
};

int source_read(struct arena *arena, uid_t uid, struct source *source, struct error *err);

/* Where links lead, or the path itself when it leads nowhere. */
const char *path_resolved(struct arena *arena, const char *path);

/* `found->path` and `found->shown` are filled. */
int lookup_profile(struct arena *arena, const struct profile_context *context, const char *name,
		   struct source *found, struct error *err);
/* Why nothing was found: the folders, and the nearest name. */
/* No folder has a profile of that name. */
bool lookup_is_absent(struct arena *arena, const struct profile_context *context, const char *name);
const char *lookup_missing(struct arena *arena, const struct profile_context *context,
			   const char *name);
/* One line on a name that could have meant another file, or NULL. */
const char *lookup_note(struct arena *arena, const struct profile_context *context,
			const char *name, const struct source *taken);
/* "dir/agent.ini" -> "agent" */
const char *lookup_bare_name(struct arena *arena, const char *name);

/* One line of a value; pieces ended by a backslash are already joined. */
struct piece {
	const char *text;
	int line;
};

struct entry {
	const struct key *key; /* &key_extends for [profile] extends */
	int line;
	struct piece *pieces; /* none: explicitly empty */
	size_t count;
};

struct document {
	struct entry *entries;
	size_t count;
};

extern const struct key key_extends;

int ini_document(struct arena *arena, const struct source *source, struct document *ret_document,
		 struct error *err);

/* Each gives NULL and the value, or what is wrong: "is not a size (...)". */
const char *value_size(const char *text, uint64_t *ret);
const char *value_duration(const char *text, uint64_t *ret);
const char *value_count(const char *text, uint64_t *ret);
const char *value_milli(const char *text, uint64_t *ret);
const char *value_word(const char *words, const char *text, int *ret);
/* Reads the text of a scalar key and stores it in the profile. */
int value_store(const struct place *place, const struct profile_context *context, const char *text,
		struct profile *profile, struct error *err);
/* Words of a WORD key: the nth, and its length; NULL past the end. */
const char *value_word_at(const char *words, size_t index, size_t *ret_len);

int value_expand(const struct place *place, const struct profile_context *context, const char *raw,
		 char **ret_text, bool *ret_cwd, struct error *err);

/* NULL, or what is wrong with one element or text: a whole clause with the value in it. */
const char *token_fault(struct arena *arena, const struct key *key, const char *text);
bool token_is_name(const char *text, size_t len);

/* A list while files are still adding to it. */
struct element {
	const char *text;
	bool optional;    /* paths: "-" */
	bool cwd;         /* ${cwd} stands in it */
	const char *real; /* write paths, once checked: where links lead */
	const char *file;
	int line;
};

struct element_list {
	struct element *items;
	size_t count;
};

int list_add(const struct place *place, const struct profile_context *context, const char *text,
	     struct element_list *list, struct error *err);
void list_store(struct arena *arena, const struct key *key, const struct element_list *list,
		struct profile *profile);
/* profile_dump.c: "NAME = VALUE" as a profile has it, the value so that it reads back the same;
 * before: text in front of it that is the writer's own ("-", "${cwd}"); whole: on one line. */
char *profile_line(struct arena *arena, const struct key *key, const char *before,
		   const char *value, bool whole);
/* One key of profile_dump(). */
char *profile_key_text(struct arena *arena, const struct profile *profile, const struct key *key);
/* True when path is root, or lies below it. */
bool path_below(const char *path, const char *root);

int write_check(struct arena *arena, const struct profile_context *context,
		struct element_list *list, struct error *err);
/* After write_check: adds a profile file that lies below a write path to the protect list. */
void write_protect_source(struct arena *arena, const struct element_list *writes,
			  const struct source *source, struct element_list *protect);

#endif
