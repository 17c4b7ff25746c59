// SPDX-License-Identifier: Apache-2.0
/*
 * What the plan promises, on machines made up one after the other: nothing is
 * called enforced that the host cannot do, everything else says why and what
 * to write instead, and the run is refused unless the profile takes less.
 */
#include <linux/magic.h>
#include <sched.h>

#include "boundary_file.h"
#include "host_fixture.h"
#include "uapi.h"

enum { FS_EXT4 = 0xef53, FS_9P = 0x01021997 };

static const struct {
	int major, minor;
} kernels[] = {{5, 10}, {5, 15}, {6, 1}, {6, 6}, {6, 12}, {6, 18}};

static const struct cgroup_host cgroups[] = {
	{.version = CGROUP_NONE, .why_not = "no group is delegated"},
	{.version = CGROUP_V1, .memory = "/m", .has_memory = true},
	{.version = CGROUP_V1,
	 .memory = "/m",
	 .cpu = "/c",
	 .cpuacct = "/c",
	 .has_memory = true,
	 .has_cpu = true},
	{.version = CGROUP_V1, .pids = "/p", .has_pids = true},
	{.version = CGROUP_V2, .unified = "/u", .has_memory = true},
	{.version = CGROUP_V2,
	 .unified = "/u",
	 .has_memory = true,
	 .has_pids = true,
	 .has_cpu = true},
	{.version = CGROUP_V2, .unified = "/u", .has_pids = true},
};

static void ask_for_everything(void)
{
	profile.file.growth_bytes = 1 << 30;
	profile.file.max_file_bytes = 1 << 20;
	profile.process.processes = 100;
	profile.process.memory_bytes = 1 << 30;
	profile.process.cpus_milli = 1500;
	profile.process.output_bytes = 1 << 20;
	profile.time.wall_ms = 60000;
	profile.time.cpu_ms = 30000;
	add_folder(PATH_EXEC, "/usr");
	add_folder(PATH_WRITE, "/work");
	add_folder(PATH_HIDE, "/work/secret");
	add_folder(PATH_PROTECT, "/work/.git/hooks");
	add_folder(PATH_NOEXEC, "/work/data");
}

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

static bool says(const struct plan_item *item, const char *word)
{
	return item->mechanism != NULL && strstr(item->mechanism, word) != NULL;
}

/* Whatever a mechanism names, the host has to have. */
static const char *lacking(const struct plan_item *item)
{
	const struct cgroup_host *cgroup = &host.cgroup;
	const struct {
		const char *word;
		bool there;
	} needs[] = {
		{"landlock ABI", host.landlock_abi >= 2},
		{"landlock signal", host.landlock_abi >= 6},
		{"seccomp", host.seccomp},
		{"user namespace", host.user_namespaces},
		{"leased", host.root},
		{"setresuid", host.root},
		{"one mapping", !host.root},
		{"idmapped", host.root && kernel_has(5, 12)},
		{"overlayfs", kernel_has(6, 6)},
		{"RLIMIT_NPROC", kernel_has(5, 14)},
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

/* ---- one mechanism after the other ---- */

static const struct {
	int abi;
	enum item_state state;
	unsigned last_right; /* bits of file rights; 0: none */
	bool scopes;
} landlock_rows[] = {
	{0, ITEM_MISSING, 0, false},   {1, ITEM_REDUCED, 0, false},   {2, ITEM_ENFORCED, 14, false},
	{3, ITEM_ENFORCED, 15, false}, {4, ITEM_ENFORCED, 15, false}, {5, ITEM_ENFORCED, 16, false},
	{6, ITEM_ENFORCED, 16, true},  {7, ITEM_ENFORCED, 16, true},  {8, ITEM_ENFORCED, 16, true},
	{9, ITEM_ENFORCED, 16, true},
};

START_TEST(landlock_by_abi)
{
	host.landlock_abi = landlock_rows[_i].abi;
	make_plan();
	const struct plan_item *item = item_of(BOUNDARY_FILE, "landlock");

	ck_assert_int_eq(item->state, landlock_rows[_i].state);
	ck_assert_uint_eq(plan.landlock_fs, (1ULL << landlock_rows[_i].last_right) - 1);
	ck_assert_uint_eq(plan.landlock_scopes, landlock_rows[_i].scopes ? 3 : 0);
	ck_assert((item->residual != NULL) == (host.landlock_abi == 2));
	ck_assert(says(item_of(BOUNDARY_PROCESS, "namespaces"), "landlock") ==
		  landlock_rows[_i].scopes);
}
END_TEST

static const struct {
	uint32_t fs_type;
	bool root;
	int major, minor;
	enum file_writes writes;
	bool read_only;
	enum item_state state;
	const char *part; /* of the reason, or of the mechanism */
} write_rows[] = {
	{FS_EXT4, false, 6, 18, WRITES_KEEP, false, ITEM_ENFORCED, "bind mounts"},
	{FS_EXT4, true, 6, 18, WRITES_KEEP, false, ITEM_ENFORCED, "idmapped bind mounts"},
	{FS_EXT4, true, 5, 15, WRITES_KEEP, false, ITEM_ENFORCED, "idmapped bind mounts"},
	{OVERLAYFS_SUPER_MAGIC, true, 6, 18, WRITES_KEEP, false, ITEM_MISSING, "on a volume"},
	{OVERLAYFS_SUPER_MAGIC, true, 6, 18, WRITES_DISCARD, false, ITEM_MISSING, "owner"},
	{OVERLAYFS_SUPER_MAGIC, false, 6, 18, WRITES_KEEP, false, ITEM_ENFORCED, "bind mounts"},
	{FS_9P, true, 6, 18, WRITES_KEEP, false, ITEM_MISSING, "/work is on"},
	{FS_9P, false, 6, 18, WRITES_KEEP, false, ITEM_ENFORCED, "bind mounts"},
	{TMPFS_MAGIC, true, 6, 1, WRITES_KEEP, false, ITEM_MISSING, "idmapped"},
	{TMPFS_MAGIC, true, 6, 6, WRITES_KEEP, false, ITEM_ENFORCED, "idmapped bind mounts"},
	{0x65735546, true, 6, 6, WRITES_KEEP, false, ITEM_MISSING, "idmapped"},
	{0x65735546, true, 6, 12, WRITES_KEEP, false, ITEM_ENFORCED, "idmapped bind mounts"},
	{0x6969, true, 6, 18, WRITES_KEEP, false, ITEM_MISSING, "idmapped"},
	{0xff534d42, true, 6, 18, WRITES_KEEP, false, ITEM_MISSING, "idmapped"},
	{FS_EXT4, false, 6, 18, WRITES_KEEP, true, ITEM_MISSING, "read-only file system"},
	{FS_EXT4, false, 6, 18, WRITES_DISCARD, true, ITEM_ENFORCED, "overlayfs"},
	{FS_EXT4, false, 6, 6, WRITES_DISCARD, false, ITEM_ENFORCED, "overlayfs"},
	{FS_EXT4, false, 6, 1, WRITES_DISCARD, false, ITEM_MISSING, "Linux 6.6"},
	{FS_EXT4, true, 6, 1, WRITES_DISCARD, false, ITEM_MISSING, "Linux 6.6"},
};

START_TEST(writes_by_file_system)
{
	if (write_rows[_i].root)
		become_root();
	use_kernel(write_rows[_i].major, write_rows[_i].minor);
	profile.file.writes = write_rows[_i].writes;
	struct path_fact *fact = add_folder(PATH_WRITE, "/work");
	fact->fs_type = write_rows[_i].fs_type;
	fact->read_only = write_rows[_i].read_only;
	make_plan();
	const struct plan_item *item = item_of(BOUNDARY_FILE, "writes");

	ck_assert_int_eq(item->state, write_rows[_i].state);
	assert_contains(item->state == ITEM_MISSING ? item->reason : item->mechanism,
			write_rows[_i].part);
}
END_TEST

static const struct {
	size_t cgroup; /* in cgroups[] */
	enum on_missing policy;
	bool used, attach_first, counts_cpu;
	enum item_state memory, cpus;
} cgroup_rows[] = {
	{0, ON_MISSING_REFUSE, false, false, false, ITEM_REDUCED, ITEM_REDUCED},
	{1, ON_MISSING_REFUSE, true, true, false, ITEM_ENFORCED, ITEM_REDUCED},
	{1, ON_MISSING_REDUCE, false, false, false, ITEM_REDUCED, ITEM_REDUCED},
	{1, ON_MISSING_ALLOW, false, false, false, ITEM_REDUCED, ITEM_REDUCED},
	{2, ON_MISSING_REFUSE, true, true, true, ITEM_ENFORCED, ITEM_ENFORCED},
	{2, ON_MISSING_REDUCE, false, false, false, ITEM_REDUCED, ITEM_REDUCED},
	{3, ON_MISSING_REFUSE, false, false, false, ITEM_REDUCED, ITEM_REDUCED},
	{4, ON_MISSING_REDUCE, true, false, true, ITEM_ENFORCED, ITEM_REDUCED},
	{5, ON_MISSING_REFUSE, true, false, true, ITEM_ENFORCED, ITEM_ENFORCED},
	{5, ON_MISSING_ALLOW, true, false, true, ITEM_ENFORCED, ITEM_ENFORCED},
	{6, ON_MISSING_REFUSE, false, false, false, ITEM_REDUCED, ITEM_REDUCED},
};

START_TEST(limits_by_cgroup)
{
	ask_for_everything();
	host.cgroup = cgroups[cgroup_rows[_i].cgroup];
	profile.process.on_missing = cgroup_rows[_i].policy;
	make_plan();
	ck_assert(plan.use_cgroup == cgroup_rows[_i].used);
	ck_assert(plan.attach_first == cgroup_rows[_i].attach_first);
	ck_assert(plan.count_cpu_by_cgroup == cgroup_rows[_i].counts_cpu);
	ck_assert_int_eq(item_of(BOUNDARY_PROCESS, "memory")->state, cgroup_rows[_i].memory);
	ck_assert_int_eq(item_of(BOUNDARY_PROCESS, "cpus")->state, cgroup_rows[_i].cpus);
	ck_assert_int_eq(item_of(BOUNDARY_PROCESS, "processes")->state, ITEM_ENFORCED);
	profile.process.cpus_milli = 500;
	make_plan();
	ck_assert_int_eq(item_of(BOUNDARY_PROCESS, "cpus")->state,
			 cgroup_rows[_i].cpus == ITEM_ENFORCED ? ITEM_ENFORCED : ITEM_MISSING);
}
END_TEST

/* v1 costs 11-15 ms a start: not for a profile without a limit that needs it. */
START_TEST(v1_is_not_used_for_nothing)
{
	host.cgroup = cgroups[2];
	make_plan();
	ck_assert(!plan.use_cgroup && !plan.attach_first);
	profile.process.cpus_milli = 500;
	make_plan();
	ck_assert(plan.use_cgroup && plan.attach_first);
}
END_TEST

START_TEST(user_by_caller)
{
	make_plan();
	ck_assert_ptr_null(item_of(BOUNDARY_PRIVILEGE, "user")->residual);
	host.group_count = 3;
	make_plan();
	assert_contains(item_of(BOUNDARY_PRIVILEGE, "user")->residual, "supplementary groups");
	become_root();
	make_plan();
	ck_assert(says(item_of(BOUNDARY_PRIVILEGE, "user"), "leased"));
	profile.privilege.user = "nobody";
	make_plan();
	ck_assert(says(item_of(BOUNDARY_PRIVILEGE, "user"), "setresuid"));
}
END_TEST

START_TEST(sizes_and_durations_as_written)
{
	static const struct {
		uint64_t value;
		const char *size, *duration;
	} rows[] = {
		{0, "none", "none"},
		{1, "1", "1ms"},
		{1000, "1000", "1s"},
		{1024, "1K", "1024ms"},
		{1500, "1500", "1500ms"},
		{60000, "60000", "1m"},
		{90000, "90000", "90s"},
		{3600000, "3600000", "1h"},
		{86400000, "84375K", "1d"},
		{1 << 20, "1M", "1048576ms"},
		{3ULL << 29, "1536M", "1610612736ms"},
		{2ULL << 30, "2G", "2147483648ms"},
		{1ULL << 40, "1T", "1099511627776ms"},
		{1ULL << 50, "1024T", "1125899906842624ms"},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		ck_assert_str_eq(plan_size(&arena, rows[i].value), rows[i].size);
		ck_assert_str_eq(plan_duration(&arena, rows[i].value), rows[i].duration);
	}
}
END_TEST

/* man/sbox.1: without mount_setattr nothing runs; the plan has to know it before a step fails. */
START_TEST(too_old_a_kernel_is_refused)
{
	use_kernel(5, 10);
	make_plan();
	ck_assert_int_eq(plan_judge(&plan, &profile, false, NULL, &err), -1);
	assert_contains(err.text, "5.12");
}
END_TEST

static void add(TCase *tcase)
{
	tcase_add_loop_test(tcase, every_plan_is_sound, 0, 20);
	tcase_add_test(tcase, what_nobody_asked_for_is_off);
	tcase_add_test(tcase, nothing_rests_on_seccomp_when_there_is_none);
	tcase_add_loop_test(tcase, landlock_by_abi, 0, ROWS(landlock_rows));
	tcase_add_loop_test(tcase, writes_by_file_system, 0, ROWS(write_rows));
	tcase_add_loop_test(tcase, limits_by_cgroup, 0, ROWS(cgroup_rows));
	tcase_add_test(tcase, v1_is_not_used_for_nothing);
	tcase_add_test(tcase, user_by_caller);
	tcase_add_test(tcase, sizes_and_durations_as_written);
	tcase_add_test(tcase, too_old_a_kernel_is_refused);
}

int main(void)
{
	return run_suite("plan", add);
}
