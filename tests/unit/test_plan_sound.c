// SPDX-License-Identifier: Apache-2.0
/*
 * What the plan promises, on machines made up one after the other: nothing is
 * called enforced that the host cannot do, everything else says why and what
 * to write instead, and the run is refused unless the profile takes less.
 */
#include "plan_fixture.h"

static const struct {
	int major, minor;
} kernels[] = {{5, 10}, {5, 15}, {6, 1}, {6, 6}, {6, 12}, {6, 18}};

/* ---- properties of every plan ---- */

/* A ck_assert that holds writes to a file, each time: too dear for millions. */
#define DEMAND(condition, ...)                                                                     \
	do {                                                                                       \
		if (!(condition))                                                                  \
			ck_abort_msg(__VA_ARGS__);                                                 \
	} while (0)

static struct arena plans; /* emptied now and then */

static bool kernel_has(int major, int minor)
{
	return host.kernel_major > major ||
	       (host.kernel_major == major && host.kernel_minor >= minor);
}

/* Whatever a mechanism names, the host has to have. */
static const char *lacking(const struct plan_item *item)
{
	const struct cgroup_host *cgroup = &host.cgroup;
	const struct {
		const char *word;
		bool there;
	} needs[] = {
		{"landlock ABI", host.landlock_abi >= (plan.tree ? 2 : 1)},
		{"landlock signal", host.landlock_abi >= 6},
		{"seccomp", host.seccomp},
		{"user namespace", host.user_namespaces},
		{"leased", host.root},
		{"setresuid", host.root},
		{"one mapping", !host.root},
		{"idmapped", host.root && host.user_namespaces && kernel_has(5, 12)},
		{"overlayfs", plan.tree && kernel_has(6, 6)},
		{"RLIMIT_NPROC", kernel_has(5, 14) || plan.own_uid},
		{"mount", plan.tree},
		{"cgroup v1", cgroup->version == CGROUP_V1 && cgroup->has_memory},
		{"cgroup v2", cgroup->version == CGROUP_V2 && cgroup->has_memory},
		{"cgroup pids", plan.use_cgroup && cgroup->has_pids},
		{"cgroup cpu quota", plan.use_cgroup && cgroup->has_cpu},
		{"cgroup cpu accounting",
		 plan.use_cgroup && (cgroup->version == CGROUP_V2 || cgroup->cpuacct != NULL)},
	};

	for (size_t i = 0; i < COUNT(needs); i++)
		if (says(item, needs[i].word) && !needs[i].there)
			return needs[i].word;
	return NULL;
}

static void assert_whole(const struct plan_item *item)
{
	const char *name = item->name;
	bool given = item->state == ITEM_ENFORCED || item->state == ITEM_REDUCED;
	bool lost = item->state == ITEM_REDUCED || item->state == ITEM_MISSING;

	DEMAND(name != NULL, "a name is missing");
	DEMAND(item->asked != NULL, "%s: nothing asked", name);
	DEMAND(!given || (item->mechanism != NULL && *item->mechanism != '\0'),
	       "%s is %s by nothing", name, item_state_names[item->state]);
	DEMAND(lost == (item->reason != NULL && *item->reason != '\0'), "%s is %s: reason \"%s\"",
	       name, item_state_names[item->state], item->reason != NULL ? item->reason : "");
	DEMAND(item->state != ITEM_OFF || item->mechanism == NULL, "%s is off by %s", name,
	       item->mechanism);
	if (item->reason != NULL)
		DEMAND(strchr(item->reason, '\n') == NULL, "%s: two lines", name);
}

static void assert_names_differ(void)
{
	for (size_t i = 0; i < plan.item_count; i++)
		for (size_t j = 0; j < i; j++)
			DEMAND(plan.items[i].boundary != plan.items[j].boundary ||
				       strcmp(plan.items[i].name, plan.items[j].name) != 0,
			       "[%s] %s is there twice", boundary_names[plan.items[i].boundary],
			       plan.items[i].name);
}

static void assert_consistent(void)
{
	bool sampled = plan.memory == MEMORY_SAMPLED, by_cgroup = plan.memory == MEMORY_CGROUP;
	const uint64_t always =
		CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP;

	DEMAND(by_cgroup == (plan.use_cgroup && profile.process.memory_bytes != 0),
	       "memory by cgroup without one");
	DEMAND(sampled == (!plan.use_cgroup && profile.process.memory_bytes != 0),
	       "memory is sampled beside a cgroup");
	DEMAND(!plan.attach_first || (plan.use_cgroup && host.cgroup.version == CGROUP_V1),
	       "a late attach without cgroup v1");
	DEMAND(!plan.count_cpu_by_cgroup || plan.use_cgroup, "CPU counted by no cgroup");
	DEMAND(plan.keeper == ((plan.namespaces & CLONE_NEWPID) == 0), "who ends the run?");
	DEMAND(plan.tree || (plan.namespaces == 0 && !plan.inner_user),
	       "namespaces without a tree");
	DEMAND(plan.tree == (host.root || host.user_namespaces), "the form is another");
	DEMAND(plan.tree || plan.impossible != NULL || plan.landlock_fs != 0,
	       "no tree and no Landlock");
	if (!plan.tree)
		return;
	DEMAND(((plan.namespaces & CLONE_NEWUSER) == 0) == host.root,
	       "a user namespace for root, or none for a user");
	DEMAND(((plan.namespaces & CLONE_NEWNET) == 0) == (profile.network.mode == NETWORK_HOST),
	       "a network namespace with mode = host, or none without");
	DEMAND((plan.namespaces & always) == always, "a namespace is left out");
}

static void assert_sound(void)
{
	plan_make(&plans, &profile, &host, &plan);
	assert_names_differ();
	assert_consistent();
	for (size_t i = 0; i < plan.item_count; i++)
		assert_whole(&plan.items[i]);
	/* then nothing runs, whatever the items say */
	if (plan.impossible != NULL)
		return;
	for (size_t i = 0; i < plan.item_count; i++) {
		const struct plan_item *item = &plan.items[i];
		const char *word = item->state == ITEM_ENFORCED ? lacking(item) : NULL;

		DEMAND(word == NULL, "[%s] %s is enforced by \"%s\" and there is no %s",
		       boundary_names[item->boundary], item->name, item->mechanism, word);
	}
}

static void vary_profile(void)
{
	static const enum network_mode modes[] = {NETWORK_NONE, NETWORK_HOST, NETWORK_ALLOW};

	arena_free(&plans);
	for (unsigned i = 0; i < 18; i++) {
		profile.file.writes = (enum file_writes)(i % 3);
		profile.network.mode = modes[i / 3 % 3];
		profile.process.on_missing = i / 9 == 0 ? ON_MISSING_REFUSE : ON_MISSING_REDUCE;
		assert_sound();
	}
}

static void vary_host(void)
{
	static const uint32_t types[] = {FS_EXT4, OVERLAYFS_SUPER_MAGIC, FS_9P, TMPFS_MAGIC};
	struct path_fact *fact = &host.paths[PATH_WRITE].items[0];

	for (unsigned i = 0; i < COUNT(cgroups) * COUNT(types); i++) {
		host.cgroup = cgroups[i % COUNT(cgroups)];
		fact->fs_type = types[i / COUNT(cgroups) % COUNT(types)];
		fact->read_only = i % 2 == 0;
		host.user_namespaces = i % 5 != 0;
		host.user_namespaces_why = i % 5 == 0 ? "user.max_user_namespaces is 0" : NULL;
		host.filtered = i % 3 == 0;
		vary_profile();
	}
}

START_TEST(every_plan_is_sound)
{
	setup();
	if (_i % 2 == 1)
		become_root();
	ask_for_everything();
	host.landlock_abi = _i / 2 % 10;
	for (size_t i = 0; i < COUNT(kernels); i++) {
		use_kernel(kernels[i].major, kernels[i].minor);
		vary_host();
	}
}
END_TEST

START_TEST(what_nobody_asked_for_is_off)
{
	make_plan();
	static const struct {
		enum boundary boundary;
		const char *name;
	} quiet[] = {{BOUNDARY_FILE, "writes"},       {BOUNDARY_FILE, "hide"},
		     {BOUNDARY_FILE, "protect"},      {BOUNDARY_FILE, "noexec"},
		     {BOUNDARY_FILE, "device"},       {BOUNDARY_FILE, "growth"},
		     {BOUNDARY_FILE, "max_file"},     {BOUNDARY_PROCESS, "memory"},
		     {BOUNDARY_PROCESS, "processes"}, {BOUNDARY_PROCESS, "cpus"},
		     {BOUNDARY_PROCESS, "output"},    {BOUNDARY_PRIVILEGE, "apparmor"},
		     {BOUNDARY_PRIVILEGE, "selinux"}, {BOUNDARY_TIME, "wall"},
		     {BOUNDARY_TIME, "cpu"}};

	for (size_t i = 0; i < COUNT(quiet); i++)
		ck_assert_msg(item_of(quiet[i].boundary, quiet[i].name)->state == ITEM_OFF, "%s",
			      quiet[i].name);
	ck_assert_int_eq(plan.memory, MEMORY_UNLIMITED);
	for (size_t i = 0; i < plan.item_count; i++)
		ck_assert_msg(plan.items[i].state == ITEM_ENFORCED ||
				      plan.items[i].state == ITEM_OFF,
			      "%s: %s", plan.items[i].name, plan.items[i].reason);
}
END_TEST

/* ---- without seccomp: not in every_plan_is_sound, so that each says it by itself ---- */

START_TEST(nothing_rests_on_seccomp_when_there_is_none)
{
	host.seccomp = false;
	profile.privilege.on_missing = ON_MISSING_ALLOW;
	profile.network.on_missing = ON_MISSING_ALLOW;
	make_plan();
	ck_assert_int_eq(item_of(BOUNDARY_PRIVILEGE, "syscalls")->state, ITEM_MISSING);
	ck_assert_int_eq(item_of(BOUNDARY_NETWORK, "families")->state, ITEM_MISSING);
	assert_sound();
}
END_TEST

static void add(TCase *tcase)
{
	tcase_add_loop_test(tcase, every_plan_is_sound, 0, 20);
	tcase_add_test(tcase, what_nobody_asked_for_is_off);
	tcase_add_test(tcase, nothing_rests_on_seccomp_when_there_is_none);
}

int main(void)
{
	return run_suite("plan-sound", add);
}
