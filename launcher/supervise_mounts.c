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

enum { TEXT_FIRST = 32 * 1024 };

static const char *read_text(struct run *run, int fd)
{
	for (size_t room = TEXT_FIRST;; room *= 4) {
		char *text = arena_alloc(run->arena, room + 1);
		size_t len = 0;
		ssize_t got;

		while (len < room && (got = pread(fd, text + len, room - len, (off_t)len)) > 0)
			len += (size_t)got;
		text[len] = '\0';
		if (len < room)
			return text;
	}
}

static size_t count_lines(const char *text)
{
	size_t lines = 0;

	while ((text = strchr(text, '\n')) != NULL) {
		lines++;
		text++;
	}
	return lines;
}

/* As mountinfo writes a path (show_mountinfo() in fs/proc_namespace.c). */
static const char *as_written(struct arena *arena, const char *path)
{
	char *out = arena_alloc(arena, 4 * strlen(path) + 1), *at = out;

	for (; *path != '\0'; path++) {
		if (strchr(" \t\n\\", *path) != NULL)
			at += sprintf(at, "\\%03o", (unsigned)*path);
		else
			*at++ = *path;
	}
	return out;
}

/* The fifth field of a line. */
static bool is_mounted(struct arena *arena, const char *text, const char *path)
{
	const char *field = arena_printf(arena, " %s ", as_written(arena, path));

	for (const char *at = text; (at = strstr(at, field)) != NULL; at++) {
		int before = 0;

		for (const char *c = at; c > text && c[-1] != '\n'; c--)
			before += c[-1] == ' ';
		if (before == 3)
			return true;
	}
	return false;
}

/* A name whose mount was made with the tree and is not there any more, or NULL. */
static const char *find_lost(struct run *run, const char *text)
{
	const struct steps *steps = &run->arm.steps;

	for (size_t i = 0; i < steps->count; i++) {
		const struct step *step = &steps->items[i];
		bool certain =
			step->id == STEP_SELF_BIND || (step->id == STEP_COVER && step->flags == 0);
		const char *path = certain ? arena_printf(run->arena, "/%s",
							  step->path + (step->path[0] == '/'))
					   : NULL;

		if (certain && !is_mounted(run->arena, text, path))
			return path;
	}
	return NULL;
}

static void lose(struct run *run, const char *path)
{
	outcome_kill(run, END_BOUNDARY_LOST, "file.hide");
	run->end.message = arena_printf(run->arena,
					"killed: %s is hidden or protected and was replaced from "
					"outside during the run",
					path);
}

void mounts_watch(struct loop *loop)
{
	struct run *run = loop->run;
	bool covered = run->host.paths[PATH_HIDE].count + run->host.paths[PATH_PROTECT].count > 0;
	char path[64];

	loop->mounts_watched = true;
	if (!covered)
		return;
	snprintf(path, sizeof(path), "/proc/%d/mountinfo", (int)run->init_pid);
	loop->mounts_fd = open(path, O_RDONLY | O_CLOEXEC);
	if (loop->mounts_fd < 0)
		return;
	const char *text = read_text(run, loop->mounts_fd);
	loop->mount_count = count_lines(text);
	/* the program has begun: what was replaced since the tree was made went untold */
	const char *lost = loop->mount_count > 0 ? find_lost(run, text) : NULL;
	if (lost != NULL && !run->ended)
		lose(run, lost);
}

void mounts_changed(struct loop *loop)
{
	struct run *run = loop->run;
	const char *text = read_text(run, loop->mounts_fd);
	size_t now = count_lines(text);

	/* none when pid 1 is gone */
	if (now == 0 || now >= loop->mount_count || run->ended)
		return;
	const char *lost = find_lost(run, text);
	lose(run, lost != NULL ? lost : "a name");
}
