// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "supervise.h"

/*
 * A hidden or protected name is covered by a mount. An editor on the host that
 * saves by rename replaces the name and so detaches the mount here as well
 * (since 3.18 a mount point can be removed by others). The kernel tells of
 * each change through poll on mountinfo; the run then ends.
 */

enum { TEXT_MAX = 1 << 20 };

static size_t count_lines(int fd)
{
	char text[16384];
	size_t lines = 0;
	off_t at = 0;
	ssize_t len;

	while ((len = pread(fd, text, sizeof(text), at)) > 0) {
		for (ssize_t i = 0; i < len; i++)
			lines += text[i] == '\n';
		at += len;
	}
	return lines;
}

void mounts_watch(struct loop *loop)
{
	const struct run *run = loop->run;
	bool covered = run->host.paths[PATH_HIDE].count + run->host.paths[PATH_PROTECT].count > 0;
	char path[64];

	loop->mounts_watched = true;
	if (!covered)
		return;
	snprintf(path, sizeof(path), "/proc/%d/mountinfo", (int)run->init_pid);
	loop->mounts_fd = open(path, O_RDONLY | O_CLOEXEC);
	if (loop->mounts_fd < 0)
		return;
	loop->mount_count = count_lines(loop->mounts_fd);
	loop_watch(loop, SOURCE_MOUNTS, loop->mounts_fd, EPOLLPRI);
}

/* Which covered name has no mount any more: the fifth field of a line, mountinfo's escapes aside.
 */
static const char *find_lost(struct run *run, int fd)
{
	static const enum path_kind kinds[] = {PATH_HIDE, PATH_PROTECT};
	char *text = arena_alloc(run->arena, TEXT_MAX + 1);
	ssize_t len, got = 0;

	while ((len = pread(fd, text + got, (size_t)(TEXT_MAX - got), got)) > 0)
		got += len;
	for (size_t k = 0; k < 2; k++)
		for (size_t i = 0; i < run->host.paths[kinds[k]].count; i++) {
			const char *path = run->host.paths[kinds[k]].items[i].path;

			if (strstr(text, arena_printf(run->arena, " %s ", path)) == NULL)
				return path;
		}
	return "a name";
}

void mounts_changed(struct loop *loop)
{
	struct run *run = loop->run;
	size_t now = count_lines(loop->mounts_fd);

	/* none when pid 1 is gone */
	if (now == 0 || now >= loop->mount_count || run->ended)
		return;
	outcome_kill(run, END_BOUNDARY_LOST, "file.hide");
	run->end.message = arena_printf(run->arena,
					"killed: %s is hidden or protected and was replaced from "
					"outside during the run",
					find_lost(run, loop->mounts_fd));
}
