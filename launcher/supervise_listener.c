// SPDX-License-Identifier: Apache-2.0
#include <poll.h>
#include <unistd.h>

#include "supervise.h"

/* The calls that the program waits in: answered before all else, as they come. */

static void answer(struct loop *loop, short seen)
{
	struct run *run = loop->run;
	int64_t wait = notify_handle(&run->notify, seen);

	if (wait >= 0 && run->notify.held_count > 0 && !run->gate.called)
		network_wanted(loop);
	if (wait == 0 && run->notify.held_count < NOTIFY_HELD_MAX)
		return;
	loop->listener_fd = -1;
	if (wait < 0) {
		close(run->notify.fd);
		run->notify.fd = -1;
	} else if (wait > 0) {
		loop_timer(loop->late_fd, (uint64_t)wait);
	}
}

void listener_late(struct loop *loop)
{
	uint64_t count;

	if (read(loop->late_fd, &count, sizeof(count)) < 0)
		return;
	loop->listener_fd = loop->run->notify.fd;
}

/*
 * QUIRK(notify-wake): since 6.6 whoever waits for the listener itself is woken on the processor of
 * the task that asks and goes to sleep. Epoll passes on less (6.18): the other processor is woken,
 * which takes longer than the whole answer. So the listener is polled beside epoll.
 *
 * QUIRK(mounts-poll): mountinfo tells of a change once (6.18): who polls first, not epoll_wait().
 *
 * A program that opens its files asks over and over while nothing else happens, and what is
 * touched between two answers is gone from the processor's caches each time: so it is little.
 * With a bound to the wait there is something to do that no descriptor here tells of (a file as
 * stdin, a stream's held bytes): it comes after each answer, since the next question may always
 * be there already.
 */
int listener_poll(struct loop *loop, struct pollfd fds[LOOP_FDS], int timeout)
{
	fds[LOOP_EPOLL] = (struct pollfd){.fd = loop->epoll_fd, .events = POLLIN};
	fds[LOOP_LISTENER] = (struct pollfd){.fd = loop->listener_fd, .events = POLLIN};
	fds[LOOP_MOUNTS] = (struct pollfd){.fd = loop->mounts_fd, .events = POLLPRI};
	for (;;) {
		int ready = poll(fds, LOOP_FDS, timeout);

		if (ready <= 0 || fds[LOOP_LISTENER].revents == 0)
			return ready;
		answer(loop, fds[LOOP_LISTENER].revents);
		if (ready > 1 || timeout >= 0 || loop->listener_fd < 0 || loop->run->killed)
			return ready;
	}
}
