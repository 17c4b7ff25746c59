// SPDX-License-Identifier: Apache-2.0
#include "descendants.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { PIDS_MAX = 4096 };

struct tree {
	int proc_fd;
	pid_t pids[PIDS_MAX];
	size_t count;
};

/* "12 345 " in /proc/PID/task/TID/children (CONFIG_PROC_CHILDREN, 3.5). */
static void add_children(struct tree *tree, pid_t pid, pid_t thread)
{
	char path[64], text[4096];
	int fd;

	snprintf(path, sizeof(path), "%d/task/%d/children", (int)pid, (int)thread);
	fd = openat(tree->proc_fd, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return;
	for (ssize_t len; (len = read(fd, text, sizeof(text) - 1)) > 0;) {
		char *at = text, *end;

		text[len] = '\0';
		/* a number that is cut at the end of a piece is one that is not looked at */
		for (long child; (child = strtol(at, &end, 10)) > 0 && *end == ' '; at = end)
			if (tree->count < PIDS_MAX)
				tree->pids[tree->count++] = (pid_t)child;
	}
	close(fd);
}

static void add_threads(struct tree *tree, pid_t pid)
{
	_Alignas(struct dirent64) char buf[4096];
	char path[32];
	ssize_t len;

	snprintf(path, sizeof(path), "%d/task", (int)pid);
	int fd = openat(tree->proc_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return;
	while ((len = getdents64(fd, buf, sizeof(buf))) > 0)
		for (ssize_t at = 0; at < len;) {
			const struct dirent64 *entry = (const struct dirent64 *)(buf + at);

			at += entry->d_reclen;
			if (entry->d_name[0] != '.')
				add_children(tree, pid, (pid_t)strtol(entry->d_name, NULL, 10));
		}
	close(fd);
}

static int compare(const void *a, const void *b)
{
	const pid_t left = *(const pid_t *)a, right = *(const pid_t *)b;

	return (left > right) - (left < right);
}

void descendants_each(int proc_fd, pid_t top, void (*each)(void *arg, pid_t pid), void *arg)
{
	static struct tree tree;

	tree.proc_fd = proc_fd;
	tree.pids[0] = top;
	tree.count = 1;
	for (size_t i = 0; i < tree.count; i++)
		add_threads(&tree, tree.pids[i]);
	qsort(tree.pids, tree.count, sizeof(tree.pids[0]), compare);
	for (size_t i = 0; i < tree.count; i++)
		each(arg, tree.pids[i]);
}
