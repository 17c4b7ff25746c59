// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_OBSTACLE_H
#define SBOX_OBSTACLE_H

#include <stdbool.h>
#include <stddef.h>

#include "arena.h"

/*
 * What stands in the way of namespaces and mounts on machines, and the setting
 * or command that removes it: one table, which the launcher quotes when a start
 * was refused and `sbox doctor` when it looks round. It is asked only after a
 * call has failed; a start that works does not pay for it.
 */
#define OBSTACLE_LIST(OBSTACLE)                                                                    \
	OBSTACLE(WSL1, "wsl1", "this is WSL 1, which imitates Linux and has no namespaces",        \
		 "in Windows: wsl --set-version DISTRIBUTION 2")                                   \
	OBSTACLE(MAX_USER_NAMESPACES, "max-user-namespaces", "user.max_user_namespaces is 0",      \
		 "sysctl -w user.max_user_namespaces=10000, or start sbox outside the sandbox "    \
		 "around it that has set this to 0")                                               \
	OBSTACLE(USERNS_CLONE, "unprivileged-userns-clone",                                        \
		 "kernel.unprivileged_userns_clone is 0",                                          \
		 "sysctl -w kernel.unprivileged_userns_clone=1")                                   \
	OBSTACLE(APPARMOR, "apparmor-userns",                                                      \
		 "AppArmor gives user namespaces no capabilities unless the program's profile "    \
		 "says so (kernel.apparmor_restrict_unprivileged_userns is 1)",                    \
		 "load sbox's profile: make install puts it into /etc/apparmor.d, then "           \
		 "apparmor_parser -r /etc/apparmor.d/sbox; or, for every program, "                \
		 "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0")                       \
	OBSTACLE(CHROOT, "chroot",                                                                 \
		 "sbox was started in a chroot, and the kernel makes no user namespace there",     \
		 "start sbox outside, or enter the tree with a mount namespace and pivot_root "    \
		 "(a container, systemd-nspawn) instead of chroot")                                \
	OBSTACLE(FILTER, "seccomp-filter",                                                         \
		 "the seccomp filter around sbox, usually a container's, refuses it",              \
		 "podman or docker run --security-opt seccomp=unconfined, or a filter that "       \
		 "allows clone, clone3, unshare, setns, mount, umount2, pivot_root, open_tree, "   \
		 "move_mount, fsopen, fsconfig, fsmount, mount_setattr and sethostname")           \
	OBSTACLE(COVERED_PROC, "covered-proc",                                                     \
		 "parts of /proc are covered here, as containers do, so the kernel mounts no "     \
		 "fresh one",                                                                      \
		 "podman run --security-opt unmask=ALL, "                                          \
		 "docker run --security-opt systempaths=unconfined")                               \
	OBSTACLE(NAMESPACE_LIMIT, "namespace-limit",                                               \
		 "no more namespaces may be made here: a limit in /proc/sys/user is reached, or "  \
		 "32 user namespaces lie inside each other",                                       \
		 "sysctl user shows the limits; sysctl -w user.max_NAME_namespaces=10000 "         \
		 "raises one")                                                                     \
	OBSTACLE(TASK_LIMIT, "task-limit",                                                         \
		 "a limit of processes is reached: RLIMIT_NPROC, a control group's pids.max or "   \
		 "kernel.threads-max",                                                             \
		 "ulimit -u and the control group's pids.max show them; end other processes, or "  \
		 "raise it")                                                                       \
	OBSTACLE(SECURITY_MODULE, "security-module",                                               \
		 "a rule of this machine's security modules (AppArmor, SELinux, a container's "    \
		 "profile) refuses it",                                                            \
		 "the kernel's log says which: dmesg or journalctl -k; podman run "                \
		 "--security-opt label=disable, docker run --security-opt apparmor=unconfined")

enum obstacle {
#define OBSTACLE(id, name, cause, way_out) OBSTACLE_##id,
	OBSTACLE_LIST(OBSTACLE)
#undef OBSTACLE
		OBSTACLE_MAX
};

struct obstacle_text {
	const char *name, *cause, *way_out;
};

extern const struct obstacle_text obstacle_texts[OBSTACLE_MAX];

/* Which call failed: making the namespaces, using capabilities in them, mounting /proc there. */
enum obstacle_at { AT_CLONE, AT_MOUNT, AT_PROC };

/*
 * The likeliest cause of a failed call. Reads /proc and /sys below `root`, which
 * is "" but for tests; errnum is that of the call.
 */
enum obstacle obstacle_find(const char *root, enum obstacle_at at, int errnum, bool is_root);

/* "cause (way out)" */
char *obstacle_sentence(struct arena *arena, enum obstacle obstacle);

/* A file of /proc or /sys below `root`, cut at size; false when it cannot be read. */
bool obstacle_read(const char *root, const char *path, char *buf, size_t size);
/* Its number, or -1. */
long obstacle_number(const char *root, const char *path);

#endif
