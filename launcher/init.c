// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "init.h"
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

/* Of the terminal: which group is in the foreground. */
#define ALLOW_FOREGROUND                                                                           \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ioctl, 0, 4),                                      \
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1])),        \
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, TIOCSPGRP, 1, 0),                              \
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, TIOCGPGRP, 0, 1),                              \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
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
		ALLOW(pread64),
		ALLOW(rt_sigreturn),
		ALLOW(rt_sigprocmask),
		ALLOW(restart_syscall),
		ALLOW(exit_group),
		ALLOW_FOREGROUND,
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	const struct sock_fprog program = {.len = sizeof(code) / sizeof(code[0]),
					   .filter = (struct sock_filter *)code};

	if (sys_seccomp(SECCOMP_SET_MODE_FILTER, 0, &program) != 0)
		_exit(125);
}

enum { KEPT_MAX = 6 }; /* descriptors that pid 1 keeps, numbered from 0 */

/*
 * The supervisor looks at files of the host's, and one on a network may never answer: what it
 * is stuck in must not give the program more time than it has.
 */
static void start_patience(struct child *child)
{
	uint64_t ms = child->handover != NULL ? child->handover->patience_ms : 0;
	const struct itimerspec when = {.it_value = {.tv_sec = (time_t)(ms / 1000),
						     .tv_nsec = (long)(ms % 1000) * 1000000}};

	child->patience_fd = -1;
	if (ms == 0)
		return;
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	/* away from the numbers that confine() gives out: it is the last to get one */
	child->patience_fd = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, KEPT_MAX);
	if (child->patience_fd < 0 || timerfd_settime(child->patience_fd, 0, &when, NULL) != 0)
		_exit(125);
}

static void confine(struct child *child)
{
	start_patience(child);
	int *const kept[KEPT_MAX] = {&child->control_fd,  &child->terminal_fd, &child->lock_fd,
				     &child->children_fd, &child->alive_fd,    &child->patience_fd};
	int next = 0;

	if (child->shared != NULL && munmap(child->shared, child->shared_size) != 0)
		_exit(125);
	/* keep the socket under a known number, then close everything else */
	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
		if (*kept[i] < 0)
			continue;
		if (dup2(*kept[i], next) != next)
			_exit(125);
		*kept[i] = next++;
	}
	if (sys_close_range((unsigned)next, ~0U, 0) != 0)
		_exit(125);
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

	/* orphans become pid 1's children: without any there is nobody; a keeper has its guard */
	while (wait4(-1, NULL, WNOHANG, NULL) > 0)
		;
	message.alone = errno == ECHILD && child->keeper == KEEPER_NONE;
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

static void report_stop(const struct child *child, int sig)
{
	const struct message message = {.kind = MESSAGE_STOPPED, .status = sig};

	child_send(child->control_fd, &message, NULL, 0);
}

/* Reaps all that is dead; the program's own end is the end of the sandbox. */
static void reap(const struct child *child, pid_t program)
{
	bool job_control = child->terminal_fd >= 0;
	int status;
	pid_t pid;

	while ((pid = wait4(-1, &status, WNOHANG | (job_control ? WUNTRACED : 0), NULL)) > 0) {
		if (pid != program)
			continue;
		if (WIFSTOPPED(status)) {
			report_stop(child, WSTOPSIG(status));
			continue;
		}
		report_exit(child, status);
		init_sweep(child);
		/* the kernel kills what is left in the pid namespace */
		_exit(0);
	}
}

static void take_order(struct child *child, pid_t program, const struct message *message)
{
	/* only as pid 1: elsewhere it would be everybody on the machine */
	pid_t everybody = child->own_group == 1 ? -1 : -program;

	if (message->kind == MESSAGE_SIGNAL && message->status > 0 &&
	    kill(-program, message->status) != 0)
		kill(program, message->status); /* it has moved to another group */
	if (child->terminal_fd < 0)
		return;
	if (message->kind == MESSAGE_EVERYBODY && message->status > 0)
		kill(everybody, message->status);
	if (message->kind == MESSAGE_FOREGROUND)
		child_foreground(child, program, message->status == 1);
}

/* A signal to pass on, or the supervisor's end. */
static void take_message(struct child *child, pid_t program)
{
	struct message message;
	ssize_t len =
		recvfrom(child->control_fd, &message, sizeof(message), MSG_DONTWAIT, NULL, NULL);

	if (len == 0 || (len < 0 && errno != EAGAIN && errno != EINTR)) {
		init_sweep(child);
		_exit(125);
	}
	if (len == (ssize_t)sizeof(message))
		take_order(child, program, &message);
}

static void supervise(struct child *child, pid_t program) __attribute__((noreturn));

static void supervise(struct child *child, pid_t program)
{
	struct pollfd wait_for[] = {{.fd = child->control_fd, .events = POLLIN},
				    {.fd = child->patience_fd, .events = POLLIN}};
	sigset_t others;

	/* pid 1 is immune to the rest, a keeper is not */
	sigfillset(&others);
	sigdelset(&others, SIGCHLD);
	for (;;) {
		reap(child, program);
		/* SIGCHLD is blocked but here, so none is missed in between */
		if (ppoll(wait_for, 2, NULL, &others) <= 0)
			continue;
		if (wait_for[0].revents != 0)
			take_message(child, program);
		if (wait_for[1].revents != 0) {
			init_sweep(child);
			_exit(0);
		}
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

/* Descriptors that the supervisor opened since this process was made: all in one message. */
static int receive_idmaps(struct child *child)
{
	size_t count = child->handover->idmap_count, size = count * sizeof(int);
	_Alignas(struct cmsghdr) char space[CMSG_SPACE(IDMAPS_MAX * sizeof(int))];
	struct message message;
	struct iovec part = {.iov_base = &message, .iov_len = sizeof(message)};
	struct msghdr header = {.msg_iov = &part,
				.msg_iovlen = 1,
				.msg_control = space,
				.msg_controllen = sizeof(space)};

	if (child->idmap_count == count)
		return 0;
	if (recvmsg(child->control_fd, &header, MSG_CMSG_CLOEXEC) != (ssize_t)sizeof(message))
		return -1;
	const struct cmsghdr *rights = CMSG_FIRSTHDR(&header);
	if (rights == NULL || rights->cmsg_len != CMSG_LEN(size))
		return -1;
	memcpy(child->idmaps, CMSG_DATA(rights), size);
	child->idmap_count = count;
	return 0;
}

int child_idmap(struct child *child, int number)
{
	return receive_idmaps(child) == 0 && (size_t)number < child->idmap_count
		       ? child->idmaps[number]
		       : -1;
}

void init_main(struct child *child)
{
	struct sigaction handler = {.sa_handler = on_child};
	size_t split = fork_index(child);
	sigset_t blocked;

	child_run(child, child->from, split);
	/* what was promised and is not there was not done either */
	if (child->handover != NULL && receive_idmaps(child) != 0)
		_exit(125);
	/* stops are of interest where there is a terminal to give to somebody else */
	handler.sa_flags = child->terminal_fd < 0 ? SA_NOCLDSTOP : 0;
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGCHLD);
	sigaddset(&blocked, SIGTTOU);
	if (sigaction(SIGCHLD, &handler, NULL) != 0 || sigprocmask(SIG_BLOCK, &blocked, NULL) != 0)
		child_fault(child, split, errno, 1);
	/* a handler is all that lets a signal from inside reach pid 1: see hygiene() */
	signal(SIGABRT, SIG_DFL);
	/* of sbox: /proc/1/cmdline is everybody's to read, from the program's first moment on */
	memset(child->wipe_start, 0, child->wipe_len);
	pid_t program = fork_program(child);
	if (program < 0)
		child_fault(child, split, errno, 2);
	confine(child);
	supervise(child, program);
}

void init_start(struct child *child)
{
	const struct handover *handover = child->handover;
	const struct fault begun = {.id = STEP_NAMESPACES};

	child_run(child, 0, child->count);
	if (write(child->fault_fd, &begun, sizeof(begun)) != (ssize_t)sizeof(begun))
		_exit(125);
	/* end of file: the supervisor has changed its mind, or is dead */
	if (child_wait(child, NULL) != 0)
		_exit(125);
	child->steps = handover->steps;
	child->count = handover->count;
	child->from = handover->from;
	if (handover->first_slots > 0)
		memcpy(handover->slots, child->slots, handover->first_slots * sizeof(int));
	child->slots = handover->slots;
	init_main(child);
}
