// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_STEP_H
#define SBOX_STEP_H

#include <linux/filter.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <termios.h>

#include "arena.h"

/*
 * What the new process does, as data. The enum is the order, the fault code
 * and the cause's name: STEP(id, name, reason). Boundaries append steps in any
 * order; steps_sort() puts them into this one. Steps up to FORK are run by
 * init, those after it by the program.
 */
#define STEP_LIST(STEP)                                                                            \
	STEP(ID_MAPS, "id-maps", "capabilities in the new user namespace count from here on")      \
	STEP(NAMESPACES, "namespaces", "all but user and pid: made while the profile is read")     \
	STEP(PARENT_DEATH, "parent-death", "init dies with its supervisor from here on")           \
	STEP(PRIVATE_MOUNTS, "private-mounts", "nothing done to mounts reaches the host")          \
	STEP(LOOPBACK, "loopback", "needs CAP_NET_ADMIN over the new network namespace")           \
	STEP(NEW_ROOT, "new-root", "what everything will be attached to; not to be seen yet")      \
	STEP(SKELETON, "skeleton", "what every sandbox has there, whatever its profile says")      \
	STEP(DEVICE, "device", "as for SOURCE: before any mount can hide or replace it")           \
	STEP(PROC, "proc", "a fresh one for the new pid namespace")                                \
	STEP(DEVPTS, "devpts", "terminals of the sandbox's own")                                   \
	STEP(GATE, "gate", "needs that too; its sockets are on their way while the tree is built") \
	STEP(SOURCE, "source", "opened and compared before any mount can hide or replace it")      \
	STEP(SHOW_ROOT, "show-root", "older kernels (before 6.15) attach to no detached mount")    \
	STEP(DIRECTORY, "directory", "mount points and parents, shortest path first")              \
	STEP(LINK, "link", "links that the host has on the way to listed paths")                   \
	STEP(CONTENT, "content", "synthetic files")                                                \
	STEP(ATTACH, "attach", "parents before what lies below them")                              \
	STEP(OVERLAY, "overlay", "above the attached tree that it covers")                         \
	STEP(OVERLAYS_DONE, "overlays-done", "nobody inside can reach the layers themselves")      \
	STEP(SELF_BIND, "self-bind", "private folders become writable mounts of the skeleton")     \
	STEP(COVER, "cover", "hidden names, masks: after what they cover")                         \
	STEP(SEND_FDS, "send-fds", "the supervisor samples through these")                         \
	STEP(HOSTNAME, "hostname", "needs CAP_SYS_ADMIN over the new uts namespace")               \
	STEP(PIVOT, "pivot", "the host's tree is gone from here on")                               \
	STEP(READ_ONLY_ROOT, "read-only-root", "nothing is added to the skeleton any more")        \
	STEP(BECOME, "become", "the outer uid and gid: groups first, uid last")                    \
	STEP(INNER_USER, "inner-user",                                                             \
	     "a second one, which has no say over the first one's mounts")                         \
	STEP(APPARMOR, "apparmor", "for the next exec; needs /proc, and comes true at EXEC alone") \
	STEP(NO_MORE_NAMESPACES, "no-more-namespaces", "by count, before capabilities go")         \
	STEP(CAPABILITIES, "capabilities", "bounding set first: dropping it needs CAP_SETPCAP")    \
	STEP(NO_NEW_PRIVS, "no-new-privs", "before Landlock and seccomp, which need it")           \
	STEP(REARM_DEATH, "rearm-death", "a change of credentials clears the death signal")        \
	STEP(KEEPER, "keeper", "where no pid namespace ends what is left: needs no_new_privs")     \
	STEP(RULESET, "ruleset", "Landlock rules, opened in the new tree")                         \
	STEP(TERMINAL, "terminal",                                                                 \
	     "made by the user that the program is, in the new tree's devpts")                     \
	STEP(WAIT_ATTACH, "wait-attach", "the supervisor moves init into its cgroup")              \
	STEP(FORK, "fork", "init's list ends here, the program's begins")                          \
	STEP(SESSION, "session", "no controlling terminal but the sandbox's own")                  \
	STEP(STDIO, "stdio", "the relay's pipes or the terminal become 0, 1 and 2")                \
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
 *   APPARMOR     text what is written: "exec NAME", or "stack NAME" under a profile
 *   NAMESPACES   value[0] CLONE_NEW* flags
 *   PRIVATE_MOUNTS  flags 1: fails where user namespaces are switched off
 *   SOURCE       source host path, slot, value = {device, inode, attributes to set,
 *                attributes to clear}, idmap; submounts come along
 *   SKELETON     skeleton
 *   DEVICE       as for SOURCE, flags the number that the character device must have
 *   SHOW_ROOT    path where it is built, text size in bytes, source number of inodes
 *   GATE         network: messages to send, kinds of sockets to make; flags 1: later, by a visitor
 *   DIRECTORY    path, value = {mode, uid, gid}
 *   LINK         path, text target
 *   CONTENT      path, text, value[0] mode
 *   ATTACH       path, slot
 *   OVERLAY      path, slot, flags its number from 0, value = {mode, uid, gid, size in bytes
 *                of all layers together}
 *   SELF_BIND    path, value and idmap as for SOURCE (device and inode 0: not compared);
 *                flags 1: the attributes are for this mount, not for those below it
 *   COVER        path; flags 1: skip when absent
 *   HOSTNAME     text
 *   BECOME       value = {uid, gid}
 *   CAPABILITIES, BECOME  flags 1: without what needs CAP_SETPCAP
 *   REARM_DEATH  flags 1: no death signal, a keeper has to outlive its supervisor
 *   KEEPER       value[0] Landlock scopes of its domain, flags 1: nobody else has its uid
 *   RULESET      value = {file rights, 0, scopes}, rules
 *   TERMINAL     terminal: modes and size to begin with
 *   SESSION      flags 1: the program begins in the foreground of its terminal
 *   STDIO        value = {in, out, err}, each a descriptor or STDIO_TERMINAL
 *   DIRECTORY_CHANGE  path, absolute
 *   LIMIT        value = {resource, soft, hard}
 *   AFFINITY     value[0] how many processors
 *   SECCOMP      filter, plain_filter, flags 1: with a listener
 *   EXEC         path, argv, envp, value[0] the mark of this exec (filter.h)
 */
struct landlock_rule {
	const char *path; /* absolute, inside */
	uint64_t access;
	uint64_t device, inode; /* compared when it is opened; 0: not */
	int slot;               /* of the SOURCE that is attached there, or -1: opened by path */
};

/*
 * Addresses of a sandbox with a gate, host byte order. OWN is where the program's connections
 * come from and where it asks for names. LISTENER is an address that nobody uses (240/4): the
 * gate's listeners are bound to it, so that they take as little from the program as can be.
 */
#define NETWORK_OWN_ADDRESS      0xc6120001U /* 198.18.0.1 */
#define NETWORK_STUB_ADDRESS     0x7f000035U /* 127.0.0.53 */
#define NETWORK_LISTENER_ADDRESS 0xf0000001U /* 240.0.0.1 */
#define NETWORK_LISTENER_ADDRESS6                                                                  \
	{                                                                                          \
		{                                                                                  \
			{                                                                          \
				0x01, [15] = 1                                                     \
			}                                                                          \
		}                                                                                  \
	} /* 100::1, which leads nowhere (RFC 6666) */
enum { NETWORK_DNS_PORT = 53, NETWORK_GATE_PORT = 65053, NETWORK_NAMES_PORT = 65153 };

/* Netlink messages, sent in one call. Each answer before that to `answered` is a failure. */
struct network_batch {
	const unsigned char *bytes;
	size_t length;
	uint32_t answered;
};

/* A socket of the sandbox's network that goes to the gate. */
struct network_socket {
	int family, type, protocol;
	unsigned kind;    /* the gate's name for it */
	bool transparent; /* for addresses that are nobody's */
	bool optional;    /* a machine without IPv6 has none */
	unsigned copies;  /* how many; more than one go up in a message of their own */
	const struct sockaddr
		*address; /* bound to; then it listens if that is how its type serves */
	socklen_t address_size;
	const struct sock_fprog *filter;
};

enum { NETWORK_SOCKETS_MAX = 16, NETWORK_COPIES_MAX = 64 };

struct network_setup {
	struct network_batch probe; /* whether there is nf_tables, at no price */
	struct network_batch routes4, routes6, filter;
	struct network_socket sockets[NETWORK_SOCKETS_MAX];
	size_t socket_count;
};

/* As the caller's terminal was at the start. */
struct terminal_setup {
	struct termios modes;
	struct winsize size;
};

/* Names without a leading slash; each list ends with NULL. */
struct skeleton {
	const char *const *folders, *const *files; /* files are empty: mount points */
	const char *const (*links)[2];             /* {name, target} */
};

#define STDIO_TERMINAL UINT64_MAX

struct step {
	enum step_id id;
	unsigned slot, flags;
	int idmap; /* SOURCE, SELF_BIND: which of the run's idmaps, or -1 */
	const char *path, *source, *text;
	uint64_t value[4];
	const struct landlock_rule *rules;
	size_t rule_count;
	const struct sock_fprog *filter, *plain_filter; /* without listener, for EBUSY */
	char *const *argv, *const *envp;
	const struct terminal_setup *terminal;
	const struct skeleton *skeleton;
	const struct network_setup *network;
};

struct steps {
	struct arena *arena;
	struct step *items;
	size_t count;
	unsigned slots; /* how many sources: each holds a descriptor */
};

/* Owners of write paths, each with a mapping of its own. */
enum { IDMAPS_MAX = 4 };

/* A profile's paths take three steps each; file_arm() refuses what would not fit. */
enum { STEPS_MAX = 8192 };

/* The pointer stays good until steps_sort(). */
struct step *steps_add(struct steps *steps, enum step_id id);
/* Stable: steps of one id keep the order in which they were added. */
void steps_sort(struct steps *steps);
/* How many steps `steps` begins with are those of `first`; all of them or none: 0. */
size_t steps_begin_with(const struct steps *steps, const struct steps *first);
/* "source /usr -> slot 0" and so on, one a line, for tests and people. */
char *steps_print(struct arena *arena, const struct steps *steps);

/*
 * What a failing step writes, once, on the close-on-exec pipe. Two marks (errnum 0): NAMESPACES,
 * a process that was made early has done its first steps; READY, set-up is over.
 */
struct fault {
	uint32_t id; /* enum step_id */
	int32_t errnum;
	uint32_t index;  /* in the list */
	uint32_t detail; /* which of the step's system calls, from 1; see RULESET_CALLS */
};

/* Of the step RULESET a fault's detail also has the number of the rule, times this. */
enum { RULESET_CALLS = 4 };

/* Messages on the control socket (SOCK_SEQPACKET). */
enum message_kind {
	MESSAGE_FDS,      /* init: /proc and / of the sandbox, as descriptors */
	MESSAGE_LISTENER, /* program: the seccomp listener */
	MESSAGE_NO_LISTENER,
	MESSAGE_GATE,        /* init or visitor: sockets of the sandbox's network, see `made` */
	MESSAGE_NETWORK,     /* init: its network namespace, which a visitor sets up later */
	MESSAGE_GATE_FAILED, /* visitor: what made no network: errno `status`, `made` as a fault's
				detail */
	MESSAGE_EXITED,      /* init: the program's wait status and usage */
	MESSAGE_IDMAPS,      /* supervisor: user namespaces, as descriptors */
	MESSAGE_SIGNAL,      /* supervisor: send a signal to the program's group */
	/* With a terminal only: */
	MESSAGE_TERMINAL,   /* init: the master end, as a descriptor */
	MESSAGE_STOPPED,    /* init: the program was stopped by the signal `status` */
	MESSAGE_FOREGROUND, /* supervisor: `status` 1 gives the terminal to the group that had it
			       last, at first the program's, and tells it to redraw; 0 takes it */
	MESSAGE_EVERYBODY,  /* supervisor: send a signal to every process of the sandbox */
};

/* Descriptors that a message may carry. */
enum { MESSAGE_FDS_MAX = NETWORK_COPIES_MAX };

struct message {
	uint32_t kind;
	int32_t status; /* wait status, signal number, errno, or which of two */
	uint64_t user_us, sys_us, peak_rss_kb, read_blocks,
		written_blocks;           /* blocks of 512 bytes */
	uint32_t alone;                   /* EXITED: no other process is left in the sandbox */
	uint64_t own_user_us, own_sys_us; /* of init itself: set-up, not the program's */
	uint32_t made;                    /* GATE: a bit for each network_socket that is in here */
	uint32_t last;                    /* GATE: no more come */
};

#endif
