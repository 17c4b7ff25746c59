// SPDX-License-Identifier: Apache-2.0
#include "explain.h"

#include <string.h>

#include "file_entries.h"
#include "keys.h"

/* Read is part of exec, exec of write. 0: not one of them. */
static int rank(const struct change *change)
{
	static const char *const keys[] = {"read", "exec", "write"};

	if (strcmp(change->section, "file") != 0)
		return 0;
	for (int i = 0; i < 3; i++)
		if (strcmp(change->key, keys[i]) == 0)
			return i + 1;
	return 0;
}

static bool parse(struct arena *arena, const char *line, struct change *ret)
{
	const char *end = strchr(line, ']');
	const char *equals = end != NULL ? strchr(end, '=') : NULL;

	if (line[0] != '[' || equals == NULL || end[1] != ' ' || equals < end + 3 ||
	    equals[-1] != ' ' || equals[1] != ' ')
		return false;
	/* one line of a profile, never two, whatever a record says */
	for (const char *at = line; *at != '\0'; at++)
		if ((unsigned char)*at < ' ' || *at == 0x7f)
			return false;
	ret->section = arena_strndup(arena, line + 1, (size_t)(end - line) - 1);
	ret->key = arena_strndup(arena, end + 2, (size_t)(equals - end) - 3);
	ret->value = arena_strdup(arena, equals + 2);
	ret->known = key_find(ret->section, ret->key);
	return ret->known != NULL;
}

static bool covers(const struct change *wide, const struct change *narrow)
{
	if (rank(wide) == 0 || rank(narrow) == 0)
		return strcmp(wide->section, narrow->section) == 0 &&
		       strcmp(wide->key, narrow->key) == 0 &&
		       (!key_is_list(wide->known) || strcmp(wide->value, narrow->value) == 0);
	return rank(wide) >= rank(narrow) && path_is_below(narrow->value, wide->value);
}

static void add(struct arena *arena, struct change **items, size_t *count,
		const struct change *change)
{
	size_t kept = 0;

	for (size_t i = 0; i < *count; i++)
		if (covers(&(*items)[i], change))
			return;
	for (size_t i = 0; i < *count; i++)
		if (!covers(change, &(*items)[i]))
			(*items)[kept++] = (*items)[i];
	/* the array only grows where ARENA_PUSH expects it to */
	struct change *copy = arena_alloc(arena, (kept + 1) * sizeof(*copy));
	if (kept > 0)
		memcpy(copy, *items, kept * sizeof(*copy));
	copy[kept] = *change;
	*items = copy;
	*count = kept + 1;
}

void explain_find_changes(struct explain *explain, const struct profile_context *context, bool all)
{
	const json_t *denials = json_object_get(explain->end, "denials"), *denial;
	size_t i;

	json_array_foreach((json_t *)denials, i, denial)
	{
		const char *permit = json_string_value(json_object_get(denial, "permit"));
		const char *op = json_string_value(json_object_get(denial, "op"));
		struct change change;

		/* a name that was only asked about is seldom what a program fails for */
		if (permit == NULL || (!all && op != NULL && strcmp(op, "look") == 0) ||
		    !parse(explain->arena, permit, &change))
			continue;
		if (!all && explain_is_for_a_person(explain, context, &change))
			add(explain->arena, &explain->left_out, &explain->left_out_count, &change);
		else
			add(explain->arena, &explain->changes, &explain->change_count, &change);
	}
}
