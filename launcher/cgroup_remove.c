// SPDX-License-Identifier: Apache-2.0
#include "cgroup_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "sys.h"

enum { BATCH = 64, DEPTH_MAX = 32 };

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * (uint64_t)1000 + now.tv_nsec / 1000000;
}

/* The first pids in the group; 0 stands for one outside our pid namespace. */
static size_t list_pids(const char *group, pid_t pids[BATCH])
{
	char text[BATCH * 12];
	size_t count = 0;

	if (!cgroup_read_text(group, "cgroup.procs", text, sizeof(text)))
		return 0;
	char *last = strrchr(text, '\n');
	if (last != NULL)
		last[1] = '\0'; /* a number that the buffer cut is another process's */
	for (char *at = text; *at != '\0' && count < BATCH;) {
		long pid = strtol(at, &at, 10);

		if (pid > 0)
			pids[count++] = pid;
		at += strspn(at, "\n");
	}
	return count;
}

static bool is_listed(const pid_t *pids, size_t count, pid_t pid)
{
	for (size_t i = 0; i < count; i++) {
		if (pids[i] == pid)
			return true;
	}
	return false;
}

/*
 * A pid that is read may belong to somebody else by the time it is signalled. So
 * hold each by a pidfd, look again, and signal what is listed both times.
 */
static void kill_listed(const char *group)
{
	pid_t first[BATCH], second[BATCH];
	int fds[BATCH];
	size_t count = list_pids(group, first);

	for (size_t i = 0; i < count; i++)
		fds[i] = syscall(SYS_pidfd_open, first[i], 0);
	size_t again = count == 0 ? 0 : list_pids(group, second);
	for (size_t i = 0; i < count; i++) {
		if (fds[i] < 0)
			continue;
		if (is_listed(second, again, first[i]))
			sys_pidfd_send_signal(fds[i], SIGKILL);
		close(fds[i]);
	}
}

static void kill_group(const char *group)
{
	if (cgroup_write(group, "cgroup.kill", "1") == 0) /* v2, 5.14 */
		return;
	cgroup_write(group, "pids.max", "0"); /* no new ones meanwhile; may not be there */
	kill_listed(group);
}

/* Appends "/name" of some child group to path; false when there is none. */
static bool descend(char path[PATH_MAX])
{
	size_t len = strlen(path);
	DIR *dir = opendir(path);
	struct dirent *entry;
	bool found = false;

	while (dir != NULL && !found && (entry = readdir(dir)) != NULL) {
		if (entry->d_type != DT_DIR || strcmp(entry->d_name, ".") == 0 ||
		    strcmp(entry->d_name, "..") == 0)
			continue;
		found = snprintf(path + len, PATH_MAX - len, "/%s", entry->d_name) <
			(int)(PATH_MAX - len);
	}
	if (dir != NULL)
		closedir(dir);
	if (!found)
		path[len] = '\0';
	return found;
}

/* Kills and removes the deepest group of one branch. */
static int remove_branch(const char *top)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s", top);
	for (int depth = 0; depth < DEPTH_MAX && descend(path); depth++)
		continue;
	if (rmdir(path) < 0) {
		kill_group(path);
		return rmdir(path);
	}
	return 0;
}

/* The kernel lets a group go when its last task is: microseconds after the kill, or
 * never, for a task in uninterruptible sleep. */
int cgroup_remove_tree(const char *path, unsigned wait_ms)
{
	const struct timespec pause = {.tv_nsec = 500 * 1000};
	const char *name = strrchr(path, '/');
	uint64_t until = now_ms() + wait_ms;

	if (name == NULL || strncmp(name, "/sbox-", 6) != 0 || strlen(path) >= PATH_MAX) {
		errno = EINVAL;
		return -1;
	}
	if (rmdir(path) == 0 || errno == ENOENT)
		return 0;
	kill_group(path);
	for (;;) {
		int rc = remove_branch(path);

		if (access(path, F_OK) < 0 && errno == ENOENT)
			return 0;
		if (now_ms() >= until)
			break;
		if (rc < 0)
			nanosleep(&pause, NULL);
	}
	errno = EBUSY;
	return -1;
}
