// SPDX-License-Identifier: Apache-2.0
#include <limits.h>
#include <string.h>

#include "explain.h"
#include "keys.h"
#include "profile_internal.h"

enum { INDENT = 7 };

/* A profile's text as lines; whoever edits it leaves all others as they are. */
struct lines {
	struct arena *arena;
	const char **items;
	size_t count;
};

static void split(struct lines *lines, const char *text)
{
	while (*text != '\0') {
		size_t len = strcspn(text, "\n");

		*ARENA_PUSH(lines->arena, lines->items, lines->count) =
			arena_strndup(lines->arena, text, len);
		text += len + (text[len] == '\n');
	}
}

static void insert(struct lines *lines, size_t at, const char *text)
{
	(void)ARENA_PUSH(lines->arena, lines->items, lines->count);
	memmove(&lines->items[at + 1], &lines->items[at],
		(lines->count - 1 - at) * sizeof(*lines->items));
	lines->items[at] = text;
}

static bool is_header(const char *line)
{
	return line[strspn(line, " \t")] == '[';
}

static bool is_header_of(const char *line, const char *section)
{
	size_t len = strlen(section);

	line += strspn(line, " \t");
	return line[0] == '[' && strncmp(line + 1, section, len) == 0 && line[len + 1] == ']';
}

static bool is_key(const char *line, const char *key)
{
	size_t len = strlen(key);

	return strncmp(line, key, len) == 0 && line[len + strspn(line + len, " \t")] == '=';
}

/* An indented line goes on with the list above it. */
static bool continues(const char *line)
{
	return (line[0] == ' ' || line[0] == '\t') && line[strspn(line, " \t")] != '\0';
}

/* Behind the last line of the section that is neither blank nor a comment of what follows. */
static size_t end_of(const struct lines *lines, size_t at)
{
	size_t end = at + 1;

	for (size_t i = at + 1; i < lines->count && !is_header(lines->items[i]); i++) {
		const char *text = lines->items[i] + strspn(lines->items[i], " \t");

		if (*text != '\0' && *text != ';' && *text != '#')
			end = i + 1;
	}
	return end;
}

/* Where the key's line belongs in the section that begins at `header`; *ret_old: a line of a
 * key that has one value only, which it replaces. */
static size_t place_in(const struct lines *lines, size_t header, const struct change *change,
		       bool *ret_old)
{
	size_t at = end_of(lines, header);

	for (size_t i = header + 1; i < lines->count && !is_header(lines->items[i]); i++) {
		if (!is_key(lines->items[i], change->key))
			continue;
		*ret_old = !key_is_list(change->known);
		at = *ret_old ? i : i + 1;
		while (!*ret_old && at < lines->count && continues(lines->items[at]))
			at++;
	}
	return at;
}

/* A line with those that it is joined with, of which `at` is the last then: see below. No value
 * is longer than a path. */
static const char *whole(const struct lines *lines, size_t *at)
{
	const char *text = lines->items[*at];
	size_t len;

	while ((len = strlen(text)) > 0 && text[len - 1] == '\\' && len < PATH_MAX &&
	       *at + 1 < lines->count) {
		const char *next = lines->items[++*at];

		text = arena_printf(lines->arena, "%.*s%s", (int)len - 1, text,
				    next + strspn(next, " \t"));
	}
	return text;
}

/* A line has a length that a path may go beyond: then it ends with "\" and goes on indented. No
 * piece begins with what would be a comment: both are written as codes in a value. */
static void insert_whole(struct lines *lines, size_t at, const char *line)
{
	const size_t most = PROFILE_LINE_BYTES - 1;

	if (strlen(line) <= PROFILE_LINE_BYTES) {
		insert(lines, at, line);
		return;
	}
	for (size_t indent = 0; *line != '\0'; indent = INDENT) {
		size_t len = strlen(line), room = most - indent;

		/* never within a character */
		while (len > room && ((unsigned char)line[room] & 0xc0) == 0x80)
			room--;
		insert(lines, at++,
		       arena_printf(lines->arena, "%*s%.*s%s", (int)indent, "",
				    (int)(len > room ? room : len), line, len > room ? "\\" : ""));
		line += len > room ? room : len;
	}
}

/* The very line, or the value in the list of its key. */
static bool is_there(const struct lines *lines, const struct change *change)
{
	bool in_section = false, in_list = false;

	for (size_t i = 0; i < lines->count; i++) {
		const char *line = whole(lines, &i);

		if (is_header(line))
			in_section = is_header_of(line, change->section);
		in_list = in_section && (is_key(line, change->key) || (in_list && continues(line)));
		if (!in_list)
			continue;
		if (is_key(line, change->key))
			line = strchr(line, '=') + 1;
		line += strspn(line, " \t-");
		if (strcmp(line, change->value) == 0)
			return true;
	}
	return false;
}

static void append_section(struct lines *lines, const struct change *change)
{
	if (lines->count > 0 && lines->items[lines->count - 1][0] != '\0')
		insert(lines, lines->count, "");
	insert(lines, lines->count, arena_printf(lines->arena, "[%s]", change->section));
}

static void apply(struct lines *lines, const struct change *change)
{
	const char *line = arena_printf(lines->arena, "%s = %s", change->key, change->value);
	bool found = false, old = false;
	size_t at = 0;

	if (is_there(lines, change))
		return;
	for (size_t i = 0; i < lines->count && !old; i++)
		if (is_header_of(lines->items[i], change->section)) {
			found = true;
			at = place_in(lines, i, change, &old);
		}
	if (old) {
		lines->items[at] = line;
		return;
	}
	if (!found) {
		append_section(lines, change);
		at = lines->count;
	}
	insert_whole(lines, at, line);
}

const char *explain_edit(struct arena *arena, const char *text, const struct change *changes,
			 size_t count)
{
	struct lines lines = {.arena = arena};
	size_t size = 1;

	split(&lines, text);
	for (size_t i = 0; i < count; i++)
		apply(&lines, &changes[i]);
	for (size_t i = 0; i < lines.count; i++)
		size += strlen(lines.items[i]) + 1;
	char *out = arena_alloc(arena, size), *at = out;
	for (size_t i = 0; i < lines.count; i++)
		at = stpcpy(stpcpy(at, lines.items[i]), "\n");
	return out;
}
