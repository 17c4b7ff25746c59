// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_JUDGE_LOOK_H
#define SBOX_JUDGE_LOOK_H

#include "judge.h"

/* Room for a path that is written before it is read. Zeros in it first, as the compiler writes
 * them, would cost more memory than all else that a question touches. */
#define PATH_ROOM(name) char name[PATH_MAX] __attribute__((uninitialized))

/* How the judge looks at things: O_PATH descriptors only, nothing is opened or changed. */

/* What a path is inside, or -1 with errno. */
int look_inside(const struct judge *judge, const char *path, bool no_follow);
/*
 * What it is on the host: its resolved path and what it is; 0 or -1 with errno. EAGAIN: it lies
 * on a file system that may not answer (network, FUSE), so nobody looked.
 */
int look_host(struct judge *judge, const char *path, bool no_follow, char ret_path[PATH_MAX],
	      struct stat *ret_st);
bool look_is_slow(struct judge *judge, const char *path);
/* The path that a descriptor of the sandbox's tree has inside. */
bool look_path_of(int fd, char ret_path[PATH_MAX]);
/* The folder part of a path that does not end with "/" ("/" has none: false). */
bool look_parent(const char *path, char ret_parent[PATH_MAX]);
/* Without "." and doubled slashes; false: it has ".." in it, or is too long. */
bool look_plain(const char *path, char ret_path[PATH_MAX]);
bool look_read_only(int fd);
/* The mount's number; 0: not known (before 5.8). */
uint64_t look_mount(int fd);
bool look_noexec(int fd);
/* Whether the caller, or as root the run's own user, may do that (R_OK, W_OK, X_OK) on the host. */
bool look_may(const struct judge *judge, const char *path, const struct stat *st, int mode);
bool look_mode_allows(const struct judge *judge, const struct stat *st, int mode);
/* The deepest entry over a resolved path, whatever it gives or takes; NULL: none. */
const struct file_entry *look_entry(const struct judge *judge, const char *path);
bool look_is_cover(struct judge *judge, int fd);

#endif
