// SPDX-License-Identifier: Apache-2.0
/*
 * What becomes of each wish, row by row: by Landlock ABI, file system, kernel,
 * control groups and caller.
 */
#include "plan_fixture.h"

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
	{OVERLAYFS_SUPER_MAGIC, true, 6, 18, WRITES_DISCARD, false, ITEM_MISSING, "chown -R USER"},
	{OVERLAYFS_SUPER_MAGIC, false, 6, 18, WRITES_KEEP, false, ITEM_ENFORCED, "bind mounts"},
	{FS_9P, true, 6, 18, WRITES_KEEP, false, ITEM_MISSING, "/work is on"},
	{FS_9P, false, 6, 18, WRITES_KEEP, false, ITEM_ENFORCED, "bind mounts"},
	{TMPFS_MAGIC, true, 6, 1, WRITES_KEEP, false, ITEM_MISSING, "idmapped"},
	{TMPFS_MAGIC, true, 6, 6, WRITES_KEEP, false, ITEM_ENFORCED, "idmapped bind mounts"},
	{0x65735546, true, 6, 6, WRITES_KEEP, false, ITEM_MISSING, "idmapped"},
	{0x65735546, true, 6, 18, WRITES_KEEP, false, ITEM_MISSING, "idmapped"},
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
