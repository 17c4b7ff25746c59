// SPDX-License-Identifier: Apache-2.0
/*
 * What the steps carry: ids, limits, filters, layers; and the sorting itself.
 */
#include <errno.h>

#include "steps_fixture.h"

/* ---- who ---- */

START_TEST(an_ordinary_caller_maps_itself_twice)
{
	make_steps();
	ck_assert_str_eq(find_step(STEP_ID_MAPS, 0)->text, "0 1234 1");
	ck_assert_str_eq(find_step(STEP_ID_MAPS, 0)->source, "0 1235 1");
	ck_assert_str_eq(find_step(STEP_INNER_USER, 0)->text, "1000 0 1");
	ck_assert_str_eq(find_step(STEP_INNER_USER, 0)->source, "1000 0 1");
}
END_TEST

START_TEST(root_becomes_the_leased_id)
{
	become_root();
	make_steps();
	ck_assert_uint_eq(find_step(STEP_BECOME, 0)->value[0], LEASED);
	ck_assert_uint_eq(find_step(STEP_BECOME, 0)->value[1], LEASED);
	ck_assert_str_eq(find_step(STEP_INNER_USER, 0)->text, "1000 1900000007 1");
	ck_assert_str_eq(find_step(STEP_INNER_USER, 0)->source, "1000 1900000007 1");
	/* its private folders are its own */
	ck_assert_uint_eq(step_at(STEP_DIRECTORY, "home/sandbox")->value[1], LEASED);
	ck_assert_uint_eq(step_at(STEP_DIRECTORY, "home/sandbox")->value[0], 0700);
	ck_assert_uint_eq(step_at(STEP_DIRECTORY, "home")->value[1], 0);
}
END_TEST

START_TEST(more_owners_than_idmaps)
{
	become_root();
	add_write("/a");
	arm.idmap_count = 4;
	for (size_t i = 0; i < 4; i++)
		arm.idmaps[i].uid = arm.idmaps[i].gid = (uid_t)(5000 + i);
	/* full of others: no namespace is made for a fifth */
	make_plan();
	arm.arena = &arena;
	ck_assert_int_eq(idmap_number(&arm, OWNER, OWNER, &err), -1);
	assert_contains(err.text, "more than 4 different owners");
}
END_TEST

/* ---- limits ---- */

static const struct {
	uint64_t max_file, callers; /* 0: none */
	uint64_t soft;              /* 0: no step */
} file_size_rows[] = {
	{0, 0, 0}, {4096, 0, 4096}, {0, 8192, 8192}, {4096, 8192, 4096}, {8192, 4096, 4096}};

START_TEST(the_smaller_file_size_counts)
{
	profile.file.max_file_bytes = file_size_rows[_i].max_file;
	if (file_size_rows[_i].callers != 0)
		arm.file_bytes = file_size_rows[_i].callers;
	make_steps();
	const struct step *limit = limit_of(RLIMIT_FSIZE);

	ck_assert_uint_eq(limit != NULL ? limit->value[1] : 0, file_size_rows[_i].soft);
	ck_assert_uint_eq(limit != NULL ? limit->value[2] : 0, file_size_rows[_i].soft);
}
END_TEST

START_TEST(limits_as_asked)
{
	make_steps();
	ck_assert_uint_eq(limit_of(RLIMIT_NOFILE)->value[2], 1024);
	ck_assert_uint_eq(limit_of(RLIMIT_CORE)->value[1], 1);
	ck_assert_uint_eq(limit_of(RLIMIT_CORE)->value[2], 1);
	ck_assert_ptr_null(limit_of(RLIMIT_NPROC));
	ck_assert_ptr_null(limit_of(RLIMIT_DATA));
	ck_assert_ptr_null(limit_of(RLIMIT_CPU));
}
END_TEST

START_TEST(limits_never_above_the_callers)
{
	profile.process.open_files = 100000;
	profile.process.processes = 100000;
	make_steps();
	ck_assert_uint_eq(limit_of(RLIMIT_NOFILE)->value[1], 4096);
	ck_assert_uint_eq(limit_of(RLIMIT_NPROC)->value[1], 10000);
}
END_TEST

/* Pid 1 of the sandbox counts too. */
START_TEST(one_task_more_for_init)
{
	profile.process.processes = 1;
	make_steps();
	ck_assert_uint_eq(limit_of(RLIMIT_NPROC)->value[1], 2);
	ck_assert_uint_eq(limit_of(RLIMIT_NPROC)->value[2], 2);
}
END_TEST

START_TEST(cpu_time_in_whole_seconds_upwards)
{
	static const struct {
		uint64_t ms, soft;
	} rows[] = {{1, 1}, {1000, 1}, {1001, 2}, {2500, 3}, {60000, 60}};

	for (size_t i = 0; i < COUNT(rows); i++) {
		setup_steps();
		profile.time.cpu_ms = rows[i].ms;
		make_steps();
		ck_assert_uint_eq(limit_of(RLIMIT_CPU)->value[1], rows[i].soft);
		ck_assert_uint_eq(limit_of(RLIMIT_CPU)->value[2], rows[i].soft + 1);
	}
}
END_TEST

START_TEST(the_fence_is_for_sampled_memory)
{
	profile.process.memory_bytes = 1 << 30;
	make_steps();
	ck_assert_uint_eq(limit_of(RLIMIT_DATA)->value[1], (2ULL << 30) + (512ULL << 20));
	setup_steps();
	profile.process.memory_bytes = 1 << 30;
	host.cgroup = (struct cgroup_host){.version = CGROUP_V2, .has_memory = true};
	make_steps();
	ck_assert_ptr_null(limit_of(RLIMIT_DATA));
}
END_TEST

/* What the plan calls processor affinity has to be a step. */
static const struct {
	struct cgroup_host cgroup;
	uint64_t cpus_milli, given; /* 0: no step */
} affinity_rows[] = {
	{{.version = CGROUP_NONE}, 0, 0},
	{{.version = CGROUP_NONE}, 999, 0},
	{{.version = CGROUP_NONE}, 1000, 1},
	{{.version = CGROUP_NONE}, 2500, 2},
	{{.version = CGROUP_V2, .has_memory = true, .has_cpu = true}, 2500, 0},
	{{.version = CGROUP_V2, .has_memory = true}, 2500, 2},
	{{.version = CGROUP_V1, .memory = "/m", .has_memory = true}, 2500, 2},
	{{.version = CGROUP_V1, .cpu = "/c", .has_cpu = true}, 2500, 2},
};

START_TEST(affinity_is_as_planned)
{
	host.cgroup = affinity_rows[_i].cgroup;
	profile.process.cpus_milli = affinity_rows[_i].cpus_milli;
	make_steps();
	const struct plan_item *item = item_of(BOUNDARY_PROCESS, "cpus");
	const struct step *affinity = find_step(STEP_AFFINITY, 0);
	bool promised = item->mechanism != NULL && strstr(item->mechanism, "affinity") != NULL;

	ck_assert(promised == (affinity_rows[_i].given != 0));
	ck_assert_uint_eq(affinity != NULL ? affinity->value[0] : 0, affinity_rows[_i].given);
}
END_TEST

/* ---- seccomp ---- */

static const struct {
	bool listener, filtered, plain;
} filter_rows[] = {
	{false, false, false}, {false, true, false}, {true, false, false}, {true, true, true}};

START_TEST(a_second_filter_where_a_listener_may_be_refused)
{
	with_listener = filter_rows[_i].listener;
	host.filtered = filter_rows[_i].filtered;
	make_steps();
	const struct step *step = find_step(STEP_SECCOMP, 0);

	ck_assert_uint_eq(step->flags, filter_rows[_i].listener);
	ck_assert_ptr_nonnull(step->filter);
	ck_assert_uint_gt(step->filter->len, 0);
	ck_assert((step->plain_filter != NULL) == filter_rows[_i].plain);
}
END_TEST

/* What the plan calls missing is not tried again. */
static const struct {
	struct label_fact label;
	bool keeper;
	const char *text;
} apparmor_rows[] = {
	{{.entered = "strict (enforce)"}, false, "exec strict"},
	{{.entered = "strict//&web (enforce)", .stacked = true}, false, "stack strict"},
	{{.entered = "strict (complain)"}, false, "exec strict"},
	{{.errnum = ENOENT}, false, NULL},
	{{.entered = "strict (enforce)"}, true, NULL},
};

START_TEST(an_apparmor_profile_is_asked_for_once)
{
	profile.privilege.apparmor = "strict";
	host.apparmor = true;
	host.label = apparmor_rows[_i].label;
	host.refused = apparmor_rows[_i].keeper ? CLONE_NEWPID : 0;
	make_steps();
	ck_assert_uint_eq(count_steps(STEP_APPARMOR), apparmor_rows[_i].text != NULL);
	if (apparmor_rows[_i].text != NULL)
		ck_assert_str_eq(find_step(STEP_APPARMOR, 0)->text, apparmor_rows[_i].text);
}
END_TEST

START_TEST(an_unknown_call_is_the_profiles_mistake)
{
	static const char *names[] = {"@default", "reed"};

	profile.privilege.syscalls = (struct string_list){names, 2};
	ck_assert_int_eq(try_arm(), -1);
	ck_assert_int_eq(err.kind, ERROR_PROFILE);
	assert_contains(err.text, "reed");
	assert_contains(err.text, "read");
}
END_TEST

/* Accepted by the profile as missing: then it is left out, and does not end the run. */
START_TEST(no_filter_step_without_seccomp)
{
	host.seccomp = false;
	profile.privilege.on_missing = ON_MISSING_ALLOW;
	profile.network.on_missing = ON_MISSING_ALLOW;
	make_steps();
	ck_assert_ptr_null(find_step(STEP_SECCOMP, 0));
}
END_TEST

/* ---- layers ---- */

START_TEST(layers_are_numbered_and_share_one_size)
{
	profile.file.writes = WRITES_DISCARD;
	profile.file.growth_bytes = 1 << 20;
	add_folder(PATH_READ, "/data");
	add_write("/data/out")->mode = S_IFDIR | 0775;
	add_write("/work");
	make_steps();
	for (unsigned i = 0; i < 2; i++) {
		const struct step *layer = find_step(STEP_OVERLAY, i);

		ck_assert_ptr_nonnull(layer);
		ck_assert_uint_eq(layer->flags, i);
		ck_assert_uint_eq(layer->value[3], 1 << 20);
	}
	ck_assert_uint_eq(step_at(STEP_OVERLAY, "data/out")->value[0], 0775);
	/* nothing of what is written to is attached as it is */
	ck_assert_ptr_null(step_at(STEP_ATTACH, "work"));
	ck_assert_ptr_null(step_at(STEP_SELF_BIND, "data/out"));
}
END_TEST

/* Only folders can have a layer: the plan refuses a file, or the host's own would be written. */
START_TEST(a_file_cannot_be_thrown_away)
{
	profile.file.writes = WRITES_DISCARD;
	add_path(PATH_WRITE, "/work/log", S_IFREG | 0644);
	make_plan();
	ck_assert_int_eq(plan_judge(&plan, &profile, false, NULL, &err), -1);
	assert_contains(err.text, "/work/log is a file");
	assert_contains(err.text, "list its folder");
}
END_TEST

/* And when the profile takes that: it is not written to behind its back, wherever it lies. */
START_TEST(a_file_that_cannot_be_thrown_away_is_read_only)
{
	profile.file.writes = WRITES_DISCARD;
	profile.file.on_missing = ON_MISSING_ALLOW;
	if (_i == 1)
		add_folder(PATH_READ, "/work");
	add_path(PATH_WRITE, "/work/log", S_IFREG | 0644);
	make_steps();
	for (size_t i = 0; i < arm.steps.count; i++) {
		const struct step *step = &arm.steps.items[i];
		bool mounts = step->id == STEP_SOURCE ||
			      (step->id == STEP_SELF_BIND && strcmp(step->path, "work/log") == 0);

		ck_assert_msg(!mounts || (step->value[2] & MOUNT_ATTR_RDONLY) != 0,
			      "%s is writable",
			      step->id == STEP_SOURCE ? step->source : step->path);
	}
}
END_TEST

START_TEST(a_restriction_is_lifted_below_by_name)
{
	add_write("/work");
	add_folder(PATH_PROTECT, "/work/p");
	add_folder(PATH_WRITE, "/work/p/free");
	make_steps();
	ck_assert_uint_eq(step_at(STEP_SELF_BIND, "work/p")->value[3], 0);
	ck_assert_uint_eq(step_at(STEP_SELF_BIND, "work/p/free")->value[3], MOUNT_ATTR_RDONLY);
	ck_assert_uint_ne(step_at(STEP_SELF_BIND, "work/p")->value[1], 0);
}
END_TEST

/* ---- sorting ---- */

static unsigned random_number(unsigned *state)
{
	*state = *state * 1103515245U + 12345U;
	return *state >> 16;
}

START_TEST(sorting_is_stable)
{
	struct steps steps = {.arena = &arena};
	unsigned state = (unsigned)_i, count = random_number(&state) % 200;

	for (unsigned i = 0; i < count; i++)
		steps_add(&steps, (enum step_id)(random_number(&state) % (_i % 2 ? 3 : STEP_MAX)))
			->slot = i;
	steps_sort(&steps);
	ck_assert_uint_eq(steps.count, count);
	for (unsigned i = 1; i < count; i++) {
		const struct step *a = &steps.items[i - 1], *b = &steps.items[i];

		ck_assert(a->id < b->id || (a->id == b->id && a->slot < b->slot));
	}
}
END_TEST

START_TEST(names_are_told_apart)
{
	for (int i = 0; i < STEP_MAX; i++) {
		ck_assert_ptr_nonnull(step_names[i]);
		for (int j = 0; j < i; j++)
			ck_assert_str_ne(step_names[i], step_names[j]);
	}
}
END_TEST

static void add(TCase *tcase)
{
	tcase_add_checked_fixture(tcase, setup_steps, NULL);
	tcase_add_test(tcase, an_ordinary_caller_maps_itself_twice);
	tcase_add_test(tcase, root_becomes_the_leased_id);
	tcase_add_test(tcase, more_owners_than_idmaps);
	tcase_add_loop_test(tcase, the_smaller_file_size_counts, 0, ROWS(file_size_rows));
	tcase_add_test(tcase, limits_as_asked);
	tcase_add_test(tcase, limits_never_above_the_callers);
	tcase_add_test(tcase, one_task_more_for_init);
	tcase_add_test(tcase, cpu_time_in_whole_seconds_upwards);
	tcase_add_test(tcase, the_fence_is_for_sampled_memory);
	tcase_add_loop_test(tcase, affinity_is_as_planned, 0, ROWS(affinity_rows));
	tcase_add_loop_test(tcase, a_second_filter_where_a_listener_may_be_refused, 0,
			    ROWS(filter_rows));
	tcase_add_loop_test(tcase, an_apparmor_profile_is_asked_for_once, 0, ROWS(apparmor_rows));
	tcase_add_test(tcase, an_unknown_call_is_the_profiles_mistake);
	tcase_add_test(tcase, no_filter_step_without_seccomp);
	tcase_add_test(tcase, layers_are_numbered_and_share_one_size);
	tcase_add_test(tcase, a_file_cannot_be_thrown_away);
	tcase_add_loop_test(tcase, a_file_that_cannot_be_thrown_away_is_read_only, 0, 2);
	tcase_add_test(tcase, a_restriction_is_lifted_below_by_name);
	tcase_add_loop_test(tcase, sorting_is_stable, 0, 20);
	tcase_add_test(tcase, names_are_told_apart);
}

int main(void)
{
	return run_suite("steps-values", add);
}
