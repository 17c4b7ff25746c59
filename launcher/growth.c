// SPDX-License-Identifier: Apache-2.0
#include "growth.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>

/* A file costs at least an inode and a name, also where inodes are not counted. */
enum { FILE_BYTES_MIN = 512 };

static const int64_t second_ns = 1000000000;

static int64_t now_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * second_ns + now.tv_nsec;
}

/* Used, not free: a quota or a shared pool changes what is free without anybody writing.
 * Inodes of XFS and btrfs are made as needed; f_files - f_ffree is right on both. */
static bool look(int fd, uint64_t *ret_bytes, uint64_t *ret_files)
{
	struct statfs fs;

	if (fstatfs(fd, &fs) < 0)
		return false;
	*ret_bytes =
		fs.f_blocks > fs.f_bfree ? (uint64_t)(fs.f_blocks - fs.f_bfree) * fs.f_bsize : 0;
	*ret_files = fs.f_files > fs.f_ffree ? fs.f_files - fs.f_ffree : 0; /* btrfs: 0 of 0 */
	return true;
}

static bool has_root(const struct growth *growth, const struct stat *st)
{
	for (size_t i = 0; i < growth->root_count; i++) {
		if (growth->roots[i].device == st->st_dev && growth->roots[i].inode == st->st_ino)
			return true;
	}
	return false;
}

static bool has_fs(const struct growth *growth, dev_t device)
{
	for (size_t i = 0; i < growth->fs_count; i++) {
		if (growth->fs[i].device == device)
			return true;
	}
	return false;
}

static int add_root(struct growth *growth, int fd, struct error *err)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return error_sys(err, "file.growth: cannot look at a write path");
	if (has_root(growth, &st))
		return 0;
	growth->roots[growth->root_count++] = (struct growth_root){fd, st.st_dev, st.st_ino};
	if (has_fs(growth, st.st_dev))
		return 0;
	struct growth_fs *fs = &growth->fs[growth->fs_count];
	if (!look(fd, &fs->used_bytes, &fs->used_files))
		return error_sys(err, "file.growth: cannot ask the file system of a write path");
	fs->fd = fd;
	fs->device = st.st_dev;
	growth->fs_count++;
	return 0;
}

int growth_init(struct growth *growth, const int *root_fds, size_t count, uint64_t limit_bytes,
		uint64_t limit_files, struct error *err)
{
	memset(growth, 0, sizeof(*growth));
	growth->limit_bytes = growth->ask_bytes = limit_bytes;
	growth->limit_files = growth->ask_files = limit_files;
	growth->roots = calloc(count + 1, sizeof(*growth->roots));
	growth->fs = calloc(count + 1, sizeof(*growth->fs));
	if (growth->roots == NULL || growth->fs == NULL) {
		growth_free(growth);
		return error_sys(err, "file.growth: cannot get memory");
	}
	for (size_t i = 0; i < count; i++) {
		if (add_root(growth, root_fds[i], err) < 0) {
			growth_free(growth);
			return -1;
		}
	}
	growth->start_ns = now_ns(CLOCK_REALTIME_COARSE); /* the clock of file times */
	growth->start_boot_ns = now_ns(CLOCK_BOOTTIME);
	return 0;
}

bool growth_suspect(struct growth *growth, uint64_t *ret_bytes, uint64_t *ret_files,
		    uint64_t *ret_left)
{
	uint64_t bytes = 0, files = 0, guessed = 0;

	for (size_t i = 0; i < growth->fs_count; i++) {
		const struct growth_fs *fs = &growth->fs[i];
		uint64_t used_bytes, used_files;

		if (!look(fs->fd, &used_bytes, &used_files))
			continue;
		uint64_t more = used_bytes > fs->used_bytes ? used_bytes - fs->used_bytes : 0;
		bytes += more;
		if (used_files == 0)
			guessed += more / FILE_BYTES_MIN;
		else if (used_files > fs->used_files)
			files += used_files - fs->used_files;
	}
	growth->now_bytes = bytes;
	growth->now_files = files + guessed;
	*ret_bytes = bytes;
	*ret_files = files;
	*ret_left = growth->limit_bytes == 0    ? UINT64_MAX
		    : bytes < growth->ask_bytes ? growth->ask_bytes - bytes
						: 0;
	return (growth->limit_bytes != 0 && bytes > growth->ask_bytes) ||
	       (growth->limit_files != 0 && growth->now_files > growth->ask_files);
}

/* A clock that was set back meanwhile must not make new files look old. */
static int64_t since(const struct growth *growth)
{
	const int64_t slack = second_ns / 20;
	int64_t start = now_ns(CLOCK_REALTIME) - now_ns(CLOCK_BOOTTIME) + growth->start_boot_ns;

	return start < growth->start_ns - slack ? start - slack : growth->start_ns;
}

static bool is_above(const struct growth *growth, const struct growth_found *found)
{
	return (growth->limit_bytes != 0 && found->bytes > growth->limit_bytes) ||
	       (growth->limit_files != 0 && found->files > growth->limit_files) || found->hidden;
}

static void end_walk(struct growth *growth)
{
	growth_walk_close(growth->walk);
	free(growth->walk);
	growth->walk = NULL;
}

/* Until then the program cannot be above its limit, whoever else writes; half of that,
 * since others may have deleted something. */
static uint64_t ask_again(uint64_t now, uint64_t limit, uint64_t found)
{
	uint64_t left = limit > found ? (limit - found) / 2 : 0;

	return now + (left > limit / 8 ? left : limit / 8);
}

enum growth_verdict growth_confirm(struct growth *growth, int proc_fd, size_t entries,
				   struct growth_found *ret_found)
{
	if (growth->walk == NULL) {
		growth->walk = calloc(1, sizeof(*growth->walk));
		if (growth->walk == NULL)
			abort();
		growth->walk->since_ns = since(growth);
	}
	struct growth_walk *walk = growth->walk;
	bool finished = growth_walk_roots(growth, walk, entries);
	if (finished && proc_fd >= 0)
		growth_find_unlinked(growth, walk, proc_fd);
	*ret_found = walk->found;
	bool above = is_above(growth, ret_found);
	if (!finished && !above)
		return GROWTH_MORE;
	end_walk(growth);
	if (above)
		return GROWTH_YES;
	growth->ask_bytes = ask_again(growth->now_bytes, growth->limit_bytes, ret_found->bytes);
	growth->ask_files = ask_again(growth->now_files, growth->limit_files, ret_found->files);
	return GROWTH_NO;
}

void growth_free(struct growth *growth)
{
	if (growth->walk != NULL)
		end_walk(growth);
	free(growth->roots);
	free(growth->fs);
	memset(growth, 0, sizeof(*growth));
}
