// SPDX-License-Identifier: Apache-2.0

/* Short ways to the same answer as realpath(3)'s. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "real_path.h"

static struct arena arena;
static char base[] = "/var/tmp/sbox-test-XXXXXX";

static const char *in_base(const char *name)
{
	return arena_printf(&arena, "%s/%s", base, name);
}

static void setup(void)
{
	ck_assert_ptr_nonnull(mkdtemp(base));
	ck_assert_int_eq(mkdir(in_base("a"), 0755), 0);
	ck_assert_int_eq(mkdir(in_base("a/.b"), 0755), 0);
	ck_assert_int_eq(mkdir(in_base("a/..c"), 0755), 0);
	ck_assert_int_eq(symlink("a", in_base("link")), 0);
	ck_assert_int_eq(symlink("nowhere", in_base("broken")), 0);
}

static void teardown(void)
{
	ck_assert_int_eq(system(arena_printf(&arena, "rm -rf '%s'", base)), 0);
	arena_free(&arena);
}

static const struct {
	const char *path, *real; /* below base; real NULL: leads nowhere */
} rows[] = {
	{"a", "a"},          {"a/.b", "a/.b"},  {"a/..c", "a/..c"}, {"link", "a"},
	{"link/.b", "a/.b"}, {"a/.", "a"},      {"a/../a", "a"},    {"a/..", ""},
	{"a//.b", "a/.b"},   {"a/", "a"},       {"link/..", ""},    {"broken", NULL},
	{"none", NULL},      {"none/..", NULL},
};

START_TEST(as_realpath_has_it)
{
	char whole[4096];
	const char *path = in_base(rows[_i].path), *real = real_path(&arena, path);

	if (rows[_i].real == NULL) {
		ck_assert_ptr_null(real);
		ck_assert_int_eq(errno, ENOENT);
		return;
	}
	ck_assert_str_eq(real, rows[_i].real[0] != '\0' ? in_base(rows[_i].real) : base);
	ck_assert_str_eq(real, realpath(path, whole));
}
END_TEST

START_TEST(relative_and_root)
{
	ck_assert_int_eq(chdir(in_base("a")), 0);
	ck_assert_str_eq(real_path(&arena, ".b"), in_base("a/.b"));
	ck_assert_str_eq(real_path(&arena, "/"), "/");
	ck_assert_int_eq(chdir("/"), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("real-path");
	TCase *tcase = tcase_create("real-path");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_loop_test(tcase, as_realpath_has_it, 0, sizeof(rows) / sizeof(rows[0]));
	tcase_add_test(tcase, relative_and_root);
	suite_add_tcase(suite, tcase);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
