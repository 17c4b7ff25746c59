// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"
#include "sys.h"

/*
 * Pid 1 of the sandbox. It builds the tree, forks the program, reaps, passes
 * the exit on and dies with its supervisor. The program is its neighbour, so
 * it keeps nothing worth having: one socket, no capability, no path, wiped
 * arguments and environment, not dumpable, and a filter of a dozen calls.
 */

/* Nothing that init does after the fork needs a path. */
static void confine_files(void)
{
	const struct sbox_landlock_ruleset_attr all = {.handled_access_fs = (1ULL << 13) - 1};
	int fd = sys_landlock_create_ruleset(&all, sizeof(all.handled_access_fs), 0);

	/* no Landlock: seccomp refuses the calls that would open something */
	if (fd < 0)
		return;
	if (sys_landlock_restrict_self(fd, 0) != 0)
		_exit(125);
	close(fd);
}

#define ALLOW(name)                                                                                \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1),                                     \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

static void confine_calls(void)
{
	static const struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SBOX_AUDIT_ARCH, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		ALLOW(ppoll),
		ALLOW(recvfrom),
		ALLOW(sendmsg),
		ALLOW(wait4),
		ALLOW(getrusage),
		ALLOW(kill),
		ALLOW(rt_sigreturn),
		ALLOW(rt_sigprocmask),
		ALLOW(restart_syscall),
		ALLOW(exit_group),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	const struct sock_fprog program = {.len = sizeof(code) / sizeof(code[0]),
					   .filter = (struct sock_filter *)code};

	if (sys_seccomp(SECCOMP_SET_MODE_FILTER, 0, &program) != 0)
		_exit(125);
}

static void confine(struct child *child)
{
	memset(child->wipe_start, 0, child->wipe_len);
	/* keep the socket under a known number, then close everything else */
	if (dup2(child->control_fd, 0) != 0 || sys_close_range(1, ~0U, 0) != 0)
		_exit(125);
	child->control_fd = 0;
	confine_files();
	confine_calls();
}

static void on_child(int sig)
{
	(void)sig;
}

static uint64_t microseconds(const struct timeval *time)
{
	return (uint64_t)time->tv_sec * 1000000 + (uint64_t)time->tv_usec;
}

/* Usage of all that was reaped: the program, what it waited for, and orphans. */
static void report_exit(const struct child *child, int status)
{
	struct rusage usage = {0};
	struct message message = {.kind = MESSAGE_EXITED, .status = status};

	/* orphans become pid 1's children: without any there is nobody */
	while (wait4(-1, NULL, WNOHANG, NULL) > 0)
		;
	message.alone = errno == ECHILD;
	getrusage(RUSAGE_CHILDREN, &usage);
	message.user_us = microseconds(&usage.ru_utime);
	message.sys_us = microseconds(&usage.ru_stime);
	message.peak_rss_kb = (uint64_t)usage.ru_maxrss;
	message.read_blocks = (uint64_t)usage.ru_inblock;
	message.written_blocks = (uint64_t)usage.ru_oublock;
	getrusage(RUSAGE_SELF, &usage);
	message.own_user_us = microseconds(&usage.ru_utime);
	message.own_sys_us = microseconds(&usage.ru_stime);
	child_send(child->control_fd, &message, NULL, 0);
}

/* Reaps all that is dead; the program's own end is the end of the sandbox. */
static void reap(const struct child *child, pid_t program)
{
	int status;
	pid_t pid;

	while ((pid = wait4(-1, &status, WNOHANG, NULL)) > 0)
		if (pid == program) {
			report_exit(child, status);
			/* the kernel kills what is left in the pid namespace */
			_exit(0);
		}
}

/* A signal to pass on, or the supervisor's end. */
static void take_message(const struct child *child, pid_t program)
{
	struct message message;
	ssize_t len =
		recvfrom(child->control_fd, &message, sizeof(message), MSG_DONTWAIT, NULL, NULL);

	if (len == 0 || (len < 0 && errno != EAGAIN && errno != EINTR))
		_exit(125);
	if (len == (ssize_t)sizeof(message) && message.kind == MESSAGE_SIGNAL && message.status > 0)
		kill(-program, message.status);
}

static void supervise(const struct child *child, pid_t program) __attribute__((noreturn));

static void supervise(const struct child *child, pid_t program)
{
	struct pollfd wait_for = {.fd = child->control_fd, .events = POLLIN};
	sigset_t none;

	sigemptyset(&none);
	for (;;) {
		reap(child, program);
		/* SIGCHLD is blocked but here, so none is missed in between */
		if (ppoll(&wait_for, 1, NULL, &none) > 0)
			take_message(child, program);
	}
}

static size_t fork_index(const struct child *child)
{
	size_t i = 0;

	while (i < child->count && child->steps[i].id < STEP_FORK)
		i++;
	return i;
}

static int run_program_steps(void *data)
{
	struct child *child = data;

	child_run(child, fork_index(child), child->count);
	_exit(125);
}

/*
 * The program shares init's memory until its exec, as after vfork(2), on a
 * stack of its own: no page tables are copied and no page twice. Init sleeps meanwhile;
 * should the supervisor die, the end of file on the go pipe ends the program's wait.
 */
static pid_t fork_program(struct child *child)
{
	static _Alignas(16) char stack[64 * 1024];

	return clone(run_program_steps, stack + sizeof(stack), CLONE_VM | CLONE_VFORK | SIGCHLD,
		     child);
}

void init_main(struct child *child)
{
	const struct sigaction handler = {.sa_handler = on_child, .sa_flags = SA_NOCLDSTOP};
	size_t split = fork_index(child);

	child_run(child, 0, split);
	sigset_t deaths;
	sigemptyset(&deaths);
	sigaddset(&deaths, SIGCHLD);
	if (sigaction(SIGCHLD, &handler, NULL) != 0 || sigprocmask(SIG_BLOCK, &deaths, NULL) != 0)
		child_fault(child, split, errno, 1);
	pid_t program = fork_program(child);
	if (program < 0)
		child_fault(child, split, errno, 2);
	confine(child);
	supervise(child, program);
}
