// SPDX-License-Identifier: Apache-2.0
#include "keys.h"

#include <string.h>

#include "nearest.h"

/* The field's type must be the one that the key's type stores. A WORD is an enum, stored as int. */
#define FIELD_OF_KEY_TEXT     const char *
#define FIELD_OF_KEY_WORD     unsigned int
#define FIELD_OF_KEY_SIZE     uint64_t
#define FIELD_OF_KEY_DURATION uint64_t
#define FIELD_OF_KEY_COUNT    uint64_t
#define FIELD_OF_KEY_MILLI    uint64_t
#define FIELD_OF_KEY_PATHS    struct path_list
#define FIELD_OF_KEY_TOKENS   struct string_list
#define FIELD_OF_KEY_LINES    struct string_list

#define KEY(id, section_, name_, type_, field_, default_, words_, help_)                           \
	_Static_assert(                                                                            \
		_Generic(((struct profile *)0)->field_, FIELD_OF_##type_ : 1, default : 0) == 1 && \
			sizeof(((struct profile *)0)->field_) == sizeof(FIELD_OF_##type_),         \
		section_ "." name_ ": the field does not fit the key's type");
#include "keys.def"
#undef KEY

const struct key key_table[KEY_MAX] = {
#define KEY(id, section_, name_, type_, field_, default_, words_, help_)                           \
	[KEY_##id] = {.section = section_,                                                         \
		      .name = name_,                                                               \
		      .type = type_,                                                               \
		      .offset = offsetof(struct profile, field_),                                  \
		      .default_text = default_,                                                    \
		      .words = words_,                                                             \
		      .help = help_},
#include "keys.def"
#undef KEY
};

const struct key *key_find(const char *section, const char *name)
{
	for (size_t i = 0; i < KEY_MAX; i++)
		if (strcmp(key_table[i].section, section) == 0 &&
		    strcmp(key_table[i].name, name) == 0)
			return &key_table[i];
	return NULL;
}

const char *key_nearest(const char *section, const char *name)
{
	struct nearest nearest = {.wanted = name};

	for (size_t i = 0; i < KEY_MAX; i++)
		if (strcmp(key_table[i].section, section) == 0)
			nearest_consider(&nearest, key_table[i].name);
	return nearest.best;
}

const char *key_nearest_section(const char *section)
{
	struct nearest nearest = {.wanted = section};

	for (size_t i = 0; i < KEY_MAX; i++)
		nearest_consider(&nearest, key_table[i].section);
	return nearest.best;
}

bool key_is_list(const struct key *key)
{
	return key->type == KEY_PATHS || key->type == KEY_TOKENS || key->type == KEY_LINES;
}

bool key_is_section(const char *section)
{
	for (size_t i = 0; i < KEY_MAX; i++)
		if (strcmp(key_table[i].section, section) == 0)
			return true;
	return false;
}

const struct key *key_find_elsewhere(const char *name)
{
	for (size_t i = 0; i < KEY_MAX; i++)
		if (strcmp(key_table[i].name, name) == 0)
			return &key_table[i];
	return NULL;
}
