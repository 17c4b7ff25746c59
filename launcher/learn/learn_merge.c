// SPDX-License-Identifier: Apache-2.0
#include "learn_merge.h"

#include <string.h>

#include "learn_world.h"

static void add_once(struct arena *arena, struct string_list *list, const char *text)
{
	for (size_t i = 0; i < list->count; i++)
		if (strcmp(list->items[i], text) == 0)
			return;
	*ARENA_PUSH(arena, list->items, list->count) = text;
}

static bool has(const struct string_list *list, const char *text)
{
	for (size_t i = 0; i < list->count; i++)
		if (strcmp(list->items[i], text) == 0)
			return true;
	return false;
}

void learn_merge(struct learn *learn, const struct profile *earlier)
{
	const struct path_list *const lists[] = {[RANK_READ] = &earlier->file.read,
						 [RANK_EXEC] = &earlier->file.exec,
						 [RANK_WRITE] = &earlier->file.write};
	const struct fold_world *world = &learn->machine->world;

	for (enum rank rank = RANK_READ; rank <= RANK_WRITE; rank++)
		for (size_t i = 0; i < lists[rank]->count; i++)
			fold_add_earlier(world, &learn->folded, lists[rank]->items[i].path, rank);
	fold_sort(&learn->folded);
	for (size_t i = 0; i < earlier->file.toolchains.count; i++)
		add_once(learn->arena, &learn->folded.toolchains,
			 earlier->file.toolchains.items[i]);
	for (size_t i = 0; i < earlier->network.allow.count; i++)
		add_once(learn->arena, &learn->allow, earlier->network.allow.items[i]);
	learn->uses_scratch_exec |= earlier->file.scratch_exec == YES;
	learn->uses_aio |= !has(&earlier->privilege.syscalls, "!@aio");
	learn->uses_ipc |= !has(&earlier->privilege.syscalls, "!@ipc");
}
