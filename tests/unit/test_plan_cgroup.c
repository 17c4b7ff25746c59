// SPDX-License-Identifier: Apache-2.0
#include "plan_fixture.h"

/* [process] cgroup, and what a plan says before and after systemd was asked. */

static const char *reason_of_memory(void)
{
	return item_of(BOUNDARY_PROCESS, "memory")->reason;
}

/* none: whatever the machine offers is left alone, and the plan says whose choice that was. */
START_TEST(none_uses_none)
{
	ask_for_everything();
	profile.process.cgroup = PROCESS_CGROUP_NONE;
	profile.process.on_missing = _i % 2 == 0 ? ON_MISSING_REDUCE : ON_MISSING_REFUSE;
	host.cgroup = cgroups[_i / 2];
	make_plan();
	ck_assert(!plan.use_cgroup);
	ck_assert(!plan.attach_first);
	ck_assert(!plan.count_cpu_by_cgroup);
	ck_assert_int_eq(plan.memory, MEMORY_SAMPLED);
	ck_assert_int_eq(item_of(BOUNDARY_PROCESS, "memory")->state, ITEM_REDUCED);
	assert_contains(reason_of_memory(), "[process] cgroup = none");
	int rc = plan_judge(&plan, &profile, false, NULL, &err);
	ck_assert_int_eq(rc, _i % 2 == 0 ? 0 : -1);
}
END_TEST

START_TEST(asking_is_announced)
{
	ask_for_everything();
	host.cgroup = (struct cgroup_host){.why_not = "the session's group is not delegated",
					   .may_ask = true};
	make_plan();
	assert_contains(reason_of_memory(), "not delegated; a run asks systemd for a group");
	host.cgroup.may_ask = false;
	make_plan();
	ck_assert_ptr_null(strstr(reason_of_memory(), "systemd"));
	assert_contains(reason_of_memory(), "not delegated");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("plan_cgroup");
	TCase *all = tcase_create("plan_cgroup");

	tcase_add_checked_fixture(all, setup, NULL);
	tcase_add_loop_test(all, none_uses_none, 0, 2 * ROWS(cgroups));
	tcase_add_test(all, asking_is_announced);
	suite_add_tcase(suite, all);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
