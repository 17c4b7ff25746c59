// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_ARENA_H
#define SBOX_ARENA_H

#include <stdbool.h>
#include <stddef.h>

/*
 * One arena a run: everything that parsing and planning allocate lives until
 * the end of the run and is freed at once. Memory comes back zeroed. Running
 * out of memory aborts: there is nothing sensible left to do. What was begun ends
 * with the process.
 */
struct arena {
	struct arena_block *head;
	/* what arena_share() made; blocks take over where it ends */
	unsigned char *shared;
	size_t shared_size, shared_used, shared_ready;
};

/*
 * What is allocated from here on, up to so many bytes (of address space: pages come
 * when they are used), is seen by processes forked now or later, at the same address,
 * also what is written after the fork. False: there is no room for it, and all is as
 * it was. Before the first allocation.
 */
bool arena_share(struct arena *arena, size_t size);
/* Everything that was ever allocated lies in the shared part. */
bool arena_is_shared(const struct arena *arena);

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
