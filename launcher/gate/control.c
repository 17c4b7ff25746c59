// SPDX-License-Identifier: Apache-2.0
#include "control.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "acceptor.h"
#include "attempts.h"
#include "confine.h"
#include "connection.h"
#include "dial.h"
#include "hosts.h"
#include "listen.h"
#include "names.h"
#include "policy.h"
#include "publish.h"
#include "resolve.h"
#include "serve.h"
#include "tell.h"

enum { EVENTS_ROOM = 1024 * 1024 };

union message {
	struct gate_head head;
	struct gate_setup setup;
	struct gate_rules rules;
	struct gate_pins pins;
	struct gate_sockets sockets;
	struct gate_drain drain;
	char bytes[GATE_MESSAGE_BYTES];
};

union rights {
	struct cmsghdr align;
	char bytes[CMSG_SPACE(sizeof(int) * GATE_BATCH_SOCKETS)];
};

static struct watch control = {.fd = -1};
static bool is_set_up, has_ended, drains;
static uint64_t drained_ms; /* then it ends in any case */

/* Receives one message. Its length, 0 at the end of file, -1. */
static ssize_t receive(union message *message, int fds[GATE_BATCH_SOCKETS], size_t *ret_count,
		       int flags)
{
	union rights rights;
	struct iovec part = {.iov_base = message, .iov_len = sizeof(*message)};
	struct msghdr header = {.msg_iov = &part,
				.msg_iovlen = 1,
				.msg_control = rights.bytes,
				.msg_controllen = sizeof(rights)};
	ssize_t len;

	do
		len = recvmsg(GATE_CONTROL_FD, &header, flags | MSG_CMSG_CLOEXEC);
	while (len < 0 && errno == EINTR);
	*ret_count = 0;
	if (len < 0)
		return -1;
	for (struct cmsghdr *one = CMSG_FIRSTHDR(&header); one != NULL;
	     one = CMSG_NXTHDR(&header, one)) {
		if (one->cmsg_level != SOL_SOCKET || one->cmsg_type != SCM_RIGHTS)
			continue;
		*ret_count = (one->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		memcpy(fds, CMSG_DATA(one), *ret_count * sizeof(int));
	}
	if ((header.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0) {
		errno = EMSGSIZE;
		return -1;
	}
	return len;
}

static int add_socket(int fd, unsigned kind, uint16_t port)
{
	switch (kind) {
	case GATE_DNS_UDP4:
	case GATE_DNS_UDP6:
		return serve_udp(fd, kind == GATE_DNS_UDP6);
	case GATE_DNS_TCP4:
	case GATE_DNS_TCP6:
		return serve_tcp(fd);
	case GATE_TCP4:
	case GATE_TCP6:
		return listen_add(fd);
	case GATE_RAW_TCP4:
	case GATE_RAW_TCP6:
	case GATE_RAW_ICMP4:
	case GATE_RAW_ICMP6:
		return attempts_watch(fd, (enum gate_socket_kind)kind);
	case GATE_PUBLISHED:
		return publish_listener(fd, port);
	case GATE_INSIDE4:
	case GATE_INSIDE6:
		return publish_inside(fd, kind == GATE_INSIDE4 ? AF_INET : AF_INET6);
	default:
		errno = EINVAL;
		return -1;
	}
}

static int add_sockets(const struct gate_sockets *sockets, const int *fds, size_t count,
		       struct gate_failed *failed)
{
	if (sockets->count != count)
		return policy_fault(failed, 0, 0, "%u sockets were announced, %zu came",
				    sockets->count, count);
	for (size_t i = 0; i < count; i++)
		if (add_socket(fds[i], sockets->sockets[i].kind, sockets->sockets[i].port) != 0)
			return policy_fault(failed, 0, errno, "cannot use a socket of kind %u",
					    sockets->sockets[i].kind);
	return 0;
}

static int set_up(const struct gate_setup *setup, struct gate_failed *failed)
{
	if (policy_setup(setup, failed) != 0 || confine_identity(setup, failed) != 0)
		return -1;
	is_set_up = true;
	return 0;
}

static int start(struct gate_failed *failed)
{
	if (!is_set_up)
		return policy_fault(failed, 0, 0, "START came before SETUP");
	policy.connections = confine_descriptors(policy.connections);
	if (!names_init())
		return policy_fault(failed, 0, ENOMEM, "no memory for names");
	if (acceptor_init(GATE_CONTROL_FD) != 0 || dial_init() != 0)
		return policy_fault(failed, 0, errno, "cannot open sockets");
	return confine_end(failed);
}

/* 1: go on; 0: it started; -1: not to be understood, or not to be done. */
static int take(const union message *message, size_t len, const int *fds, size_t fd_count,
		struct gate_failed *failed)
{
	static const size_t sizes[] = {
		[GATE_SETUP] = sizeof(struct gate_setup),
		[GATE_RULES] = sizeof(struct gate_rules),
		[GATE_PINS] = sizeof(struct gate_pins),
		[GATE_SOCKETS] = sizeof(struct gate_sockets),
		[GATE_START] = sizeof(struct gate_head),
		[GATE_END] = sizeof(struct gate_head),
		[GATE_DRAIN] = sizeof(struct gate_drain),
	};
	uint32_t type = message->head.type;

	if (len < sizeof(message->head) || type == 0 || type > GATE_DRAIN || len != sizes[type] ||
	    message->head.size != len)
		return policy_fault(failed, 0, 0, "a message of type %u and %zu bytes", type, len);
	switch (type) {
	case GATE_SETUP:
		return set_up(&message->setup, failed) == 0 ? 1 : -1;
	case GATE_RULES:
		return policy_rules(&message->rules, failed) == 0 ? 1 : -1;
	case GATE_PINS:
		return policy_pins(&message->pins, failed) == 0 ? 1 : -1;
	case GATE_SOCKETS:
		return add_sockets(&message->sockets, fds, fd_count, failed) == 0 ? 1 : -1;
	case GATE_START:
		return start(failed);
	default:
		return policy_fault(failed, 0, 0, "END came before START");
	}
}

/* What was not read when a socket closes is an error for its other end, which would see that before
 * it sees why. So the rest of the set-up is listened to, for a moment. */
static void hear_out(void)
{
	const struct timeval moment = {.tv_sec = 2};
	union message message;
	int fds[GATE_BATCH_SOCKETS];
	size_t count;
	ssize_t len;

	setsockopt(GATE_CONTROL_FD, SOL_SOCKET, SO_RCVTIMEO, &moment, sizeof(moment));
	do {
		len = receive(&message, fds, &count, 0);
		while (count > 0)
			close(fds[--count]);
	} while (len >= (ssize_t)sizeof(message.head) && message.head.type != GATE_START);
}

bool control_prepare(void)
{
	const struct gate_head ready = {GATE_READY, sizeof(ready)};
	const int room = EVENTS_ROOM;
	struct gate_failed failed;
	const char *wrong = NULL;
	int rc = 1;

	/* The kernel gives what its limit allows. */
	setsockopt(GATE_CONTROL_FD, SOL_SOCKET, SO_SNDBUF, &room, sizeof(room));
	if (loop_init() != 0 || hosts_read("/etc/hosts") != 0)
		rc = policy_fault(&failed, 0, errno, "cannot begin");
	else if ((wrong = resolve_init()) != NULL)
		rc = policy_fault(&failed, 0, 0, "/etc/resolv.conf: %s", wrong);
	while (rc == 1) {
		union message message;
		int fds[GATE_BATCH_SOCKETS];
		size_t count;
		ssize_t len = receive(&message, fds, &count, 0);

		if (len == 0 || (len < 0 && errno != EMSGSIZE))
			return false;
		rc = take(&message, len < 0 ? 0 : (size_t)len, fds, count, &failed);
	}
	if (rc == 0)
		return send(GATE_CONTROL_FD, &ready, sizeof(ready), MSG_NOSIGNAL) == sizeof(ready);
	send(GATE_CONTROL_FD, &failed, sizeof(failed), MSG_NOSIGNAL);
	hear_out();
	return false;
}

static void on_control(struct watch *watch, uint32_t events)
{
	union message message;
	int fds[GATE_BATCH_SOCKETS];
	size_t count;

	(void)watch;
	if (events & EPOLLOUT)
		tell_more();
	if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR | EPOLLRDHUP)) == 0)
		return;
	ssize_t len;
	while ((len = receive(&message, fds, &count, MSG_DONTWAIT)) == sizeof(message.drain) &&
	       message.head.type == GATE_DRAIN) {
		drains = true;
		drained_ms = loop_now_ms() + message.drain.most_ms;
	}
	/* END, the end of file, or something that nobody sends: in each case it is over. */
	if (len >= 0 || errno != EAGAIN)
		has_ended = true;
}

int control_watch(void)
{
	control = (struct watch){.ready = on_control, .fd = GATE_CONTROL_FD};
	tell_start(GATE_CONTROL_FD);
	return loop_watch(&control, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET);
}

int control_wait_ms(int most_ms)
{
	if (!drains)
		return most_ms;
	if (!connection_pending())
		return 0;
	uint64_t now = loop_now_ms();
	int left = now < drained_ms ? (int)(drained_ms - now) : 0;
	return most_ms < 0 || left < most_ms ? left : most_ms;
}

bool control_ended(void)
{
	/* a turn without events: nothing that is still to be accepted either */
	bool done = drains && !loop_was_busy() && !connection_pending();

	return has_ended || done || (drains && loop_now_ms() >= drained_ms);
}
