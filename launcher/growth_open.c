// SPDX-License-Identifier: Apache-2.0
#include "growth.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "descendants.h"

/* Files without a name take space until the last one who holds them lets go. */

struct search {
	const struct growth *growth;
	struct growth_walk *walk;
	int proc_fd;
	size_t looked_at;
};

static bool is_on_a_root(const struct growth *growth, dev_t device)
{
	for (size_t i = 0; i < growth->fs_count; i++) {
		if (growth->fs[i].device == device)
			return true;
	}
	return false;
}

/* False for one that was met before; when the table is full all count as new. */
static bool is_first(struct growth_walk *walk, dev_t device, ino_t inode)
{
	for (size_t i = 0; i < walk->seen_count; i++) {
		if (walk->seen[i].inode == inode && walk->seen[i].device == device)
			return false;
	}
	if (walk->seen_count < GROWTH_SEEN)
		walk->seen[walk->seen_count++] = (struct growth_seen){device, inode};
	return true;
}

static void count_unlinked(struct search *search, const struct stat *st)
{
	struct growth_walk *walk = search->walk;
	int64_t ctime_ns = st->st_ctim.tv_sec * (int64_t)1000000000 + st->st_ctim.tv_nsec;

	if (st->st_nlink != 0 || !S_ISREG(st->st_mode) || ctime_ns < walk->since_ns ||
	    !is_on_a_root(search->growth, st->st_dev) || !is_first(walk, st->st_dev, st->st_ino))
		return;
	walk->found.bytes += (uint64_t)st->st_blocks * 512;
	walk->found.files++;
}

/* Runs `each` on the entries of a folder whose names are numbers. */
static void each_number(struct search *search, int dir_fd,
			void (*each)(struct search *search, int dir_fd, const char *name))
{
	_Alignas(8) char entries[8192];
	ssize_t len;

	while ((len = getdents64(dir_fd, entries, sizeof(entries))) > 0) {
		for (ssize_t at = 0; at < len;) {
			const struct dirent64 *entry = (const struct dirent64 *)(entries + at);

			at += entry->d_reclen;
			if (entry->d_name[0] >= '0' && entry->d_name[0] <= '9')
				each(search, dir_fd, entry->d_name);
		}
	}
}

static void look_at_fd(struct search *search, int dir_fd, const char *name)
{
	struct stat st;

	if (search->looked_at++ >= GROWTH_OPEN_MAX)
		search->walk->found.hidden = true;
	else if (fstatat(dir_fd, name, &st, 0) == 0) /* through the link, to the open file */
		count_unlinked(search, &st);
	else if (errno == EACCES || errno == EPERM)
		search->walk->found.hidden = true;
}

/*
 * "7f01-7f02 rw-p 00000000 08:01 123   /name (deleted)". Root may look at the file
 * itself (map_files needs CAP_CHECKPOINT_RESTORE or CAP_SYS_ADMIN); for others the
 * length that is mapped stands for it.
 */
static void look_at_mapping(struct search *search, const char *pid, const char *line)
{
	unsigned long from, to, inode;
	unsigned major_number, minor_number;
	char path[96];
	struct stat st;

	if (strstr(line, " (deleted)") == NULL ||
	    sscanf(line, "%lx-%lx %*s %*s %x:%x %lu", &from, &to, &major_number, &minor_number,
		   &inode) != 5)
		return;
	snprintf(path, sizeof(path), "%s/map_files/%lx-%lx", pid, from, to);
	if (fstatat(search->proc_fd, path, &st, 0) == 0) {
		count_unlinked(search, &st);
		return;
	}
	dev_t device = makedev(major_number, minor_number);
	if (!is_on_a_root(search->growth, device) || !is_first(search->walk, device, inode))
		return;
	search->walk->found.bytes += to - from;
	search->walk->found.files++;
}

static void look_at_mappings(struct search *search, const char *pid)
{
	char path[64], *line = NULL;
	size_t size = 0;

	snprintf(path, sizeof(path), "%s/maps", pid);
	int fd = openat(search->proc_fd, path, O_RDONLY | O_CLOEXEC);
	FILE *maps = fd < 0 ? NULL : fdopen(fd, "r");
	if (maps == NULL) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while (getline(&line, &size, maps) > 0) {
		if (search->looked_at++ >= GROWTH_OPEN_MAX) {
			search->walk->found.hidden = true;
			break;
		}
		look_at_mapping(search, pid, line);
	}
	free(line);
	fclose(maps);
}

static void look_at_process(struct search *search, int dir_fd, const char *pid)
{
	char path[64];

	if (strcmp(pid, "1") == 0) /* init: ours */
		return;
	snprintf(path, sizeof(path), "%s/fd", pid);
	int fd = openat(dir_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0) {
		search->walk->found.hidden |= errno != ENOENT && errno != ESRCH;
		return;
	}
	each_number(search, fd, look_at_fd);
	close(fd);
	look_at_mappings(search, pid);
}

static void look_at_descendant(void *data, pid_t pid)
{
	struct search *search = data;
	char name[16];

	snprintf(name, sizeof(name), "%d", (int)pid);
	if (pid != search->growth->keeper)
		look_at_process(search, search->proc_fd, name);
}

void growth_find_unlinked(const struct growth *growth, struct growth_walk *walk, int proc_fd)
{
	struct search search = {.growth = growth, .walk = walk, .proc_fd = proc_fd};
	if (growth->keeper != 0) {
		descendants_each(proc_fd, growth->keeper, look_at_descendant, &search);
		return;
	}
	int list_fd = openat(proc_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (list_fd < 0)
		return;
	each_number(&search, list_fd, look_at_process);
	close(list_fd);
}
