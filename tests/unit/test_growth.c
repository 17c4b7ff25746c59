// SPDX-License-Identifier: Apache-2.0
#include "growth_fixture.h"

#include <time.h>

START_TEST(within_the_limit)
{
	if (!own_fs("within_the_limit"))
		return;
	start(16 * mb, 100);
	ck_assert(!suspect());
	ck_assert_uint_eq(bytes, 0);
	ck_assert_uint_eq(left, 16 * mb);
	make("root/a", 15 * mb);
	ck_assert(!suspect());
	ck_assert_uint_eq(bytes, 15 * mb);
	ck_assert_uint_eq(files, 1);
	ck_assert_uint_eq(left, mb);
	ck_assert_int_eq(confirm(-1), GROWTH_NO);
	ck_assert_uint_ge(found.bytes, 15 * mb);
}
END_TEST

START_TEST(above_the_limit)
{
	if (!own_fs("above_the_limit"))
		return;
	start(16 * mb, 0);
	mkdir(path("root/d"), 0755);
	mkdir(path("root/d/e"), 0755);
	make("root/d/e/a", 9 * mb);
	make("root/b", 9 * mb);
	ck_assert(suspect());
	ck_assert_uint_eq(left, 0);
	ck_assert_int_eq(confirm(-1), GROWTH_YES);
	ck_assert_uint_ge(found.bytes, 18 * mb);
	ck_assert(!found.hidden);
	unlink(path("root/b"));
	ck_assert(!suspect());
}
END_TEST

START_TEST(somebody_else_fills_the_disk)
{
	if (!own_fs("somebody_else_fills_the_disk"))
		return;
	start(16 * mb, 0);
	make("outside/a", 20 * mb);
	make("root/a", 4 * mb);
	ck_assert(suspect());
	ck_assert_int_eq(confirm(-1), GROWTH_NO);
	ck_assert(!suspect()); /* not again at once */
	ck_assert_uint_ge(left, 2 * mb);
	make("outside/b", mb);
	ck_assert(!suspect());
	make("root/b", 13 * mb);
	ck_assert(suspect());
	ck_assert_int_eq(confirm(-1), GROWTH_YES);
}
END_TEST

START_TEST(old_files_do_not_count)
{
	if (!own_fs("old_files_do_not_count"))
		return;
	mkdir(path("root"), 0755);
	make("root/old", 50 * mb);
	start(16 * mb, 0);
	make("outside/a", 20 * mb);
	ck_assert(suspect());
	ck_assert_int_eq(confirm(-1), GROWTH_NO);
	ck_assert_uint_eq(found.bytes, 0);
	make("root/new", mb);
	ck_assert_int_eq(confirm(-1), GROWTH_NO);
	ck_assert_uint_eq(found.bytes, mb);
}
END_TEST

START_TEST(sparse_files_take_nothing)
{
	if (!own_fs("sparse_files_take_nothing"))
		return;
	start(16 * mb, 0);
	make("root/a", 0);
	ck_assert_int_eq(truncate(path("root/a"), 1LL << 40), 0);
	ck_assert(!suspect());
	ck_assert_int_eq(confirm(-1), GROWTH_NO);
	ck_assert_uint_eq(found.bytes, 0);
}
END_TEST

START_TEST(many_small_files)
{
	char name[32];

	if (!own_fs("many_small_files"))
		return;
	start(0, 1999);
	ck_assert_uint_eq((suspect(), left), UINT64_MAX);
	for (int i = 0; i < 2000; i++) {
		snprintf(name, sizeof(name), "root/%d", i);
		make(name, 0);
	}
	ck_assert(suspect());
	ck_assert_uint_eq(files, 2000);
	ck_assert_int_eq(growth_confirm(&growth, -1, 100, &found), GROWTH_MORE);
	ck_assert_int_eq(confirm(-1), GROWTH_YES);
	ck_assert_uint_ge(found.files, 2000);
}
END_TEST

START_TEST(names_of_one_file_count_once)
{
	char name[256], other[32];

	if (!own_fs("names_of_one_file_count_once"))
		return;
	start(16 * mb, 0);
	make("root/a", 8 * mb);
	strcpy(name, path("root/a"));
	for (int i = 0; i < 7; i++) {
		snprintf(other, sizeof(other), "root/l%d", i);
		ck_assert_int_eq(link(name, path(other)), 0);
	}
	ck_assert_int_eq(symlink("/", path("root/everything")), 0);
	ck_assert_int_eq(confirm(-1), GROWTH_NO);
	ck_assert_uint_ge(found.bytes, 8 * mb);
	ck_assert_uint_lt(found.bytes, 9 * mb);
}
END_TEST

START_TEST(disk_counts_blocks_before_they_are_written)
{
	char block[65536];

	memset(block, 'x', sizeof(block));
	start(mb, 0);
	int fd = open(path("root/a"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	for (int i = 0; i < 32; i++)
		ck_assert_int_eq(write(fd, block, sizeof(block)), sizeof(block));
	ck_assert_int_eq(confirm(-1), GROWTH_YES);
	ck_assert_uint_ge(found.bytes, 2 * mb);
	close(fd);
}
END_TEST

START_TEST(roots_within_roots)
{
	int fds[3];

	if (!own_fs("roots_within_roots"))
		return;
	mkdir(path("root"), 0755);
	mkdir(path("root/inner"), 0755);
	fds[0] = open(path("root"), O_PATH | O_CLOEXEC);
	fds[1] = open(path("root/inner"), O_PATH | O_CLOEXEC);
	fds[2] = open(path("root"), O_PATH | O_CLOEXEC);
	ck_assert_int_eq(growth_init(&growth, fds, 3, 16 * mb, 0, &err), 0);
	ck_assert_uint_eq(growth.root_count, 2);
	ck_assert_uint_eq(growth.fs_count, 1);
	make("root/inner/a", 9 * mb);
	suspect();
	ck_assert_uint_eq(bytes, 9 * mb);
	ck_assert_int_eq(confirm(-1), GROWTH_NO);
	ck_assert_uint_eq(found.bytes, 9 * mb);
}
END_TEST

/* A single file as a write path, and a descriptor that is none. */
START_TEST(root_that_is_a_file)
{
	make("file", 0);
	int fd = open(path("file"), O_PATH | O_CLOEXEC), none = -1;
	ck_assert_int_eq(growth_init(&growth, &fd, 1, mb, 0, &err), 0);
	make("file", 2 * mb);
	ck_assert_int_eq(confirm(-1), GROWTH_YES);
	growth_free(&growth);
	ck_assert_int_eq(growth_init(&growth, &none, 1, mb, 0, &err), -1);
	ck_assert_int_eq(growth_init(&growth, NULL, 0, mb, 0, &err), 0);
	ck_assert(!suspect());
	ck_assert_int_eq(confirm(-1), GROWTH_NO);
}
END_TEST

START_TEST(speed)
{
	enum { TIMES = 2000, FILES = 2000 };
	struct timespec from, to;
	char name[32];

	start(mb, 0);
	for (int i = 0; i < FILES; i++) {
		snprintf(name, sizeof(name), "root/%d", i);
		make(name, 0);
	}
	clock_gettime(CLOCK_MONOTONIC, &from);
	for (int i = 0; i < TIMES; i++)
		suspect();
	clock_gettime(CLOCK_MONOTONIC, &to);
	printf("# suspect, one root: %.2f us\n",
	       ((to.tv_sec - from.tv_sec) * 1e6 + (to.tv_nsec - from.tv_nsec) / 1e3) / TIMES);
	clock_gettime(CLOCK_MONOTONIC, &from);
	confirm(-1);
	clock_gettime(CLOCK_MONOTONIC, &to);
	printf("# confirm, %d files: %.2f us a file\n", FILES,
	       ((to.tv_sec - from.tv_sec) * 1e6 + (to.tv_nsec - from.tv_nsec) / 1e3) / FILES);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		within_the_limit,
		above_the_limit,
		somebody_else_fills_the_disk,
		old_files_do_not_count,
		sparse_files_take_nothing,
		many_small_files,
		names_of_one_file_count_once,
		disk_counts_blocks_before_they_are_written,
		roots_within_roots,
		root_that_is_a_file,
		speed,
	};
	Suite *suite = suite_create("growth");
	TCase *tcase = tcase_create("growth");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 20);
	for (size_t i = 0; i < sizeof(tests) / sizeof(*tests); i++)
		tcase_add_test(tcase, tests[i]);
	suite_add_tcase(suite, tcase);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
