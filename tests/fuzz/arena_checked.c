// SPDX-License-Identifier: Apache-2.0
/* In place of launcher/arena.c: every piece by itself and of just its size, so that a sanitizer
 * sees what reads or writes beyond one. An arena's own pieces lie side by side. */
#include "arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct arena_block {
	struct arena_block *next;
	void *piece;
};

bool arena_share(struct arena *arena, size_t size)
{
	(void)arena, (void)size;
	return false;
}

bool arena_is_shared(const struct arena *arena)
{
	(void)arena;
	return false;
}

void *arena_alloc(struct arena *arena, size_t size)
{
	struct arena_block *block = malloc(sizeof(*block));

	if (block == NULL || (block->piece = calloc(1, size)) == NULL)
		abort();
	block->next = arena->head;
	arena->head = block;
	return block->piece;
}

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
	va_list ap;

	va_start(ap, fmt);
	int len = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (len < 0)
		abort();
	char *text = arena_alloc(arena, (size_t)len + 1);
	va_start(ap, fmt);
	vsnprintf(text, (size_t)len + 1, fmt, ap);
	va_end(ap);
	return text;
}

void arena_free(struct arena *arena)
{
	while (arena->head != NULL) {
		struct arena_block *next = arena->head->next;

		free(arena->head->piece);
		free(arena->head);
		arena->head = next;
	}
}
