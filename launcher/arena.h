// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_ARENA_H
#define SBOX_ARENA_H

#include <stddef.h>

/*
 * One arena a run: everything that parsing and planning allocate lives until
 * the end of the run and is freed at once. Memory comes back zeroed. Running
 * out of memory aborts: there is nothing sensible left to do before the fork.
 */
struct arena {
	struct arena_block *head;
};

void *arena_alloc(struct arena *arena, size_t size);
/* Grows an array that arena_alloc made; the old copy stays until the end. */
void *arena_grow(struct arena *arena, const void *old, size_t old_size, size_t new_size);
char *arena_strdup(struct arena *arena, const char *text);
char *arena_strndup(struct arena *arena, const char *text, size_t len);
char *arena_printf(struct arena *arena, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void arena_free(struct arena *arena);

/* True when an array that grows by doubling from four is full at this count. */
#define ARENA_FULL(count) ((count) == 0 || ((count) >= 4 && ((count) & ((count)-1)) == 0))

/* Appends to a growing array and gives the new element's address. */
#define ARENA_PUSH(arena, items, count)                                                            \
	((items) = ARENA_FULL(count) ? arena_grow((arena), (items), (count) * sizeof(*(items)),    \
						  ((count) ? (count)*2 : 4) * sizeof(*(items)))    \
				     : (items),                                                    \
	 &(items)[(count)++])

#endif
