// SPDX-License-Identifier: Apache-2.0
#include "arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

/* What most runs need in all; populated at once, since a page fault costs more than its page. */
enum { BLOCK_SIZE = 128 * 1024, FIRST_PART = 24 * 1024, READY_PART = 72 * 1024 };

struct arena_block {
	struct arena_block *next;
	size_t used, size; /* of data */
	_Alignas(16) unsigned char data[];
};

static struct arena_block *new_block(size_t size, int flags)
{
	struct arena_block *block = mmap(NULL, sizeof(*block) + size, PROT_READ | PROT_WRITE,
					 MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);

	if (block == MAP_FAILED)
		abort();
	block->size = size;
	return block;
}

/* A large piece gets a block of its own, behind the one that is being filled; of a very
 * large one mostly the beginning is used. */
static void *alloc_large(struct arena *arena, size_t size)
{
	struct arena_block *block = new_block(size, size <= BLOCK_SIZE ? MAP_POPULATE : 0);

	/* 5.14; before, the pages come one by one */
	if (size > BLOCK_SIZE)
		(void)madvise(block, FIRST_PART, MADV_POPULATE_WRITE);

	block->used = size;
	if (arena->head != NULL) {
		block->next = arena->head->next;
		arena->head->next = block;
	} else {
		arena->head = block;
	}
	return block->data;
}

bool arena_share(struct arena *arena, size_t size)
{
	void *start = mmap(NULL, size, PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (start == MAP_FAILED)
		return false;
	arena->shared = start;
	arena->shared_size = size;
	return true;
}

bool arena_is_shared(const struct arena *arena)
{
	return arena->shared != NULL && arena->head == NULL;
}

/* A page that is populated with its neighbours costs a fraction of one that comes alone;
 * of a very large piece mostly the beginning is used. 5.14; before, they come one by one. */
static void *alloc_shared(struct arena *arena, size_t need)
{
	size_t from = arena->shared_used, page = from & ~(size_t)4095;
	size_t part = need > BLOCK_SIZE ? FIRST_PART : need + READY_PART;

	arena->shared_used = from + need;
	if (arena->shared_used > arena->shared_ready && part < arena->shared_size - page) {
		(void)madvise(arena->shared + page, part, MADV_POPULATE_WRITE);
		arena->shared_ready = need > BLOCK_SIZE ? arena->shared_used : page + part;
	}
	return arena->shared + from;
}

void *arena_alloc(struct arena *arena, size_t size)
{
	size_t need = (size + 15) & ~(size_t)15;
	struct arena_block *block = arena->head;

	if (need < size || need > SIZE_MAX / 2)
		abort();
	if (block == NULL && need < arena->shared_size - arena->shared_used)
		return alloc_shared(arena, need);
	if (need > BLOCK_SIZE / 4)
		return alloc_large(arena, need);
	if (block == NULL || block->size - block->used < need) {
		block = new_block(BLOCK_SIZE - sizeof(*block), MAP_POPULATE);
		block->next = arena->head;
		arena->head = block;
	}
	void *at = block->data + block->used;
	block->used += need;
	return at;
}

void arena_free(struct arena *arena)
{
	while (arena->head != NULL) {
		struct arena_block *next = arena->head->next;

		munmap(arena->head, sizeof(*arena->head) + arena->head->size);
		arena->head = next;
	}
	if (arena->shared != NULL)
		munmap(arena->shared, arena->shared_size);
	arena->shared = NULL;
	arena->shared_size = arena->shared_used = arena->shared_ready = 0;
}
