// SPDX-License-Identifier: Apache-2.0
#include "dial.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "address.h"
#include "connection.h"

struct attempt {
	struct watch watch;
	struct dial *dial;
	struct rule_address address;
};

struct dial {
	struct connection *connection;
	struct name_wait wait;
	struct timer next, whole;
	struct attempt attempts[NAME_ADDRESSES];
	size_t count, begun, running;
	int errnum; /* of the last that failed */
};

/* UDP sockets: connecting one sends nothing, and tells which address of ours leads there. */
static int probe4 = -1, probe6 = -1;

int dial_init(void)
{
	probe4 = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	probe6 = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0); /* -1: a host without v6 */
	return probe4 < 0 ? -1 : 0;
}

/* An address of the host itself: the way there begins where it ends. */
static bool is_own(const struct rule_address *address)
{
	struct sockaddr_storage target, source;
	socklen_t len = address_to(address, 9, &target), source_len = sizeof(source);
	int fd = address->family == AF_INET ? probe4 : probe6;

	if (connect(fd, (struct sockaddr *)&target, len) != 0 ||
	    getsockname(fd, (struct sockaddr *)&source, &source_len) != 0)
		return false;
	struct gate_address from = address_from(&source);
	return address_equal(&from.ip, address);
}

void dial_end(struct dial *dial)
{
	if (dial == NULL)
		return;
	resolve_cancel(&dial->wait);
	loop_cancel(&dial->next);
	loop_cancel(&dial->whole);
	for (size_t i = 0; i < dial->begun; i++)
		loop_close(&dial->attempts[i].watch);
	loop_free(dial);
}

static void fail(struct dial *dial, enum gate_why why, int errnum)
{
	connection_fail(dial->connection, why, errnum);
}

static void won(struct attempt *attempt)
{
	struct dial *dial = attempt->dial;
	struct connection *connection = dial->connection;
	struct gate_address address = {attempt->address, connection->event.asked.port};
	int fd = attempt->watch.fd;

	loop_forget(&attempt->watch);
	connection->dial = NULL;
	dial_end(dial);
	connection_opened(connection, fd, &address);
}

static void begin_next(struct dial *dial);

static void lost(struct dial *dial, int errnum)
{
	dial->errnum = errnum;
	if (dial->begun < dial->count)
		begin_next(dial);
	else if (dial->running == 0)
		fail(dial, errnum == EMFILE || errnum == ENFILE ? GATE_FULL : GATE_NOT_REACHED,
		     errnum);
}

static void on_attempt(struct watch *watch, uint32_t events)
{
	struct attempt *attempt = OWNER(watch, struct attempt, watch);
	int errnum = 0;
	socklen_t len = sizeof(errnum);

	(void)events;
	if (getsockopt(watch->fd, SOL_SOCKET, SO_ERROR, &errnum, &len) != 0)
		errnum = errno;
	if (errnum == 0) {
		won(attempt);
		return;
	}
	loop_close(watch);
	attempt->dial->running--;
	lost(attempt->dial, errnum);
}

static void on_next(struct timer *timer)
{
	begin_next(OWNER(timer, struct dial, next));
}

static void on_whole(struct timer *timer)
{
	fail(OWNER(timer, struct dial, whole), GATE_NOT_REACHED, ETIMEDOUT);
}

/* 0, also while it is connecting; else what is wrong. */
static int begin(struct attempt *attempt)
{
	uint16_t port = attempt->dial->connection->event.asked.port;
	struct sockaddr_storage target;
	socklen_t len = address_to(&attempt->address, port, &target);

	attempt->watch.ready = on_attempt;
	attempt->watch.fd = socket(attempt->address.family,
				   SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP);
	if (attempt->watch.fd < 0)
		return errno;
	if (connect(attempt->watch.fd, (struct sockaddr *)&target, len) == 0 ||
	    errno == EINPROGRESS) {
		/* A connection within the host is there already: the event comes at once. */
		if (loop_watch(&attempt->watch, EPOLLOUT) == 0)
			return 0;
	}
	int errnum = errno;
	close(attempt->watch.fd);
	attempt->watch.fd = -1;
	return errnum;
}

static void begin_next(struct dial *dial)
{
	while (dial->begun < dial->count) {
		struct attempt *attempt = &dial->attempts[dial->begun++];
		int errnum;

		attempt->dial = dial;
		errnum = begin(attempt);
		if (errnum == 0) {
			dial->running++;
			if (dial->begun < dial->count)
				loop_timer(&dial->next, TIMER_NEXT, on_next);
			return;
		}
		dial->errnum = errnum;
	}
	loop_cancel(&dial->next);
	if (dial->running == 0)
		lost(dial, dial->errnum);
}

/* v6 and v4 in turn, each in the order it came. */
static void put_in_turn(struct dial *dial, const struct rule_address *addresses, size_t count,
			int family)
{
	bool used[NAME_ADDRESSES] = {false};

	while (dial->count < count) {
		size_t i = 0;

		while (i < count && (used[i] || addresses[i].family != family))
			i++;
		family = family == AF_INET ? AF_INET6 : AF_INET;
		if (i == count)
			continue; /* none left of this one: the other family again */
		used[i] = true;
		dial->attempts[dial->count++].address = addresses[i];
	}
}

static void on_addresses(struct dial *dial, struct name *name)
{
	struct connection *connection = dial->connection;
	struct rule_address good[NAME_ADDRESSES];
	struct policy_refusal refusal = {0}, first = {0};
	size_t count = 0;

	if (name->address_count == 0) {
		fail(dial, GATE_NOT_RESOLVED, 0);
		return;
	}
	for (size_t i = 0; i < name->address_count; i++) {
		const struct rule_address *address = &name->addresses[i];

		if (policy_may_dial(connection->rule, address, connection->event.asked.port,
				    name->pinned, is_own(address), &refusal))
			good[count++] = *address;
		else if (first.class == 0 && first.deny == NULL)
			first = refusal;
	}
	if (count > 0) {
		/* Name servers answer in any order; who wrote a list meant its order. */
		put_in_turn(dial, good, count, name->until_ms != 0 ? AF_INET6 : good[0].family);
		begin_next(dial);
		return;
	}
	connection->event.dialled =
		(struct gate_address){name->addresses[0], connection->event.asked.port};
	connection->event.class = (uint8_t)first.class;
	if (first.deny != NULL)
		connection->event.rule = first.deny->number;
	fail(dial, first.deny != NULL ? GATE_DENY_RULE : GATE_BAD_ADDRESS, 0);
}

static void on_told(struct name_wait *wait, struct name *name)
{
	on_addresses(OWNER(wait, struct dial, wait), name);
}

void dial_begin(struct connection *connection)
{
	struct dial *dial = calloc(1, sizeof(*dial));

	if (dial == NULL) {
		connection_fail(connection, GATE_FULL, ENOMEM);
		return;
	}
	dial->connection = connection;
	dial->wait.told = on_told;
	connection->dial = dial;
	for (size_t i = 0; i < NAME_ADDRESSES; i++)
		dial->attempts[i].watch.fd = -1;
	loop_timer(&dial->whole, TIMER_DIAL, on_whole);
	if (connection->name == NULL) {
		put_in_turn(dial, &connection->event.asked.ip, 1, AF_INET);
		begin_next(dial);
	} else if (resolve_ask(connection->name, &dial->wait)) {
		on_addresses(dial, connection->name);
	}
}
