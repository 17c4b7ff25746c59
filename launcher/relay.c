// SPDX-License-Identifier: Apache-2.0
#include "relay.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

/*
 * Between two pipes the kernel copies twice; a buffer that stays in the second
 * level cache with the capture's tail costs little beside that.
 */
enum {
	BUFFER_SIZE = 128 * 1024,
	ROUNDS = 16,                  /* reads and writes a pump: other streams get their turn */
	ROOM_MIN = 4096,              /* reading less than this at a time is not worth a call */
	HELD_AT_ONCE = 32 * 1024,     /* what the sink has no room for stays uncopied */
	NARROW = 16 * 1024,           /* a terminal gives 4 KiB at a time */
	DRAIN_UNKNOWN = 1024 * 1024,  /* where FIONREAD does not tell (terminals) */
	DRAIN_MAX = 64 * 1024 * 1024, /* a raised pipe-max-size */
};

static void let_go(int *fd)
{
	if (*fd > STDERR_FILENO)
		close(*fd);
	*fd = -1;
}

static void end_source(struct relay *relay)
{
	relay->source_eof = true;
	let_go(&relay->from_fd);
}

static size_t room(const struct relay *relay)
{
	return relay->held_max - relay->start - relay->len;
}

uint32_t relay_from_events(const struct relay *relay)
{
	bool wanted = !relay->source_eof && !relay->paused && !relay->stuck;

	return wanted && relay->held_max - relay->len >= ROOM_MIN ? EPOLLIN : 0;
}

uint32_t relay_to_events(const struct relay *relay)
{
	bool wanted =
		relay->len > 0 || relay->stuck || (relay->flow.held > 0 && !relay->flow.holds);

	return !relay->sink_gone && !relay->discard && wanted ? EPOLLOUT : 0;
}

/*
 * Job control gave the terminal to somebody else, or another program has made
 * an end of file of a key: a terminal that is still there has not ended.
 */
static bool pause_instead(struct relay *relay)
{
	relay->paused = relay->from_terminal && isatty(relay->from_fd);
	return relay->paused;
}

static size_t smaller(uint64_t one, uint64_t other)
{
	return one < other ? one : other;
}

/* One read, of what is held or from the source. Any error but "not now" is an end: EIO is what a
 * pty says when its other end is closed, EBADF a closed stdin. */
static uint64_t fill(struct relay *relay, uint64_t quota)
{
	bool held = relay->flow.held > 0;

	if (!held && (relay->source_eof || relay->paused || quota == 0))
		return 0;
	if (room(relay) < ROOM_MIN && relay->start > 0) {
		memmove(relay->buffer, relay->buffer + relay->start, relay->len);
		relay->start = 0;
	}
	if (room(relay) < ROOM_MIN)
		return 0;
	unsigned char *at = relay->buffer + relay->start + relay->len;
	ssize_t got = held ? relay_flow_read(relay, at, smaller(room(relay), HELD_AT_ONCE))
			   : relay_read(relay, at, smaller(room(relay), quota));
	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (got <= 0 && pause_instead(relay))
		return 0;
	if (got <= 0) {
		end_source(relay);
		return 0;
	}
	if (!relay->count_delivered)
		capture_add(relay->into, at, got);
	relay->len += got;
	return got;
}

static void lose_sink(struct relay *relay, int errnum)
{
	relay->sink_gone = true;
	relay->sink_errno = errnum;
	relay->start = relay->len = 0;
	let_go(&relay->to_fd);
	end_source(relay);
	/* what was taken from the program is on record, delivered or not */
	while (relay->flow.held > 0)
		relay->len -= fill(relay, 0);
}

/* One write. */
static uint64_t flush(struct relay *relay)
{
	if (relay->len == 0)
		return 0;
	unsigned char *at = relay->buffer + relay->start;
	ssize_t put = relay->discard ? (ssize_t)relay->len : relay_write(relay, at, relay->len);
	if (put < 0) {
		if (errno != EAGAIN && errno != EINTR)
			lose_sink(relay, errno);
		return 0;
	}
	if (relay->count_delivered)
		capture_add(relay->into, at, put);
	relay->len -= put;
	relay->start = relay->len == 0 ? 0 : relay->start + put;
	return put;
}

/* The program's stdin must see its end as soon as everything is written. */
static void settle(struct relay *relay)
{
	if (relay->source_eof && relay->len == 0 && relay->flow.held == 0)
		let_go(&relay->to_fd);
}

/* A read and a write. False when nothing more can be done now. */
static bool copy(struct relay *relay, uint64_t quota, uint64_t *ret_taken)
{
	bool flows = relay->flow.state == FLOW_ON, held = relay->flow.held > 0;
	size_t before = room(relay);
	uint64_t got = flows && relay->len > 0 ? 0 : fill(relay, quota);
	uint64_t put = flush(relay);

	*ret_taken = held ? 0 : got;
	relay->stuck = flows && relay->len > 0;
	if (held || relay->stuck)
		return !relay->stuck;
	/* Less than there was room for: the source is empty, epoll tells when not. */
	return got >= before || (put > 0 && relay->len > 0);
}

uint64_t relay_pump(struct relay *relay, uint64_t quota)
{
	uint64_t total = 0, taken;

	relay->stuck = false;
	for (int round = 0; round < ROUNDS; round++) {
		enum flow_step step = relay_flow_move(relay, quota - total, &taken);

		total += taken;
		relay_flow_count(relay, taken);
		if (step == FLOW_BROKEN)
			lose_sink(relay, EPIPE);
		if (step == FLOW_BROKEN || step == FLOW_WAIT)
			break;
		if (step == FLOW_AGAIN)
			continue;
		bool more = copy(relay, quota - total, &taken);
		total += taken;
		relay_flow_count(relay, taken);
		if (!more)
			break;
	}
	settle(relay);
	return total;
}

/* A bound, since something that escaped the kill could write for ever. */
static uint64_t left_in_source(const struct relay *relay)
{
	int bytes = 0;

	if (relay->source_eof)
		return 0;
	if (!relay->from_pollable || ioctl(relay->from_fd, FIONREAD, &bytes) < 0 || bytes < 0)
		return DRAIN_UNKNOWN;
	if (relay->from_way == RELAY_POLLED && bytes < DRAIN_UNKNOWN)
		return DRAIN_UNKNOWN;
	return bytes < DRAIN_MAX ? bytes : DRAIN_MAX;
}

static void make_room(struct relay *relay, uint64_t more)
{
	size_t size = relay->size + more + ROOM_MIN;
	void *at = mremap(relay->buffer, relay->size, size, MREMAP_MAYMOVE);

	if (at == MAP_FAILED)
		return;
	relay->buffer = at;
	relay->held_max += size - relay->size;
	relay->size = size;
}

void relay_drain(struct relay *relay, uint64_t quota)
{
	uint64_t left = left_in_source(relay);

	if (relay->flow.held > 0 && room(relay) < ROOM_MIN + relay->flow.held)
		make_room(relay, relay->flow.held);
	while (relay->flow.held > 0 && fill(relay, 0) > 0)
		continue;
	flush(relay);
	if (left > quota)
		left = quota;
	while (left > 0) {
		if (room(relay) < ROOM_MIN + left && relay->len > 0)
			make_room(relay, left);
		uint64_t got = fill(relay, left);

		flush(relay);
		if (got == 0)
			break;
		left -= got;
	}
	end_source(relay);
	settle(relay);
}

uint64_t relay_taken(const struct relay *relay)
{
	return relay->capture.bytes + relay->flow.held;
}

bool relay_done(const struct relay *relay)
{
	bool empty = relay->len == 0 && relay->flow.held == 0;

	return relay->source_eof && (empty || relay->sink_gone);
}

static void *map(size_t size)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return at == MAP_FAILED ? NULL : at;
}

int relay_init(struct relay *relay, int from_fd, int to_fd, bool discard, uint64_t capture_limit,
	       struct error *err)
{
	memset(relay, 0, sizeof(*relay));
	relay->from_fd = from_fd;
	relay->to_fd = to_fd;
	relay->discard = discard;
	relay->size = relay->held_max = BUFFER_SIZE;
	relay->into = &relay->capture;
	relay->flow.in_fd = relay->flow.out_fd = relay->flow.program_end = -1;
	if (capture_init(&relay->capture, capture_limit, err) < 0)
		return -1;
	relay->buffer = map(relay->size);
	if (relay->buffer == NULL) {
		capture_free(&relay->capture);
		return error_sys(err, "cannot get memory for a stream's buffer");
	}
	if (!discard && relay_look_at_sink(relay) < 0)
		lose_sink(relay, errno);
	else if (relay_look_at_source(relay) < 0)
		end_source(relay);
	if (relay_done(relay))
		let_go(&relay->to_fd);
	return 0;
}

void relay_none(struct relay *relay)
{
	memset(relay, 0, sizeof(*relay));
	relay->from_fd = relay->to_fd = -1;
	relay->source_eof = true;
	relay->into = &relay->capture;
	relay->flow.in_fd = relay->flow.out_fd = relay->flow.program_end = -1;
}

void relay_narrow(struct relay *relay)
{
	relay->held_max = NARROW;
}

void relay_report(struct relay *relay, struct record_stream *ret_stream)
{
	capture_report(&relay->capture, ret_stream);
}

void relay_free(struct relay *relay)
{
	let_go(&relay->from_fd);
	let_go(&relay->to_fd);
	relay_flow_close(&relay->flow);
	if (relay->buffer != NULL)
		munmap(relay->buffer, relay->size);
	relay->buffer = NULL;
	capture_free(&relay->capture);
}
