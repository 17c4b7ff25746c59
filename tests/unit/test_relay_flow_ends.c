// SPDX-License-Identifier: Apache-2.0
#include "flow_fixture.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/uio.h>

/* Programs that do something else with their pipe, and pipes that bytes cannot be moved between. */

/* The writer reads from its own pipe: it takes nothing that counts. */
START_TEST(thief)
{
	char path[32];
	unsigned char loot[4096];

	flow(LIMIT);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", source[OUT]);
	int reader = open(path, O_RDONLY | O_NONBLOCK);
	ck_assert_int_ge(reader, 0);
	give(120000);
	relay_pump(&relay, UINT64_MAX);
	ck_assert_uint_ge(relay.flow.held, TAIL);
	ck_assert_int_eq(read(reader, loot, sizeof(loot)), -1);
	ck_assert_int_eq(errno, EAGAIN);
	relay_drain(&relay, UINT64_MAX);
	deliver();
	ck_assert_uint_eq(got, sent);
	check_kept(sent, LIMIT);
}
END_TEST

/* Pages that their writer changes behind: the record has what was delivered, whatever that is. */
START_TEST(pages_that_change)
{
	struct record_stream stream = {0};
	unsigned char *pages = aligned_alloc(4096, 128 << 10);
	struct iovec part = {pages, 128 << 10};

	flow(LIMIT);
	size_t before = got;
	memset(pages, 'a', part.iov_len);
	ck_assert_int_eq(vmsplice(source[OUT], &part, 1, SPLICE_F_NONBLOCK), part.iov_len);
	relay_pump(&relay, UINT64_MAX);
	memset(pages, 'b', part.iov_len);
	receive();
	relay_drain(&relay, UINT64_MAX);
	memset(pages, 'c', part.iov_len);
	receive();
	ck_assert_uint_eq(got, before + part.iov_len);
	relay_report(&relay, &stream);
	ck_assert_uint_eq(stream.bytes, got);
	ck_assert_uint_eq(stream.tail_len, TAIL);
	ck_assert_mem_eq(stream.tail, copy + got - TAIL, TAIL);
	ck_assert_int_eq(copy[got - 1], 'b');
}
END_TEST

/* A pipe of packets: a buffer each, however small. They fill the sink, so they are copied. */
START_TEST(packets)
{
	flow(LIMIT);
	fcntl(source[OUT], F_SETFL, O_DIRECT | O_NONBLOCK);
	size_t len = 1500; /* 64 of them are more than the tail */
	for (int turn = 0; turn < 3000 && sent < TOTAL - 4096; turn++) {
		while (sent < TOTAL - 4096 && give(len) > 0)
			continue;
		relay_pump(&relay, UINT64_MAX);
		receive();
		if (relay.flow.state == FLOW_OFF)
			prove();
	}
	finish();
	check_kept(sent, LIMIT);
}
END_TEST

START_TEST(small_buffers_are_copied)
{
	flow(0);
	fcntl(source[OUT], F_SETFL, O_DIRECT | O_NONBLOCK);
	for (int turn = 0; turn < 300 && relay.flow.state == FLOW_ON; turn++) {
		while (sent < TOTAL - 4096 && give(300) > 0)
			continue;
		relay_pump(&relay, UINT64_MAX);
		receive();
	}
	ck_assert_int_eq(relay.flow.state, FLOW_OFF);
	finish();
}
END_TEST

START_TEST(sink_that_cannot_be_opened_again)
{
	start(false, 0);
	relay.to_way = RELAY_NOWAIT;
	prove();
	ck_assert_int_eq(relay.flow.state, FLOW_OFF);
	ck_assert_int_eq(relay.from_way, RELAY_NOWAIT);
}
END_TEST

START_TEST(no_descriptor_to_spare)
{
	struct rlimit none = {3, 3};

	start(false, LIMIT);
	give_until(LIMIT);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
	prove();
	ck_assert_int_eq(relay.flow.state, FLOW_OFF);
	finish();
	check_kept(sent, LIMIT);
}
END_TEST

/* The caller's description of its pipes is left as it is; what is another user's is copied. */
START_TEST(callers_pipes)
{
	int from = fcntl(source[IN], F_DUPFD_CLOEXEC, 100);
	int to = fcntl(sink[OUT], F_DUPFD_CLOEXEC, 100);

	flow(_i == 0 ? 0 : LIMIT);
	while (give(WHOLE_PIPE) > 0)
		relay_pump(&relay, UINT64_MAX);
	ck_assert(relay.stuck);
	ck_assert_int_eq(fcntl(from, F_GETFL) & O_NONBLOCK, 0);
	ck_assert_int_eq(fcntl(to, F_GETFL) & O_NONBLOCK, 0);
	close(to);
	finish();
	check_kept(sent, _i == 0 ? 0 : LIMIT);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		thief,
		pages_that_change,
		packets,
		small_buffers_are_copied,
		sink_that_cannot_be_opened_again,
		no_descriptor_to_spare,
	};
	Suite *suite = suite_create("relay_flow_ends");
	TCase *tcase = tcase_create("relay_flow_ends");

	tcase_add_checked_fixture(tcase, setup_flow, NULL);
	tcase_set_timeout(tcase, 20);
	tcase_add_loop_test(tcase, callers_pipes, 0, 2);
	for (size_t i = 0; i < sizeof(tests) / sizeof(*tests); i++)
		tcase_add_test(tcase, tests[i]);
	suite_add_tcase(suite, tcase);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
