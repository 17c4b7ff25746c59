// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "init.h"
#include "sys.h"

/*
 * Without a pid namespace nothing dies with init by itself. So init is a keeper:
 * a subreaper, in a session of its own, which kills all that the program
 * started before it goes. Neither double fork nor setsid(2) leaves it, since
 *
 *   - a Landlock domain that is scoped for signals surrounds keeper and program: kill(-1)
 *     from within it reaches all of them at once, and nobody else; the program,
 *     in a domain further in, cannot signal the keeper. The same is true of a uid that
 *     nobody else has.
 *   - else (Landlock ABI < 6) its children are killed until there are none: what they
 *     leave behind becomes the keeper's own child.
 *
 * A guard, in the same domain, does the first for a keeper that was killed itself.
 */

static int open_domain(uint64_t scopes)
{
	/* Every layer refuses moves between folders that it does not allow by itself. */
	const struct sbox_landlock_ruleset_attr attr = {.handled_access_fs = SBOX_LANDLOCK_FS_REFER,
							.scoped = scopes};
	int ruleset = sys_landlock_create_ruleset(&attr, sizeof(attr), 0);
	int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (ruleset < 0 || root < 0 ||
	    sys_landlock_add_path(ruleset, SBOX_LANDLOCK_FS_REFER, root) != 0 ||
	    sys_landlock_restrict_self(ruleset, 0) != 0)
		return -1;
	close(ruleset);
	close(root);
	return 0;
}

/* kill(-1) would be a catastrophe outside of such a domain: the supervisor is out of reach? */
static int prove_domain(void)
{
	if (kill(getppid(), 0) != 0 && errno == EPERM)
		return 0;
	errno = EPROTO;
	return -1;
}

static void guard(const struct child *child, int alive_fd) __attribute__((noreturn));

static void guard(const struct child *child, int alive_fd)
{
	char byte;

	memset(child->wipe_start, 0, child->wipe_len);
	if (child->shared != NULL && munmap(child->shared, child->shared_size) != 0)
		_exit(125);
	if (dup2(alive_fd, 0) != 0 || sys_close_range(1, ~0U, 0) != 0)
		_exit(125);
	/* nobody writes: it returns when the keeper's end is closed */
	while (read(0, &byte, 1) < 0 && errno == EINTR)
		;
	kill(-1, SIGKILL);
	_exit(125);
}

static int start_guard(struct child *child)
{
	int alive[2];

	if (pipe2(alive, O_CLOEXEC) != 0)
		return -1;
	long pid = syscall(SYS_clone, SIGCHLD, 0, NULL, 0, 0);
	if (pid < 0)
		return -1;
	if (pid == 0) {
		close(alive[1]);
		guard(child, alive[0]);
	}
	close(alive[0]);
	child->alive_fd = alive[1];
	return 0;
}

int child_keeper(struct child *child, const struct step *step)
{
	bool domain = (step->value[0] & SBOX_LANDLOCK_SCOPE_SIGNAL) != 0;

	/* what a terminal or a caller sends to a group is not for the keeper */
	if (setsid() < 0)
		return 1;
	if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0)
		return 2;
	if (child->root_fd < 0)
		umask(0);
	if (domain && open_domain(step->value[0]) != 0)
		return 3;
	if ((domain || step->flags == 1) && prove_domain() != 0)
		return 4;
	child->keeper = domain || step->flags == 1 ? KEEPER_BY_DOMAIN : KEEPER_BY_CHILDREN;
	if (child->keeper == KEEPER_BY_DOMAIN)
		return start_guard(child) != 0 ? 5 : 0;
	child->children_fd = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
	return child->children_fd < 0 ? 6 : 0;
}

/* "12 345 ": those that fit; the next turn of the loop sees the others. */
static void kill_children(int children_fd)
{
	char text[4096];
	ssize_t len = pread(children_fd, text, sizeof(text), 0);
	pid_t pid = 0;

	for (ssize_t i = 0; i < len; i++) {
		if (text[i] >= '0' && text[i] <= '9') {
			pid = pid * 10 + (text[i] - '0');
			continue;
		}
		if (pid > 1)
			kill(pid, SIGKILL);
		pid = 0;
	}
}

void init_sweep(const struct child *child)
{
	if (child->keeper == KEEPER_NONE)
		return;
	for (;;) {
		if (child->keeper == KEEPER_BY_DOMAIN)
			kill(-1, SIGKILL);
		else
			kill_children(child->children_fd);
		/* the dead are reaped, and what they left comes to be ours */
		if (wait4(-1, NULL, 0, NULL) < 0 && errno == ECHILD)
			return;
		/* all at once: kill(-1) looks at each task of the machine */
		while (wait4(-1, NULL, WNOHANG, NULL) > 0)
			;
	}
}
