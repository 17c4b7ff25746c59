// SPDX-License-Identifier: Apache-2.0
/*
 * One wish on one machine after the other: what the plan makes of it, as golden text
 * (REGENERATE=1 writes it anew), and what holds for all of them.
 */
#include "plan_worlds.h"

static const struct {
	const char *name;
	void (*change)(void);
} machines[] = {
	{"gate", gate},
	{"gate-late", gate_late},
	{"gate-root", gate_root},
	{"gate-no-net", gate_no_net},
	{"gate-in-place", gate_in_place},
	{"gate-no-tproxy", gate_no_tproxy},
	{"user", a_user},
	{"root", root},
	{"in-place-abi-0", abi_0},
	{"in-place-abi-1", abi_1},
	{"in-place-abi-2", abi_2},
	{"in-place-abi-3", abi_3},
	{"in-place-abi-4", abi_4},
	{"in-place-abi-5", abi_5},
	{"in-place-abi-6", abi_6},
	{"in-place-abi-7", no_userns},
	{"in-place-abi-8", abi_8},
	{"in-place-abi-9", abi_9},
	{"tree-abi-0", tree_abi_0},
	{"tree-abi-1", tree_abi_1},
	{"tree-abi-2", tree_abi_2},
	{"no-seccomp", no_seccomp},
	{"in-place-no-seccomp", no_seccomp_in_place},
	{"apparmor", apparmor},
	{"apparmor-restricting", apparmor_restricting},
	{"container-user", container_user},
	{"container-root", container_root},
	{"container-root-named-user", container_root_owner},
	{"root-without-capabilities", root_without_anything},
	{"rootless-container-root", rootless_container},
	{"root-of-a-namespace", root_in_a_namespace},
	{"root-no-userns", root_no_userns},
	{"root-overlayfs", root_overlayfs},
	{"masked-proc", masked_proc},
	{"no-net", no_net},
	{"no-net-abi-5", no_net_abi_5},
	{"no-pid", no_pid},
	{"no-ipc", no_ipc},
	{"no-uts", no_uts},
	{"no-mnt", no_mnt},
	{"cgroup-2", cgroup_2},
	{"in-place-cgroup-2", cgroup_2_in_place},
	{"in-place-discard", discard_in_place},
	{"in-place-store-listed", store_in_place},
	{"old-kernel", old_kernel},
};

/* The wish: nearly everything, with a name to hide and one to protect below the workspace. */
static void arrive_at(int i)
{
	ask_for_everything();
	for (enum path_kind kind = 0; kind < PATH_KIND_MAX; kind++)
		for (size_t f = 0; f < host.paths[kind].count; f++)
			host.paths[kind].items[f].rule = &profile_paths(&profile, kind)->items[f];
	machines[i].change();
	make_plan();
}

START_TEST(plans_are_golden)
{
	char path[128];

	arrive_at(_i);
	snprintf(path, sizeof(path), "tests/golden/plan-%s.txt", machines[_i].name);
	compare_golden(path, plan_print(&arena, &plan));
}
END_TEST

static bool all_is_enforced(void)
{
	for (size_t i = 0; i < plan.item_count; i++)
		if (plan.items[i].state == ITEM_REDUCED || plan.items[i].state == ITEM_MISSING)
			return false;
	return plan.impossible == NULL;
}

static void set_policy(enum on_missing policy)
{
	profile.file.on_missing = profile.network.on_missing = policy;
	profile.process.on_missing = profile.privilege.on_missing = policy;
	profile.time.on_missing = policy;
}

static bool has_missing(void)
{
	for (size_t i = 0; i < plan.item_count; i++)
		if (plan.items[i].state == ITEM_MISSING)
			return true;
	return false;
}

/* refuse takes nothing, reduce takes reduced, allow takes both; strict beats all of them; what
 * cannot be built is taken by none. */
START_TEST(a_word_decides)
{
	arrive_at(_i);
	for (enum on_missing policy = ON_MISSING_REFUSE; policy <= ON_MISSING_ALLOW; policy++) {
		const char *accepted = NULL;
		bool taken = all_is_enforced() || (policy == ON_MISSING_REDUCE && !has_missing()) ||
			     policy == ON_MISSING_ALLOW;

		set_policy(policy);
		err = (struct error){0};
		ck_assert_int_eq(plan_judge(&plan, &profile, false, &accepted, &err) == 0,
				 taken && plan.impossible == NULL);
		ck_assert(accepted == NULL || !all_is_enforced());
		ck_assert_int_eq(plan_judge(&plan, &profile, true, NULL, &err) == 0,
				 all_is_enforced());
	}
}
END_TEST

/* What was accepted is one line, and the cause that many items share is said once in it. */
START_TEST(the_cause_is_said_once)
{
	const char *accepted = NULL;

	arrive_at(_i);
	set_policy(ON_MISSING_ALLOW);
	if (plan.form_why == NULL || plan.impossible != NULL)
		return;
	ck_assert_int_eq(plan_judge(&plan, &profile, false, &accepted, &err), 0);
	ck_assert_ptr_nonnull(accepted);
	ck_assert_ptr_null(strchr(accepted, '\n'));
	const char *once = strstr(accepted, plan.form_why);
	ck_assert(once == NULL || strstr(once + 1, plan.form_why) == NULL);
}
END_TEST

/* Late where the first socket is told of, and nothing of the network is needed before it. */
START_TEST(gate_is_late_where_it_can_be)
{
	gate_late();
	make_plan();
	ck_assert(plan.late_network);

	host.filtered = true;
	make_plan();
	ck_assert(!plan.late_network);
	host.filtered = false;
	host.seccomp = false;
	make_plan();
	ck_assert(!plan.late_network);
	host.seccomp = true;
	host.gate_why = "no nf_tables";
	make_plan();
	ck_assert(!plan.late_network);
	host.gate_why = NULL;
	profile.network.mode = NETWORK_NONE;
	make_plan();
	ck_assert(!plan.late_network);
	gate();
	make_plan();
	ck_assert(!plan.late_network);
}
END_TEST

static void add(TCase *tcase)
{
	tcase_add_loop_test(tcase, plans_are_golden, 0, ROWS(machines));
	tcase_add_test(tcase, gate_is_late_where_it_can_be);
	tcase_add_loop_test(tcase, a_word_decides, 0, ROWS(machines));
	tcase_add_loop_test(tcase, the_cause_is_said_once, 0, ROWS(machines));
}

int main(void)
{
	return run_suite("plan_forms", add);
}
