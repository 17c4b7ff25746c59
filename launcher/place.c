// SPDX-License-Identifier: Apache-2.0
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "descendants.h"
#include "run.h"
#include "sys.h"

/*
 * A run in place, on the host's own tree, has one thing there: its scratch, a folder
 * that nobody else may enter, removed at the end, or by the next start when
 * sbox was killed. And whatever has no pid namespace is seen through the host's
 * /proc and ended by its keeper.
 */

static const char prefix[] = "sbox-scratch-";

/* Where others may write, only the sticky bit keeps a name where it is. */
static bool is_safe(const struct path_fact *fact)
{
	return S_ISDIR(fact->mode) && ((fact->mode & 022) == 0 || (fact->mode & S_ISVTX) != 0) &&
	       access(fact->path, W_OK | X_OK) == 0;
}

static const char *find_place(struct run *run)
{
	static const char *const folders[] = {"/tmp", "/var/tmp"};
	struct path_fact fact;

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		if (host_resolve(run->arena, &run->host, folders[i], &fact) == 0 && is_safe(&fact))
			return fact.path;
	return NULL;
}

static int make_owned(const struct run *run, const char *path)
{
	const struct identity *who = &run->arm.identity;

	if (mkdir(path, 0700) != 0)
		return -1;
	return run->host.can_become ? lchown(path, who->outer_uid, who->outer_gid) : 0;
}

static int watch(struct run *run, struct error *err)
{
	uint64_t limit = run->profile.file.scratch_bytes;
	int fd = open(run->scratch, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return error_sys(err, "cannot open %s", run->scratch);
	if (growth_init(&run->growth[1].growth, &fd, 1, limit, limit / 4096 + 1024, err) != 0)
		return -1;
	run->growth[1].key = "file.scratch";
	run->growth[1].limit = limit;
	return 0;
}

int place_scratch(struct run *run, struct error *err)
{
	static const char *const folders[] = {"tmp", "home"};
	const char *place = find_place(run);

	if (place == NULL)
		return error_set(
			err, ERROR_MISSING,
			"neither /tmp nor /var/tmp is a folder (sticky, if others may write "
			"there) in which sbox can make the run's scratch");
	const char *path = arena_printf(run->arena, "%s/%s%s", place, prefix, run->id);
	if (store_run_undo(&run->store, run->id, arena_printf(run->arena, "scratch %s", path),
			   err) != 0)
		return -1;
	if (make_owned(run, path) != 0)
		return error_sys(err, "cannot make %s for the run's scratch", path);
	run->scratch = run->arm.scratch = path;
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		if (make_owned(run, arena_printf(run->arena, "%s/%s", path, folders[i])) != 0)
			return error_sys(err, "cannot make %s/%s", path, folders[i]);
	return watch(run, err);
}

/* The program may have taken the permissions of its own folders away. Never through a link. */
static void open_up(int dir_fd, const char *name)
{
	char path[40];
	int fd = openat(dir_fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	chmod(path, 0700);
	close(fd);
}

/*
 * Takes a folder's content away. A folder in it is moved up to `top_fd` under a new name
 * and comes later, so that depth costs neither descriptors nor stack; nothing
 * is followed. Returns how many entries there were.
 */
static size_t take_content(int top_fd, const char *name, unsigned *number)
{
	char moved[16];
	size_t count = 0;

	open_up(top_fd, name);
	int fd = openat(top_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	if (dir == NULL) {
		if (fd >= 0)
			close(fd);
		return 0;
	}
	for (const struct dirent *entry; (entry = readdir(dir)) != NULL;) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		count++;
		if (unlinkat(fd, entry->d_name, 0) == 0)
			continue;
		open_up(fd, entry->d_name);
		snprintf(moved, sizeof(moved), ".%u", (*number)++);
		if (unlinkat(fd, entry->d_name, AT_REMOVEDIR) != 0 && strcmp(name, ".") != 0)
			renameat(fd, entry->d_name, top_fd, moved);
	}
	closedir(dir);
	return count;
}

static void empty(int top_fd)
{
	unsigned number = 0;

	/* each round has the folders that the one before brought up */
	for (int round = 0; round < 100000 && take_content(top_fd, ".", &number) > 0; round++) {
		int fd = openat(top_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
		const struct dirent *entry;

		if (dir == NULL)
			return;
		while ((entry = readdir(dir)) != NULL)
			if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
				take_content(top_fd, entry->d_name, &number);
		closedir(dir);
	}
}

/* From a file of the store's, which is ours alone; the name is checked all the same. */
void place_remove(const char *path)
{
	const char *name = strrchr(path, '/');

	if (name == NULL || strncmp(name + 1, prefix, sizeof(prefix) - 1) != 0)
		return;
	open_up(AT_FDCWD, path);
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return;
	empty(fd);
	close(fd);
	rmdir(path);
}

void place_undo(const char *line, void *unused)
{
	(void)unused;
	if (strncmp(line, "cgroup ", 7) == 0)
		cgroup_remove_path(line + 7);
	else if (strncmp(line, "scratch ", 8) == 0)
		place_remove(line + 8);
}

int place_watch(struct run *run, struct error *err)
{
	if (!run->plan.keeper)
		return 0;
	run->notify.proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (run->notify.proc_fd < 0 ||
	    sampler_init(&run->sampler, run->notify.proc_fd, run->init_pid) != 0)
		return error_sys(err, "cannot watch the run's processes in /proc");
	run->sampling = true;
	return 0;
}

static void take_first(void *data, pid_t pid)
{
	struct run *run = data;

	if (pid != run->init_pid)
		run->notify.first_pid = pid;
}

/* The program's, which is younger than the guard and has no child yet. */
void place_first_pid(struct run *run)
{
	if (run->plan.keeper)
		descendants_each(run->notify.proc_fd, run->init_pid, take_first, run);
}

/* A keeper that is killed itself kills nobody any more: it is told to end. */
void place_kill(struct run *run)
{
	if (!run->plan.keeper) {
		sys_pidfd_send_signal(run->init_pidfd, SIGKILL);
		return;
	}
	/* before exec the keeper sleeps, and the program waits for a byte from here */
	if (run->go_fd >= 0)
		close(run->go_fd);
	run->go_fd = -1;
	shutdown(run->control_fd, SHUT_WR);
}
