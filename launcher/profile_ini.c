// SPDX-License-Identifier: Apache-2.0
/*
 * inih reads the lines; this file decides which lines it gets to see.
 *
 * QUIRK(inih): as distributions build it (r55: 200-byte lines, no line numbers,
 * goes on after an error) it cuts long lines and section names, stops a line at
 * a NUL, hands keys below a broken header to the section before, ignores text
 * after ']', and takes an indented line as more of the key above. So a guard
 * checks each line first and counts it, the handler checks each key, and a
 * document is good only when guard, handler and return code all say so.
 * test_profile.c pins each of these.
 */
#include "profile_internal.h"

#include <ini.h>
#include <string.h>

#include "nearest.h"

struct reading {
	struct arena *arena;
	const struct source *source;
	struct document *document;
	struct error *err;
	size_t at;
	int line;
	bool indented; /* the line being handed over continues a key */
	bool key_open; /* there is a key above in this section */
	bool joined;   /* the last piece ended in a backslash: more must follow */
	bool failed;
	char section[PROFILE_SECTION_BYTES + 1];
};

const struct key key_extends = {
	.section = "profile",
	.name = "extends",
	.type = KEY_TOKENS,
	.default_text = "",
	.words = "",
	.help = "profiles to start from: names, or paths relative to this file, separated by "
		"commas; a leading \"-\" for one that may be absent",
};

#define FAIL(reading, ...)                                                                         \
	((reading)->failed = true,                                                                 \
	 error_at((reading)->err, (reading)->source->shown, (reading)->line, __VA_ARGS__))

static int check_bytes(struct reading *reading, const char *line, size_t len)
{
	if (len > PROFILE_LINE_BYTES)
		return FAIL(reading,
			    "the line has %zu bytes, %d is the most: end it with \\ and go on "
			    "indented on the next line",
			    len, PROFILE_LINE_BYTES);
	if (reading->line == 1 && len >= 3 && memcmp(line, "\xef\xbb\xbf", 3) == 0)
		return FAIL(reading, "the file begins with a byte order mark: save it without");
	for (size_t i = 0; i < len; i++) {
		unsigned char byte = (unsigned char)line[i];

		if (byte == '\0')
			return FAIL(reading, "byte 0x00 at column %zu: no value can hold it",
				    i + 1);
		if ((byte < ' ' && byte != '\t') || byte == 0x7f)
			return FAIL(reading, "byte 0x%02x at column %zu: write it as ${0x%02x}",
				    byte, i + 1, byte);
	}
	return 0;
}

/* "[name]", then nothing but blanks or " ; comment". */
static int check_section(struct reading *reading, const char *line)
{
	const char *close = strchr(line, ']');

	if (close == NULL)
		return FAIL(reading, "%s has no ]", text_show(reading->arena, line));
	size_t len = (size_t)(close - line) - 1;
	const char *name = arena_strndup(reading->arena, line + 1, len);
	const char *shown = text_show_bare(reading->arena, name);
	const char *rest = close + 1 + strspn(close + 1, " \t");

	if (len > PROFILE_SECTION_BYTES)
		return FAIL(reading, "section name of %zu bytes, %d is the most", len,
			    PROFILE_SECTION_BYTES);
	if (*rest != '\0' && (*rest != ';' || rest == close + 1))
		return FAIL(reading, "%s after [%s]: put it on a line of its own",
			    text_show(reading->arena, rest), shown);
	if (!key_is_section(name)) {
		const char *near = key_nearest_section(name);

		return FAIL(reading, "[%s] is not a section%s%s%s", shown,
			    near ? "; did you mean [" : ": see sbox.ini(5)", near ? near : "",
			    near ? "]?" : "");
	}
	memcpy(reading->section, name, len + 1);
	reading->key_open = false;
	return 0;
}

/* "name =": inih would take "name: value" and strange names as well. */
static int check_key(struct reading *reading, const char *line)
{
	size_t name = strspn(line, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				   "0123456789_-.");
	size_t equals = name + strspn(line + name, " \t");

	if (name == 0 || line[equals] != '=')
		return FAIL(reading, "%s is not \"key = value\", a [section] or a ; comment",
			    text_show(reading->arena, line));
	return 0;
}

static int check_line(struct reading *reading, const char *line)
{
	const char *start = line + strspn(line, " \t");
	bool empty = *start == '\0' || *start == ';' || *start == '#';

	reading->indented = start > line;
	if (reading->joined && (empty || !reading->indented))
		return FAIL(reading,
			    "the line before ends in \\ but this one does not continue it: indent "
			    "it, or write a last backslash as ${0x5c}");
	if (empty)
		return 0;
	if (reading->indented && !reading->key_open)
		return FAIL(reading, "an indented line continues a key, and there is none above");
	if (reading->indented)
		return 0;
	return *start == '[' ? check_section(reading, start) : check_key(reading, start);
}

/* ini_reader: one checked line with its newline, or NULL at the end or on an error. */
static char *read_line(char *buffer, int size, void *stream)
{
	struct reading *reading = stream;
	const char *line = reading->source->bytes + reading->at;
	size_t left = reading->source->size - reading->at;

	if (reading->failed || left == 0)
		return NULL;
	const char *newline = memchr(line, '\n', left);
	size_t len = newline ? (size_t)(newline - line) : left;

	reading->line++;
	reading->at += newline ? len + 1 : len;
	if (newline && len > 0 && line[len - 1] == '\r')
		len--;
	if (check_bytes(reading, line, len) < 0)
		return NULL;
	if ((size_t)size < len + 2) {
		FAIL(reading, "the INI library's line buffer has only %d bytes", size);
		return NULL;
	}
	memcpy(buffer, line, len);
	buffer[len] = '\0';
	if (check_line(reading, buffer) < 0)
		return NULL;
	memcpy(buffer + len, "\n", 2);
	return buffer;
}

static int unknown_key(struct reading *reading, const char *section, const char *name)
{
	const struct key *elsewhere = key_find_elsewhere(name);
	struct nearest nearest = {.wanted = name, .best = key_nearest(section, name)};
	const char *shown = text_show_bare(reading->arena, name);

	if (elsewhere != NULL)
		return FAIL(reading, "[%s] has no key %s; it belongs in [%s]", section, shown,
			    elsewhere->section);
	if (nearest.best == NULL && strcmp(section, "profile") == 0)
		nearest_consider(&nearest, key_extends.name);
	if (nearest.best != NULL)
		return FAIL(reading, "[%s] has no key %s; did you mean %s?", section, shown,
			    nearest.best);
	return FAIL(reading, "[%s] has no key %s: see sbox.ini(5)", section, shown);
}

/* QUIRK(inih): r55 cuts " ; comment" off a key's first line only, later releases off each. */
static const char *without_comment(struct arena *arena, const char *value)
{
	size_t len = strlen(value);

	for (size_t i = 1; i < len; i++)
		if (value[i] == ';' && (value[i - 1] == ' ' || value[i - 1] == '\t'))
			len = i - 1;
	while (len > 0 && (value[len - 1] == ' ' || value[len - 1] == '\t'))
		len--;
	return arena_strndup(arena, value, len);
}

/* Adds one line of value to the last entry. */
static void add_piece(struct reading *reading, const char *value)
{
	struct entry *entry = &reading->document->entries[reading->document->count - 1];
	size_t len = strlen(value);
	bool more = len > 0 && value[len - 1] == '\\';
	const char *text = arena_strndup(reading->arena, value, more ? len - 1 : len);

	if (reading->joined && entry->count > 0) {
		struct piece *last = &entry->pieces[entry->count - 1];

		last->text = arena_printf(reading->arena, "%s%s", last->text, text);
	} else if (len > 0) {
		struct piece *piece = ARENA_PUSH(reading->arena, entry->pieces, entry->count);

		*piece = (struct piece){.text = text, .line = reading->line};
	}
	reading->joined = more;
}

/* ini_handler: 1 is good. */
static int handle_key(void *user, const char *section, const char *name, const char *value)
{
	struct reading *reading = user;
	struct document *document = reading->document;
	const struct key *key = key_find(section, name);

	if (reading->failed)
		return 0;
	if (strcmp(section, key_extends.section) == 0 && strcmp(name, key_extends.name) == 0)
		key = &key_extends;
	if (reading->section[0] == '\0')
		return FAIL(reading, "%s stands before the first [section]",
			    text_show_bare(reading->arena, name)),
		       0;
	if (strcmp(section, reading->section) != 0)
		return FAIL(reading, "the INI library lost the section [%s]", reading->section), 0;
	if (!reading->indented && key == NULL)
		return unknown_key(reading, section, name), 0;
	if (!reading->indented) {
		struct entry *entry =
			ARENA_PUSH(reading->arena, document->entries, document->count);

		*entry = (struct entry){.key = key, .line = reading->line};
		reading->key_open = true;
	}
	add_piece(reading, without_comment(reading->arena, value));
	return 1;
}

static int check_entry(struct arena *arena, const struct source *source, const struct entry *entry,
		       const struct entry *earlier, struct error *err)
{
	struct place place = {
		.arena = arena, .file = source->shown, .line = entry->line, .key = entry->key};
	bool list = entry->key == &key_extends || key_is_list(entry->key);

	if (!list && earlier != NULL)
		return place_error(&place, err, "set twice, the first time on line %d",
				   earlier->line);
	if (!list && entry->count > 1) {
		place.line = entry->pieces[1].line;
		return place_error(&place, err,
				   "takes one value, and line %d goes on with %s: a key begins at "
				   "the start of a line",
				   place.line, text_show(arena, entry->pieces[1].text));
	}
	if (list && earlier != NULL && entry->count == 0)
		return place_error(&place, err,
				   "an empty value drops what was inherited, so it must come "
				   "before line %d",
				   earlier->line);
	return 0;
}

static int check_entries(struct arena *arena, const struct source *source,
			 const struct document *document, struct error *err)
{
	const struct entry *seen[KEY_MAX + 1] = {NULL};

	for (size_t i = 0; i < document->count; i++) {
		const struct entry *entry = &document->entries[i];
		size_t id = entry->key == &key_extends ? KEY_MAX : (size_t)key_id(entry->key);

		if (check_entry(arena, source, entry, seen[id], err) < 0)
			return -1;
		seen[id] = entry;
	}
	return 0;
}

int ini_document(struct arena *arena, const struct source *source, struct document *ret_document,
		 struct error *err)
{
	struct document document = {NULL, 0};
	struct reading reading = {
		.arena = arena, .source = source, .document = &document, .err = err};
	int rc = ini_parse_stream(read_line, &reading, handle_key, &reading);

	if (reading.failed)
		return -1;
	if (rc != 0) {
		reading.line = rc > 0 ? rc : 0;
		return FAIL(&reading, "the INI library cannot read this line");
	}
	if (reading.joined)
		return FAIL(&reading, "the last line ends in \\ and nothing follows: write a last "
				      "backslash as ${0x5c}");
	if (check_entries(arena, source, &document, err) < 0)
		return -1;
	*ret_document = document;
	return 0;
}
