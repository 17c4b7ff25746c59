// SPDX-License-Identifier: Apache-2.0
#include "arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_SIZE = 64 * 1024 };

struct arena_block {
	struct arena_block *next;
	size_t used, size;
	_Alignas(16) unsigned char data[];
};

void *arena_alloc(struct arena *arena, size_t size)
{
	size_t need = (size + 15) & ~(size_t)15;
	struct arena_block *block = arena->head;

	if (need < size || need > SIZE_MAX / 2)
		abort();
	if (block == NULL || block->size - block->used < need) {
		size_t room = need > BLOCK_SIZE ? need : BLOCK_SIZE;

		/* calloc: large blocks come zeroed from the kernel, untouched pages cost nothing */
		block = calloc(1, sizeof(*block) + room);
		if (block == NULL)
			abort();
		block->size = room;
		block->next = arena->head;
		arena->head = block;
	}
	void *at = block->data + block->used;
	block->used += need;
	return at;
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
	va_list ap, again;

	va_start(ap, fmt);
	va_copy(again, ap);
	int len = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (len < 0)
		abort();
	char *text = arena_alloc(arena, (size_t)len + 1);
	vsnprintf(text, (size_t)len + 1, fmt, again);
	va_end(again);
	return text;
}

void arena_free(struct arena *arena)
{
	while (arena->head != NULL) {
		struct arena_block *next = arena->head->next;

		free(arena->head);
		arena->head = next;
	}
}
