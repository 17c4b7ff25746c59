// SPDX-License-Identifier: Apache-2.0
#include "serve.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "acceptor.h"
#include "answer.h"
#include "connection.h"
#include "message.h"

#ifndef IPV6_FREEBIND
#define IPV6_FREEBIND 78
#endif

enum { UDP_SOCKETS = 4, TCP_SOCKETS = 4, CLIENTS = 64, TURN = 64, QUESTION_BYTES = 4096 };

/* One who asks by TCP: one question at a time. */
struct client {
	struct watch watch;
	struct timer idle;
	size_t have;
	bool asking;  /* an answer is awaited */
	bool looking; /* in look_at() */
	bool gone;
	uint8_t bytes[2 + QUESTION_BYTES];
};

static struct watch udps[UDP_SOCKETS];
static struct acceptor acceptors[TCP_SOCKETS];
static size_t udp_count, acceptor_count, client_count;

/* Room for where a datagram was sent to, so that its answer comes from there. */
union control {
	struct cmsghdr align;
	char bytes[CMSG_SPACE(sizeof(struct in6_pktinfo))];
};

/* --- UDP --- */

struct udp_return {
	int fd;
	struct sockaddr_storage peer;
	socklen_t peer_len;
	size_t control_len;
	union control control;
};

static void send_udp(const void *data, const uint8_t *bytes, size_t len)
{
	const struct udp_return *back = data;
	struct udp_return copy = *back;
	struct iovec part = {.iov_base = (void *)(uintptr_t)bytes, .iov_len = len};
	struct msghdr message = {.msg_name = &copy.peer,
				 .msg_namelen = copy.peer_len,
				 .msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = copy.control_len ? copy.control.bytes : NULL,
				 .msg_controllen = copy.control_len};

	if (len > 0)
		sendmsg(back->fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* What recvmsg(2) says about the way here, turned into what sendmsg(2) takes for the way back. */
static void keep_way(struct msghdr *message, struct udp_return *back)
{
	back->control_len = 0;
	for (struct cmsghdr *part = CMSG_FIRSTHDR(message); part != NULL;
	     part = CMSG_NXTHDR(message, part)) {
		struct in_pktinfo info;

		if (part->cmsg_level == IPPROTO_IPV6 && part->cmsg_type == IPV6_PKTINFO) {
			back->control_len = message->msg_controllen;
		} else if (part->cmsg_level == IPPROTO_IP && part->cmsg_type == IP_PKTINFO) {
			memcpy(&info, CMSG_DATA(part), sizeof(info));
			info.ipi_spec_dst = info.ipi_addr;
			info.ipi_ifindex = 0;
			memcpy(CMSG_DATA(part), &info, sizeof(info));
			back->control_len = message->msg_controllen;
		}
	}
}

/* False: none is there. */
static bool take_datagram(int fd)
{
	uint8_t bytes[QUESTION_BYTES];
	struct udp_return back = {.fd = fd};
	struct iovec part = {.iov_base = bytes, .iov_len = sizeof(bytes)};
	struct msghdr message = {.msg_name = &back.peer,
				 .msg_namelen = sizeof(back.peer),
				 .msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = back.control.bytes,
				 .msg_controllen = sizeof(back.control)};
	ssize_t len = recvmsg(fd, &message, MSG_DONTWAIT);

	if (len < 0)
		return errno == EINTR;
	if ((message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0)
		return true;
	back.peer_len = message.msg_namelen;
	keep_way(&message, &back);
	answer(bytes, (size_t)len, send_udp, &back, sizeof(back));
	return true;
}

static void on_udp(struct watch *watch, uint32_t events)
{
	int left = TURN;

	(void)events;
	while (left > 0 && take_datagram(watch->fd))
		left--;
}

int serve_udp(int fd, bool v6)
{
	static const int on = 1;

	if (udp_count == UDP_SOCKETS) {
		errno = ENOBUFS;
		return -1;
	}
	struct watch *watch = &udps[udp_count++];
	*watch = (struct watch){.ready = on_udp, .fd = fd};
	if (fcntl(fd, F_SETFL, O_NONBLOCK) != 0 ||
	    setsockopt(fd, v6 ? IPPROTO_IPV6 : IPPROTO_IP, v6 ? IPV6_RECVPKTINFO : IP_PKTINFO, &on,
		       sizeof(on)) != 0)
		return -1;
	/* QUIRK(local routes): an address that only a local route covers is no address of the
	 * host's for v6, and answering from it is EINVAL without this (4.15). */
	if (v6 && setsockopt(fd, IPPROTO_IPV6, IPV6_FREEBIND, &on, sizeof(on)) != 0)
		return -1;
	return loop_watch(watch, EPOLLIN);
}

_Static_assert(sizeof(struct udp_return) <= ANSWER_BACK_BYTES, "answer() keeps it");

/* --- TCP --- */

static void drop(struct client *client)
{
	loop_cancel(&client->idle);
	loop_close(&client->watch);
	client->gone = true;
	/* Its answer is still awaited: then it goes. */
	if (client->asking)
		return;
	client_count--;
	loop_free(client);
}

static void on_idle(struct timer *timer)
{
	drop(OWNER(timer, struct client, idle));
}

static void look_at(struct client *client);

static void send_tcp(const void *data, const uint8_t *bytes, size_t len)
{
	struct client *client = *(struct client *const *)data;
	uint8_t whole[2 + MESSAGE_BYTES];

	client->asking = false;
	if (client->gone) {
		drop(client);
		return;
	}
	whole[0] = (uint8_t)(len >> 8);
	whole[1] = (uint8_t)len;
	memcpy(whole + 2, bytes, len);
	/* Somebody who asks much and reads nothing goes without. */
	if (len == 0 || send(client->watch.fd, whole, len + 2, MSG_DONTWAIT | MSG_NOSIGNAL) !=
				(ssize_t)len + 2) {
		drop(client);
		return;
	}
	if (!client->looking)
		look_at(client);
}

/* Whole questions in what came, one after the other. */
static void look_at(struct client *client)
{
	uint8_t question[QUESTION_BYTES];

	client->looking = true;
	while (!client->asking && !client->gone && client->have >= 2) {
		size_t len = (size_t)client->bytes[0] << 8 | client->bytes[1];

		if (len > QUESTION_BYTES)
			drop(client);
		if (client->gone || client->have < 2 + len)
			break;
		memcpy(question, client->bytes + 2, len);
		client->have -= 2 + len;
		memmove(client->bytes, client->bytes + 2 + len, client->have);
		client->asking = true;
		answer(question, len, send_tcp, &client, sizeof(struct client *));
	}
	client->looking = false;
}

static void on_client(struct watch *watch, uint32_t events)
{
	struct client *client = OWNER(watch, struct client, watch);
	size_t room = sizeof(client->bytes) - client->have;
	ssize_t got =
		room > 0 ? recv(watch->fd, client->bytes + client->have, room, MSG_DONTWAIT) : -1;

	(void)events;
	if (got < 0 && room > 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (got <= 0) {
		drop(client);
		return;
	}
	client->have += (size_t)got;
	loop_timer(&client->idle, TIMER_IDLE, on_idle);
	look_at(client);
}

static void on_accepted(struct acceptor *acceptor, int fd, const struct sockaddr_storage *peer)
{
	struct client *client = client_count < CLIENTS ? calloc(1, sizeof(*client)) : NULL;

	(void)acceptor;
	(void)peer;
	if (client == NULL) {
		connection_reset(fd);
		return;
	}
	client_count++;
	client->watch = (struct watch){.ready = on_client, .fd = fd};
	loop_timer(&client->idle, TIMER_IDLE, on_idle);
	if (loop_watch(&client->watch, EPOLLIN) != 0)
		drop(client);
}

int serve_tcp(int fd)
{
	if (acceptor_count == TCP_SOCKETS) {
		errno = ENOBUFS;
		return -1;
	}
	return acceptor_start(&acceptors[acceptor_count++], fd, on_accepted);
}
