// SPDX-License-Identifier: Apache-2.0
/*
 * What is not there is refused in words that name the thing and the way out,
 * unless on_missing takes it; --strict takes nothing.
 */
#include <errno.h>
#include <sched.h>

#include "host_fixture.h"

static const char *some_items[] = {"first", "second"};
static const struct string_list some = {some_items, 2};

static void review(void)
{
	profile.file.writes = WRITES_REVIEW;
	add_folder(PATH_WRITE, "/work");
}

static void discard_before_6_6(void)
{
	profile.file.writes = WRITES_DISCARD;
	add_folder(PATH_WRITE, "/work");
	use_kernel(6, 1);
}

static void root_on_overlayfs(void)
{
	become_root();
	add_folder(PATH_WRITE, "/work")->fs_type = 0x794c7630;
}

static void read_only_write(void)
{
	add_folder(PATH_WRITE, "/work")->read_only = true;
}

static void no_landlock(void)
{
	host.landlock_abi = 0;
}

static void landlock_abi_1(void)
{
	host.landlock_abi = 1;
}

static void network_list_allow(void)
{
	profile.network.mode = NETWORK_HOST;
	profile.network.allow = some;
}

static void network_list_resolve(void)
{
	profile.network.mode = NETWORK_HOST;
	profile.network.resolve = some;
}

static void network_list_listen(void)
{
	profile.network.listen = some;
}

static void no_seccomp(void)
{
	host.seccomp = false;
}

static void memory_sampled(void)
{
	profile.process.memory_bytes = 1 << 30;
}

static void memory_sampled_beside_v1(void)
{
	profile.process.memory_bytes = 1 << 30;
	profile.process.on_missing = ON_MISSING_REDUCE;
	host.cgroup =
		(struct cgroup_host){.version = CGROUP_V1, .memory = "/m", .has_memory = true};
}

static void tasks_before_5_14(void)
{
	profile.process.processes = 10;
	use_kernel(5, 13);
}

static void two_cpus(void)
{
	profile.process.cpus_milli = 2000;
}

static void half_a_cpu(void)
{
	profile.process.cpus_milli = 500;
}

static void other_user(void)
{
	profile.privilege.user = "nobody";
}

static void capability(void)
{
	profile.privilege.capabilities = some;
}

static void apparmor(void)
{
	profile.privilege.apparmor = "strict";
	host.apparmor = true;
	host.label = (struct label_fact){.tried = true, .own = "unconfined", .errnum = ENOENT};
}

static void selinux(void)
{
	profile.privilege.selinux = "u:r:t:s0";
	host.selinux = true;
}

static void freeze(void)
{
	profile.time.on_timeout = ON_TIMEOUT_FREEZE;
}

/* What is wanted or lacking, and what the refusal says about it. */
static const struct {
	void (*ask)(void);
	enum item_state state;
	enum boundary boundary;
	const char *name, *way_out;
} rows[] = {
	{review, ITEM_MISSING, BOUNDARY_FILE, "writes", "write writes = discard or keep"},
	{discard_before_6_6, ITEM_MISSING, BOUNDARY_FILE, "writes", "needs Linux 6.6"},
	{root_on_overlayfs, ITEM_MISSING, BOUNDARY_FILE, "writes", "put the folder on a volume"},
	{read_only_write, ITEM_MISSING, BOUNDARY_FILE, "writes", "list it under read or exec"},
	{no_landlock, ITEM_MISSING, BOUNDARY_FILE, "landlock", "lsm= boot parameter"},
	{landlock_abi_1, ITEM_REDUCED, BOUNDARY_FILE, "landlock", "Linux 5.19"},
	{network_list_allow, ITEM_MISSING, BOUNDARY_NETWORK, "allow", "only mode = allow"},
	{network_list_resolve, ITEM_MISSING, BOUNDARY_NETWORK, "resolve", "only mode = allow"},
	{network_list_listen, ITEM_MISSING, BOUNDARY_NETWORK, "listen", "leave the list empty"},
	{no_seccomp, ITEM_MISSING, BOUNDARY_NETWORK, "families", "seccomp"},
	{no_seccomp, ITEM_MISSING, BOUNDARY_PRIVILEGE, "syscalls", "CONFIG_SECCOMP_FILTER"},
	{memory_sampled, ITEM_REDUCED, BOUNDARY_PROCESS, "memory", "no group is delegated"},
	{memory_sampled_beside_v1, ITEM_REDUCED, BOUNDARY_PROCESS, "memory",
	 "[process] on_missing = refuse uses it"},
	{tasks_before_5_14, ITEM_MISSING, BOUNDARY_PROCESS, "processes", "Linux 5.14"},
	{two_cpus, ITEM_REDUCED, BOUNDARY_PROCESS, "cpus", "whole processors"},
	{half_a_cpu, ITEM_MISSING, BOUNDARY_PROCESS, "cpus", "cgroup with a cpu controller"},
	{other_user, ITEM_MISSING, BOUNDARY_PRIVILEGE, "user", "write user = auto"},
	{capability, ITEM_MISSING, BOUNDARY_PRIVILEGE, "capabilities", "leave capabilities empty"},
	{apparmor, ITEM_MISSING, BOUNDARY_PRIVILEGE, "apparmor", "leave apparmor empty"},
	{selinux, ITEM_MISSING, BOUNDARY_PRIVILEGE, "selinux", "leave selinux empty"},
	{freeze, ITEM_MISSING, BOUNDARY_TIME, "on_timeout", "write on_timeout = kill"},
};

static enum on_missing *policy_of(enum boundary boundary)
{
	enum on_missing *const policies[BOUNDARY_MAX] = {
		[BOUNDARY_FILE] = &profile.file.on_missing,
		[BOUNDARY_NETWORK] = &profile.network.on_missing,
		[BOUNDARY_PROCESS] = &profile.process.on_missing,
		[BOUNDARY_PRIVILEGE] = &profile.privilege.on_missing,
		[BOUNDARY_TIME] = &profile.time.on_missing,
	};

	return policies[boundary];
}

static void accept_everything(void)
{
	for (enum boundary i = 0; i < BOUNDARY_MAX; i++)
		*policy_of(i) = ON_MISSING_ALLOW;
}

static void assert_refused(const char *name, const char *part)
{
	const char *accepted = "untouched";

	err = (struct error){0};
	ck_assert_int_eq(plan_judge(&plan, &profile, false, &accepted, &err), -1);
	ck_assert_int_eq(err.kind, ERROR_MISSING);
	assert_contains(err.text, name);
	assert_contains(err.text, part);
	ck_assert_ptr_null(strchr(err.text, '\n'));
	ck_assert_str_eq(accepted, "untouched");
}

START_TEST(the_item_says_the_way_out)
{
	rows[_i].ask();
	make_plan();
	const struct plan_item *item = item_of(rows[_i].boundary, rows[_i].name);

	ck_assert_int_eq(item->state, rows[_i].state);
	assert_contains(item->reason, rows[_i].way_out);
}
END_TEST

/* All other sections take anything, so that this item is the one that is judged. */
START_TEST(on_missing_decides)
{
	const char *section = boundary_names[rows[_i].boundary], *accepted = NULL;
	const char *state = item_state_names[rows[_i].state];
	const char *name =
		arena_printf(&arena, "[%s] %s is %s here", section, rows[_i].name, state);
	bool reduced = rows[_i].state == ITEM_REDUCED;

	rows[_i].ask();
	make_plan();
	accept_everything();
	*policy_of(rows[_i].boundary) = ON_MISSING_REFUSE;
	assert_refused(name, rows[_i].way_out);
	assert_refused(name, arena_printf(&arena, "to accept that: [%s] on_missing = %s", section,
					  reduced ? "reduce" : "allow"));
	*policy_of(rows[_i].boundary) = ON_MISSING_REDUCE;
	if (!reduced)
		assert_refused(name, "on_missing = allow");
	else
		ck_assert_int_eq(plan_judge(&plan, &profile, false, NULL, &err), 0);
	*policy_of(rows[_i].boundary) = ON_MISSING_ALLOW;
	ck_assert_int_eq(plan_judge(&plan, &profile, false, &accepted, &err), 0);
	assert_contains(accepted,
			arena_printf(&arena, "%s.%s %s (", section, rows[_i].name, state));
	assert_contains(accepted, rows[_i].way_out);
	ck_assert_ptr_null(strchr(accepted, '\n'));
}
END_TEST

START_TEST(strict_takes_nothing)
{
	rows[_i].ask();
	make_plan();
	accept_everything();
	ck_assert_int_eq(plan_judge(&plan, &profile, true, NULL, &err), -1);
	ck_assert_int_eq(err.kind, ERROR_MISSING);
	assert_contains(err.text, "--strict accepts nothing less");
	assert_contains(err.text, item_state_names[rows[_i].state]);
}
END_TEST

START_TEST(what_is_all_there_is_accepted_without_a_word)
{
	const char *accepted = "something";

	add_folder(PATH_WRITE, "/work");
	make_plan();
	ck_assert_int_eq(plan_judge(&plan, &profile, true, &accepted, &err), 0);
	ck_assert_ptr_null(accepted);
	ck_assert_int_eq(plan_judge(&plan, &profile, false, &accepted, &err), 0);
	ck_assert_ptr_null(accepted);
}
END_TEST

START_TEST(all_that_was_accepted_is_named)
{
	const char *accepted = NULL;

	landlock_abi_1();
	half_a_cpu();
	apparmor();
	make_plan();
	accept_everything();
	ck_assert_int_eq(plan_judge(&plan, &profile, false, &accepted, &err), 0);
	assert_contains(accepted, "file.landlock reduced (");
	assert_contains(accepted, "); process.cpus missing (");
	assert_contains(accepted, "); privilege.apparmor missing (");
}
END_TEST

/* on_missing of one section says nothing about another. */
START_TEST(sections_are_judged_by_their_own_word)
{
	for (enum boundary i = 0; i < BOUNDARY_MAX; i++) {
		setup();
		freeze();
		make_plan();
		*policy_of(i) = ON_MISSING_ALLOW;
		ck_assert_int_eq(plan_judge(&plan, &profile, false, NULL, &err),
				 i == BOUNDARY_TIME ? 0 : -1);
	}
}
END_TEST

static void assert_impossible(const char *thing, const char *way_out)
{
	make_plan();
	for (int strict = 0; strict < 2; strict++) {
		err = (struct error){0};
		accept_everything();
		ck_assert_int_eq(plan_judge(&plan, &profile, strict, NULL, &err), -1);
		ck_assert_int_eq(err.kind, ERROR_MISSING);
		assert_contains(err.text, thing);
		assert_contains(err.text, way_out);
	}
}

START_TEST(without_tree_and_landlock_nothing_accepts_the_run)
{
	host.user_namespaces = false;
	host.user_namespaces_why = "user.max_user_namespaces is 0 (sysctl -w X)";
	host.landlock_abi = 0;
	assert_impossible("neither by a mount tree nor by Landlock", "sysctl -w X");
	become_root();
	host.root = false;
	host.root_lacks = "CAP_SYS_ADMIN";
	host.root_needs = "--cap-add SYS_ADMIN";
	assert_impossible("neither by a mount tree nor by Landlock", "--cap-add");
}
END_TEST

/* Nothing accepts mode = allow where there is no gate. */
START_TEST(without_a_gate_nothing_accepts_mode_allow)
{
	profile.network.mode = NETWORK_ALLOW;
	profile.network.allow = some;
	host.gate_why = "nothing can be captured: load nft_tproxy";
	assert_impossible("[network] mode = allow", "load nft_tproxy");
	ck_assert_int_eq(item_of(BOUNDARY_NETWORK, "mode")->state, ITEM_MISSING);
	host.gate_why = NULL;
	host.refused = CLONE_NEWNET;
	host.refused_why = "a net namespace cannot be made: sysctl -w X";
	assert_impossible("no network namespace", "use mode = none");
	assert_impossible("sysctl -w X", "mode = host");
	host.user_namespaces = false;
	host.user_namespaces_why = "sysctl -w Y";
	assert_impossible("no network namespace", "sysctl -w Y");
}
END_TEST

START_TEST(mode_allow_is_enforced_by_the_gate)
{
	profile.network.mode = NETWORK_ALLOW;
	profile.network.allow = some;
	profile.network.listen = some;
	make_plan();
	const struct plan_item *item = item_of(BOUNDARY_NETWORK, "mode");

	ck_assert_str_eq(item->asked, "allow");
	ck_assert_int_eq(item->state, ITEM_ENFORCED);
	assert_contains(item->mechanism, "sbox-gate");
	ck_assert_int_eq(item_of(BOUNDARY_NETWORK, "allow")->state, ITEM_ENFORCED);
	ck_assert_int_eq(item_of(BOUNDARY_NETWORK, "listen")->state, ITEM_ENFORCED);
	ck_assert_int_eq(plan_judge(&plan, &profile, true, NULL, &err), 0);
}
END_TEST

/* Less than the lists ask for is given there: nobody has to take them out. */
START_TEST(mode_none_passes_over_lists)
{
	profile.network.allow = some;
	profile.network.deny = some;
	make_plan();
	ck_assert_int_eq(item_of(BOUNDARY_NETWORK, "allow")->state, ITEM_OFF);
	ck_assert_int_eq(item_of(BOUNDARY_NETWORK, "deny")->state, ITEM_OFF);
	ck_assert_int_eq(plan_judge(&plan, &profile, true, NULL, &err), 0);
}
END_TEST

START_TEST(the_hosts_network_is_off_and_says_what_it_reaches)
{
	profile.network.mode = NETWORK_HOST;
	make_plan();
	const struct plan_item *item = item_of(BOUNDARY_NETWORK, "mode");

	ck_assert_int_eq(item->state, ITEM_OFF);
	assert_contains(item->residual, "reachable");
	ck_assert_ptr_null(strstr(item->residual, "abstract"));
	ck_assert_int_eq(plan_judge(&plan, &profile, true, NULL, &err), 0);
	/* they are of the network namespace, and Landlock cares from ABI 6 on */
	host.landlock_abi = 5;
	make_plan();
	assert_contains(item_of(BOUNDARY_NETWORK, "mode")->residual, "abstract name");
}
END_TEST

static void add(TCase *tcase)
{
	tcase_add_loop_test(tcase, the_item_says_the_way_out, 0, ROWS(rows));
	tcase_add_loop_test(tcase, on_missing_decides, 0, ROWS(rows));
	tcase_add_loop_test(tcase, strict_takes_nothing, 0, ROWS(rows));
	tcase_add_test(tcase, what_is_all_there_is_accepted_without_a_word);
	tcase_add_test(tcase, all_that_was_accepted_is_named);
	tcase_add_test(tcase, sections_are_judged_by_their_own_word);
	tcase_add_test(tcase, without_tree_and_landlock_nothing_accepts_the_run);
	tcase_add_test(tcase, without_a_gate_nothing_accepts_mode_allow);
	tcase_add_test(tcase, mode_allow_is_enforced_by_the_gate);
	tcase_add_test(tcase, mode_none_passes_over_lists);
	tcase_add_test(tcase, the_hosts_network_is_off_and_says_what_it_reaches);
}

int main(void)
{
	return run_suite("plan-judge", add);
}
