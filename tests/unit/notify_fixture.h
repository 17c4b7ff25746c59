// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_NOTIFY_FIXTURE_H
#define SBOX_NOTIFY_FIXTURE_H

/*
 * A real listener: a child puts the filter on, hands the listener over and
 * misbehaves; the test answers as the supervisor does.
 */
#include <check.h>
#include <errno.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "filter.h"
#include "notify.h"
#include "sys.h"

static struct arena arena;
static struct denials denials;
static struct notify notify;
static const char *redact_items[] = {"--token", "*_KEY=*"};
static const struct string_list redact = {redact_items, 2};

static struct sock_fprog build(void)
{
	const char *items[] = {"@default"};
	const struct string_list list = {items, 1};
	const struct filter_policy policy = {
		.syscalls = &list, .listener = true, .trap_exec = true};
	struct sock_fprog program;
	struct error err = {0};

	ck_assert_msg(filter_build(&arena, &policy, &program, &err) == 0, "%s", err.text);
	return program;
}

/* Without WAIT_KILLABLE_RECV (before 5.19) the listener is still one. */
static int install(const struct sock_fprog *program)
{
	unsigned flags = SECCOMP_FILTER_FLAG_NEW_LISTENER;

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	int fd = sys_seccomp(SECCOMP_SET_MODE_FILTER,
			     flags | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, program);
	return fd >= 0 ? fd : sys_seccomp(SECCOMP_SET_MODE_FILTER, flags, program);
}

union fd_message {
	struct cmsghdr header;
	char room[CMSG_SPACE(sizeof(int))];
};

static void send_fd(int socket_fd, int fd)
{
	union fd_message control = {0};
	char byte = 'x';
	struct iovec one = {.iov_base = &byte, .iov_len = 1};
	struct msghdr message = {.msg_iov = &one, .msg_iovlen = 1};

	message.msg_control = &control;
	message.msg_controllen = sizeof(control);
	control.header.cmsg_level = SOL_SOCKET;
	control.header.cmsg_type = SCM_RIGHTS;
	control.header.cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
	if (sendmsg(socket_fd, &message, 0) != 1)
		_exit(99);
}

static int receive_fd(int socket_fd)
{
	union fd_message control = {0};
	char byte;
	struct iovec one = {.iov_base = &byte, .iov_len = 1};
	struct msghdr message = {.msg_iov = &one, .msg_iovlen = 1};
	int fd;

	message.msg_control = &control;
	message.msg_controllen = sizeof(control);
	ck_assert_int_eq((int)recvmsg(socket_fd, &message, MSG_CMSG_CLOEXEC), 1);
	memcpy(&fd, CMSG_DATA(&control.header), sizeof(fd));
	return fd;
}

/* Answers until the listener is gone. */
static void answer_all(void)
{
	struct pollfd waiting = {.fd = notify.fd, .events = POLLIN};
	int64_t wait_ns = 0;

	notify_start(&notify);
	while (wait_ns >= 0) {
		const struct timespec pause = {.tv_nsec = wait_ns};

		if (wait_ns > 0)
			nanosleep(&pause, NULL);
		poll(&waiting, 1, -1);
		wait_ns = notify_handle(&notify, waiting.revents);
	}
}

/* `inside` in a child under the filter, whose listener is notify.fd. */
static pid_t begin(int (*inside)(void))
{
	struct sock_fprog program = build();
	int sockets[2];

	denials = (struct denials){.arena = &arena};
	notify = (struct notify){.fd = -1,
				 .proc_fd = -1,
				 .record_denials = true,
				 .record_execs = true,
				 .redact = &redact,
				 .denials = &denials,
				 .arena = &arena};
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets), 0);
	pid_t child = fork();
	if (child == 0) {
		int fd = install(&program);

		send_fd(sockets[1], fd);
		close(fd);
		_exit(inside());
	}
	notify.fd = receive_fd(sockets[0]);
	close(sockets[0]);
	close(sockets[1]);
	return child;
}

/* Answers what it still asks; its exit status. */
static int finish(pid_t child)
{
	int status;

	answer_all();
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	close(notify.fd);
	ck_assert_msg(WIFEXITED(status), "status %#x", (unsigned)status);
	return WEXITSTATUS(status);
}

static int run(int (*inside)(void))
{
	return finish(begin(inside));
}

static int call(long nr, long a, long b, long c)
{
	errno = 0;
	return syscall(nr, a, b, c, 0) == -1 ? errno : 0;
}

#endif
