// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "learn.h"
#include "watch.h"

/* The bytes of watch.h. They come from the launcher, yet a name may be anything. */

static const char *next_text(const char **at, const char *end)
{
	const char *text = *at, *zero = memchr(text, '\0', (size_t)(end - text));

	if (zero == NULL)
		return NULL;
	*at = zero + 1;
	return text;
}

static int read_end(const char *text, struct uses *uses)
{
	return sscanf(text, "%" SCNu64 " %" SCNu64, &uses->dropped, &uses->files) == 2 ? 0 : -1;
}

static int take(struct arena *arena, char want, char type, const struct string_list *names,
		struct uses *uses, bool *ret_whole)
{
	if (names->count == 0)
		return -1;
	if (want == WATCH_END) {
		*ret_whole = true;
		return read_end(names->items[0], uses);
	}
	if (want == WATCH_PORT || want == WATCH_CALL) {
		struct string_list *list = want == WATCH_PORT ? &uses->ports : &uses->calls;

		*ARENA_PUSH(arena, list->items, list->count) = names->items[0];
		return 0;
	}
	for (size_t i = 0; i < names->count; i++)
		if (names->items[i][0] != '/')
			return -1;
	*ARENA_PUSH(arena, uses->items, uses->count) = (struct use){want, type, *names};
	return 0;
}

int learn_read(struct arena *arena, const char *bytes, size_t size, struct uses *ret_uses)
{
	const char *at = bytes, *end = bytes + size, *text;
	bool whole = false;

	*ret_uses = (struct uses){0};
	while (at < end) {
		struct string_list names = {0};

		if (whole || end - at < 4)
			return -1;
		char want = at[0], type = at[1];
		at += 2;
		while ((text = next_text(&at, end)) != NULL && *text != '\0')
			*ARENA_PUSH(arena, names.items, names.count) = text;
		if (text == NULL || take(arena, want, type, &names, ret_uses, &whole) != 0)
			return -1;
	}
	return whole ? 0 : -1;
}
