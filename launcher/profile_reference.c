// SPDX-License-Identifier: Apache-2.0
#include "profile_internal.h"

#include <string.h>

/* Every key with its help and default, as a profile that reads back as the defaults. */

enum { COMMENT_BYTES = 78 };

static const char head[] =
	"; Every key, what it means and what it is when it is left out. Not for running: with\n"
	"; nothing listed under exec, no program is visible. Made from the key table:\n"
	";\n"
	";     sbox check --reference\n"
	";\n"
	"; A profile of your own begins with \"extends = agent\" or \"extends = base\", and has "
	"only\n"
	"; the keys that differ. Paths are one a line, further ones indented; a leading \"-\"\n"
	"; means that the path may be absent. See sbox.ini(5).\n";

/* The help as comment lines, broken at blanks. */
static void add_comment(struct text *text, const char *help)
{
	size_t column = 0;

	while (*help != '\0') {
		size_t len = strcspn(help, " ");

		if (column > 0 && column + 1 + len > COMMENT_BYTES) {
			text_puts(text, "\n");
			column = 0;
		}
		text_puts(text, column == 0 ? "; " : " ");
		text_add(text, help, len);
		column += len + (column == 0 ? 2 : 1);
		help += len + (help[len] == ' ');
	}
	text_puts(text, "\n");
}

static void add_reference(struct text *text, const struct key *key)
{
	add_comment(text, key->help);
	if (key->words[0] != '\0')
		add_comment(text, arena_printf(text->arena, "one of: %s", key->words));
	/* what a profile is for has no default worth reading */
	const char *value = key == &key_table[KEY_PROFILE_DESCRIPTION]
				    ? "every key with its default: to read, not to run"
				    : key->default_text;

	text_printf(text, "%s =%s%s\n\n", key->name, *value != '\0' ? " " : "", value);
}

char *keys_reference(struct arena *arena)
{
	struct text text = {.arena = arena};

	text_puts(&text, head);
	for (size_t i = 0; i < KEY_MAX; i++) {
		const struct key *key = &key_table[i];

		if (i == 0 || strcmp(key->section, key_table[i - 1].section) != 0)
			text_printf(&text, "\n[%s]\n", key->section);
		if (i == 0) {
			add_comment(&text, key_extends.help);
			text_puts(&text, "; extends = base\n\n");
		}
		add_reference(&text, key);
	}
	/* one newline at the end */
	text.data[--text.len] = '\0';
	return text_string(&text);
}
