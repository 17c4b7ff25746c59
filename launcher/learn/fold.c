// SPDX-License-Identifier: Apache-2.0
#include "fold_private.h"

#include <string.h>

#include "file_entries.h"

const char *fold_real(const struct use *use)
{
	return use->names.items[use->names.count - 1];
}

static void leave_out(struct folding *folding, const char *path, const char *why)
{
	struct folded *folded = folding->folded;

	for (size_t i = 0; i < folded->left_count; i++)
		if (strcmp(folded->left[i].path, path) == 0)
			return;
	if (folded->left_count == FOLD_LEFT_MAX) {
		folded->left_more++;
		return;
	}
	*ARENA_PUSH(folding->world->arena, folded->left, folded->left_count) =
		(struct left_out){path, why};
}

/* ---- what a use needs ---- */

bool fold_need(const struct use *use, struct need *ret)
{
	bool there = use->type != '-', folder = use->type == 'd';
	struct need need = {.use = use, .rank = RANK_READ};

	switch (use->want) {
	case 'x':
	case 'p':
		need.rank = RANK_EXEC;
		there = use->type == 'f';
		break;
	case 'r':
		need.listed = folder;
		break;
	case 'l':
		need.looked = true;
		there = use->type == 'f';
		break;
	case 'w':
	case 'm':
		need.rank = RANK_WRITE;
		break;
	case 'c':
		/* one that is there is written to; else a name is made */
		need.in_folder = !there;
		need.rank = RANK_WRITE;
		there = true;
		break;
	case 'n':
		need.in_folder = true;
		need.rank = RANK_WRITE;
		there = !there;
		break;
	case 'd':
		need.in_folder = true;
		need.rank = RANK_WRITE;
		break;
	default:
		there = false;
	}
	*ret = need;
	return there;
}

const char *fold_wanted(const struct folding *folding, const struct need *need, const char *name)
{
	const char *slash = strrchr(name, '/');

	if (!need->in_folder)
		return name;
	return slash == name ? "/"
			     : arena_strndup(folding->world->arena, name, (size_t)(slash - name));
}

/* ---- what is there anyway ---- */

/* The deepest decides. */
static const struct given *given_at(const struct fold_world *world, const char *path)
{
	const struct given *found = NULL;

	for (size_t i = 0; i < world->given_count; i++) {
		const struct given *given = &world->given[i];

		if (path_is_below(path, given->path) &&
		    (found == NULL || strlen(given->path) > strlen(found->path)))
			found = given;
	}
	return found;
}

static void use_toolchain(struct folding *folding, const char *name)
{
	struct string_list *list = &folding->folded->toolchains;
	for (size_t i = 0; i < list->count; i++)
		if (strcmp(list->items[i], name) == 0)
			return;
	*ARENA_PUSH(folding->world->arena, list->items, list->count) = name;
}

bool fold_is_given(struct folding *folding, const char *path, enum rank rank)
{
	const struct given *given = given_at(folding->world, path);

	if (given == NULL || given->rank < rank)
		return false;
	if (given->toolchain != NULL)
		use_toolchain(folding, given->toolchain);
	return true;
}

/* Below a line, or below what a line is called on the way to where it leads. */
bool fold_is_granted(const struct folding *folding, const char *path, enum rank rank)
{
	const struct fold_world *world = folding->world;

	for (size_t i = 0; i < folding->folded->grant_count; i++) {
		const struct grant *grant = &folding->folded->grants[i];

		if (grant->rank < rank)
			continue;
		struct string_list names = world->names(world->about, grant->path);
		for (size_t n = 0; n < names.count; n++)
			if (path_is_below(path, names.items[n]))
				return true;
	}
	return false;
}

/* ---- lines ---- */

const char *fold_fault(const struct folding *folding, const struct need *need)
{
	const struct fold_world *world = folding->world;

	for (size_t i = 0; i < need->use->names.count; i++) {
		const char *name = need->use->names.items[i];
		const char *why = world->forbidden(world->about, name, need->rank);

		if (why == NULL)
			why = world->forbidden(world->about, fold_wanted(folding, need, name),
					       need->rank);
		if (why != NULL)
			return why;
	}
	return NULL;
}

static void take_cwd(struct folding *folding, enum rank rank)
{
	struct folded *folded = folding->folded;

	folded->cwd_count++;
	if (rank > folded->cwd)
		folded->cwd = rank;
}

/* In the folder that it was started in: that one as a whole, or it would start elsewhere. */
static bool is_cwds(struct folding *folding, const struct need *need, const char *path)
{
	const char *cwd = folding->world->cwd;

	if (cwd == NULL || !path_is_below(path, cwd))
		return false;
	if (strcmp(path, cwd) == 0) {
		if (!need->looked)
			take_cwd(folding, need->rank);
		return true;
	}
	take_cwd(folding, RANK_READ);
	return need->rank == RANK_READ;
}

static void grant_path(struct folding *folding, const struct need *need, const char *path)
{
	const struct fold_world *world = folding->world;
	bool whole = world->is_folder(world->about, path);
	const char *why = whole ? world->too_wide(world->about, path) : NULL;

	if (why != NULL) {
		leave_out(folding, path, why);
		return;
	}
	if (need->looked && folding->looked++ >= FOLD_LOOKED_MAX) {
		leave_out(folding, path, "only looked at, one of many");
		return;
	}
	const struct grant grant = {
		.path = path,
		.rank = need->rank,
		.listed = whole,
		.only_looked = need->looked,
		.absent = world->entries(world->about, path) == 0 && !whole &&
			  !world->may(world->about, path, RANK_NONE),
	};
	fold_add(world->arena, folding->folded, &grant);
}

/* First where things really are; links on the way come when those lines are known. */
static void take_real(struct folding *folding, const struct use *use)
{
	const struct fold_world *world = folding->world;
	struct need need;

	folding->folded->asked_cwd |=
		use->want == 'g' && world->cwd != NULL && strcmp(fold_real(use), world->cwd) == 0;
	if (!fold_need(use, &need))
		return;
	const char *path = fold_wanted(folding, &need, fold_real(use));
	const char *why = fold_fault(folding, &need);
	/* with a line of its own only; what is there in any case is no question */
	if (why == NULL && is_cwds(folding, &need, path))
		return;
	if (fold_is_given(folding, path, need.rank))
		return;
	if (why != NULL)
		leave_out(folding, fold_real(use), why);
	else if (world->may(world->about, path, need.rank))
		grant_path(folding, &need, path);
}

/* Something that is there anyway lies in it, so it is there too. */
static bool is_on_the_way(const struct folding *folding, const char *path)
{
	const struct fold_world *world = folding->world;

	for (size_t i = 0; i < folding->folded->grant_count; i++)
		if (path_is_below(folding->folded->grants[i].path, path))
			return true;
	for (size_t i = 0; i < world->given_count; i++)
		if (path_is_below(world->given[i].path, path))
			return true;
	return world->cwd != NULL && path_is_below(world->cwd, path);
}

/*
 * Entered, or looked at, and nothing in it has a line: then it has to be there for its own
 * sake. One that was only looked at is given where that gives hardly anything.
 */
static void take_folder(struct folding *folding, const struct use *use)
{
	const struct fold_world *world = folding->world;
	struct need need = {.use = use, .rank = RANK_READ, .looked = use->want == 'l'};
	const char *path = fold_real(use);

	if ((use->want != 'e' && use->want != 'l') || use->type != 'd' ||
	    is_cwds(folding, &need, path) || fold_is_given(folding, path, RANK_READ) ||
	    fold_is_granted(folding, path, RANK_READ) || is_on_the_way(folding, path))
		return;
	if (need.looked && world->entries(world->about, path) > FOLD_FILES)
		return;
	const char *why = fold_fault(folding, &need);
	if (why != NULL)
		leave_out(folding, path, why);
	else if (world->may(world->about, path, RANK_READ))
		grant_path(folding, &need, path);
}

static void cut(struct folding *folding)
{
	struct folded *folded = folding->folded;

	for (size_t i = FOLD_LINES_MAX; i < folded->grant_count; i++)
		leave_out(folding, folded->grants[i].path, "one line too many");
	if (folded->grant_count > FOLD_LINES_MAX)
		folded->grant_count = FOLD_LINES_MAX;
}

static void fold_cwd(struct folding *folding)
{
	const struct fold_world *world = folding->world;
	struct folded *folded = folding->folded;
	/* only asked where it is: it would be told another place */
	enum rank rank = folded->cwd == RANK_NONE && folded->asked_cwd ? RANK_READ : folded->cwd;
	const struct grant grant = {
		.path = world->cwd, .rank = rank, .listed = true, .count = folded->cwd_count};

	if (rank != RANK_NONE)
		fold_add(world->arena, folded, &grant);
}

void fold(const struct fold_world *world, const struct uses *uses, struct folded *ret)
{
	struct folding folding = {.world = world, .folded = ret};

	for (size_t i = 0; i < uses->count; i++)
		take_real(&folding, &uses->items[i]);
	fold_cwd(&folding);
	fold_up(world, ret);
	for (size_t i = 0; i < uses->count; i++)
		fold_take_links(&folding, &uses->items[i]);
	for (size_t i = 0; i < uses->count; i++)
		take_folder(&folding, &uses->items[i]);
	/* entering a folder of it, or a link into it, may have been the only use */
	fold_cwd(&folding);
	fold_drop_targets(&folding);
	fold_sort(ret);
	cut(&folding);
}

void fold_add_earlier(const struct fold_world *world, struct folded *folded, const char *path,
		      enum rank rank)
{
	struct folding folding = {.world = world, .folded = folded};
	bool whole = world->is_folder(world->about, path);
	const struct grant grant = {.path = path,
				    .rank = rank,
				    .listed = whole,
				    .absent = !world->may(world->about, path, RANK_NONE)};

	if (world->cwd != NULL && strcmp(path, world->cwd) == 0 && rank > folded->cwd)
		folded->cwd = rank;
	if (!fold_is_given(&folding, path, rank))
		fold_add(world->arena, folded, &grant);
}
