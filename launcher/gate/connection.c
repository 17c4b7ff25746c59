// SPDX-License-Identifier: Apache-2.0
#include "connection.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "address.h"
#include "publish.h"
#include "tell.h"

static struct connection *all;
static size_t count;

size_t connection_count(void)
{
	return count;
}

bool connection_has_room(void)
{
	totals.connections++;
	if (count >= policy.connections)
		return false;
	if (count + 1 > totals.connections_most)
		totals.connections_most = count + 1;
	return true;
}

/* The peer of a socket that is closed so sees a reset. */
static void set_reset(int fd)
{
	const struct linger linger = {.l_onoff = 1, .l_linger = 0};

	setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
}

void connection_reset(int fd)
{
	set_reset(fd);
	close(fd);
}

static void set_options(int fd)
{
	static const int on = 1, idle_s = 60;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	/* Urgent bytes stay where they are: what is looked at is what is passed on. */
	setsockopt(fd, SOL_SOCKET, SO_OOBINLINE, &on, sizeof(on));
	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof(idle_s));
}

static void release(struct connection *connection)
{
	*connection->link = connection->next;
	if (connection->next != NULL)
		connection->next->link = connection->link;
	count--;
	loop_free(connection);
}

static void close_side(struct pump_side *side, bool reset)
{
	if (reset && side->watch.fd >= 0)
		set_reset(side->watch.fd);
	loop_close(&side->watch);
}

/* Told once; then nothing of it is left but what a published connection's socket still has to do.
 */
static void finish(struct connection *connection, enum gate_why why, int errnum, bool reset)
{
	struct gate_connection *event = &connection->event;

	connection->ended = true;
	dial_end(connection->dial);
	connection->dial = NULL;
	loop_cancel(&connection->hello);
	loop_untask(&connection->again);
	event->why = (uint8_t)why;
	event->errnum = (uint32_t)errnum;
	event->sent = connection->up.bytes;
	event->received = connection->down.bytes;
	event->ms = (clock_us() - connection->accepted_us) / 1000;
	memcpy(event->server_name, connection->inspect.server_name, sizeof(event->server_name));
	tell_closed(event, connection->open, connection->singly);
	pump_drop(&connection->up);
	pump_drop(&connection->down);
	close_side(&connection->outside, reset);
	if (connection->published)
		publish_return(&connection->inside.watch, reset);
	else
		close_side(&connection->inside, reset);
	release(connection);
}

void connection_fail(struct connection *connection, enum gate_why why, int errnum)
{
	finish(connection, why, errnum, true);
}

static void on_slow(struct timer *timer)
{
	connection_fail(OWNER(timer, struct connection, hello), GATE_SLOW_HELLO, 0);
}

/* What the program sent is looked at where it is, and stays there. False: it is over. */
static bool look(struct connection *connection)
{
	static uint8_t bytes[HELLO_BYTES];
	struct pump_side *inside = &connection->inside;

	if (connection->up_limit > 0 || connection->inspect.stage == INSPECT_OFF || inside->eof ||
	    !inside->readable)
		return true;
	ssize_t seen = recv(inside->watch.fd, bytes, sizeof(bytes), MSG_PEEK | MSG_DONTWAIT);
	if (seen < 0) {
		/* Anything else the pump would see too. */
		inside->readable = errno != EAGAIN;
		connection->up_limit = errno == EAGAIN ? 0 : 1;
		return true;
	}
	if (seen == 0) {
		connection->up_limit = 1; /* lets the end of file pass */
		return true;
	}
	struct inspect_verdict verdict = inspect(&connection->inspect, bytes, (size_t)seen);
	if (verdict.why != GATE_OPEN) {
		connection_fail(connection, verdict.why, 0);
		return false;
	}
	if (verdict.more && inside->hung) {
		connection_fail(connection, GATE_BAD_HELLO, 0);
		return false;
	}
	if (verdict.more) {
		inside->readable = false; /* until more comes */
		if (connection->hello.link == NULL)
			loop_timer(&connection->hello, TIMER_HELLO, on_slow);
		return true;
	}
	loop_cancel(&connection->hello);
	connection->up_limit = verdict.pass;
	return true;
}

static bool is_over(const struct connection *connection)
{
	return connection->inside.eof && connection->outside.eof && connection->up.held == 0 &&
	       connection->down.held == 0;
}

/* Up, and again when what was let through is through and more may be. */
static enum pump_end pump_up(struct connection *connection)
{
	enum pump_end end;

	do {
		if (!look(connection))
			return PUMP_WAIT;
		end = pump(&connection->up, &connection->inside, &connection->outside,
			   &connection->up_limit);
	} while (end == PUMP_WAIT && connection->up_limit == 0 && connection->inside.readable &&
		 connection->outside.writable && !connection->inside.eof);
	return end;
}

/* Which end broke decides who is told to have reset. */
static void broken(struct connection *connection, bool inside, int errnum)
{
	finish(connection, inside ? GATE_RESET_INSIDE : GATE_RESET_OUTSIDE, errnum, true);
}

/* The server takes no more. What it said before that is still the program's to read, as it would be
 * from a socket of its own; the reset comes after it, and no end of file. */
static void cut(struct connection *connection, int errnum)
{
	connection->cut = errnum;
	pump_drop(&connection->up);
	connection->inside.shut = true;
	connection->outside.readable = true;
	loop_task(&connection->again);
}

static void run(struct connection *connection)
{
	enum pump_end down = pump(&connection->down, &connection->outside, &connection->inside,
				  &connection->down_limit);

	if (down == PUMP_READ || down == PUMP_WRITE) {
		broken(connection, down == PUMP_WRITE, errno);
		return;
	}
	enum pump_end up = connection->cut != 0 ? PUMP_WAIT : pump_up(connection);
	if (connection->ended)
		return;
	if (up == PUMP_READ)
		broken(connection, true, errno);
	else if (up == PUMP_WRITE)
		cut(connection, errno);
	else if (connection->cut != 0 && connection->down.held == 0 &&
		 (connection->outside.eof || !connection->outside.readable))
		broken(connection, false, connection->cut);
	else if (is_over(connection))
		finish(connection, GATE_FINISHED, 0, false);
	else if (up == PUMP_AGAIN || down == PUMP_AGAIN)
		loop_task(&connection->again);
}

static void run_again(struct task *task)
{
	run(OWNER(task, struct connection, again));
}

static int socket_error(int fd)
{
	int errnum = 0;
	socklen_t len = sizeof(errnum);

	getsockopt(fd, SOL_SOCKET, SO_ERROR, &errnum, &len);
	return errnum ? errnum : ECONNRESET;
}

/* A reset that no reading finds: everything was read before, or there is no room for what was. */
static void look_for_reset(struct connection *connection, bool inside)
{
	struct pump_side *side = inside ? &connection->inside : &connection->outside;

	if (!connection->ended && (side->eof || !side->readable))
		broken(connection, inside, socket_error(side->watch.fd));
}

static void on_inside(struct watch *watch, uint32_t events)
{
	struct connection *connection = OWNER(watch, struct connection, inside.watch);
	bool wrong = pump_note(&connection->inside, events);

	if (connection->dial == NULL)
		run(connection);
	else if (wrong)
		broken(connection, true, socket_error(watch->fd));
	if (wrong)
		look_for_reset(connection, true);
}

static void on_outside(struct watch *watch, uint32_t events)
{
	struct connection *connection = OWNER(watch, struct connection, outside.watch);
	bool wrong = pump_note(&connection->outside, events);

	run(connection);
	if (wrong)
		look_for_reset(connection, false);
}

struct connection *connection_new(int inside_fd, int outside_fd)
{
	struct connection *connection = calloc(1, sizeof(*connection));

	if (connection == NULL)
		return NULL;
	connection->inside.watch.fd = connection->outside.watch.fd = -1;
	connection->again.run = run_again;
	connection->down_limit = UINT64_MAX;
	connection->accepted_us = clock_us();
	connection->event.start_ms = clock_unix_ms();
	connection->next = all;
	connection->link = &all;
	if (all != NULL)
		all->link = &connection->next;
	all = connection;
	count++;
	if (inside_fd >= 0) {
		set_options(inside_fd);
		/* A watch can only fail for want of memory; then nothing ever comes, and the dial
		 * ends. */
		pump_watch(&connection->inside, inside_fd, on_inside);
	}
	if (outside_fd >= 0) {
		set_options(outside_fd);
		pump_watch(&connection->outside, outside_fd, on_outside);
	}
	return connection;
}

void connection_accept(int fd)
{
	struct sockaddr_storage local;
	socklen_t len = sizeof(local);
	bool room = connection_has_room();

	if (getsockname(fd, (struct sockaddr *)&local, &len) != 0) {
		connection_reset(fd);
		return;
	}
	struct connection *connection = connection_new(fd, -1);
	if (connection == NULL) {
		connection_reset(fd);
		return;
	}
	connection->event.asked = address_from(&local);
	enum gate_why why = connection_judge(connection);
	if (why == GATE_OPEN && !room)
		why = GATE_FULL;
	if (why != GATE_OPEN) {
		connection_fail(connection, why, 0);
		return;
	}
	connection->inspect = (struct inspect){
		.name = connection->name != NULL ? connection->event.name : NULL,
		.port = connection->event.asked.port,
	};
	if (connection->rule->kind == RULE_HOST)
		connection->inspect.stage = INSPECT_OFF;
	connection->up_limit = connection->inspect.stage == INSPECT_OFF ? UINT64_MAX : 0;
	dial_begin(connection);
}

void connection_opened(struct connection *connection, int fd, const struct gate_address *dialled)
{
	connection->event.dialled = *dialled;
	connection->event.dial_us = (uint32_t)(clock_us() - connection->accepted_us);
	connection->open = true;
	connection->singly = tell_open(&connection->event);
	set_options(fd);
	if (pump_watch(&connection->outside, fd, on_outside) != 0) {
		close(fd);
		connection->outside.watch.fd = -1;
		connection_fail(connection, GATE_FULL, errno);
		return;
	}
	/* Its first event runs the rest. */
}

void connection_published(struct connection *connection, int fd)
{
	connection->event.dial_us = (uint32_t)(clock_us() - connection->accepted_us);
	connection->open = true;
	connection->singly = tell_open(&connection->event);
	set_options(fd);
	if (pump_watch(&connection->inside, fd, on_inside) != 0)
		connection_fail(connection, GATE_FULL, errno);
}

/* Connected, or with something to say once it is. */
static bool is_pending(const struct connection *connection)
{
	char byte;

	return connection->open ||
	       recv(connection->inside.watch.fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
}

bool connection_pending(void)
{
	for (const struct connection *one = all; one != NULL; one = one->next)
		if (is_pending(one))
			return true;
	return false;
}

void connection_end_all(void)
{
	while (all != NULL)
		finish(all, GATE_ENDED, 0, true);
}
