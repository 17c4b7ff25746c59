// SPDX-License-Identifier: Apache-2.0
#include "growth_fixture.h"

#include <sys/mman.h>

/* Where a program could keep what it wrote out of sight. */

/* A folder of links that stands for the sandbox's /proc: this process is number 77. */
static int proc_of_self(void)
{
	char link_name[96], target[32];

	snprintf(link_name, sizeof(link_name), "%s/77", plain);
	snprintf(target, sizeof(target), "/proc/%d", (int)getpid());
	ck_assert_int_eq(symlink(target, link_name), 0);
	return open(plain, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

START_TEST(unlinked_but_open)
{
	int proc_fd = proc_of_self();

	if (!own_fs("unlinked_but_open"))
		return;
	start(16 * mb, 0);
	make("root/a", 20 * mb);
	int fd = open(path("root/a"), O_RDWR | O_CLOEXEC);
	unlink(path("root/a"));
	ck_assert(suspect());
	ck_assert_int_eq(confirm(-1), GROWTH_NO); /* without a /proc it is not seen */
	ck_assert_int_eq(dup(fd) < 0, 0);
	ck_assert_int_eq(confirm(proc_fd), GROWTH_YES);
	ck_assert_uint_ge(found.bytes, 20 * mb);
	ck_assert_uint_lt(found.bytes, 25 * mb); /* two descriptors, one file */
}
END_TEST

START_TEST(unlinked_but_mapped)
{
	int proc_fd = proc_of_self();

	if (!own_fs("unlinked_but_mapped"))
		return;
	start(16 * mb, 0);
	make("root/a", 20 * mb);
	int fd = open(path("root/a"), O_RDWR | O_CLOEXEC);
	ck_assert_ptr_ne(mmap(NULL, 20 * mb, PROT_READ, MAP_SHARED, fd, 0), MAP_FAILED);
	close(fd);
	unlink(path("root/a"));
	ck_assert_int_eq(confirm(proc_fd), GROWTH_YES);
	ck_assert_uint_ge(found.bytes, 20 * mb);
}
END_TEST

START_TEST(too_deep_is_held_against_it)
{
	if (!own_fs("too_deep_is_held_against_it"))
		return;
	start(16 * mb, 0);
	ck_assert_int_eq(chdir(path("root")), 0);
	for (int i = 0; i < 3000; i++) {
		ck_assert_int_eq(mkdir("deeper-and-deeper", 0755), 0);
		ck_assert_int_eq(chdir("deeper-and-deeper"), 0);
	}
	ck_assert_int_eq(confirm(-1), GROWTH_YES);
	ck_assert(found.hidden);
	ck_assert_int_eq(chdir("/"), 0);
}
END_TEST

/* On the disk, as an ordinary user. */
START_TEST(closed_folder_is_held_against_it)
{
	char moved[256];

	ck_assert_int_eq(chmod(base, 0777), 0);
	if (geteuid() == 0)
		ck_assert_int_eq(seteuid(65534), 0);
	mkdir(path("root"), 0755);
	mkdir(path("root/old"), 0);
	start(16 * mb, 0);
	ck_assert_int_eq(confirm(-1), GROWTH_NO); /* closed before the start */
	mkdir(path("root/new"), 0755);
	make("root/new/a", 4096);
	ck_assert_int_eq(confirm(-1), GROWTH_NO);
	ck_assert_uint_ge(found.bytes, 4096);
	ck_assert_int_eq(chmod(path("root/new"), 0), 0);
	ck_assert_int_eq(confirm(-1), GROWTH_YES);
	ck_assert(found.hidden);
	strcpy(moved, path("root/new"));
	chmod(moved, 0755);
	chmod(path("root/old"), 0755);
	if (getuid() == 0)
		ck_assert_int_eq(seteuid(0), 0);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		unlinked_but_open,
		unlinked_but_mapped,
		too_deep_is_held_against_it,
		closed_folder_is_held_against_it,
	};
	Suite *suite = suite_create("growth_hidden");
	TCase *tcase = tcase_create("growth_hidden");

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
