// SPDX-License-Identifier: Apache-2.0
#include "redact.h"

#include <fnmatch.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static bool matches(const char *pattern, const char *text)
{
	return fnmatch(pattern, text, 0) == 0;
}

/* "--token=VALUE": does the part before '=' match, and where does the value begin? */
static bool matches_name(const char *pattern, const char *arg, size_t *ret_value)
{
	char name[256];
	size_t length = strcspn(arg, "=");

	if (arg[length] != '=' || length >= sizeof(name))
		return false;
	memcpy(name, arg, length);
	name[length] = '\0';
	if (!matches(pattern, name))
		return false;
	*ret_value = length + 1;
	return true;
}

static bool is_letter_option(const char *pattern)
{
	return pattern[0] == '-' && pattern[1] != '-' && pattern[1] != '\0' && pattern[2] == '\0';
}

static size_t keep_option(const char *pattern, const char *arg, const char *previous)
{
	size_t value;

	if (previous != NULL && matches(pattern, previous))
		return 0;
	if (matches_name(pattern, arg, &value))
		return value;
	if (is_letter_option(pattern) && strncmp(arg, pattern, 2) == 0 && arg[2] != '\0')
		return 2;
	return SIZE_MAX;
}

static size_t keep_by(const char *pattern, const char *arg, const char *previous)
{
	if (pattern[0] == '-' && strchr(pattern, '=') == NULL)
		return keep_option(pattern, arg, previous);
	if (!matches(pattern, arg))
		return SIZE_MAX;
	if (strchr(pattern, '=') == NULL)
		return 0;
	/* A pattern's '=' may stand in a bracket: then nothing is known to be a mere name. */
	const char *equals = strchr(arg, '=');
	return equals == NULL ? 0 : (size_t)(equals - arg) + 1;
}

size_t redact_keep(const struct string_list *patterns, const char *arg, const char *previous)
{
	size_t keep = SIZE_MAX;

	for (size_t i = 0; i < patterns->count; i++) {
		size_t one = keep_by(patterns->items[i], arg, previous);

		if (one < keep)
			keep = one;
	}
	return keep;
}

const char *redact_argument(struct arena *arena, const struct string_list *patterns,
			    const char *arg, const char *previous)
{
	size_t keep = redact_keep(patterns, arg, previous);

	if (keep == SIZE_MAX)
		return arg;
	char *text = arena_alloc(arena, keep + sizeof(REDACTED));
	memcpy(text, arg, keep);
	memcpy(text + keep, REDACTED, sizeof(REDACTED));
	return text;
}
