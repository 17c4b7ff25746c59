// SPDX-License-Identifier: Apache-2.0
#include "profile_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/*
 * The profile as INI text that reads back as the same profile. Whatever the
 * reader treats specially is written as ${0xHH}, and what does not fit on a
 * line goes on behind a backslash.
 */

struct dumping {
	struct text *text;
	enum key_type type;
	size_t indent; /* of continued lines: under the value */
	size_t column;
	bool fresh; /* nothing of the value is on this line yet */
	bool whole; /* on one line, however long */
};

static bool is_code_in_path(const char *text, size_t i)
{
	if (strchr("*?[,", text[i]) != NULL)
		return true;
	return text[i] == ' ' && strchr("/-!$, ", text[i + 1]) != NULL;
}

/* Must byte i of the value be written as ${0xHH}? */
static bool is_code(const struct dumping *dumping, const char *text, size_t i)
{
	unsigned char byte = (unsigned char)text[i];
	bool last = text[i + 1] == '\0';

	if (byte < ' ' || byte == 0x7f)
		return true;
	if (byte == '$' && text[i + 1] == '{')
		return true;
	if ((byte == ' ' && (i == 0 || last || dumping->fresh)) || (byte == '\\' && last))
		return true;
	if ((byte == ';' || byte == '#') && dumping->fresh)
		return true;
	if (byte == ';' && i > 0 && text[i - 1] == ' ')
		return true;
	if (dumping->type == KEY_TOKENS && byte == ',')
		return true;
	return dumping->type == KEY_PATHS && is_code_in_path(text, i);
}

static void break_line(struct dumping *dumping, const char *before)
{
	text_printf(dumping->text, "%s\n%*s", before, (int)dumping->indent, "");
	dumping->column = dumping->indent;
	dumping->fresh = true;
}

static void dump_string(struct dumping *dumping, const char *text)
{
	for (size_t i = 0; text[i] != '\0'; i++) {
		/* Room for ${0xHH} and the backslash. */
		if (!dumping->whole && dumping->column + 8 > PROFILE_LINE_BYTES)
			break_line(dumping, "\\");
		if (is_code(dumping, text, i)) {
			text_printf(dumping->text, "${0x%02x}", (unsigned char)text[i]);
			dumping->column += 7;
		} else {
			text_add(dumping->text, text + i, 1);
			dumping->column++;
		}
		dumping->fresh = false;
	}
}

static void dump_elements(struct dumping *dumping, const struct profile *profile,
			  const struct key *key)
{
	const void *field = (const char *)profile + key->offset;
	const struct path_list *paths = field;
	const struct string_list *strings = field;
	size_t count = key->type == KEY_PATHS ? paths->count : strings->count;

	for (size_t i = 0; i < count; i++) {
		const char *text =
			key->type == KEY_PATHS ? paths->items[i].path : strings->items[i];

		if (i > 0)
			break_line(dumping, "");
		if (key->type == KEY_PATHS && paths->items[i].optional) {
			text_puts(dumping->text, "-");
			dumping->column++;
		}
		dump_string(dumping, text);
	}
}

/* In the largest unit that comes out even. */
static void dump_number(struct text *text, uint64_t value, const char *const names[],
			const uint64_t units[], size_t count)
{
	size_t best = 0;

	for (size_t i = 1; i < count; i++)
		if (value != 0 && value % units[i] == 0)
			best = i;
	text_printf(text, "%" PRIu64 "%s", value / units[best], names[best]);
}

static void dump_size(struct text *text, uint64_t value)
{
	static const char *const names[] = {"", "K", "M", "G", "T"};
	static const uint64_t units[] = {1, 1ULL << 10, 1ULL << 20, 1ULL << 30, 1ULL << 40};

	dump_number(text, value, names, units, 5);
}

static void dump_duration(struct text *text, uint64_t value)
{
	static const char *const names[] = {"ms", "s", "m", "h", "d"};
	static const uint64_t units[] = {1, 1000, 60000, 3600000, 86400000};

	dump_number(text, value, names, units, 5);
}

static void dump_milli(struct text *text, uint64_t value)
{
	char digits[8];
	size_t len = 3;

	text_printf(text, "%" PRIu64, value / 1000);
	if (value % 1000 == 0)
		return;
	snprintf(digits, sizeof(digits), "%03u", (unsigned int)(value % 1000));
	while (digits[len - 1] == '0')
		len--;
	text_printf(text, ".%.*s", (int)len, digits);
}

static void dump_word(struct text *text, const char *words, const void *field)
{
	int value;
	size_t len;

	memcpy(&value, field, sizeof(value));
	const char *word = value_word_at(words, (size_t)value, &len);

	if (word != NULL)
		text_add(text, word, len);
}

static void dump_scalar(struct dumping *dumping, const struct profile *profile,
			const struct key *key)
{
	const void *field = (const char *)profile + key->offset;
	uint64_t value = 0;

	if (key->type == KEY_TEXT) {
		dump_string(dumping, *(const char *const *)field);
		return;
	}
	if (key->type == KEY_WORD) {
		dump_word(dumping->text, key->words, field);
		return;
	}
	memcpy(&value, field, sizeof(value));
	/* Where empty means no limit, nothing is how 0 is written. */
	if (value == 0 && key->default_text[0] == '\0')
		return;
	if (key->type == KEY_SIZE)
		dump_size(dumping->text, value);
	else if (key->type == KEY_DURATION)
		dump_duration(dumping->text, value);
	else if (key->type == KEY_MILLI)
		dump_milli(dumping->text, value);
	else
		text_printf(dumping->text, "%" PRIu64, value);
}

static void dump_key(struct text *text, const struct profile *profile, const struct key *key)
{
	struct text value = {.arena = text->arena};
	struct dumping dumping = {
		.text = &value,
		.type = key->type,
		.indent = strlen(key->name) + 3,
		.column = strlen(key->name) + 3,
		.fresh = true,
	};

	if (key_is_list(key))
		dump_elements(&dumping, profile, key);
	else
		dump_scalar(&dumping, profile, key);
	text_puts(text, key->name);
	text_puts(text, value.len > 0 ? " = " : " =");
	text_puts(text, text_string(&value));
	text_puts(text, "\n");
}

char *profile_line(struct arena *arena, const struct key *key, const char *before,
		   const char *value, bool whole)
{
	struct text text = {.arena = arena};
	struct dumping dumping = {.text = &text,
				  .type = key->type,
				  .indent = strlen(key->name) + 3,
				  .column = strlen(key->name) + 3 + strlen(before),
				  .whole = whole,
				  .fresh = *before == '\0' || strcmp(before, "-") == 0};

	text_printf(&text, "%s = ", key->name);
	text_puts(&text, before);
	dump_string(&dumping, value);
	return text_string(&text);
}

char *profile_key_text(struct arena *arena, const struct profile *profile, const struct key *key)
{
	struct text text = {.arena = arena};

	dump_key(&text, profile, key);
	return text_string(&text);
}

char *profile_dump(struct arena *arena, const struct profile *profile)
{
	struct text text = {.arena = arena};

	for (size_t i = 0; i < KEY_MAX; i++) {
		const struct key *key = &key_table[i];

		if (i == 0 || strcmp(key->section, key_table[i - 1].section) != 0)
			text_printf(&text, "%s[%s]\n", i ? "\n" : "", key->section);
		dump_key(&text, profile, key);
	}
	return text_string(&text);
}

const char *profile_origin(struct arena *arena, const struct profile *profile, enum key_id key)
{
	const struct origin *origin = &profile->origin[key];

	if (origin->file == NULL)
		return "default";
	if (origin->line == 0)
		return origin->file;
	const char *slash = strrchr(origin->file, '/');

	return arena_printf(arena, "%s:%d", slash ? slash + 1 : origin->file, origin->line);
}

int profile_blame(const struct profile *profile, enum key_id key, struct error *err)
{
	const struct origin *origin = &profile->origin[key];

	if (err->file[0] == '\0' && origin->file != NULL) {
		snprintf(err->file, sizeof(err->file), "%s", origin->file);
		err->line = origin->line;
	}
	return -1;
}
