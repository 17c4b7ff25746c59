// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include "file_entries.h"
#include "fold.h"

/* Lines as a set in which none is needed twice. */

bool fold_covers(const struct grant *wide, const struct grant *narrow)
{
	return wide->rank >= narrow->rank && path_is_below(narrow->path, wide->path);
}

/* The same path again: what is more of both. */
static bool merge(struct folded *folded, const struct grant *grant)
{
	for (size_t i = 0; i < folded->grant_count; i++) {
		struct grant *have = &folded->grants[i];

		if (strcmp(have->path, grant->path) != 0)
			continue;
		if (grant->rank > have->rank)
			have->rank = grant->rank;
		if (grant->count > have->count)
			have->count = grant->count;
		have->listed |= grant->listed;
		have->only_looked &= grant->only_looked;
		have->absent &= grant->absent;
		return true;
	}
	return false;
}

/* Takes out what the new line covers. */
static void drop_covered(struct folded *folded, const struct grant *wide)
{
	size_t kept = 0;

	for (size_t i = 0; i < folded->grant_count; i++)
		if (strcmp(folded->grants[i].path, wide->path) == 0 ||
		    !fold_covers(wide, &folded->grants[i]))
			folded->grants[kept++] = folded->grants[i];
	folded->grant_count = kept;
}

/* With room of its own, since lines also go away again. */
static void push(struct arena *arena, struct folded *folded, const struct grant *grant)
{
	size_t size = sizeof(*folded->grants);

	if (folded->grant_count == folded->grant_room) {
		folded->grant_room = folded->grant_room > 0 ? folded->grant_room * 2 : 16;
		folded->grants = arena_grow(arena, folded->grants, folded->grant_count * size,
					    folded->grant_room * size);
	}
	folded->grants[folded->grant_count++] = *grant;
}

void fold_add(struct arena *arena, struct folded *folded, const struct grant *grant)
{
	const struct grant line = *grant;

	if (merge(folded, &line)) {
		drop_covered(folded, &line);
		return;
	}
	for (size_t i = 0; i < folded->grant_count; i++)
		if (fold_covers(&folded->grants[i], &line))
			return;
	drop_covered(folded, &line);
	push(arena, folded, &line);
}

static const char *parent_of(struct arena *arena, const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash == path ? "/" : arena_strndup(arena, path, (size_t)(slash - path));
}

static bool is_right_in(const char *path, const char *folder)
{
	size_t len = (size_t)(strrchr(path, '/') - path);

	return len == 0 ? strcmp(folder, "/") == 0
			: strlen(folder) == len && memcmp(path, folder, len) == 0;
}

/* Files, and folders that stand for files; a folder that was listed stays what it is. */
static bool is_foldable(const struct grant *grant)
{
	return !grant->listed && (grant->rank != RANK_WRITE || grant->count == 0);
}

/* How many lines of that rank lie right in the folder. */
static size_t lines_in(const struct folded *folded, const char *folder, enum rank rank,
		       size_t *ret_files)
{
	size_t lines = 0;

	*ret_files = 0;
	for (size_t i = 0; i < folded->grant_count; i++) {
		const struct grant *grant = &folded->grants[i];

		if (grant->rank != rank || !is_foldable(grant) || !is_right_in(grant->path, folder))
			continue;
		lines++;
		*ret_files += grant->count > 0 ? grant->count : 1;
	}
	return lines;
}

static bool is_worth_it(const struct fold_world *world, const char *folder, enum rank rank,
			size_t lines)
{
	return lines >= FOLD_FILES && lines * 2 >= world->entries(world->about, folder) &&
	       world->too_wide(world->about, folder) == NULL &&
	       world->forbidden(world->about, folder, rank) == NULL;
}

static bool fold_one(const struct fold_world *world, struct folded *folded)
{
	/* neighbours lie together: each folder is looked at once for each rank */
	fold_sort(folded);
	for (size_t i = 0; i < folded->grant_count; i++) {
		struct grant grant = folded->grants[i];
		size_t files;

		grant.path = parent_of(world->arena, grant.path);
		if (!is_foldable(&folded->grants[i]) ||
		    (i > 0 && folded->grants[i - 1].rank == grant.rank &&
		     is_foldable(&folded->grants[i - 1]) &&
		     is_right_in(folded->grants[i - 1].path, grant.path)))
			continue;
		if (!is_worth_it(world, grant.path, grant.rank,
				 lines_in(folded, grant.path, grant.rank, &files)))
			continue;
		grant.count = files;
		grant.absent = grant.only_looked = false;
		fold_add(world->arena, folded, &grant);
		return true;
	}
	return false;
}

/* Each time some lines become one, so it ends. */
void fold_up(const struct fold_world *world, struct folded *folded)
{
	while (fold_one(world, folded))
		;
}

static int by_rank_and_path(const void *a, const void *b)
{
	const struct grant *left = a, *right = b;

	if (left->rank != right->rank)
		return left->rank > right->rank ? -1 : 1;
	return strcmp(left->path, right->path);
}

void fold_sort(struct folded *folded)
{
	if (folded->grant_count > 0)
		qsort(folded->grants, folded->grant_count, sizeof(*folded->grants),
		      by_rank_and_path);
}
