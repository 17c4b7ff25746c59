// SPDX-License-Identifier: Apache-2.0
#include "arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is made with arena_alloc() alone, wherever that has its memory from. */

void *arena_grow(struct arena *arena, const void *old, size_t old_size, size_t new_size)
{
	void *fresh = arena_alloc(arena, new_size);

	if (old_size > 0)
		memcpy(fresh, old, old_size);
	return fresh;
}

char *arena_strndup(struct arena *arena, const char *text, size_t len)
{
	char *copy = arena_alloc(arena, len + 1);

	memcpy(copy, text, len);
	return copy;
}

char *arena_strdup(struct arena *arena, const char *text)
{
	return arena_strndup(arena, text, strlen(text));
}

char *arena_printf(struct arena *arena, const char *fmt, ...)
{
	char brief[512]; /* most are shorter: formatted once */
	va_list ap, again;

	va_start(ap, fmt);
	va_copy(again, ap);
	int len = vsnprintf(brief, sizeof(brief), fmt, ap);
	va_end(ap);
	if (len < 0)
		abort();
	char *text = arena_alloc(arena, (size_t)len + 1);
	if ((size_t)len < sizeof(brief))
		memcpy(text, brief, (size_t)len);
	else
		vsnprintf(text, (size_t)len + 1, fmt, again);
	va_end(again);
	return text;
}
