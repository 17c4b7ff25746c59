// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_STEP_H
#define SBOX_STEP_H

#include <linux/filter.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "arena.h"

/*
 * What the new process does, as data. The enum is the order, the fault code
 * and the cause's name: STEP(id, name, reason). Boundaries append steps in any
 * order; steps_sort() puts them into this one. Steps up to FORK are run by
 * init, those after it by the program.
 */
#define STEP_LIST(STEP)                                                                            \
	STEP(ID_MAPS, "id-maps", "capabilities in the new user namespace count from here on")      \
	STEP(PARENT_DEATH, "parent-death", "init dies with its supervisor from here on")           \
	STEP(PRIVATE_MOUNTS, "private-mounts", "nothing done to mounts reaches the host")          \
	STEP(SOURCE, "source", "opened and compared before any mount can hide or replace it")      \
	STEP(NEW_ROOT, "new-root", "the skeleton that everything is attached to")                  \
	STEP(DIRECTORY, "directory", "mount points and parents, shortest path first")              \
	STEP(LINK, "link", "links that the host has on the way to listed paths")                   \
	STEP(CONTENT, "content", "synthetic files")                                                \
	STEP(PROC, "proc", "a fresh one for the new pid namespace")                                \
	STEP(DEVPTS, "devpts", "terminals of the sandbox's own")                                   \
	STEP(ATTACH, "attach", "parents before what lies below them")                              \
	STEP(OVERLAY, "overlay", "above the attached tree that it covers")                         \
	STEP(OVERLAYS_DONE, "overlays-done", "nobody inside can reach the layers themselves")      \
	STEP(SELF_BIND, "self-bind", "private folders become writable mounts of the skeleton")     \
	STEP(COVER, "cover", "hidden names, masks: after what they cover")                         \
	STEP(SEND_FDS, "send-fds", "the supervisor samples through these")                         \
	STEP(LOOPBACK, "loopback", "needs CAP_NET_ADMIN over the new network namespace")           \
	STEP(HOSTNAME, "hostname", "needs CAP_SYS_ADMIN over the new uts namespace")               \
	STEP(PIVOT, "pivot", "the host's tree is gone from here on")                               \
	STEP(READ_ONLY_ROOT, "read-only-root", "nothing is added to the skeleton any more")        \
	STEP(BECOME, "become", "the outer uid and gid: groups first, uid last")                    \
	STEP(INNER_USER, "inner-user",                                                             \
	     "a second one, which has no say over the first one's mounts")                         \
	STEP(NO_MORE_NAMESPACES, "no-more-namespaces", "by count, before capabilities go")         \
	STEP(CAPABILITIES, "capabilities", "bounding set first: dropping it needs CAP_SETPCAP")    \
	STEP(NO_NEW_PRIVS, "no-new-privs", "before Landlock and seccomp, which need it")           \
	STEP(REARM_DEATH, "rearm-death", "a change of credentials clears the death signal")        \
	STEP(RULESET, "ruleset", "Landlock rules, opened in the new tree")                         \
	STEP(WAIT_ATTACH, "wait-attach", "the supervisor moves init into its cgroup")              \
	STEP(FORK, "fork", "init's list ends here, the program's begins")                          \
	STEP(SESSION, "session", "no controlling terminal")                                        \
	STEP(STDIO, "stdio", "the relay's pipes become 0, 1 and 2")                                \
	STEP(DIRECTORY_CHANGE, "chdir", "last place where a path is resolved before Landlock")     \
	STEP(LIMIT, "limit", "resource limits; low NOFILE would disturb earlier steps")            \
	STEP(AFFINITY, "affinity", "processors")                                                   \
	STEP(LANDLOCK, "landlock", "after the last open of a path")                                \
	STEP(CLOSE, "close", "every descriptor above 2 goes at exec")                              \
	STEP(WAIT_GO, "wait-go", "until the record of the start is on disk")                       \
	STEP(SIGNALS, "signals", "empty mask: the program can be stopped from here on")            \
	STEP(READY, "ready", "tells an exec that happened from a death in set-up")                 \
	STEP(SECCOMP, "seccomp", "last: earlier steps need calls that it refuses")                 \
	STEP(EXEC, "exec", "the program")

enum step_id {
#define STEP(id, name, reason) STEP_##id,
	STEP_LIST(STEP)
#undef STEP
		STEP_MAX
};

extern const char *const step_names[STEP_MAX];

/*
 * One step. Fields by id (paths inside are relative to the new root, no
 * leading slash; "" is the root itself):
 *
 *   ID_MAPS, INNER_USER  text uid map, source gid map
 *   SOURCE       source host path, slot, value = {device, inode, attributes to set,
 *                attributes to clear}, idmap_fd; submounts come along
 *   NEW_ROOT     path where it is built, text size in bytes, source number of inodes
 *   DIRECTORY    path, value = {mode, uid, gid}
 *   LINK         path, text target
 *   CONTENT      path, text, value[0] mode
 *   ATTACH       path, slot
 *   OVERLAY      path, slot, flags its number from 0, value = {mode, uid, gid, size in bytes
 *                of all layers together}
 *   SELF_BIND    path, value and idmap_fd as for SOURCE (device and inode 0: not compared);
 *                flags 1: the attributes are for this mount, not for those below it
 *   COVER        path; flags 1: skip when absent
 *   HOSTNAME     text
 *   BECOME       value = {uid, gid}
 *   RULESET      value = {file rights, 0, scopes}, rules
 *   STDIO        value = {in, out, err}
 *   DIRECTORY_CHANGE  path, absolute
 *   LIMIT        value = {resource, soft, hard}
 *   AFFINITY     value[0] how many processors
 *   SECCOMP      filter, plain_filter, flags 1: with a listener
 *   EXEC         path, argv, envp
 */
struct landlock_rule {
	const char *path; /* absolute, inside */
	uint64_t access;
	int slot; /* of the SOURCE that is attached there, or -1: opened by path */
};

struct step {
	enum step_id id;
	unsigned slot, flags;
	int idmap_fd; /* SOURCE, SELF_BIND: user namespace of the idmap, or -1 */
	const char *path, *source, *text;
	uint64_t value[4];
	const struct landlock_rule *rules;
	size_t rule_count;
	const struct sock_fprog *filter, *plain_filter; /* without listener, for EBUSY */
	char *const *argv, *const *envp;
};

struct steps {
	struct arena *arena;
	struct step *items;
	size_t count;
	unsigned slots; /* how many sources: each holds a descriptor */
};

/* A profile's paths take three steps each; file_arm() refuses what would not fit. */
enum { STEPS_MAX = 8192 };

/* The pointer stays good until steps_sort(). */
struct step *steps_add(struct steps *steps, enum step_id id);
/* Stable: steps of one id keep the order in which they were added. */
void steps_sort(struct steps *steps);
/* "source /usr -> slot 0" and so on, one a line, for tests and people. */
char *steps_print(struct arena *arena, const struct steps *steps);

/*
 * What a failing step writes, once, on the close-on-exec pipe. A mark
 * (errnum 0, id READY) says that set-up is over.
 */
struct fault {
	uint32_t id; /* enum step_id */
	int32_t errnum;
	uint32_t index;  /* in the list */
	uint32_t detail; /* which of the step's system calls, from 1 */
};

/* Messages on the control socket (SOCK_SEQPACKET). */
enum message_kind {
	MESSAGE_FDS,      /* init: /proc and / of the sandbox, as descriptors */
	MESSAGE_LISTENER, /* program: the seccomp listener */
	MESSAGE_NO_LISTENER,
	MESSAGE_EXITED, /* init: the program's wait status and usage */
	MESSAGE_SIGNAL, /* supervisor: send a signal to the program's group */
};

struct message {
	uint32_t kind;
	int32_t status; /* wait status, or signal number */
	uint64_t user_us, sys_us, peak_rss_kb, read_blocks,
		written_blocks;           /* blocks of 512 bytes */
	uint32_t alone;                   /* EXITED: no other process is left in the sandbox */
	uint64_t own_user_us, own_sys_us; /* of init itself: set-up, not the program's */
};

#endif
