// SPDX-License-Identifier: Apache-2.0
/*
 * A stream that has proven to be a flow goes from pipe to pipe by splice(2): what is only counted
 * is moved, not copied.
 *
 * What the capture keeps is always read(2) and then written, so that record and output are the
 * same bytes: a page that was moved is still its writer's, who can change it. The head is over when
 * a flow begins. What is the tail nobody knows before the end, so bytes from the source go to a
 * pipe of our own first, and those that have a whole tail behind them there are moved on to the
 * sink. The others are copied when no more come: HOLD_NS later, since a flow's writer that loses
 * the processor goes on soon. Whatever ends the stream, what is held is read then, as what is in
 * the relay's buffer has been already.
 *
 * Nobody else reaches that pipe. Bytes that were left waiting in the program's own pipe could be
 * taken away by the program, through /proc/self/fd/1, and the tail would end too early.
 *
 * Where nothing is kept, or no longer, bytes go from the source to the sink and nothing is held.
 */
#include "relay.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum {
	/* A lap of so many bytes in so short a time, 128 MiB/s: then a tail of 128 KiB is held for
	 * a millisecond. So many in a row before anything is held: 10 ms are little of them. */
	LAP = 4 * 1024 * 1024,
	LAP_NS = 31250000,
	LAPS_TO_HOLD = 4,
	HOLD_NS = 10000000,
	PIPE_WANTED = 1024 * 1024, /* measured: less has more wake-ups; more takes a privilege */
	PIPE_DEFAULT = 64 * 1024,
	OWN_MAX = 1024 * 1024, /* pipe-max-size, as a rule */
	WORTH = 16 * 1024,     /* less is as well copied */
	SMALL_MOVES = 64,      /* in a row: a pipe has room for so many buffers, also of small ones,
				  which writing joins */
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static size_t waiting_in(int fd)
{
	int bytes = 0;

	return ioctl(fd, FIONREAD, &bytes) == 0 && bytes > 0 ? (size_t)bytes : 0;
}

void relay_flow_close(struct relay_flow *flow)
{
	if (flow->in_fd >= 0) {
		close(flow->in_fd);
		close(flow->out_fd);
	}
	flow->in_fd = flow->out_fd = -1;
	flow->held = 0;
}

/* Twice the tail: there is room behind it. Pipes are a quota that all of a user's processes share:
 * who has none left copies. */
static bool make_own_pipe(struct relay_flow *flow, size_t keep)
{
	int ends[2], size = PIPE_WANTED;

	while ((size_t)size < 2 * keep && size < OWN_MAX)
		size *= 2;
	if ((size_t)size < 2 * keep || pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
		return false;
	flow->out_fd = ends[0];
	flow->in_fd = ends[1];
	if (fcntl(flow->in_fd, F_SETPIPE_SZ, size) >= size)
		return true;
	relay_flow_close(flow);
	return false;
}

/*
 * A user's pipes share a quota (pipe-user-pages-soft, 64 MiB), beyond which any new pipe, also one
 * that has nothing to do with sbox, is made with two pages.
 */
static bool quota_is_used_up(void)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) != 0)
		return true;
	int size = fcntl(ends[0], F_GETPIPE_SZ);
	close(ends[0]);
	close(ends[1]);
	return size < PIPE_DEFAULT;
}

/* The program's end of it, while the stream is fast: fewer wake-ups. */
static void set_wide(struct relay *relay, bool wide)
{
	struct relay_flow *flow = &relay->flow;
	int fd = flow->program_end == 0 ? relay->from_fd : relay->to_fd;

	if (flow->program_end < 0 || fd < 0 || flow->is_wide == wide)
		return;
	/* EPERM beyond the quota, or a lower pipe-max-size; EBUSY: too much is in it to shrink */
	if (fcntl(fd, F_SETPIPE_SZ, wide ? PIPE_WANTED : PIPE_DEFAULT) < 0)
		return;
	flow->is_wide = wide;
	if (wide && quota_is_used_up())
		set_wide(relay, false);
}

/*
 * QUIRK(splice-nowait): splice(2) takes RWF_NOWAIT away from both of its descriptions for good
 * (since 6.4, which has it for pipes): what is then copied could block. So O_NONBLOCK has to be
 * there first, and a sink that could not be opened again (another user's) is copied to.
 */
static bool can_flow(struct relay *relay)
{
	return relay->from_pipe && relay->to_pipe && !relay->discard &&
	       relay->to_way == RELAY_DIRECT && !capture_wants_next(relay->into) &&
	       relay_unblock_source(relay);
}

static void begin(struct relay *relay)
{
	struct relay_flow *flow = &relay->flow;
	size_t keep = capture_keeps(relay->into);

	set_wide(relay, true);
	/* of what is kept when it is delivered, nothing is taken before */
	if (keep > 0 && (relay->count_delivered || flow->laps < LAPS_TO_HOLD))
		return;
	if (can_flow(relay) && (keep == 0 || flow->in_fd >= 0 || make_own_pipe(flow, keep)))
		flow->state = FLOW_ON;
}

static void stop(struct relay *relay)
{
	struct relay_flow *flow = &relay->flow;

	set_wide(relay, false);
	flow->laps = flow->small_moves = 0;
	if (flow->state == FLOW_ON)
		flow->state = FLOW_OFF;
}

void relay_flow_count(struct relay *relay, uint64_t taken)
{
	struct relay_flow *flow = &relay->flow;

	if (taken > 0 && flow->lap_ns == 0)
		flow->lap_ns = now_ns();
	flow->lap += taken;
	if (flow->lap < LAP)
		return;
	uint64_t now = now_ns();
	if (now - flow->lap_ns > LAP_NS) {
		stop(relay);
	} else {
		flow->laps++;
		if (flow->state == FLOW_OFF)
			begin(relay);
	}
	flow->lap = 0;
	flow->lap_ns = now;
}

static ssize_t move(int from_fd, int to_fd, size_t len)
{
	return splice(from_fd, NULL, to_fd, NULL, len, SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
}

static enum flow_step move_on(struct relay *relay, int from_fd, size_t len, size_t *ret_moved)
{
	struct relay_flow *flow = &relay->flow;
	ssize_t moved = move(from_fd, relay->to_fd, len);

	*ret_moved = 0;
	if (moved < 0 && errno == EAGAIN) {
		relay->stuck = true;
		return FLOW_WAIT;
	}
	if (moved < 0 && errno == EPIPE)
		return FLOW_BROKEN;
	if (moved <= 0) {
		flow->state = FLOW_NEVER;
		return FLOW_COPY;
	}
	*ret_moved = (size_t)moved;
	capture_skip(relay->into, (uint64_t)moved);
	flow->small_moves = moved < WORTH ? flow->small_moves + 1 : 0;
	if (flow->small_moves > SMALL_MOVES)
		stop(relay);
	return FLOW_AGAIN;
}

/* What is held now has to leave within HOLD_NS. */
static void mark(struct relay_flow *flow)
{
	flow->ahead = flow->held;
	flow->mark_ns = now_ns();
}

static enum flow_step take_in(struct relay *relay, uint64_t quota, uint64_t *ret_taken)
{
	struct relay_flow *flow = &relay->flow;
	bool first = flow->held == 0;

	if (relay->source_eof || quota == 0 || (first && waiting_in(relay->from_fd) < WORTH))
		return FLOW_COPY;
	ssize_t taken = move(relay->from_fd, flow->in_fd, quota < OWN_MAX ? quota : OWN_MAX);
	if (taken <= 0)
		return taken < 0 && errno == EAGAIN ? FLOW_WAIT : FLOW_COPY;
	flow->held += (size_t)taken;
	*ret_taken = (uint64_t)taken;
	if (first)
		mark(flow);
	return FLOW_AGAIN;
}

static enum flow_step through_own_pipe(struct relay *relay, size_t keep, uint64_t quota,
				       uint64_t *ret_taken)
{
	struct relay_flow *flow = &relay->flow;
	enum flow_step in = take_in(relay, quota, ret_taken);

	if (flow->held > keep) {
		size_t moved;
		enum flow_step out = move_on(relay, flow->out_fd, flow->held - keep, &moved);

		flow->held -= moved;
		flow->ahead -= moved < flow->ahead ? moved : flow->ahead;
		if (flow->ahead == 0)
			mark(flow);
		return out;
	}
	if (in != FLOW_WAIT)
		return in;
	flow->holds = flow->held > 0 && now_ns() - flow->mark_ns < HOLD_NS;
	if (flow->holds)
		return FLOW_WAIT;
	stop(relay);
	return FLOW_COPY;
}

enum flow_step relay_flow_move(struct relay *relay, uint64_t quota, uint64_t *ret_taken)
{
	struct relay_flow *flow = &relay->flow;
	size_t keep = capture_keeps(relay->into), waiting, moved;

	*ret_taken = 0;
	flow->holds = false;
	if (flow->state != FLOW_ON && flow->held == 0)
		relay_flow_close(flow);
	if (flow->state != FLOW_ON || relay->len > 0)
		return FLOW_COPY;
	if (flow->in_fd >= 0)
		return through_own_pipe(relay, keep, quota, ret_taken);
	waiting = relay->source_eof ? 0 : waiting_in(relay->from_fd);
	if (waiting > quota)
		waiting = quota;
	if (waiting < WORTH)
		return FLOW_COPY;
	enum flow_step out = move_on(relay, relay->from_fd, waiting, &moved);
	*ret_taken = moved;
	return out;
}

ssize_t relay_flow_read(struct relay *relay, void *data, size_t len)
{
	struct relay_flow *flow = &relay->flow;
	ssize_t got = read(flow->out_fd, data, len < flow->held ? len : flow->held);

	if (got > 0)
		flow->held -= (size_t)got;
	else if (got == 0 || errno != EINTR)
		relay_flow_close(flow); /* a page that cannot be read: of a file that was cut */
	return got;
}
