// SPDX-License-Identifier: Apache-2.0
#include "profile_internal.h"

#include <string.h>

#include "toolchain_table.h"

/* The KEYS part of sbox.ini(5), in mdoc, from the key table. */

static const char *const type_words[KEY_TYPE_MAX] = {
	[KEY_TEXT] = "text",
	[KEY_WORD] = "word",
	[KEY_SIZE] = "size",
	[KEY_DURATION] = "time",
	[KEY_COUNT] = "number",
	[KEY_MILLI] = "number",
	[KEY_PATHS] = "paths, one a line",
	[KEY_TOKENS] = "list, commas or lines",
	[KEY_LINES] = "list, one a line",
};

/* Text for roff: '\' and '-' as they are, no request at the start of a line. */
static void add_roff(struct text *text, const char *plain)
{
	if (plain[0] == '.' || plain[0] == '\'')
		text_puts(text, "\\&");
	for (; *plain != '\0'; plain++) {
		if (*plain == '\\')
			text_puts(text, "\\e");
		else if (*plain == '-')
			text_puts(text, "\\-");
		else
			text_add(text, plain, 1);
	}
}

static void add_words(struct text *text, const char *words)
{
	const char *word;
	size_t len;

	text_puts(text, "One of");
	for (size_t i = 0; (word = value_word_at(words, i, &len)) != NULL; i++) {
		text_puts(text, i ? ", \\fB" : " \\fB");
		text_add(text, word, len);
		text_puts(text, "\\fR");
	}
	text_puts(text, ".\n");
}

static void add_key(struct text *text, const struct key *key)
{
	text_printf(text, ".It Ic %s No (%s)\n", key->name, type_words[key->type]);
	add_roff(text, key->help);
	text_puts(text, ".\n");
	if (key->words[0] != '\0')
		add_words(text, key->words);
	if (key->default_text[0] == '\0')
		return;
	text_puts(text, "Default: \\fB");
	add_roff(text, key->default_text);
	text_puts(text, "\\fR.\n");
}

static void add_section(struct text *text, const char *section)
{
	text_printf(text, ".Ss [%s]\n.Bl -tag -width 4n\n", section);
	if (strcmp(section, key_extends.section) == 0)
		add_key(text, &key_extends);
}

char *keys_manual(struct arena *arena)
{
	struct text text = {.arena = arena};

	for (size_t i = 0; i < KEY_MAX; i++) {
		const struct key *key = &key_table[i];
		bool last = i + 1 == KEY_MAX || strcmp(key->section, key_table[i + 1].section) != 0;

		if (i == 0 || strcmp(key->section, key_table[i - 1].section) != 0)
			add_section(&text, key->section);
		add_key(&text, key);
		if (last)
			text_puts(&text, ".El\n");
	}
	return text_string(&text);
}

char *toolchain_manual(struct arena *arena)
{
	struct text text = {.arena = arena};

	text_puts(&text, ".Bl -tag -width homebrew\n");
	for (size_t i = 0; i < toolchain_count; i++) {
		const struct toolchain *row = &toolchain_table[i];

		text_printf(&text, ".It Cm %s\n", row->name);
		if (row->variable != NULL)
			text_printf(&text, ".Ev %s%s\n", row->variable,
				    row->folders[0] != '\0' ? " ," : " :");
		if (row->folders[0] != '\0')
			text_printf(&text, ".Pa %s :\n", row->folders);
		add_roff(&text, row->shown);
		text_puts(&text, ".\n");
	}
	text_puts(&text, ".El\n");
	return text_string(&text);
}
