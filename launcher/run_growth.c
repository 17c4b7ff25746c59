// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <unistd.h>

#include "run.h"

/* What the run's growth is watched on: the write paths when they have a limit, and the
 * cache folder, which has one of its own where they have none. */

static int open_root(const char *path, int *fds, size_t *count, struct error *err)
{
	fds[*count] = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fds[*count] < 0)
		return error_sys(err, "cannot open %s to watch its growth", path);
	(*count)++;
	return 0;
}

int run_watch_growth(struct run *run, struct error *err)
{
	const struct path_facts *roots = &run->host.paths[PATH_WRITE];
	const struct path_fact *cache = run->host.cache.made ? &run->host.cache.fact : NULL;
	struct watch_growth *watch = &run->growth[0];
	const char *key = "file.growth";
	uint64_t limit = run->profile.file.growth_bytes;
	bool watch_roots = limit != 0 && run->profile.file.writes == WRITES_KEEP;
	size_t count = 0;

	if (cache != NULL && limit == 0) {
		limit = run->profile.file.cache_bytes;
		key = "file.cache";
	}
	int *fds = arena_alloc(run->arena, (roots->count + 1) * sizeof(int));
	for (size_t i = 0; watch_roots && i < roots->count; i++)
		if (open_root(roots->items[i].path, fds, &count, err) != 0)
			return -1;
	if (cache != NULL && open_root(cache->path, fds, &count, err) != 0)
		return -1;
	if (count == 0)
		return 0;
	/* as many files as pages: a file takes an inode and usually a block */
	if (growth_init(&watch->growth, fds, count, limit, limit / 4096, err) != 0)
		return -1;
	watch->key = key;
	watch->limit = limit;
	return 0;
}
