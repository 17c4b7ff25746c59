// SPDX-License-Identifier: Apache-2.0
#include "acceptor.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "connection.h"
#include "tell.h"

enum { TURN = 64 };

static int spare = -1, spare_of = -1;

int acceptor_init(int any_fd)
{
	spare_of = any_fd;
	spare = fcntl(any_fd, F_DUPFD_CLOEXEC, 0);
	return spare < 0 ? -1 : 0;
}

static void on_resume(struct timer *timer)
{
	struct acceptor *acceptor = OWNER(timer, struct acceptor, resume);

	if (!acceptor->held)
		loop_change(&acceptor->watch, EPOLLIN);
}

/* Nothing can be accepted now: the event would come again and again. */
static void rest(struct acceptor *acceptor)
{
	loop_change(&acceptor->watch, 0);
	loop_timer(&acceptor->resume, TIMER_FLUSH, on_resume);
}

/* False: there was none, or it did not help. */
static bool refuse_one(struct acceptor *acceptor)
{
	if (spare < 0)
		spare = fcntl(spare_of, F_DUPFD_CLOEXEC, 0);
	if (spare < 0)
		return false;
	close(spare);
	int fd = accept4(acceptor->watch.fd, NULL, NULL, SOCK_CLOEXEC);
	if (fd >= 0) {
		totals.connections++;
		totals.connections_refused++;
		connection_reset(fd);
	}
	spare = fcntl(spare_of, F_DUPFD_CLOEXEC, 0);
	return fd >= 0;
}

static void on_ready(struct watch *watch, uint32_t events)
{
	struct acceptor *acceptor = OWNER(watch, struct acceptor, watch);

	(void)events;
	for (int i = 0; i < TURN && !acceptor->held; i++) {
		struct sockaddr_storage peer = {0};
		socklen_t len = sizeof(peer);
		int fd = accept4(watch->fd, (struct sockaddr *)&peer, &len,
				 SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (fd >= 0) {
			acceptor->accepted(acceptor, fd, &peer);
			continue;
		}
		if (errno == EAGAIN)
			return;
		if (errno == EINTR || errno == ECONNABORTED)
			continue;
		if ((errno != EMFILE && errno != ENFILE) || !refuse_one(acceptor)) {
			rest(acceptor);
			return;
		}
	}
}

int acceptor_start(struct acceptor *acceptor, int fd,
		   void (*accepted)(struct acceptor *, int, const struct sockaddr_storage *))
{
	acceptor->watch = (struct watch){.ready = on_ready, .fd = fd};
	acceptor->accepted = accepted;
	if (fcntl(fd, F_SETFL, O_NONBLOCK) != 0)
		return -1;
	return loop_watch(&acceptor->watch, EPOLLIN);
}

void acceptor_hold(struct acceptor *acceptor, bool hold)
{
	if (acceptor->held == hold)
		return;
	acceptor->held = hold;
	loop_change(&acceptor->watch, hold ? 0 : EPOLLIN);
}
