// SPDX-License-Identifier: Apache-2.0
#include "profile_internal.h"

#include <ctype.h>
#include <string.h>

static const char known_variables[] = "${cwd}, ${home}, ${user}, ${uid}, ${0xHH} for a byte";

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* The value of 0xHH, or -1. */
static int byte_variable(const char *name, size_t len)
{
	if (len != 4 || name[0] != '0' || name[1] != 'x' || hex_digit(name[2]) < 0 ||
	    hex_digit(name[3]) < 0)
		return -1;
	return hex_digit(name[2]) * 16 + hex_digit(name[3]);
}

static int expand_fact(const struct place *place, const char *name, const char *value,
		       struct text *out, struct error *err)
{
	if (value == NULL || value[0] == '\0')
		return place_error(place, err, "${%s} is not known for this caller: %s", name,
				   strcmp(name, "cwd") == 0
					   ? "the current folder is gone or out of reach; go to "
					     "another one, or name the path in the profile"
					   : "write it out");
	text_puts(out, value);
	return 0;
}

static int expand_one(const struct place *place, const struct profile_context *context,
		      const char *name, size_t len, struct text *out, struct error *err)
{
	int byte = byte_variable(name, len);

	if (byte == 0)
		return place_error(place, err, "${0x00} cannot stand in a value");
	if (byte > 0) {
		text_add(out, &(char){(char)byte}, 1);
		return 0;
	}
	if (len == 3 && memcmp(name, "cwd", len) == 0)
		return expand_fact(place, "cwd", context->cwd, out, err);
	if (len == 4 && memcmp(name, "home", len) == 0)
		return expand_fact(place, "home", context->home, out, err);
	if (len == 4 && memcmp(name, "user", len) == 0)
		return expand_fact(place, "user", context->user, out, err);
	if (len == 3 && memcmp(name, "uid", len) == 0) {
		text_printf(out, "%u", (unsigned int)context->uid);
		return 0;
	}
	return place_error(place, err, "${%s} is not a variable (%s)",
			   text_show_bare(place->arena, arena_strndup(place->arena, name, len)),
			   known_variables);
}

int value_expand(const struct place *place, const struct profile_context *context, const char *raw,
		 char **ret_text, bool *ret_cwd, struct error *err)
{
	struct text out = {.arena = place->arena};
	bool cwd = false;

	for (const char *at = raw; *at != '\0';) {
		size_t plain = strcspn(at, "$");

		text_add(&out, at, plain);
		at += plain;
		if (at[0] == '$' && at[1] != '{')
			text_add(&out, at++, 1);
		if (at[0] != '$' || at[1] != '{')
			continue;
		const char *end = strchr(at, '}');

		if (end == NULL)
			return place_error(place, err, "\"${\" without \"}\" (%s; ${0x24} is a $)",
					   known_variables);
		if (expand_one(place, context, at + 2, (size_t)(end - at - 2), &out, err) < 0)
			return -1;
		cwd |= strncmp(at, "${cwd}", 6) == 0;
		at = end + 1;
	}
	*ret_text = text_string(&out);
	*ret_cwd = cwd;
	return 0;
}
