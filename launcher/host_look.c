// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"
#include "host.h"
#include "network_setup.h"
#include "obstacle.h"
#include "sys.h"

/*
 * A closer look at what a sandbox is made of: not whether one call is allowed, but
 * whether the whole way can be gone, id maps, private mounts, a tmpfs, a /proc and the inner
 * user namespace included. First all at once; only when that is refused, one by one.
 * QUIRK(userns): a namespace that can be made may still be worth nothing. Ubuntu's AppArmor
 * (23.10 and newer) lets it be made and then refuses every capability in it; a
 * /proc with covered parts refuses a second one beside it (all versions).
 */

#define EVERY                                                                                      \
	(CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP)

/* Where an attempt ended: its exit status. */
enum stage {
	DONE,
	NO_CLONE,
	NO_MAPS,
	NO_MOUNTS,
	NO_NAME,
	NO_LOOPBACK,
	NO_GATE,
	NO_PROC,
	NO_INNER,
	STAGE_MAX
};

struct attempt {
	const struct host *host;
	uint64_t flags;
	bool with_proc;
	const struct network_setup *gate; /* also set this up; or NULL */
};

static int write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return -1;
	ssize_t done = write(fd, text, strlen(text));
	int saved = errno;
	close(fd);
	errno = saved;
	return done > 0 ? 0 : -1;
}

static int map_self(unsigned inside, uid_t uid, gid_t gid)
{
	char uids[32], gids[32];

	snprintf(uids, sizeof(uids), "%u %u 1", inside, uid);
	snprintf(gids, sizeof(gids), "%u %u 1", inside, gid);
	return write_text("/proc/self/setgroups", "deny") != 0 ||
			       write_text("/proc/self/uid_map", uids) != 0 ||
			       write_text("/proc/self/gid_map", gids) != 0
		       ? -1
		       : 0;
}

static int make_mount(const char *type, unsigned attributes)
{
	int fs = sys_fsopen(type, FSOPEN_CLOEXEC);

	if (fs < 0 || sys_fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) != 0)
		return -1;
	return sys_fsmount(fs, FSMOUNT_CLOEXEC, attributes);
}

static int try_mounts(void)
{
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
		return -1;
	int tree = sys_open_tree(AT_FDCWD, "/", AT_RECURSIVE | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
	int skeleton = make_mount("tmpfs", MOUNT_ATTR_NOSUID);

	struct mount_attr attr = {.attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID};
	if (tree < 0 || skeleton < 0 ||
	    sys_mount_setattr(tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &attr) != 0 ||
	    sys_move_mount(skeleton, "", AT_FDCWD, "/tmp", MOVE_MOUNT_F_EMPTY_PATH) != 0 ||
	    make_mount("devpts", MOUNT_ATTR_NOSUID) < 0 || fchdir(skeleton) != 0)
		return -1;
	return sys_pivot_root(".", ".") != 0 || umount2(".", MNT_DETACH) != 0 ? -1 : 0;
}

static int try_loopback(void)
{
	struct ifreq request = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	return fd < 0 ? -1 : ioctl(fd, SIOCSIFFLAGS, &request);
}

/* What init does; nobody takes the sockets. */
static int try_gate(const struct network_setup *setup)
{
	const struct step step = {.id = STEP_GATE, .network = setup};
	struct child child = {.proc_fd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC)};
	int control[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, control) != 0)
		return -1;
	child.control_fd = control[0];
	return child_gate(&child, &step);
}

/* In the new process: how far the way can be gone. */
static enum stage walk(const struct attempt *attempt)
{
	const struct host *host = attempt->host;
	bool user = (attempt->flags & CLONE_NEWUSER) != 0;

	/* else the maps in /proc/self are root's */
	prctl(PR_SET_DUMPABLE, 1);

	if (user && !host->root && map_self(0, host->uid, host->gid) != 0)
		return NO_MAPS;
	if ((attempt->flags & CLONE_NEWUTS) != 0 && sethostname("sandbox", 7) != 0)
		return NO_NAME;
	if ((attempt->flags & CLONE_NEWNET) != 0 && try_loopback() != 0)
		return NO_LOOPBACK;
	if (attempt->gate != NULL && try_gate(attempt->gate) != 0)
		return NO_GATE;
	if (attempt->with_proc && make_mount("proc", MOUNT_ATTR_RDONLY) < 0)
		return NO_PROC;
	if ((attempt->flags & CLONE_NEWNS) != 0 && try_mounts() != 0)
		return NO_MOUNTS;
	/* after the mounts: with another's capabilities they could not be made */
	if (!host->root && user && unshare(CLONE_NEWUSER) != 0)
		return NO_INNER;
	return DONE;
}

static long new_process(uint64_t flags)
{
	struct clone_args args = {.flags = flags, .exit_signal = SIGCHLD};
	long pid = sys_clone3(&args);

	if (pid < 0 && errno == ENOSYS)
		pid = syscall(SYS_clone, flags | SIGCHLD, 0, NULL, 0, 0);
	return pid;
}

/* Where it ended, with the errno of that in *ret_errnum. */
static enum stage try_once(const struct attempt *attempt, int *ret_errnum)
{
	int pipe_fds[2], errnum = 0, status;

	if (pipe2(pipe_fds, O_CLOEXEC) != 0)
		return NO_CLONE;
	long pid = new_process(attempt->flags);
	if (pid == 0) {
		enum stage stage = walk(attempt);

		errnum = errno;
		if (write(pipe_fds[1], &errnum, sizeof(errnum)) < 0)
			_exit(STAGE_MAX);
		_exit((int)stage);
	}
	*ret_errnum = errno;
	close(pipe_fds[1]);
	if (pid > 0 && read(pipe_fds[0], &errnum, sizeof(errnum)) == (ssize_t)sizeof(errnum))
		*ret_errnum = errnum;
	close(pipe_fds[0]);
	if (pid < 0)
		return NO_CLONE;
	while (waitpid((pid_t)pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) && WEXITSTATUS(status) < STAGE_MAX
		       ? (enum stage)WEXITSTATUS(status)
		       : NO_CLONE;
}

static bool file_says(const char *path, char wanted)
{
	char text = '\0';
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return false;
	bool same = read(fd, &text, 1) == 1 && text == wanted;
	close(fd);
	return same;
}

static bool apparmor_restricts(const struct host *host)
{
	return host->apparmor && !host->can_become &&
	       file_says("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", '1');
}

bool host_is_doubtful(const struct host *host)
{
	/* where no user namespace can be had, or is wanted, there is nothing to find out */
	if (host->looked || (!host->root && (!host->user_namespaces || host->can_become)))
		return false;
	return host->filtered || host->cgroup.proc_is_covered || apparmor_restricts(host);
}

static const char *name_of(uint64_t flags)
{
	static const struct {
		uint64_t flag;
		const char *name;
	} names[] = {{CLONE_NEWNS, "mnt"},   {CLONE_NEWPID, "pid"}, {CLONE_NEWNET, "net"},
		     {CLONE_NEWIPC, "ipc"},  {CLONE_NEWUTS, "uts"}, {CLONE_NEWCGROUP, "cgroup"},
		     {CLONE_NEWUSER, "user"}};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if ((flags & names[i].flag) != 0)
			return names[i].name;
	return "user";
}

/* One clause for the plan: what is in the way and what changes that. */
static const char *why(struct arena *arena, const struct host *host, const struct attempt *attempt,
		       enum stage stage, int errnum)
{
	const char *name = name_of(attempt->flags);
	const char *const stages[STAGE_MAX] = {
		[NO_CLONE] = arena_printf(arena, "a %s namespace cannot be made", name),
		[NO_MAPS] = "the maps of a user namespace cannot be written",
		[NO_MOUNTS] = "nothing can be mounted in a mount namespace",
		[NO_NAME] = "the host name of a uts namespace cannot be set",
		[NO_LOOPBACK] = "the loopback of a net namespace cannot be set up",
		[NO_GATE] = "nothing can be captured in a net namespace",
		[NO_PROC] = "a /proc cannot be mounted",
		[NO_INNER] = "a second user namespace cannot be made",
	};
	const char *cause;

	if (stage == NO_GATE)
		cause = NETWORK_SETUP_NEEDS;
	else if (stage == NO_LOOPBACK && host->root && host->root_lacks != NULL)
		cause = arena_printf(arena, "this root lacks %s (podman or docker run %s)",
				     host->root_lacks, host->root_needs);
	else if (errnum == ENOSPC || errnum == EUSERS)
		cause = arena_printf(arena,
				     "user.max_%s_namespaces of this or an outer user "
				     "namespace is used up",
				     name);
	else
		cause = obstacle_sentence(arena, obstacle_find("",
							       stage == NO_CLONE  ? AT_CLONE
							       : stage == NO_PROC ? AT_PROC
										  : AT_MOUNT,
							       errnum, host->can_become));
	return arena_printf(arena, "%s (%s): %s", stages[stage], strerror(errnum), cause);
}

/* Each namespace by itself, in a user namespace where one is needed. */
static void look_at_each(struct arena *arena, struct host *host, uint64_t base)
{
	static const uint64_t flags[] = {CLONE_NEWNS,  CLONE_NEWPID, CLONE_NEWNET,
					 CLONE_NEWIPC, CLONE_NEWUTS, CLONE_NEWCGROUP};
	enum stage stage;
	int errnum = 0;

	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		struct attempt attempt = {.host = host, .flags = base | flags[i]};

		stage = try_once(&attempt, &errnum);
		if (stage == DONE)
			continue;
		host->refused |= flags[i];
		if (host->refused_why == NULL)
			host->refused_why = why(arena, host, &attempt, stage, errnum);
	}
	struct attempt proc = {
		.host = host, .flags = base | CLONE_NEWNS | CLONE_NEWPID, .with_proc = true};
	if ((host->refused & (CLONE_NEWNS | CLONE_NEWPID)) == 0)
		host->proc_refused = try_once(&proc, &errnum) != DONE;
}

void host_look(struct arena *arena, struct host *host)
{
	uint64_t base = host->root ? 0 : CLONE_NEWUSER;
	struct attempt all = {.host = host, .flags = base | EVERY, .with_proc = true};
	struct attempt user = {.host = host, .flags = CLONE_NEWUSER};
	int errnum = 0;

	if (host->looked)
		return;
	host->looked = true;
	if (!host->root && !host->user_namespaces)
		return;
	enum stage stage = try_once(&user, &errnum);
	if (stage != DONE) {
		host->refused |= CLONE_NEWUSER;
		host->refused_why = why(arena, host, &user, stage, errnum);
	}
	if (stage != DONE && !host->root)
		return;
	if (try_once(&all, &errnum) != DONE)
		look_at_each(arena, host, base);
}

void host_look_gate(struct arena *arena, struct host *host)
{
	static const struct port_range any = {443, 443};
	struct attempt gate = {.host = host,
			       .flags = CLONE_NEWNET | (host->root ? 0 : CLONE_NEWUSER),
			       .gate = network_setup_make(arena, &any, 1, false)};
	int errnum = 0;

	if (host->gate_looked || (host->refused & (CLONE_NEWNET | CLONE_NEWUSER)) != 0)
		return;
	host->gate_looked = true;
	enum stage stage = try_once(&gate, &errnum);
	if (stage != DONE && stage != NO_INNER)
		host->gate_why = why(arena, host, &gate, stage, errnum);
}
