// SPDX-License-Identifier: Apache-2.0
#include "fold_private.h"

#include <string.h>

#include "file_entries.h"

/* Symbolic links on the way to what has a line. */

/* The first link on the way; NULL: there is none. */
static const char *first_link(const struct fold_world *world, const char *path)
{
	for (const char *end = path + 1;; end++) {
		if (*end != '/' && *end != '\0')
			continue;
		const char *prefix = arena_strndup(world->arena, path, (size_t)(end - path));
		if (world->names(world->about, prefix).count > 1)
			return prefix;
		if (*end == '\0')
			return NULL;
	}
}

/* A link to what has a line of its own takes that line's place. */
static enum rank rank_at(const struct folded *folded, const char *path)
{
	for (size_t i = 0; i < folded->grant_count; i++)
		if (strcmp(folded->grants[i].path, path) == 0)
			return folded->grants[i].rank;
	return RANK_READ;
}

/* A link that leads to what has a line: its place needs one too. */
void fold_take_links(struct folding *folding, const struct use *use)
{
	const struct fold_world *world = folding->world;
	struct need need;

	if (use->names.count < 2 || !fold_need(use, &need) || fold_fault(folding, &need) != NULL)
		return;
	const char *real = fold_wanted(folding, &need, fold_real(use));
	if (!fold_is_given(folding, real, need.rank) && !fold_is_granted(folding, real, need.rank))
		return;
	for (size_t i = 0; i + 1 < use->names.count; i++) {
		const char *path = fold_wanted(folding, &need, use->names.items[i]);

		if (fold_is_given(folding, path, RANK_READ) ||
		    fold_is_granted(folding, path, RANK_READ))
			continue;
		const char *link = first_link(world, path);
		if (link == NULL)
			continue;
		struct string_list names = world->names(world->about, link);
		const char *target = names.items[names.count - 1];
		const struct grant grant = {.path = link, .rank = rank_at(folding->folded, target)};
		if (fold_is_given(folding, target, RANK_READ) ||
		    fold_is_granted(folding, target, RANK_READ))
			fold_add(world->arena, folding->folded, &grant);
		else
			fold_add(world->arena, folding->folded,
				 &(struct grant){.path = path, .rank = need.rank});
	}
}

/* A line for a link gives what it leads to: that needs none of its own. */
void fold_drop_targets(struct folding *folding)
{
	const struct fold_world *world = folding->world;
	struct folded *folded = folding->folded;

	for (size_t j = 0; j < folded->grant_count; j++) {
		const struct grant link = folded->grants[j];
		struct string_list names = world->names(world->about, link.path);
		const struct grant target = {.path = names.items[names.count - 1],
					     .rank = link.rank};
		size_t kept = 0;

		for (size_t i = 0; names.count > 1 && i < folded->grant_count; i++)
			if (i == j || !fold_covers(&target, &folded->grants[i]))
				folded->grants[kept++] = folded->grants[i];
		if (names.count < 2 || kept == folded->grant_count)
			continue;
		/* once more from the start: places have changed */
		folded->grant_count = kept;
		j = SIZE_MAX;
	}
}
