// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "shrink.h"
#include "timing.h"

static struct arena arena;
static struct timing timing;
static const struct record_step *steps;

static uint64_t sum_of(size_t count, unsigned int stream)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += steps[i].stream == stream ? steps[i].bytes : 0;
	return sum;
}

START_TEST(order_across_streams)
{
	timing_start(&timing);
	timing_add(&timing, 1, 5);
	timing_add(&timing, 1, 6); /* at once: one step */
	timing_add(&timing, 2, 7);
	timing_add(&timing, 1, 8);
	usleep(3 * TIMING_JOIN_US);
	timing_add(&timing, 1, 9);
	ck_assert_uint_eq(timing_steps(&timing, &arena, &steps), 4);
	static const uint64_t bytes[] = {11, 7, 8, 9};
	static const unsigned int streams[] = {1, 2, 1, 1};
	for (int i = 0; i < 4; i++) {
		ck_assert_uint_eq(steps[i].bytes, bytes[i]);
		ck_assert_uint_eq(steps[i].stream, streams[i]);
	}
	ck_assert_uint_ge(steps[3].delay_us, 3 * TIMING_JOIN_US);
	timing_free(&timing);
}
END_TEST

START_TEST(nothing_moved)
{
	timing_start(&timing);
	ck_assert_uint_eq(timing_steps(&timing, &arena, &steps), 0);
	ck_assert_str_eq(timing_text(&arena, steps, 0), "sbox-timing 1\n");
}
END_TEST

/* However much: bounded, no byte lost, order kept at both ends. */
START_TEST(the_middle_is_joined)
{
	static const int totals[] = {TIMING_HALF, 2 * TIMING_HALF, 2 * TIMING_HALF + 1, 100000};
	int total = totals[_i];
	uint64_t wanted[3] = {0};

	timing_start(&timing);
	for (int i = 0; i < total; i++) {
		wanted[i % 3] += (uint64_t)i + 1;
		timing_add(&timing, (unsigned int)i % 3, (uint64_t)i + 1);
	}
	size_t count = timing_steps(&timing, &arena, &steps);
	ck_assert_uint_le(count, 2 * TIMING_HALF + TIMING_STREAMS);
	for (unsigned int stream = 0; stream < 3; stream++)
		ck_assert_uint_eq(sum_of(count, stream), wanted[stream]);
	for (size_t i = 0; i < TIMING_HALF; i++) {
		ck_assert_uint_eq(steps[i].bytes, i + 1);
		ck_assert_uint_eq(steps[count - 1 - i].bytes, (uint64_t)total - i);
	}
	timing_free(&timing);
}
END_TEST

START_TEST(text_of_steps)
{
	static const struct record_step two[] = {{1500, 1, 8}, {UINT64_MAX, 2, UINT64_MAX}};

	ck_assert_str_eq(timing_text(&arena, two, 2),
			 "sbox-timing 1\n1500 1 8\n"
			 "18446744073709551615 2 18446744073709551615\n");
}
END_TEST

static size_t expand(const void *data, size_t len, unsigned char *ret, size_t room)
{
	z_stream stream = {.next_in = (unsigned char *)data,
			   .avail_in = (unsigned int)len,
			   .next_out = ret,
			   .avail_out = (unsigned int)room};

	ck_assert_int_eq(inflateInit2(&stream, 15 + 16), Z_OK);
	ck_assert_int_eq(inflate(&stream, Z_FINISH), Z_STREAM_END);
	inflateEnd(&stream);
	return stream.total_out;
}

static const size_t sizes[] = {SHRINK_MIN, 64 * 1024, 64 * 1024 + 1, 1000003};

START_TEST(text_shrinks_and_comes_back)
{
	size_t len = sizes[_i], small_len = 0;
	char *text = calloc(1, len);
	unsigned char *back = malloc(len);
	const void *small = NULL;

	for (size_t i = 0; i < len; i++)
		text[i] = "all work and no play "[i % 21] + (i % 1013 == 0);
	ck_assert(shrink(&arena, text, len, &small, &small_len));
	ck_assert_uint_lt(small_len, len / 2);
	ck_assert_uint_eq(expand(small, small_len, back, len), len);
	ck_assert_mem_eq(back, text, len);
}
END_TEST

START_TEST(what_does_not_pay_stays)
{
	size_t len = 300000, small_len = 12345;
	unsigned char *noise = calloc(1, len);
	const void *small = noise;

	srandom(4711);
	for (size_t i = 0; i < len; i++)
		noise[i] = (unsigned char)(random() >> 7);
	ck_assert(!shrink(&arena, noise, len, &small, &small_len));
	ck_assert_ptr_eq(small, noise);
	ck_assert_uint_eq(small_len, 12345);
	memset(noise, 'x', SHRINK_MIN);
	ck_assert(!shrink(&arena, noise, SHRINK_MIN - 1, &small, &small_len));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("timing");
	TCase *tests = tcase_create("all");

	tcase_add_test(tests, order_across_streams);
	tcase_add_test(tests, nothing_moved);
	tcase_add_loop_test(tests, the_middle_is_joined, 0, 4);
	tcase_add_test(tests, text_of_steps);
	tcase_add_loop_test(tests, text_shrinks_and_comes_back, 0, 4);
	tcase_add_test(tests, what_does_not_pay_stays);
	suite_add_tcase(suite, tests);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
