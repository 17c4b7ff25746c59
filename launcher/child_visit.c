// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "child.h"
#include "sys.h"

/*
 * The supervisor's copy that sets a network up when the program wants it. It has what the
 * supervisor may do and, in the namespaces that it enters, what init could do before the program
 * began; so it holds two or three descriptors, lives for milliseconds, and has no name inside: it
 * stays in the host's pid and mount namespaces.
 */

enum { CONTROL_FD, NETWORK_FD, USER_FD, KEPT_MAX };

/* As after an exec, and no signal of the caller's terminal is for it. */
static void calm(void)
{
	const struct sigaction usual = {.sa_handler = SIG_DFL};
	sigset_t none;

	setpgid(0, 0);
	for (int sig = 1; sig < NSIG; sig++)
		sigaction(sig, &usual, NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* First of all: as long as it has the supervisor's ends, nobody inside sees the supervisor die. */
static int keep(const struct visit *visit)
{
	int fds[KEPT_MAX] = {visit->control_fd, visit->network_fd, visit->user_fd};
	int count = visit->user_fd >= 0 ? KEPT_MAX : USER_FD;

	/* above the numbers that are given out next */
	for (int i = 0; i < count; i++)
		if ((fds[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, KEPT_MAX)) < 0)
			return -1;
	for (int i = 0; i < count; i++)
		if (dup2(fds[i], i) != i)
			return -1;
	return sys_close_range((unsigned)count, ~0U, 0);
}

/* Once more after each change of credentials, which takes both away (prctl(2)). */
static int stay_tied(const struct visit *visit)
{
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || prctl(PR_SET_DUMPABLE, 0) != 0)
		return -1;
	if (getppid() != visit->supervisor)
		_exit(125);
	return 0;
}

static int enter(const struct visit *visit)
{
	if (visit->user_fd >= 0 && setns(USER_FD, CLONE_NEWUSER) != 0)
		return -1;
	return setns(NETWORK_FD, CLONE_NEWNET);
}

static int set_up(const struct visit *visit)
{
	const struct step step = {.id = STEP_GATE, .network = visit->step->network};
	struct child child = {.control_fd = CONTROL_FD};

	if (keep(visit) != 0 || stay_tied(visit) != 0 || enter(visit) != 0 || stay_tied(visit) != 0)
		return FAILED_NAMESPACE;
	/* which shows /proc/sys/net of the namespace that was entered */
	child.proc_fd = child_open_proc();
	return child_gate(&child, &step);
}

void child_visit(const struct visit *visit)
{
	struct message message = {.kind = MESSAGE_GATE_FAILED};

	calm();
	int failed = set_up(visit);
	if (failed == 0)
		_exit(0);
	message.status = errno;
	message.made = (uint32_t)failed;
	child_send(CONTROL_FD, &message, NULL, 0);
	_exit(125);
}
