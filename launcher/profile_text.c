// SPDX-License-Identifier: Apache-2.0
#include "profile_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { SHOWN_BYTES = 120 };

void text_add(struct text *text, const char *data, size_t len)
{
	size_t need = text->len + len + 1;

	if (need > text->size) {
		size_t size = need < 32 ? 32 : need * 2;

		text->data = arena_grow(text->arena, text->data, text->len, size);
		text->size = size;
	}
	memcpy(text->data + text->len, data, len);
	text->len += len;
	text->data[text->len] = '\0';
}

void text_puts(struct text *text, const char *string)
{
	text_add(text, string, strlen(string));
}

void text_printf(struct text *text, const char *fmt, ...)
{
	char line[1024];
	va_list ap;

	va_start(ap, fmt);
	int len = vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	text_add(text, line, (size_t)len < sizeof(line) ? (size_t)len : sizeof(line) - 1);
}

char *text_string(struct text *text)
{
	text_add(text, "", 0);
	return text->data;
}

const char *text_show_bare(struct arena *arena, const char *value)
{
	struct text out = {.arena = arena};
	size_t i;

	for (i = 0; i < SHOWN_BYTES && value[i] != '\0'; i++) {
		unsigned char byte = (unsigned char)value[i];

		if (byte < ' ' || byte == 0x7f)
			text_printf(&out, "${0x%02x}", byte);
		else
			text_add(&out, value + i, 1);
	}
	if (value[i] != '\0')
		text_puts(&out, "...");
	return text_string(&out);
}

const char *text_show(struct arena *arena, const char *value)
{
	return arena_printf(arena, "\"%s\"", text_show_bare(arena, value));
}

int place_error(const struct place *place, struct error *err, const char *fmt, ...)
{
	char text[sizeof(err->text)];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (place->override != NULL)
		return error_set(err, ERROR_PROFILE, "--set %s: %s",
				 text_show_bare(place->arena, place->override), text);
	if (place->key == NULL)
		return error_at(err, place->file, place->line, "%s", text);
	return error_at(err, place->file, place->line, "[%s] %s: %s", place->key->section,
			place->key->name, text);
}
