// SPDX-License-Identifier: Apache-2.0
#include <poll.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>

#include "confine.h"
#include "run.h"
#include "supervise.h"

/*
 * The program's first socket, where the network waits for that (plan.late_network):
 *
 *   held call -> visitor sets the network up -> its sockets go to the gate -> ready -> call goes on
 *
 * The loop waits for none of it: limits, streams, signals and all other calls are served meanwhile.
 * What fails ends the run: the program has been promised this network, and gets no other.
 */

enum { SETUP_MS = 10000 };

static void give_up(struct loop *loop, const struct error *err)
{
	struct run *run = loop->run;
	char text[1024];

	loop_unwatch(loop, SOURCE_VISITOR);
	loop_unwatch(loop, SOURCE_OVERDUE);
	loop_unwatch(loop, SOURCE_GATE);
	error_format(err, text, sizeof(text));
	if (!run->ended)
		run->end.message = arena_printf(
			run->arena,
			"killed at its first socket, since there is no network for it: %s", text);
	outcome_end(run, END_SBOX_ERROR, err->errnum, NULL);
	limits_kill(run);
}

/* Side by side. What it costs is no more the program's than what was done before it began. */
static int send_both(struct run *run, struct error *err)
{
	uint64_t before = own_cpu_ns();
	int rc = gate_visit(run, err) != 0 || gate_call(run, err) != 0 ? -1 : 0;

	run->spared_cpu_ns += own_cpu_ns() - before;
	return rc;
}

void network_wanted(struct loop *loop)
{
	struct run *run = loop->run;
	struct error err;

	run->gate.called = true;
	loop->overdue_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (loop->overdue_fd < 0)
		error_sys(&err, "cannot make a timer");
	if (loop->overdue_fd < 0 || send_both(run, &err) != 0) {
		give_up(loop, &err);
		return;
	}
	loop_timer(loop->overdue_fd, (uint64_t)SETUP_MS * 1000000);
	loop_watch(loop, SOURCE_OVERDUE, loop->overdue_fd, EPOLLIN);
	loop_watch(loop, SOURCE_VISITOR, run->gate.visitor_fd, EPOLLIN);
	loop_watch(loop, SOURCE_GATE, run->gate.fd, EPOLLIN);
}

void network_visited(struct loop *loop)
{
	struct run *run = loop->run;
	struct error err;
	int state = gate_take_sockets(run, run->gate.visitor_fd, &err);

	if (state < 0)
		give_up(loop, &err);
	if (state <= 0)
		return;
	loop_unwatch(loop, SOURCE_VISITOR);
	gate_visit_end(run);
}

bool network_told(struct loop *loop)
{
	struct run *run = loop->run;
	bool there = gate_read(run);
	struct error err;

	if (run->gate.ready && confine_supervisor(run, &err) != 0) {
		give_up(loop, &err);
		return false;
	}
	if (run->gate.ready) {
		loop_unwatch(loop, SOURCE_OVERDUE);
		notify_let_go(&run->notify);
		loop->listener_fd = run->notify.fd;
	} else if (!there) {
		gate_explain(&run->gate, &err);
		give_up(loop, &err);
	}
	return run->gate.ready;
}

void network_overdue(struct loop *loop)
{
	const struct gate *gate = &loop->run->gate;
	struct pollfd told[] = {{.fd = gate->visitor_fd, .events = POLLIN},
				{.fd = gate->fd, .events = POLLIN}};
	struct error err;

	/* it was sbox that did not look: it was stopped */
	if (poll(told, 2, 0) > 0) {
		loop_timer(loop->overdue_fd, (uint64_t)SETUP_MS * 1000000);
		return;
	}
	error_set(&err, ERROR_SYSTEM,
		  gate->visitor > 0 ? "the sandbox's network was not set up in time"
				    : "sbox-gate was not ready in time");
	give_up(loop, &err);
}
