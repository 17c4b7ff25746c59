// SPDX-License-Identifier: Apache-2.0
#include "publish.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "acceptor.h"
#include "address.h"
#include "connection.h"
#include "tell.h"

enum { LISTENERS = RULE_LISTENS_MAX * 2, SOCKETS = 512, DELIVER_MS = 30000 };

struct listener {
	struct acceptor acceptor;
	uint16_t port; /* inside */
};

/* A socket inside: in a pool, in use by a connection, or delivering what that left. */
struct inside {
	struct inside *next;
	struct timer deliver;
	uint64_t until_ms;
	int fd, family;
	struct listener *listener;
	struct connection *connection; /* while it is being connected */
	bool both;                     /* the other family was tried */
};

static struct listener listeners[LISTENERS];
static size_t listener_count;
static struct inside sockets[SOCKETS];
static size_t socket_count;
static struct inside *pool4, *pool6;
static bool has4, has6; /* there ever were any */

static void on_accepted(struct acceptor *acceptor, int fd, const struct sockaddr_storage *peer);

int publish_listener(int fd, uint16_t port)
{
	if (listener_count == LISTENERS) {
		errno = ENOBUFS;
		return -1;
	}
	struct listener *listener = &listeners[listener_count++];
	listener->port = port;
	return acceptor_start(&listener->acceptor, fd, on_accepted);
}

static struct inside **pool_of(const struct inside *inside)
{
	return inside->family == AF_INET ? &pool4 : &pool6;
}

int publish_inside(int fd, int family)
{
	if (socket_count == SOCKETS) {
		errno = ENOBUFS;
		return -1;
	}
	if (fcntl(fd, F_SETFL, O_NONBLOCK) != 0)
		return -1;
	struct inside *inside = &sockets[socket_count++];
	*inside = (struct inside){.fd = fd, .family = family};
	inside->next = *pool_of(inside);
	*pool_of(inside) = inside;
	*(family == AF_INET ? &has4 : &has6) = true;
	return 0;
}

/* A server may be on either address, so one socket of each family has to be there. */
static void hold_if_empty(void)
{
	bool hold = (has4 && pool4 == NULL) || (has6 && pool6 == NULL);

	for (size_t i = 0; i < listener_count; i++)
		acceptor_hold(&listeners[i].acceptor, hold);
}

/* As new: a TCP socket can be connected again once it was disconnected (connect(2), AF_UNSPEC). */
static void put_back(struct inside *inside)
{
	const struct sockaddr none = {.sa_family = AF_UNSPEC};

	(void)connect(inside->fd, &none, sizeof(none));
	inside->connection = NULL;
	inside->next = *pool_of(inside);
	*pool_of(inside) = inside;
	hold_if_empty();
}

static bool is_delivered(const struct inside *inside)
{
	struct tcp_info info;
	socklen_t len = sizeof(info);

	return getsockopt(inside->fd, IPPROTO_TCP, TCP_INFO, &info, &len) != 0 ||
	       info.tcpi_state == TCP_CLOSE;
}

static void on_deliver(struct timer *timer)
{
	struct inside *inside = OWNER(timer, struct inside, deliver);

	if (is_delivered(inside) || loop_now_ms() >= inside->until_ms)
		put_back(inside);
	else
		loop_timer(timer, TIMER_FLUSH, on_deliver);
}

static struct inside *find(int fd)
{
	size_t i = 0;

	while (i < socket_count && sockets[i].fd != fd)
		i++;
	return i < socket_count ? &sockets[i] : NULL;
}

void publish_return(struct watch *watch, bool reset)
{
	struct inside *inside = find(watch->fd);

	loop_forget(watch);
	if (inside == NULL)
		return;
	if (reset || is_delivered(inside)) {
		put_back(inside);
		return;
	}
	inside->until_ms = loop_now_ms() + DELIVER_MS;
	loop_timer(&inside->deliver, TIMER_FLUSH, on_deliver);
}

static void begin(struct inside *inside);

static void take_other(struct inside *inside, int errnum)
{
	struct connection *connection = inside->connection;
	struct inside *other = inside->family == AF_INET ? pool6 : pool4;
	bool both = inside->both;

	if (both || other == NULL) {
		connection_fail(connection, GATE_NOT_REACHED, errnum);
		return;
	}
	*pool_of(other) = other->next;
	other->connection = connection;
	other->listener = inside->listener;
	other->both = true;
	loop_forget(&connection->inside.watch);
	put_back(inside);
	begin(other);
}

static void on_connected(struct watch *watch, uint32_t events)
{
	struct inside *inside = find(watch->fd);
	int errnum = 0;
	socklen_t len = sizeof(errnum);

	(void)events;
	if (inside == NULL)
		return;
	getsockopt(inside->fd, SOL_SOCKET, SO_ERROR, &errnum, &len);
	if (errnum != 0) {
		take_other(inside, errnum);
		return;
	}
	loop_forget(watch);
	connection_published(inside->connection, inside->fd);
}

static void begin(struct inside *inside)
{
	struct connection *connection = inside->connection;
	struct rule_address loopback = {.family = (uint8_t)inside->family};
	struct sockaddr_storage target;

	if (inside->family == AF_INET)
		memcpy(loopback.bytes, (const uint8_t[]){127, 0, 0, 1}, 4);
	else
		loopback.bytes[15] = 1;
	connection->event.dialled = (struct gate_address){loopback, inside->listener->port};
	socklen_t len = address_to(&loopback, inside->listener->port, &target);
	connection->inside.watch = (struct watch){.ready = on_connected, .fd = inside->fd};
	if (connect(inside->fd, (struct sockaddr *)&target, len) != 0 && errno != EINPROGRESS) {
		take_other(inside, errno);
		return;
	}
	if (loop_watch(&connection->inside.watch, EPOLLOUT) != 0)
		connection_fail(connection, GATE_FULL, errno);
}

static void on_accepted(struct acceptor *acceptor, int fd, const struct sockaddr_storage *peer)
{
	struct inside *inside = pool4 != NULL ? pool4 : pool6;
	bool room = connection_has_room();
	struct connection *connection = connection_new(-1, fd);

	if (connection == NULL) {
		connection_reset(fd);
		return;
	}
	connection->event.published = 1;
	connection->event.asked = address_from(peer);
	connection->inspect.stage = INSPECT_OFF;
	connection->up_limit = UINT64_MAX;
	if (!room || inside == NULL) {
		connection_fail(connection, GATE_FULL, 0);
		return;
	}
	*pool_of(inside) = inside->next;
	inside->listener = OWNER(acceptor, struct listener, acceptor);
	inside->connection = connection;
	inside->both = false;
	connection->published = true;
	hold_if_empty();
	begin(inside);
}
