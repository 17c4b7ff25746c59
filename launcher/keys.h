// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_KEYS_H
#define SBOX_KEYS_H

#include <stdbool.h>
#include <stddef.h>

#include "profile.h"

/* How a key's text is read, checked and dumped. */
enum key_type {
	KEY_TEXT,     /* one string, const char *; a second one is an error */
	KEY_WORD,     /* one of `words`, an enum stored as int */
	KEY_SIZE,     /* bytes, uint64_t: 512, 64K, 2G, 1T (powers of 1024) */
	KEY_DURATION, /* milliseconds, uint64_t: 500ms, 10s, 5m, 2h, 1d; 1.5s */
	KEY_COUNT,    /* uint64_t */
	KEY_MILLI,    /* thousandths, uint64_t: 2, 0.5 */
	KEY_PATHS,    /* struct path_list, one path a line, "-" prefix: may be absent */
	KEY_TOKENS,   /* struct string_list, commas or lines */
	KEY_LINES,    /* struct string_list, one a line, taken whole */
	KEY_TYPE_MAX
};

struct key {
	const char *section, *name;
	enum key_type type;
	size_t offset; /* in struct profile */
	const char *default_text;
	const char *words;
	const char *help;
};

extern const struct key key_table[KEY_MAX];

/* The key, or NULL. */
const struct key *key_find(const char *section, const char *name);
/* Nearest known name for "did you mean", or NULL when nothing is near. */
const char *key_nearest(const char *section, const char *name);
const char *key_nearest_section(const char *section);
/* The first key of this name in any section, or NULL: for "it belongs in [x]". */
const struct key *key_find_elsewhere(const char *name);
bool key_is_section(const char *section);
/* A list adds to what was inherited; everything else replaces it. */
bool key_is_list(const struct key *key);

/* The KEYS part of sbox.ini(5), as roff (mdoc). Allocated in the arena. */
char *keys_manual(struct arena *arena);
/* A profile with every key, its help as a comment and its default: profiles/reference.ini. */
char *keys_reference(struct arena *arena);
/* The JSON schema of a profile as an object of sections, each an object of keys. */
char *keys_schema(struct arena *arena);

static inline enum key_id key_id(const struct key *key)
{
	return (enum key_id)(key - key_table);
}

#endif
