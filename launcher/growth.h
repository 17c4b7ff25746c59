// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_GROWTH_H
#define SBOX_GROWTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "error.h"

/*
 * How much the trees that the program may write have grown. Two questions, since
 * the cheap one cannot tell who did it:
 *
 *   suspect   statfs: has the file system grown by the limit? 1-2 µs a root; others
 *             who write to the same disk count too.
 *   confirm   a walk over the write roots: what has changed there since the start,
 *             with files that are unlinked but still open or mapped. Only when this
 *             alone is above the limit is the program at fault.
 *
 * What the walk cannot look into and only the program can have made so (a folder it
 * took the permissions from, one deeper than GROWTH_DEPTH, more open files than can
 * be looked at) is held against it: "hidden". A program that runs on can move folders
 * past the walk: stop the tree meanwhile where that can be done.
 *
 * Counts too much: a file from before the start that was changed counts whole.
 * Misses: unlinked files held only by a descriptor on its way through a socket; what
 * grows on other mounts below a root; growth hidden by others who delete as much.
 */
enum { GROWTH_DEPTH = 96, GROWTH_OPEN_MAX = 65536 };

struct growth_root {
	int fd; /* stays the caller's, who keeps it open */
	dev_t device;
	ino_t inode;
};

struct growth_fs {
	int fd;
	dev_t device;
	uint64_t used_bytes, used_files; /* at the start */
};

struct growth_found {
	uint64_t bytes, files; /* so far, when not finished */
	bool hidden;           /* something could not be looked into */
};

struct growth_walk;

struct growth {
	struct growth_root *roots;
	size_t root_count;
	struct growth_fs *fs; /* distinct ones */
	size_t fs_count;
	uint64_t limit_bytes, limit_files; /* 0: no limit */
	uint64_t ask_bytes, ask_files;     /* suspected above this */
	uint64_t now_bytes, now_files;     /* at the last look */
	int64_t start_ns, start_boot_ns;   /* realtime and boottime */
	pid_t keeper; /* proc_fd is the host's: only what descends from this one; else 0 */
	struct growth_walk *walk; /* between two calls of growth_confirm */
};

/* The run starts now. Roots that are the same folder count once. */
int growth_init(struct growth *growth, const int *root_fds, size_t count, uint64_t limit_bytes,
		uint64_t limit_files, struct error *err);
/* True when it is time to ask growth_confirm. `ret_left`: bytes until then.
 * A file system that does not count inodes (btrfs) adds nothing to ret_files; files are
 * suspected there when there were bytes enough for them. */
bool growth_suspect(struct growth *growth, uint64_t *ret_bytes, uint64_t *ret_files,
		    uint64_t *ret_left);

enum growth_verdict { GROWTH_NO, GROWTH_YES, GROWTH_MORE };

/* Looks at up to `entries` files, then wants to be called again (GROWTH_MORE).
 * proc_fd: the sandbox's /proc, or -1. After GROWTH_NO the next suspicion waits
 * until the program could be above its limit, at least for an eighth of it. */
enum growth_verdict growth_confirm(struct growth *growth, int proc_fd, size_t entries,
				   struct growth_found *ret_found);
void growth_free(struct growth *growth);

/* --- between growth*.c --- */

struct growth_seen {
	dev_t device;
	ino_t inode;
};

enum { GROWTH_SEEN = 1024 };

struct growth_level {
	int fd;
	int at, len;
	_Alignas(8) char entries[4096];
};

struct growth_walk {
	struct growth_found found;
	int64_t since_ns;
	size_t root, depth; /* next root; levels in use */
	struct growth_level levels[GROWTH_DEPTH];
	struct growth_seen seen[GROWTH_SEEN]; /* unlinked files counted */
	size_t seen_count;
};

/* growth_walk.c: false while there is more. */
bool growth_walk_roots(const struct growth *growth, struct growth_walk *walk, size_t entries);
void growth_walk_close(struct growth_walk *walk);
/* growth_open.c */
void growth_find_unlinked(const struct growth *growth, struct growth_walk *walk, int proc_fd);

#endif
