// SPDX-License-Identifier: Apache-2.0
#include "flow_fixture.h"

#include <errno.h>
#include <sys/epoll.h>

/* Bytes that are moved, not copied: what arrives, when, and what the record keeps of them. */

static const uint64_t limits[] = {0, 1, 2, 1000, 65537, 262144};

START_TEST(all_arrives_and_the_ends_are_kept)
{
	uint64_t limit = limits[_i];
	bool moved = false;

	flow(limit);
	for (size_t piece = 1; sent < TOTAL; piece = piece * 3 % 200003) {
		give(piece);
		relay_pump(&relay, UINT64_MAX);
		moved |= relay.flow.held > 0 || relay.capture.tail_len == 0;
		receive();
		/* a writer that was slow for once */
		if (relay.flow.state == FLOW_OFF)
			prove();
	}
	ck_assert(moved);
	finish();
	check_kept(TOTAL, limit);
}
END_TEST

/* The last bytes are held for a moment, not for good, and nobody waits in a loop for them. */
START_TEST(held_for_a_moment)
{
	flow(LIMIT);
	size_t before = sent;
	give(80000);
	relay_pump(&relay, UINT64_MAX);
	receive();
	ck_assert_uint_eq(relay.flow.held, TAIL);
	ck_assert(relay.flow.holds);
	ck_assert_uint_eq(got, before + 80000 - TAIL);
	ck_assert_uint_eq(relay_taken(&relay), sent);
	ck_assert_uint_eq(relay_from_events(&relay), EPOLLIN);
	ck_assert_uint_eq(relay_to_events(&relay), 0);
	usleep(12000);
	relay_pump(&relay, UINT64_MAX);
	receive();
	ck_assert_uint_eq(got, sent);
	ck_assert_int_eq(relay.flow.state, FLOW_OFF);
	ck_assert(!relay.flow.holds);
	/* and what comes then is passed on at once */
	give(50000);
	relay_pump(&relay, UINT64_MAX);
	receive();
	ck_assert_uint_eq(got, sent);
	ck_assert_int_eq(relay.flow.in_fd, -1);
	check_kept(sent, LIMIT);
}
END_TEST

/* A trickle behind them does not hold them any longer. */
START_TEST(held_no_longer_for_a_trickle)
{
	flow(LIMIT);
	give(20000);
	relay_pump(&relay, UINT64_MAX);
	ck_assert_uint_eq(relay.flow.held, 20000);
	for (int i = 0; i < 3; i++) {
		usleep(4000);
		give(10);
		relay_pump(&relay, UINT64_MAX);
	}
	receive();
	ck_assert_uint_eq(got, sent);
}
END_TEST

START_TEST(little_is_not_held)
{
	flow(LIMIT);
	for (int i = 0; i < 100; i++) {
		give(100);
		relay_pump(&relay, UINT64_MAX);
		receive();
		ck_assert_uint_eq(got, sent);
	}
}
END_TEST

/* The program was killed: what it had written is there, and what is held is kept. */
START_TEST(drained_in_the_middle)
{
	flow(LIMIT);
	while (give(WHOLE_PIPE) > 0)
		relay_pump(&relay, UINT64_MAX);
	ck_assert_uint_gt(relay.flow.held, TAIL);
	ck_assert(relay.stuck);
	ck_assert_uint_eq(relay_from_events(&relay), 0);
	ck_assert_uint_eq(relay_to_events(&relay), EPOLLOUT);
	relay_drain(&relay, UINT64_MAX);
	ck_assert(!relay_done(&relay));
	check_kept(sent, LIMIT);
	finish();
	check_kept(sent, LIMIT);
}
END_TEST

START_TEST(reader_gone_in_the_middle)
{
	flow(LIMIT);
	while (give(WHOLE_PIPE) > 0)
		relay_pump(&relay, UINT64_MAX);
	size_t taken = relay_taken(&relay);
	receive();
	close(sink[IN]);
	taken += relay_pump(&relay, UINT64_MAX);
	ck_assert_int_eq(relay.sink_errno, EPIPE);
	ck_assert(relay_done(&relay));
	ck_assert_int_eq(write(source[OUT], "y", 1), -1);
	check_kept(taken, LIMIT);
}
END_TEST

START_TEST(no_more_than_the_quota)
{
	flow(LIMIT);
	size_t before = sent;
	give(200000);
	ck_assert_uint_eq(relay_pump(&relay, 0), 0);
	ck_assert_uint_eq(relay_pump(&relay, 70001), 70001);
	ck_assert_uint_eq(relay_taken(&relay), before + 70001);
	relay_drain(&relay, 0);
	check_kept(before + 70001, LIMIT);
	deliver();
	ck_assert_uint_eq(got, before + 70001);
}
END_TEST

/* What is of no use once it is too long: all of it first, only counted then. */
START_TEST(whole_or_none)
{
	start(false, LIMIT);
	relay.count_delivered = relay.capture.whole_or_none = true;
	relay.flow.program_end = 1;
	give(LIMIT);
	relay_pump(&relay, UINT64_MAX);
	receive();
	prove();
	ck_assert_int_eq(relay.flow.state, FLOW_OFF);
	check_kept(LIMIT, LIMIT);
	give(1);
	relay_pump(&relay, UINT64_MAX);
	prove();
	ck_assert_int_eq(relay.flow.state, FLOW_ON);
	fcntl(source[OUT], F_SETFL, O_NONBLOCK);
	while (give(WHOLE_PIPE) > 0)
		relay_pump(&relay, UINT64_MAX);
	/* next to nothing is taken that is not delivered */
	ck_assert_int_eq(relay.flow.in_fd, -1);
	ck_assert_int_lt(relay.len, 16384);
	ck_assert_int_lt(relay.capture.bytes, sent);
	receive();
	ck_assert_uint_eq(got, relay.capture.bytes);
	finish();
	ck_assert_uint_eq(relay.capture.bytes, sent);
}
END_TEST

/* Stdin that is kept: its tail is of what was delivered. */
START_TEST(kept_input_is_copied)
{
	start(false, LIMIT);
	relay.count_delivered = true;
	give(LIMIT);
	relay_pump(&relay, UINT64_MAX);
	prove();
	ck_assert_int_eq(relay.flow.state, FLOW_OFF);
}
END_TEST

/* Whatever becomes of the bytes behind: a tail is never of other bytes than the last ones. */
START_TEST(no_tail_from_before)
{
	struct capture capture;
	struct record_stream stream = {0};

	ck_assert_int_eq(capture_init(&capture, LIMIT, &err), 0);
	capture_add(&capture, data, LIMIT + 100);
	capture_skip(&capture, 500);
	capture_add(&capture, data + LIMIT + 600, 50);
	capture_report(&capture, &stream);
	ck_assert_uint_eq(stream.bytes, LIMIT + 650);
	ck_assert_uint_eq(stream.tail_len, 50);
	ck_assert_mem_eq(stream.tail, data + LIMIT + 600, 50);
	ck_assert(stream.truncated);
}
END_TEST

START_TEST(slow_is_no_flow)
{
	start(false, 0);
	for (int lap = 0; lap < 4; lap++) {
		relay_flow_count(&relay, LAP - 1);
		usleep(40000);
		relay_flow_count(&relay, 1);
	}
	ck_assert_int_eq(relay.flow.state, FLOW_OFF);
	prove();
	ck_assert_int_eq(relay.flow.state, FLOW_ON);
	usleep(40000);
	relay_flow_count(&relay, LAP);
	ck_assert_int_eq(relay.flow.state, FLOW_OFF);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		held_for_a_moment,     held_no_longer_for_a_trickle, little_is_not_held,
		drained_in_the_middle, reader_gone_in_the_middle,    no_more_than_the_quota,
		whole_or_none,         kept_input_is_copied,         no_tail_from_before,
		slow_is_no_flow,
	};
	Suite *suite = suite_create("relay_flow");
	TCase *tcase = tcase_create("relay_flow");

	tcase_add_checked_fixture(tcase, setup_flow, NULL);
	tcase_set_timeout(tcase, 20);
	tcase_add_loop_test(tcase, all_arrives_and_the_ends_are_kept, 0,
			    sizeof(limits) / sizeof(*limits));
	for (size_t i = 0; i < sizeof(tests) / sizeof(*tests); i++)
		tcase_add_test(tcase, tests[i]);
	suite_add_tcase(suite, tcase);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
