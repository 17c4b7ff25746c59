// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_FLOW_FIXTURE_H
#define SBOX_FLOW_FIXTURE_H

#include "relay_fixture.h"

/* A relay between two pipes whose bytes are moved, not copied. */

enum {
	LIMIT = 64 * 1024,
	TAIL = LIMIT / 2,
	LAP = 4 << 20,
	TOTAL = 3 << 20,
	WHOLE_PIPE = 256 << 10
};

static unsigned char *data, *copy;
static size_t sent, got;

static inline void setup_flow(void)
{
	setup();
	data = pattern(TOTAL);
	copy = malloc(TOTAL);
	sent = got = 0;
}

static inline size_t give(size_t len)
{
	len = len < TOTAL - sent ? len : TOTAL - sent;
	ssize_t put = write(source[OUT], data + sent, len);

	sent += put > 0 ? (size_t)put : 0;
	return put > 0 ? (size_t)put : 0;
}

static inline void receive(void)
{
	got += take(copy + got, TOTAL - got);
}

static inline void prove(void)
{
	for (int lap = 0; lap < 6; lap++)
		relay_flow_count(&relay, LAP);
}

/* All that was taken arrives. */
static inline void deliver(void)
{
	size_t taken = relay_taken(&relay);

	for (int turn = 0; got < taken && turn < 1000; turn++) {
		receive();
		relay_pump(&relay, 0);
	}
	receive();
	ck_assert_uint_eq(got, taken);
}

/* Copied, before anything is proven. */
static inline void give_until(size_t len)
{
	while (sent < len) {
		give(len - sent);
		relay_pump(&relay, UINT64_MAX);
		receive();
	}
	ck_assert_uint_eq(got, sent);
}

/* A relay whose head is full, and which has proven to be a flow. */
static inline void flow(uint64_t limit)
{
	start(false, limit);
	relay.flow.program_end = 0;
	fcntl(source[OUT], F_SETFL, O_NONBLOCK);
	give_until(limit / 2 + 1000);
	prove();
	ck_assert_int_eq(relay.flow.state, FLOW_ON);
	ck_assert_int_eq(relay.flow.in_fd >= 0, limit > 0);
	ck_assert_int_eq(relay.from_way, RELAY_DIRECT);
	ck_assert_int_ne(fcntl(relay.from_fd, F_GETFL) & O_NONBLOCK, 0);
}

static inline void check_kept(size_t len, uint64_t limit)
{
	struct record_stream stream = {0};
	size_t head = limit / 2, tail = limit - head;

	relay_report(&relay, &stream);
	ck_assert_uint_eq(stream.bytes, len);
	ck_assert_uint_eq(stream.head_len, head);
	ck_assert_uint_eq(stream.tail_len, tail);
	if (limit == 0)
		return;
	ck_assert_mem_eq(stream.head, data, head);
	ck_assert_mem_eq(stream.tail, data + len - tail, tail);
}

static inline void finish(void)
{
	close(source[OUT]);
	for (int turn = 0; !relay_done(&relay) && turn < 10000; turn++) {
		relay_pump(&relay, UINT64_MAX);
		receive();
	}
	ck_assert(relay_done(&relay));
	receive();
	ck_assert_uint_eq(got, sent);
	ck_assert_mem_eq(copy, data, got);
}

#endif
