// SPDX-License-Identifier: Apache-2.0
#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "supervise.h"

/* The streams in the loop: what is waited for, what is moved, and their end. */

enum { SETTLE_TURNS = 50, SETTLE_WAIT_MS = 10 };

/* True when one of its ends is ready without epoll's word (regular files). */
static bool watch_relay(struct loop *loop, struct relay *relay, enum source from, enum source to)
{
	uint32_t from_events = relay_from_events(relay), to_events = relay_to_events(relay);

	loop_watch(loop, from, relay->from_fd, relay->from_pollable ? from_events : 0);
	loop_watch(loop, to, relay->to_fd, relay->to_pollable ? to_events : 0);
	return (from_events != 0 && !relay->from_pollable) ||
	       (to_events != 0 && !relay->to_pollable);
}

/* What a flow holds is looked at again after a millisecond, whatever else happens. */
static int wait_for(const struct run *run, bool ready)
{
	bool holds = run->out.flow.holds || run->err.flow.holds;

	return ready ? 0 : holds ? 1 : -1;
}

int streams_watch(struct loop *loop)
{
	struct run *run = loop->run;
	bool ready = watch_relay(loop, &run->in, SOURCE_IN_FROM, SOURCE_IN_TO);

	ready |= watch_relay(loop, &run->out, SOURCE_OUT_FROM, SOURCE_OUT_TO);
	ready |= watch_relay(loop, &run->err, SOURCE_ERR_FROM, SOURCE_ERR_TO);
	if (!run->terminal.is_on)
		return wait_for(run, ready);
	ready |= watch_relay(loop, &run->terminal.own_keys, SOURCE_KEYS_FROM, SOURCE_KEYS_TO);
	ready |= watch_relay(loop, &run->terminal.own_screen, SOURCE_SCREEN_FROM, SOURCE_SCREEN_TO);
	return wait_for(run, ready);
}

static uint64_t output_quota(const struct run *run)
{
	uint64_t limit = run->profile.process.output_bytes;
	uint64_t used = relay_taken(&run->out) + relay_taken(&run->err);

	if (limit == 0)
		return UINT64_MAX;
	/* one byte beyond the limit tells that there is more */
	return used > limit ? 0 : limit - used + 1;
}

static void pump_output(struct run *run, struct relay *relay)
{
	uint64_t limit = run->profile.process.output_bytes;

	relay_pump(relay, output_quota(run));
	if (limit != 0 && relay_taken(&run->out) + relay_taken(&run->err) > limit)
		outcome_kill(run, END_OUTPUT, "process.output");
}

void streams_pump(struct run *run)
{
	relay_pump(&run->in, UINT64_MAX);
	pump_output(run, &run->out);
	pump_output(run, &run->err);
	if (!run->terminal.is_on)
		return;
	relay_pump(&run->terminal.own_keys, UINT64_MAX);
	pump_output(run, &run->terminal.own_screen);
}

void streams_settle(struct run *run)
{
	const struct relay *screen = run->terminal.screen;

	for (int i = 0; i < SETTLE_TURNS && !relay_done(screen); i++) {
		streams_pump(run);
		struct pollfd more = {.fd = screen->from_fd, .events = POLLIN};
		struct pollfd room = {.fd = screen->to_fd, .events = POLLOUT};

		if (screen->len > 0)
			poll(&room, 1, SETTLE_WAIT_MS);
		else if (poll(&more, 1, 0) <= 0)
			return;
	}
}

static void stop_input(struct relay *relay)
{
	if (relay->to_fd > STDERR_FILENO)
		close(relay->to_fd);
	relay->from_fd = relay->to_fd = -1;
	relay->source_eof = relay->sink_gone = true;
	relay->start = relay->len = 0;
	relay_flow_close(&relay->flow);
}

void streams_stop_input(struct run *run)
{
	stop_input(&run->in);
	if (run->terminal.is_on)
		stop_input(&run->terminal.own_keys);
}

static bool output_done(const struct run *run)
{
	return relay_done(&run->out) && relay_done(&run->err) &&
	       (!run->terminal.is_on || relay_done(&run->terminal.own_screen));
}

static void drain(struct run *run, struct relay *relay)
{
	relay_drain(relay, output_quota(run));
	pump_output(run, relay);
}

/* With a wall clock the reader's time is bounded by what is left of it, or the grace. */
static void bound_flush(struct loop *loop)
{
	const struct profile *profile = &loop->run->profile;
	uint64_t now = clock_ns(), grace = profile->time.grace_ms * 1000000 + 1;

	if (profile->time.wall_ms == 0)
		return;
	uint64_t end = loop->run->start_ns + profile->time.wall_ms * 1000000;
	loop_unwatch(loop, SOURCE_WALL);
	loop_timer(loop->wall_fd, end > now + grace ? end - now : grace);
	loop_watch(loop, SOURCE_WALL, loop->wall_fd, EPOLLIN);
}

void streams_flush(struct loop *loop)
{
	struct run *run = loop->run;

	/* one that ended before its terminal was begun with */
	if (run->terminal.screen != NULL)
		run->terminal.screen->paused = false;
	drain(run, &run->out);
	drain(run, &run->err);
	if (run->terminal.is_on)
		drain(run, &run->terminal.own_screen);
	if (output_done(run))
		return;
	for (enum source source = SOURCE_LOOK; source < SOURCE_IN_FROM; source++)
		loop_unwatch(loop, source);
	loop->listener_fd = -1;
	bound_flush(loop);
	/* no program is there to get keys: a Ctrl-C is for us again */
	terminal_release_keys(&run->terminal);
	while (!loop->give_up_output && !output_done(run))
		loop_turn(loop);
}
