// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <string.h>

#include "text_diff.h"

enum { CONTEXT = 3 };

/* One line of a diff: ' ' in both, '-' in the old text, '+' in the new one. */
struct step_line {
	char kind;
	const char *text;
	int len;
};

struct steps_of {
	struct arena *arena;
	struct step_line *items;
	size_t count;
};

static void put(struct steps_of *steps, char kind, const char *text, size_t len)
{
	*ARENA_PUSH(steps->arena, steps->items, steps->count) =
		(struct step_line){kind, text, (int)len};
}

static bool same_line(const char *a, size_t a_len, const char *b, size_t b_len)
{
	return a_len == b_len && memcmp(a, b, a_len) == 0;
}

/* Is this line of the old text still to come in the new one? */
static bool comes_later(const char *line, size_t len, const char *text)
{
	while (*text != '\0') {
		size_t other = strcspn(text, "\n");

		if (same_line(line, len, text, other))
			return true;
		text += other + (text[other] == '\n');
	}
	return false;
}

/* A walk along both texts: right for any two, and short where lines were added and replaced. */
static void compare(struct steps_of *steps, const char *before, const char *after)
{
	while (*before != '\0' || *after != '\0') {
		size_t old = strcspn(before, "\n"), new = strcspn(after, "\n");

		if (*before != '\0' && *after != '\0' && same_line(before, old, after, new)) {
			put(steps, ' ', after, new);
			before += old + (before[old] == '\n');
			after += new + (after[new] == '\n');
		} else if (*before != '\0' && !comes_later(before, old, after)) {
			put(steps, '-', before, old);
			before += old + (before[old] == '\n');
		} else {
			put(steps, '+', after, new);
			after += new + (after[new] == '\n');
		}
	}
}

/* From `at`, the end of a piece in which no two changes are further apart than their context. */
static size_t piece_end(const struct steps_of *steps, size_t at)
{
	size_t end = at;

	for (size_t i = at; i < steps->count && i <= end + 2 * CONTEXT; i++)
		if (steps->items[i].kind != ' ')
			end = i;
	return end;
}

static const char *print_piece(const struct steps_of *steps, const char *text, size_t first,
			       size_t last)
{
	size_t old = 1, new = 1, old_count = 0, new_count = 0;

	for (size_t i = 0; i <= last; i++) {
		char kind = steps->items[i].kind;

		*(i < first ? &old : &old_count) += kind != '+';
		*(i < first ? &new : &new_count) += kind != '-';
	}
	text = arena_printf(steps->arena, "%s@@ -%zu,%zu +%zu,%zu @@\n", text,
			    old_count > 0 ? old : old - 1, old_count, new, new_count);
	for (size_t i = first; i <= last; i++)
		text = arena_printf(steps->arena, "%s%c%.*s\n", text, steps->items[i].kind,
				    steps->items[i].len, steps->items[i].text);
	return text;
}

const char *text_diff(struct arena *arena, const char *old_name, const char *new_name,
		      const char *before, const char *after)
{
	struct steps_of steps = {.arena = arena};
	const char *text = "";

	compare(&steps, before, after);
	for (size_t i = 0; i < steps.count; i++) {
		if (steps.items[i].kind == ' ')
			continue;
		size_t end = piece_end(&steps, i);
		size_t first = i > CONTEXT ? i - CONTEXT : 0;
		size_t last = end + CONTEXT < steps.count ? end + CONTEXT : steps.count - 1;

		if (*text == '\0')
			text = arena_printf(arena, "--- %s\n+++ %s\n", old_name, new_name);
		text = print_piece(&steps, text, first, last);
		i = end;
	}
	return text;
}
