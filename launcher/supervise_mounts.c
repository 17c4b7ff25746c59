// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "supervise.h"

/*
 * A hidden or protected name is covered by a mount. An editor on the host that
 * saves by rename replaces the name and so detaches the mount here as well
 * (since 3.18 a mount point can be removed by others). The kernel tells of
 * each change through poll on mountinfo; the run then ends.
 */

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

void mounts_changed(struct loop *loop)
{
	size_t now = count_lines(loop->mounts_fd);

	/* none when pid 1 is gone */
	if (now != 0 && now < loop->mount_count)
		outcome_kill(loop->run, END_BOUNDARY_LOST, "file.hide");
}
