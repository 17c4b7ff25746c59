// SPDX-License-Identifier: Apache-2.0
#include "cmd_read.h"

#include <stdlib.h>
#include <string.h>

struct target {
	FILE *out;
	const char *escaped; /* letters that are written as \u00xx */
};

static bool is_escaped(const char *escaped, char letter)
{
	while (*escaped != '\0' && *escaped != letter)
		escaped++;
	return *escaped != '\0';
}

static int write_part(const char *text, size_t len, void *context)
{
	const struct target *target = context;

	while (len > 0) {
		size_t plain = 0;

		while (plain < len && !is_escaped(target->escaped, text[plain]))
			plain++;
		fwrite_unlocked(text, 1, plain, target->out);
		if (plain == len)
			break;
		fprintf(target->out, "\\u%04x", (unsigned int)text[plain]);
		text += plain + 1;
		len -= plain + 1;
	}
	return ferror_unlocked(target->out) ? -1 : 0;
}

/* Jansson leaves DEL as it is. In JSON these letters can only stand in strings. */
void json_write(FILE *out, const json_t *value, bool for_html)
{
	struct target target = {out, for_html ? "\x7f<>&" : "\x7f"};

	json_dump_callback(value, write_part, &target,
			   JSON_COMPACT | JSON_ENSURE_ASCII | JSON_ENCODE_ANY);
}

void json_write_line(const json_t *value)
{
	json_write(stdout, value, false);
	putchar_unlocked('\n');
}
