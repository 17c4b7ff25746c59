// SPDX-License-Identifier: Apache-2.0
/* The filter without a kernel: its tables, and its verdicts row by row. */
#include <seccomp.h>

#include "filter_fixture.h"

/* ---- tables ---- */

START_TEST(every_set_is_described)
{
	for (const struct syscall_set *set = syscall_sets; set->name != NULL; set++) {
		ck_assert(set->name[0] == '@' && set->help != NULL && set->help[0] != '\0');
		ck_assert_ptr_eq(syscall_set_find(set->name), set);
		if (!syscall_set_is_group(set))
			ck_assert_msg(set->errnum > 0, "%s has no errno", set->name);
	}
}
END_TEST

static int times_listed(const char *wanted)
{
	char name[SYSCALL_NAME_MAX];
	int times = 0;

	for (const struct syscall_set *set = syscall_sets; set->name != NULL; set++) {
		const char *at = syscall_next_name(set->members, name);

		for (; name[0] != '\0'; at = syscall_next_name(at, name))
			if (strcmp(name, wanted) == 0)
				times++;
	}
	return times;
}

static void check_architecture(uint32_t arch)
{
	for (int nr = 0; nr < 1024; nr++) {
		char *name = seccomp_syscall_resolve_num_arch(arch, nr);

		if (name != NULL)
			ck_assert_msg(times_listed(name) == 1, "%s is in %d sets", name,
				      times_listed(name));
		free(name);
	}
}

START_TEST(every_call_is_in_one_set)
{
	char name[SYSCALL_NAME_MAX];

	ck_assert_str_eq(syscall_name(syscall_number("read"), name), "read");
	ck_assert_str_eq(syscall_name(syscall_number("clone3"), name), "clone3");
	ck_assert_str_eq(syscall_name(SYSCALL_NUMBERS, name), "");
	check_architecture(SCMP_ARCH_X86_64);
	check_architecture(SCMP_ARCH_AARCH64);
}
END_TEST

/* Newer than libseccomp, and x86-64's own: elsewhere nobody knows a number. */
static bool is_of_x86_only(const char *name)
{
	return strcmp(name, "uretprobe") == 0 || strcmp(name, "uprobe") == 0;
}

START_TEST(every_name_exists)
{
	char name[SYSCALL_NAME_MAX];

	for (const struct syscall_set *set = syscall_sets; set->name != NULL; set++) {
		const char *at = syscall_next_name(set->members, name);

		for (; name[0] != '\0'; at = syscall_next_name(at, name)) {
			ck_assert_int_eq(times_listed(name), 1);
			if (name[0] == '@')
				ck_assert(!syscall_set_is_group(syscall_set_find(name)));
			else
				ck_assert_msg(seccomp_syscall_resolve_name(name) !=
							      __NR_SCMP_ERROR ||
						      syscall_number(name) >= 0 ||
						      (NATIVE != AUDIT_ARCH_X86_64 &&
						       is_of_x86_only(name)),
					      "there is no %s", name);
		}
	}
}
END_TEST

static void check_row(const struct arg_row *row)
{
	for (size_t i = 0; i < ARG_CONDITIONS; i++)
		for (size_t j = 1; j < row->when[i].count; j++)
			ck_assert(row->when[i].ranges[j - 1].last < row->when[i].ranges[j].first);
	if (row->allow)
		return;
	ck_assert_int_gt(row->errnum, 0);
	ck_assert((row->permit != NULL) != (row->never != NULL));
}

START_TEST(every_check_is_complete)
{
	char name[SYSCALL_NAME_MAX];

	for (size_t i = 0; i < arg_check_count; i++) {
		const struct arg_check *check = &arg_checks[i];
		const char *at = syscall_next_name(check->calls, name);

		for (; name[0] != '\0'; at = syscall_next_name(at, name))
			ck_assert_msg(syscall_set_of(name) != NULL, "there is no %s", name);
		for (size_t j = 0; j < check->count; j++)
			check_row(&check->rows[j]);
		const struct arg_row *last = &check->rows[check->count - 1];
		ck_assert(last->when[0].test == ARG_UNUSED && last->needs == 0);
	}
}
END_TEST

/* ---- the profile's list ---- */

START_TEST(list_is_applied_in_order)
{
	struct string_list list = {.items = (const char **)lists[_i].items};
	const struct filter_policy policy = {.syscalls = &list, .listener = true};
	struct sock_fprog program;
	struct error err = {0};

	while (list.count < 3 && list.items[list.count] != NULL)
		list.count++;
	int done = filter_build(&arena, &policy, &program, &err);
	if (lists[_i].call == NULL) {
		ck_assert_int_eq(done, -1);
		ck_assert_int_eq(err.kind, ERROR_PROFILE);
		ck_assert_msg(strstr(err.text, lists[_i].text) != NULL, "%s", err.text);
		return;
	}
	ck_assert_msg(done == 0, "%s", err.text);
	uint32_t verdict = run(&program, syscall_number(lists[_i].call), 0, 0, 0, 0);
	ck_assert_str_eq(verdict_text(verdict), lists[_i].text);
}
END_TEST

/* ---- verdicts by argument, without a listener so that the errno shows ---- */

START_TEST(row_has_its_verdict)
{
	struct filter_policy policy = {.syscalls = &defaults};
	int nr = syscall_number(rows[_i].call);
	const uint64_t *a = rows[_i].args;
	const uint64_t args[6] = {a[0], a[1], a[2], a[3], 0, 0};

	if (nr < 0)
		return;
	struct sock_fprog program = build(&policy);
	const char *text = verdict_text(run(&program, nr, a[0], a[1], a[2], a[3]));
	ck_assert_msg(strcmp(text, rows[_i].verdict) == 0, "%s: %s instead of %s", rows[_i].call,
		      text, rows[_i].verdict);

	/* With a listener the supervisor's errno is the same, or the answer needs none. */
	policy.listener = true;
	program = build(&policy);
	uint32_t verdict = run(&program, nr, a[0], a[1], a[2], a[3]);
	if (verdict == SECCOMP_RET_USER_NOTIF)
		verdict = SECCOMP_RET_ERRNO | (uint32_t)filter_refusal_errno(NATIVE, nr, args);
	ck_assert_str_eq(verdict_text(verdict), rows[_i].verdict);
}
END_TEST

START_TEST(shared_network_has_unix_sockets_only)
{
	const struct filter_policy policy = {.syscalls = &defaults, .shared_network = true};
	struct sock_fprog program = build(&policy);
	int nr = syscall_number("socket");

	ck_assert_uint_eq(run(&program, nr, AF_UNIX, SOCK_DGRAM, 0, 0), SECCOMP_RET_ALLOW);
	ck_assert_str_eq(verdict_text(run(&program, nr, AF_INET, SOCK_STREAM, 0, 0)),
			 "EAFNOSUPPORT");
	ck_assert_str_eq(verdict_text(run(&program, nr, AF_NETLINK, SOCK_RAW, 0, 0)),
			 "EAFNOSUPPORT");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("filter");
	TCase *tables = tcase_create("tables"), *values = tcase_create("verdicts");

	tcase_add_test(tables, every_set_is_described);
	tcase_add_test(tables, every_call_is_in_one_set);
	tcase_add_test(tables, every_name_exists);
	tcase_add_test(tables, every_check_is_complete);
	suite_add_tcase(suite, tables);

	tcase_add_checked_fixture(values, NULL, drop);
	tcase_add_loop_test(values, list_is_applied_in_order, 0, sizeof(lists) / sizeof(lists[0]));
	tcase_add_loop_test(values, row_has_its_verdict, 0, sizeof(rows) / sizeof(rows[0]));
	tcase_add_test(values, shared_network_has_unix_sockets_only);
	suite_add_tcase(suite, values);

	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
