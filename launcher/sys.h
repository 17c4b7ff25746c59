// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_SYS_H
#define SBOX_SYS_H

/*
 * Thin wrappers for system calls that libc has no function for, and the UAPI
 * constants that the distribution's kernel headers (6.1) do not know yet. All
 * are async-signal-safe: no allocation, no locale, errno on failure.
 */

#include <linux/landlock.h>
#include <linux/openat2.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include "uapi.h"

static inline int sys_openat2(int dir, const char *path, uint64_t flags, uint64_t resolve)
{
	struct open_how how = {.flags = flags, .resolve = resolve};

	return (int)syscall(SYS_openat2, dir, path, &how, sizeof(how));
}

static inline int sys_open_tree(int dir, const char *path, unsigned flags)
{
	return (int)syscall(SYS_open_tree, dir, path, flags);
}

static inline int sys_move_mount(int from, const char *from_path, int to, const char *to_path,
				 unsigned flags)
{
	return (int)syscall(SYS_move_mount, from, from_path, to, to_path, flags);
}

static inline int sys_mount_setattr(int dir, const char *path, unsigned flags,
				    const struct mount_attr *attr)
{
	return (int)syscall(SYS_mount_setattr, dir, path, flags, attr, sizeof(*attr));
}

static inline int sys_fsopen(const char *type, unsigned flags)
{
	return (int)syscall(SYS_fsopen, type, flags);
}

static inline int sys_fsconfig(int fd, unsigned cmd, const char *key, const char *value, int aux)
{
	return (int)syscall(SYS_fsconfig, fd, cmd, key, value, aux);
}

static inline int sys_fsmount(int fd, unsigned flags, unsigned attr)
{
	return (int)syscall(SYS_fsmount, fd, flags, attr);
}

static inline int sys_pivot_root(const char *new_root, const char *put_old)
{
	return (int)syscall(SYS_pivot_root, new_root, put_old);
}

static inline long sys_clone3(struct clone_args *args)
{
	return syscall(SYS_clone3, args, sizeof(*args));
}

static inline int sys_close_range(unsigned first, unsigned last, unsigned flags)
{
	return (int)syscall(SYS_close_range, first, last, flags);
}

static inline int sys_pidfd_send_signal(int fd, int sig)
{
	return (int)syscall(SYS_pidfd_send_signal, fd, sig, NULL, 0);
}

static inline int sys_landlock_create_ruleset(const struct sbox_landlock_ruleset_attr *attr,
					      size_t size, unsigned flags)
{
	return (int)syscall(SYS_landlock_create_ruleset, attr, size, flags);
}

static inline int sys_landlock_add_path(int ruleset, uint64_t access, int path_fd)
{
	struct landlock_path_beneath_attr attr = {.allowed_access = access, .parent_fd = path_fd};

	return (int)syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &attr, 0);
}

static inline int sys_landlock_restrict_self(int ruleset, unsigned flags)
{
	return (int)syscall(SYS_landlock_restrict_self, ruleset, flags);
}

static inline int sys_seccomp(unsigned op, unsigned flags, const void *arg)
{
	return (int)syscall(SYS_seccomp, op, flags, arg);
}

#endif
