// SPDX-License-Identifier: Apache-2.0
#include "relay_fixture.h"

#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/uio.h>

#include "sha256.h"

/* Everything through the relay, in pieces that fit into a pipe. */
static void pass(const unsigned char *data, size_t len, unsigned char *ret_copy)
{
	size_t sent = 0, got = 0;

	while (sent < len) {
		size_t piece = len - sent < 40000 ? len - sent : 40000;

		put(data + sent, piece);
		sent += piece;
		ck_assert_uint_eq(relay_pump(&relay, UINT64_MAX), piece);
		got += take(ret_copy + got, len - got);
	}
	ck_assert_uint_eq(got, len);
}

static void check_report(const unsigned char *data, size_t len, uint64_t limit)
{
	struct record_stream stream = {0};
	char hex[SHA256_HEX];
	struct sha256 hash;
	size_t head = len < limit / 2 ? len : limit / 2;
	size_t tail = len - head < limit - limit / 2 ? len - head : limit - limit / 2;

	relay_report(&relay, &stream);
	ck_assert_uint_eq(stream.bytes, len);
	ck_assert_uint_eq(stream.head_len, head);
	ck_assert_uint_eq(stream.tail_len, tail);
	ck_assert_int_eq(stream.truncated, len > limit);
	ck_assert_mem_eq(stream.head, data, head);
	ck_assert_mem_eq(stream.tail, data + len - tail, tail);
	sha256_start(&hash);
	sha256_add(&hash, data, head);
	sha256_add(&hash, data + len - tail, tail);
	sha256_finish_hex(&hash, hex);
	ck_assert_str_eq(stream.sha256, hex);
}

static const struct {
	size_t len;
	uint64_t limit;
} sizes[] = {
	{0, 1000},    {1, 1000},       {500, 1000},     {501, 1000},      {1000, 1000},
	{1001, 1000}, {123457, 1000},  {400000, 65537}, {300000, 300000}, {300001, 300000},
	{7, 1},       {1000000, 4096}, {3, 2},          {100000, 262144},
};

START_TEST(stream_arrives_and_is_captured)
{
	size_t len = sizes[_i].len;
	unsigned char *data = pattern(len), *copy = malloc(len + 1);

	start(false, sizes[_i].limit);
	pass(data, len, copy);
	ck_assert_mem_eq(data, copy, len);
	check_report(data, len, sizes[_i].limit);
	check_report(data, len, sizes[_i].limit); /* asking twice changes nothing */
	close(source[OUT]);
	relay_pump(&relay, UINT64_MAX);
	ck_assert(relay_done(&relay));
	relay_free(&relay);
}
END_TEST

START_TEST(no_capture_counts_only)
{
	struct record_stream stream;
	char copy[4];

	start(false, 0);
	pass((const unsigned char *)"abcd", 4, (unsigned char *)copy);
	relay_report(&relay, &stream);
	ck_assert_uint_eq(stream.bytes, 4);
	ck_assert_uint_eq(stream.head_len + stream.tail_len, 0);
	ck_assert_str_eq(stream.sha256, "");
	ck_assert(stream.truncated);
}
END_TEST

START_TEST(discard_passes_nothing)
{
	unsigned char *data = pattern(50000);
	char copy[10];

	start(true, 100000);
	put(data, 50000);
	ck_assert_uint_eq(relay_pump(&relay, UINT64_MAX), 50000);
	ck_assert_uint_eq(take(copy, sizeof(copy)), 0);
	ck_assert_uint_eq(relay_to_events(&relay), 0);
	check_report(data, 50000, 100000);
}
END_TEST

START_TEST(discard_needs_no_sink)
{
	ck_assert_int_eq(relay_init(&relay, source[IN], -1, true, 1000, &err), 0);
	put("hello", 5);
	ck_assert_uint_eq(relay_pump(&relay, UINT64_MAX), 5);
	ck_assert(!relay_done(&relay));
	close(source[OUT]);
	relay_pump(&relay, UINT64_MAX);
	ck_assert(relay_done(&relay));
}
END_TEST

/* Each way of writing, with a reader that does not read: must return, lose nothing. */
static const enum relay_way ways[] = {RELAY_DIRECT, RELAY_NOWAIT, RELAY_POLLED};

static bool knows_pipe_nowait(void)
{
	int pipe_fds[2];
	char byte = 'x';
	struct iovec part = {&byte, 1};

	ck_assert_int_eq(pipe2(pipe_fds, O_CLOEXEC), 0);
	bool knows = pwritev2(pipe_fds[1], &part, 1, -1, RWF_NOWAIT) == 1;
	close(pipe_fds[0]);
	close(pipe_fds[1]);
	return knows;
}

START_TEST(full_sink_does_not_block)
{
	size_t len = 0, got = 0, total = 2000000;
	unsigned char *data = pattern(total), *copy = malloc(total);
	int kept = fcntl(sink[OUT], F_DUPFD_CLOEXEC, 100); /* the caller's own */

	fcntl(source[OUT], F_SETFL, O_NONBLOCK);
	if (ways[_i] == RELAY_DIRECT) {
		start(false, 4096);
		ck_assert(relay.to_nonblocking);
		ck_assert_int_eq(relay.to_way, RELAY_DIRECT);
	} else {
		ck_assert_int_eq(relay_init(&relay, source[IN], open("/dev/null", O_WRONLY), false,
					    4096, &err),
				 0);
		close(relay.to_fd);
		relay.to_fd = sink[OUT];
		relay.to_way = ways[_i];
	}
	for (int idle = 0; idle < 3;) {
		ssize_t n = write(source[OUT], data + len, total - len);

		len += n > 0 ? n : 0;
		idle = relay_pump(&relay, UINT64_MAX) == 0 ? idle + 1 : 0;
	}
	ck_assert_uint_lt(len, 400000);
	ck_assert_uint_eq(relay_from_events(&relay), 0);
	ck_assert_uint_eq(relay_to_events(&relay), EPOLLOUT);
	/* QUIRK(pipe-nowait): pipes have known RWF_NOWAIT since 6.4, and become POLLED before */
	if (relay.to_way != RELAY_POLLED || ways[_i] != RELAY_NOWAIT || knows_pipe_nowait())
		ck_assert_int_eq(relay.to_way, ways[_i]);
	ck_assert_int_eq(fcntl(kept, F_GETFL) & O_NONBLOCK, 0);
	close(source[OUT]);
	while (!relay_done(&relay)) {
		got += take(copy + got, total - got);
		relay_pump(&relay, UINT64_MAX);
	}
	got += take(copy + got, total - got);
	ck_assert_uint_eq(got, len);
	ck_assert_mem_eq(copy, data, len);
}
END_TEST

START_TEST(polled_source_does_not_block)
{
	char copy[8] = "";

	start(false, 100);
	relay.from_way = RELAY_POLLED;
	ck_assert_uint_eq(relay_pump(&relay, UINT64_MAX), 0);
	put("later", 5);
	ck_assert_uint_eq(relay_pump(&relay, UINT64_MAX), 5);
	ck_assert_uint_eq(take(copy, 5), 5);
	ck_assert_str_eq(copy, "later");
	ck_assert_int_eq(fcntl(source[IN], F_GETFL) & O_NONBLOCK, 0);
}
END_TEST

START_TEST(quota_bounds_reading)
{
	unsigned char *data = pattern(60000);

	start(false, 100);
	put(data, 60000);
	ck_assert_uint_eq(relay_pump(&relay, 0), 0);
	ck_assert_uint_eq(relay_pump(&relay, 10), 10);
	ck_assert_uint_eq(relay_pump(&relay, 20000), 20000);
	relay_drain(&relay, 30);
	ck_assert_uint_eq(relay.capture.bytes, 20040);
	ck_assert(relay_done(&relay));
}
END_TEST

START_TEST(drain_takes_what_is_there)
{
	size_t len = 0, got = 0, total = 3000000;
	unsigned char *data = pattern(total), *copy = malloc(total);

	fcntl(source[OUT], F_SETPIPE_SZ, 256 << 10);
	fcntl(source[OUT], F_SETFL, O_NONBLOCK);
	start(false, 4096);
	for (int idle = 0; idle < 3;) {
		ssize_t n = write(source[OUT], data + len, total - len);

		len += n > 0 ? n : 0;
		idle = relay_pump(&relay, UINT64_MAX) == 0 ? idle + 1 : 0;
	}
	ck_assert_uint_gt(len, relay.capture.bytes); /* the pipe is full, the buffer too */
	relay_drain(&relay, UINT64_MAX);             /* source[OUT] is still open: no end of file */
	ck_assert_uint_eq(relay.capture.bytes, len);
	check_report(data, len, 4096);
	ck_assert(!relay_done(&relay));
	while (!relay_done(&relay)) {
		got += take(copy + got, total - got);
		relay_pump(&relay, UINT64_MAX);
	}
	got += take(copy + got, total - got);
	ck_assert_uint_eq(got, len);
	ck_assert_mem_eq(copy, data, len);
}
END_TEST

START_TEST(stdin_counts_what_was_given)
{
	unsigned char *data = pattern(65536);

	ck_assert_int_eq(fcntl(sink[OUT], F_SETPIPE_SZ, 4096), 4096);
	start(false, 100000);
	relay.count_delivered = true;
	put(data, 65536);
	ck_assert_uint_eq(relay_pump(&relay, UINT64_MAX), 65536);
	ck_assert_uint_eq(relay.capture.bytes, 4096);
	check_report(data, 4096, 100000);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("relay");
	TCase *tcase = tcase_create("relay");

	tcase_add_checked_fixture(tcase, setup, NULL);
	tcase_add_loop_test(tcase, stream_arrives_and_is_captured, 0,
			    sizeof(sizes) / sizeof(*sizes));
	tcase_add_test(tcase, no_capture_counts_only);
	tcase_add_test(tcase, discard_passes_nothing);
	tcase_add_test(tcase, discard_needs_no_sink);
	tcase_add_loop_test(tcase, full_sink_does_not_block, 0, sizeof(ways) / sizeof(*ways));
	tcase_add_test(tcase, polled_source_does_not_block);
	tcase_add_test(tcase, quota_bounds_reading);
	tcase_add_test(tcase, drain_takes_what_is_there);
	tcase_add_test(tcase, stdin_counts_what_was_given);
	suite_add_tcase(suite, tcase);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
