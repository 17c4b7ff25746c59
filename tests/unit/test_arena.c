// SPDX-License-Identifier: Apache-2.0
/* The arena: zeroed memory, pieces of any size, and the part that forked processes see. */
#include <check.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "arena.h"

enum { SHARED = 1 << 20 };

static struct arena arena;

static void drop(void)
{
	arena_free(&arena);
}

static bool is_zero(const unsigned char *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (bytes[i] != 0)
			return false;
	return true;
}

static const size_t sizes[] = {1, 15, 16, 17, 4095, 4096, 4097, 32768, 131072, 131073, 900000};

/* Pieces do not overlap, are aligned and zeroed, whatever comes before them. */
START_TEST(pieces_are_apart)
{
	unsigned char *pieces[64];
	size_t lengths[64];

	if (_i == 1)
		ck_assert(arena_share(&arena, SHARED));
	srand(7);
	for (size_t i = 0; i < 64; i++) {
		lengths[i] = sizes[(size_t)rand() % (sizeof(sizes) / sizeof(sizes[0]))];
		pieces[i] = arena_alloc(&arena, lengths[i]);
		ck_assert_uint_eq((uintptr_t)pieces[i] % 16, 0);
		ck_assert(is_zero(pieces[i], lengths[i]));
		memset(pieces[i], (int)i + 1, lengths[i]);
	}
	for (size_t i = 0; i < 64; i++) {
		ck_assert_uint_eq(pieces[i][0], i + 1);
		ck_assert_uint_eq(pieces[i][lengths[i] - 1], i + 1);
	}
}
END_TEST

START_TEST(a_forked_process_sees_what_comes_later)
{
	int go[2], status;
	char byte = 0;

	ck_assert(arena_share(&arena, SHARED));
	char **place = arena_alloc(&arena, sizeof(*place));
	ck_assert_int_eq(pipe(go), 0);
	pid_t pid = fork();
	if (pid == 0) {
		close(go[1]);
		_exit(read(go[0], &byte, 1) == 1 && strcmp(*place, "later") == 0 ? 0 : 1);
	}
	*place = arena_printf(&arena, "la%s", "ter");
	ck_assert_int_eq(write(go[1], "g", 1), 1);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	ck_assert(arena_is_shared(&arena));
}
END_TEST

/* What does not fit lies elsewhere, and the arena says so. */
START_TEST(outgrown)
{
	ck_assert(arena_share(&arena, SHARED));
	arena_alloc(&arena, SHARED / 2);
	ck_assert(arena_is_shared(&arena));
	unsigned char *rest = arena_alloc(&arena, SHARED / 2 + 1);
	ck_assert(!arena_is_shared(&arena));
	ck_assert(is_zero(rest, SHARED / 2 + 1));
	memset(rest, 1, SHARED / 2 + 1);
	arena_alloc(&arena, 10);
	ck_assert(!arena_is_shared(&arena));
}
END_TEST

START_TEST(not_shared_unless_asked)
{
	arena_alloc(&arena, 10);
	ck_assert(!arena_is_shared(&arena));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("arena");
	TCase *tcase = tcase_create("arena");

	tcase_add_checked_fixture(tcase, NULL, drop);
	tcase_add_loop_test(tcase, pieces_are_apart, 0, 2);
	tcase_add_test(tcase, a_forked_process_sees_what_comes_later);
	tcase_add_test(tcase, outgrown);
	tcase_add_test(tcase, not_shared_unless_asked);
	suite_add_tcase(suite, tcase);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
