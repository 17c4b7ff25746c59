// SPDX-License-Identifier: Apache-2.0
#include "judge_memo.h"

#include <string.h>
#include <time.h>

#include "arena.h"

/*
 * What can make a refusal of a path that was none: a name of the host's comes or goes (which
 * shows after a second), or a link inside begins to lead elsewhere: then it is made, moved, or
 * gets a second name. Where a name is only removed, the program looks for what it had itself.
 * Texts are kept and compared: of hashes alone a program could choose two that are equal.
 */
enum { SLOTS = 1024, TEXT_SIZE = 48 * 1024, PATH_SIZE = 512, FRESH_MS = 1000 };
/* As long nothing is kept: the call that changes names is still on its way. */
enum { SETTLE_MS = 50 };

struct judge_memo {
	struct slot {
		uint32_t hash, since_ms;
		uint32_t at; /* of its text; 0: none */
	} slots[SLOTS];
	uint32_t used, forgot_ms;
	char text[TEXT_SIZE]; /* each is what was wanted, then the path */
};

static uint32_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return (uint32_t)((uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000);
}

/* A folder is kept as what no call wants: WANT_MAX. */
static bool is_kept(const struct judge_question *question)
{
	return question->want == WANT_LOOK || question->want == WANT_READ ||
	       question->want == WANT_ENTER || question->want == WANT_MAX;
}

static char wanted(const struct judge_question *question)
{
	return (char)('a' + 2 * (int)question->want + question->no_follow);
}

/* FNV-1a */
static uint32_t hash_of(const struct judge_question *question, size_t *ret_len)
{
	uint32_t hash = 0x811c9dc5U ^ (uint32_t)wanted(question);
	size_t len = 0;

	for (; question->path[len] != '\0'; len++)
		hash = (hash ^ (unsigned char)question->path[len]) * 0x01000193U;
	*ret_len = len;
	return hash;
}

static bool is_of(const struct judge_memo *memo, const struct slot *slot, uint32_t hash,
		  const struct judge_question *question)
{
	return slot->at != 0 && slot->hash == hash && memo->text[slot->at] == wanted(question) &&
	       strcmp(memo->text + slot->at + 1, question->path) == 0;
}

static void empty(struct judge_memo *memo)
{
	memset(memo->slots, 0, sizeof(memo->slots));
	memo->used = 1;
}

bool judge_memo_has(const struct judge *judge, const struct judge_question *question)
{
	const struct judge_memo *memo = judge->memo;
	size_t len;

	if (memo == NULL || !is_kept(question))
		return false;
	uint32_t hash = hash_of(question, &len);
	const struct slot *slot = &memo->slots[hash % SLOTS];
	return is_of(memo, slot, hash, question) && now_ms() - slot->since_ms < FRESH_MS;
}

void judge_memo_add(struct judge *judge, const struct judge_question *question)
{
	struct judge_memo *memo = judge->memo;
	uint32_t now = now_ms();
	size_t len;

	if (!is_kept(question))
		return;
	uint32_t hash = hash_of(question, &len);
	if (len >= PATH_SIZE)
		return;
	if (memo == NULL) {
		memo = judge->memo = arena_alloc(judge->arena, sizeof(*memo));
		memo->forgot_ms = now - SETTLE_MS;
		memo->used = 1;
	}
	if (now - memo->forgot_ms < SETTLE_MS)
		return;
	struct slot *slot = &memo->slots[hash % SLOTS];
	if (!is_of(memo, slot, hash, question)) {
		if (memo->used + len + 2 > TEXT_SIZE)
			empty(memo);
		*slot = (struct slot){.hash = hash, .at = memo->used};
		memo->text[memo->used] = wanted(question);
		memcpy(memo->text + memo->used + 1, question->path, len + 1);
		memo->used += (uint32_t)len + 2;
	}
	slot->since_ms = now;
}

void judge_memo_forget(struct judge *judge)
{
	struct judge_memo *memo = judge->memo;

	if (memo == NULL)
		return;
	memo->forgot_ms = now_ms();
	if (memo->used > 1)
		empty(memo);
}

bool judge_memo_has_folder(const struct judge *judge, const char *path)
{
	return judge_memo_has(judge, &(struct judge_question){.want = WANT_MAX, .path = path});
}

void judge_memo_add_folder(struct judge *judge, const char *path)
{
	judge_memo_add(judge, &(struct judge_question){.want = WANT_MAX, .path = path});
}
