// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "child.h"
#include "sys.h"

/* The last steps before the program: its session, its limits, its cage. */

/* With a terminal the session is init's, so that the program can be stopped: what leads
 * a session cannot be, nor can a group without a parent in its session (setpgid(2)). */
int child_session(struct child *child, const struct step *step)
{
	umask(child->umask);
	if (child->terminal_fd < 0)
		return setsid() < 0 ? 1 : 0;
	if (setpgid(0, 0) != 0)
		return 2;
	return step->flags == 1 && tcsetpgrp(child->terminal_fd, getpid()) != 0 ? 3 : 0;
}

int child_stdio(struct child *child, const struct step *step)
{
	for (int i = 0; i < 3; i++) {
		bool terminal = step->value[i] == STDIO_TERMINAL;

		if (dup2(terminal ? child->terminal_fd : (int)step->value[i], i) < 0)
			return i + 1;
	}
	return 0;
}

int child_chdir(struct child *child, const struct step *step)
{
	(void)child;
	return chdir(step->path) != 0 ? 1 : 0;
}

int child_limit(struct child *child, const struct step *step)
{
	const struct rlimit limit = {.rlim_cur = step->value[1], .rlim_max = step->value[2]};
	struct rlimit now;

	(void)child;
	/* the raw call's type is the enum's; a limit that is lower already stays */
	if (getrlimit((__rlimit_resource_t)step->value[0], &now) != 0)
		return 1;
	const struct rlimit lower = {
		.rlim_cur = limit.rlim_cur < now.rlim_max ? limit.rlim_cur : now.rlim_max,
		.rlim_max = limit.rlim_max < now.rlim_max ? limit.rlim_max : now.rlim_max,
	};
	return setrlimit((__rlimit_resource_t)step->value[0], &lower) != 0 ? 2 : 0;
}

int child_affinity(struct child *child, const struct step *step)
{
	cpu_set_t have, give;
	uint64_t left = step->value[0];

	(void)child;
	if (sched_getaffinity(0, sizeof(have), &have) != 0)
		return 1;
	CPU_ZERO(&give);
	for (int cpu = CPU_SETSIZE - 1; cpu >= 0 && left > 0; cpu--)
		if (CPU_ISSET(cpu, &have)) {
			CPU_SET(cpu, &give);
			left--;
		}
	return sched_setaffinity(0, sizeof(give), &give) != 0 ? 2 : 0;
}

int child_landlock(struct child *child, const struct step *step)
{
	(void)step;
	return sys_landlock_restrict_self(child->ruleset_fd, 0) != 0 ? 1 : 0;
}

/* At exec, not at once: the fault pipe is still needed for its failure. */
int child_close(struct child *child, const struct step *step)
{
	(void)child;
	(void)step;
	return sys_close_range(3, ~0U, CLOSE_RANGE_CLOEXEC) != 0 ? 1 : 0;
}

/* End of file: the supervisor has given up or is dead. */
int child_wait(struct child *child, const struct step *step)
{
	char byte;
	ssize_t len;

	(void)step;
	while ((len = read(child->go_fd, &byte, 1)) < 0 && errno == EINTR)
		;
	if (len == 1)
		return 0;
	errno = len == 0 ? EPIPE : errno;
	return 1;
}

int child_signals(struct child *child, const struct step *step)
{
	sigset_t none;

	(void)child;
	(void)step;
	sigemptyset(&none);
	return sigprocmask(SIG_SETMASK, &none, NULL) != 0 ? 1 : 0;
}

int child_ready(struct child *child, const struct step *step)
{
	const struct fault mark = {.id = STEP_READY};

	(void)step;
	return write(child->fault_fd, &mark, sizeof(mark)) != (ssize_t)sizeof(mark) ? 1 : 0;
}

static int install(const struct sock_fprog *filter, unsigned flags)
{
	return sys_seccomp(SECCOMP_SET_MODE_FILTER, flags, filter);
}

/*
 * QUIRK(wait-killable): without it a signal that arrives while the supervisor
 * looks at a call makes the call start again (5.19; EINVAL before).
 */
static int install_with_listener(const struct step *step)
{
	int fd = install(step->filter,
			 SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV);

	if (fd < 0 && errno == EINVAL)
		fd = install(step->filter, SECCOMP_FILTER_FLAG_NEW_LISTENER);
	return fd;
}

int child_seccomp(struct child *child, const struct step *step)
{
	struct message message = {.kind = MESSAGE_LISTENER};

	if (step->flags == 0)
		return install(step->filter, 0) != 0 ? 1 : 0;
	int fd = install_with_listener(step);
	if (fd >= 0)
		return child_send(child->control_fd, &message, &fd, 1) != 0 ? 2 : 0;
	/* QUIRK(listener): EBUSY, a filter around us has the chain's only listener */
	if (errno != EBUSY || step->plain_filter == NULL)
		return 3;
	if (install(step->plain_filter, 0) != 0)
		return 4;
	message.kind = MESSAGE_NO_LISTENER;
	return child_send(child->control_fd, &message, NULL, 0) != 0 ? 5 : 0;
}

int child_exec(struct child *child, const struct step *step)
{
	(void)child;
	syscall(SYS_execve, step->path, step->argv, step->envp, 0L, 0L, step->value[0]);
	return 1;
}
