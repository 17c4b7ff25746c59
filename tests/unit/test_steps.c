// SPDX-License-Identifier: Apache-2.0
/*
 * What the new process is told to do, for runs made up as a whole: as golden
 * text (REGENERATE=1 writes it anew), and what holds for every list: the order,
 * one mount point for each mount, no path out of the new root.
 */
#include "steps_runs.h"

START_TEST(steps_are_golden)
{
	char path[128];

	arm_run(_i);
	snprintf(path, sizeof(path), "tests/golden/steps-%s.txt", runs[_i].name);
	compare_golden(path, steps_print(&arena, &arm.steps));
}
END_TEST

/* ---- the order ---- */

/* What has to be over before what begins; the reasons are in step.h. */
static const struct {
	enum step_id before, after;
} order[] = {
	{STEP_ID_MAPS, STEP_NAMESPACES},
	{STEP_NAMESPACES, STEP_PRIVATE_MOUNTS},
	{STEP_NAMESPACES, STEP_LOOPBACK},
	{STEP_PARENT_DEATH, STEP_PRIVATE_MOUNTS},
	{STEP_PRIVATE_MOUNTS, STEP_DEVICE},
	{STEP_PRIVATE_MOUNTS, STEP_SOURCE},
	{STEP_NEW_ROOT, STEP_SKELETON},
	{STEP_SKELETON, STEP_SHOW_ROOT},
	{STEP_PROC, STEP_SHOW_ROOT},
	{STEP_DEVPTS, STEP_SHOW_ROOT},
	{STEP_DEVICE, STEP_SHOW_ROOT},
	{STEP_SOURCE, STEP_SHOW_ROOT},
	{STEP_SHOW_ROOT, STEP_DIRECTORY},
	{STEP_DIRECTORY, STEP_LINK},
	{STEP_DIRECTORY, STEP_CONTENT},
	{STEP_SHOW_ROOT, STEP_ATTACH},
	{STEP_CONTENT, STEP_ATTACH},
	{STEP_ATTACH, STEP_OVERLAY},
	{STEP_OVERLAY, STEP_OVERLAYS_DONE},
	{STEP_ATTACH, STEP_SELF_BIND},
	{STEP_OVERLAYS_DONE, STEP_PIVOT},
	{STEP_SELF_BIND, STEP_COVER},
	{STEP_PROC, STEP_COVER},
	{STEP_COVER, STEP_PIVOT},
	{STEP_PROC, STEP_SEND_FDS},
	{STEP_PIVOT, STEP_READ_ONLY_ROOT},
	{STEP_LOOPBACK, STEP_BECOME},
	{STEP_LOOPBACK, STEP_INNER_USER},
	{STEP_HOSTNAME, STEP_BECOME},
	{STEP_HOSTNAME, STEP_INNER_USER},
	{STEP_READ_ONLY_ROOT, STEP_BECOME},
	{STEP_READ_ONLY_ROOT, STEP_INNER_USER},
	{STEP_BECOME, STEP_INNER_USER},
	{STEP_INNER_USER, STEP_NO_MORE_NAMESPACES},
	{STEP_NO_MORE_NAMESPACES, STEP_CAPABILITIES},
	{STEP_INNER_USER, STEP_CAPABILITIES},
	{STEP_CAPABILITIES, STEP_NO_NEW_PRIVS},
	{STEP_BECOME, STEP_REARM_DEATH},
	{STEP_CAPABILITIES, STEP_REARM_DEATH},
	{STEP_PIVOT, STEP_RULESET},
	{STEP_RULESET, STEP_FORK},
	{STEP_BECOME, STEP_TERMINAL},
	{STEP_INNER_USER, STEP_TERMINAL},
	{STEP_TERMINAL, STEP_FORK},
	{STEP_TERMINAL, STEP_SESSION},
	{STEP_SESSION, STEP_STDIO},
	{STEP_WAIT_ATTACH, STEP_FORK},
	{STEP_FORK, STEP_SESSION},
	{STEP_DIRECTORY_CHANGE, STEP_LANDLOCK},
	{STEP_LIMIT, STEP_LANDLOCK},
	{STEP_NO_NEW_PRIVS, STEP_LANDLOCK},
	{STEP_STDIO, STEP_CLOSE},
	{STEP_LANDLOCK, STEP_CLOSE},
	{STEP_CLOSE, STEP_READY},
	{STEP_WAIT_GO, STEP_SIGNALS},
	{STEP_WAIT_GO, STEP_READY},
	{STEP_SIGNALS, STEP_READY},
	{STEP_NO_NEW_PRIVS, STEP_SECCOMP},
	{STEP_READY, STEP_SECCOMP},
	{STEP_SECCOMP, STEP_EXEC},
};

static void assert_before(enum step_id before, enum step_id after)
{
	size_t last = 0, first = arm.steps.count;
	bool is_there = false;

	for (size_t i = 0; i < arm.steps.count; i++) {
		if (arm.steps.items[i].id == before) {
			is_there = true;
			last = i;
		}
		if (arm.steps.items[i].id == after && first == arm.steps.count)
			first = i;
	}
	ck_assert_msg(!is_there || last < first, "%s at %zu, %s at %zu", step_names[before], last,
		      step_names[after], first);
}

START_TEST(each_list_is_in_order)
{
	arm_run(_i);
	for (size_t i = 0; i < COUNT(order); i++)
		assert_before(order[i].before, order[i].after);
	for (size_t i = 1; i < arm.steps.count; i++)
		ck_assert_int_le(arm.steps.items[i - 1].id, arm.steps.items[i].id);
	ck_assert_int_eq(arm.steps.items[arm.steps.count - 1].id, STEP_EXEC);
}
END_TEST

/* Without any of these a sandbox is none; twice is a mistake. */
START_TEST(what_every_list_has_once)
{
	static const enum step_id once[] = {STEP_PARENT_DEATH,
					    STEP_PRIVATE_MOUNTS,
					    STEP_NEW_ROOT,
					    STEP_PROC,
					    STEP_DEVPTS,
					    STEP_SEND_FDS,
					    STEP_HOSTNAME,
					    STEP_PIVOT,
					    STEP_READ_ONLY_ROOT,
					    STEP_INNER_USER,
					    STEP_NO_MORE_NAMESPACES,
					    STEP_CAPABILITIES,
					    STEP_NO_NEW_PRIVS,
					    STEP_REARM_DEATH,
					    STEP_FORK,
					    STEP_SESSION,
					    STEP_STDIO,
					    STEP_DIRECTORY_CHANGE,
					    STEP_CLOSE,
					    STEP_WAIT_GO,
					    STEP_SIGNALS,
					    STEP_READY,
					    STEP_SECCOMP,
					    STEP_EXEC};

	arm_run(_i);
	for (size_t i = 0; i < COUNT(once); i++)
		ck_assert_msg(count_steps(once[i]) == 1, "%zu of %s", count_steps(once[i]),
			      step_names[once[i]]);
	ck_assert_uint_eq(count_steps(STEP_ID_MAPS), host.root ? 0 : 1);
	ck_assert_uint_eq(count_steps(STEP_BECOME), host.root ? 1 : 0);
	ck_assert_uint_eq(count_steps(STEP_LOOPBACK), profile.network.mode == NETWORK_HOST ? 0 : 1);
	ck_assert_uint_eq(count_steps(STEP_RULESET), host.landlock_abi >= 2 ? 1 : 0);
	ck_assert_uint_eq(count_steps(STEP_LANDLOCK), host.landlock_abi >= 2 ? 1 : 0);
	ck_assert_uint_eq(count_steps(STEP_WAIT_ATTACH), plan.attach_first ? 1 : 0);
	ck_assert_uint_eq(count_steps(STEP_OVERLAYS_DONE), count_steps(STEP_OVERLAY) > 0 ? 1 : 0);
}
END_TEST

/* ---- the tree ---- */

static bool is_inside(enum step_id id)
{
	return id == STEP_DIRECTORY || id == STEP_LINK || id == STEP_CONTENT || id == STEP_ATTACH ||
	       id == STEP_OVERLAY || id == STEP_SELF_BIND || id == STEP_COVER;
}

START_TEST(paths_are_below_the_new_root)
{
	arm_run(_i);
	for (size_t i = 0; i < arm.steps.count; i++) {
		const struct step *step = &arm.steps.items[i];

		if (!is_inside(step->id))
			continue;
		ck_assert_msg(step->path[0] != '/' && step->path[0] != '\0', "%s %s",
			      step_names[step->id], step->path);
		ck_assert_ptr_null(strstr(arena_printf(&arena, "/%s/", step->path), "/../"));
	}
}
END_TEST

static bool in_skeleton(const char *path)
{
	const char *const *made = find_step(STEP_SKELETON, 0)->skeleton->folders;

	while (*made != NULL && strcmp(*made, path) != 0)
		made++;
	return *made != NULL;
}

static bool has_parent(const struct step *step, size_t len)
{
	const char *path = arena_strndup(&arena, step->path, len);
	const struct step *parent = step_at(STEP_DIRECTORY, path);

	return in_skeleton(path) || (parent != NULL && parent < step);
}

/* Every folder's parent is made before it, and nothing is made twice. */
START_TEST(mount_points_are_made_once_parents_first)
{
	arm_run(_i);
	for (size_t i = 0; i < arm.steps.count; i++) {
		const struct step *step = &arm.steps.items[i];
		bool makes = step->id == STEP_DIRECTORY || step->id == STEP_LINK ||
			     step->id == STEP_CONTENT;

		if (!makes)
			continue;
		const char *slash = strrchr(step->path, '/');
		ck_assert_msg(slash == NULL || has_parent(step, (size_t)(slash - step->path)),
			      "%s %s comes without its parent", step_names[step->id], step->path);
		for (size_t j = i + 1; j < arm.steps.count; j++)
			if (is_inside(arm.steps.items[j].id) &&
			    arm.steps.items[j].id <= STEP_CONTENT)
				ck_assert_msg(strcmp(step->path, arm.steps.items[j].path) != 0,
					      "%s is made twice", step->path);
		ck_assert_msg(!in_skeleton(step->path), "%s is made twice", step->path);
	}
}
END_TEST

START_TEST(each_source_is_attached_once)
{
	bool attached[64] = {false};

	arm_run(_i);
	ck_assert_uint_eq(count_steps(STEP_DEVICE) + count_steps(STEP_SOURCE), arm.steps.slots);
	ck_assert_uint_eq(count_steps(STEP_ATTACH) + count_steps(STEP_OVERLAY), arm.steps.slots);
	for (unsigned i = 0; i < arm.steps.slots; i++)
		ck_assert_uint_eq(find_source(i)->slot, i);
	for (size_t i = 0; i < arm.steps.count; i++) {
		const struct step *step = &arm.steps.items[i];

		if (step->id != STEP_ATTACH && step->id != STEP_OVERLAY)
			continue;
		ck_assert_uint_lt(step->slot, arm.steps.slots);
		ck_assert(!attached[step->slot]);
		attached[step->slot] = true;
		ck_assert_str_eq(find_source(step->slot)->source + 1, step->path);
	}
}
END_TEST

static bool is_mount(const struct step *step)
{
	return step->id == STEP_ATTACH || step->id == STEP_OVERLAY ||
	       (step->id == STEP_SELF_BIND && step->flags != 1);
}

/* Flags of a mount are set with all that is below it at that moment. */
static void assert_mounts_nest(void)
{
	for (size_t i = 0; i < arm.steps.count; i++)
		for (size_t j = i + 1; j < arm.steps.count; j++) {
			const struct step *first = &arm.steps.items[i];
			const struct step *then = &arm.steps.items[j];

			ck_assert_msg(!is_mount(first) || !is_mount(then) ||
					      !path_is_below(first->path, then->path),
				      "%s %s comes after %s %s", step_names[then->id], then->path,
				      step_names[first->id], first->path);
		}
}

START_TEST(mounts_above_come_first)
{
	arm_run(_i);
	assert_mounts_nest();
}
END_TEST

START_TEST(mounts_above_come_first_also_with_layers)
{
	profile.file.writes = WRITES_DISCARD;
	add_write("/work");
	add_folder(PATH_PROTECT, "/work/held");
	add_write("/work/held/free");
	make_steps();
	assert_mounts_nest();
}
END_TEST

/* Whatever the run: only what is listed under write can be written to, only exec executed. */
START_TEST(mounts_are_restricted)
{
	arm_run(_i);
	for (unsigned i = 0; i < arm.steps.slots; i++) {
		const struct step *source = find_source(i);
		const struct file_entry *entry = file_entry_for(&entries, source->source);
		unsigned kinds = entry != NULL ? entry->kinds : 0;
		bool device = strncmp(source->source, "/dev/", 5) == 0;

		ck_assert((source->value[2] & MOUNT_ATTR_NOSUID) != 0);
		ck_assert(device || (source->value[2] & MOUNT_ATTR_NODEV) != 0);
		ck_assert(strcmp(source->source, "/dev/kvm") == 0 ||
			  (kinds & KIND(PATH_WRITE)) != 0 ||
			  (source->value[2] & MOUNT_ATTR_RDONLY) != 0);
		ck_assert((kinds & (KIND(PATH_WRITE) | KIND(PATH_EXEC))) != 0 ||
			  (source->value[2] & MOUNT_ATTR_NOEXEC) != 0);
		/* a node that the profile does not list is known by its number */
		ck_assert(source->value[1] != 0 || source->id == STEP_DEVICE);
		ck_assert((source->idmap == OWNERS_IDMAP) ==
			  (host.root && (kinds & KIND(PATH_WRITE)) != 0));
	}
}
END_TEST

/* ---- Landlock ---- */

START_TEST(rules_stay_within_the_ruleset)
{
	arm_run(_i);
	const struct step *ruleset = find_step(STEP_RULESET, 0);

	if (ruleset == NULL)
		return;
	ck_assert_uint_eq(ruleset->value[0], landlock_rights(host.landlock_abi));
	ck_assert_uint_eq(ruleset->value[2], 3);
	for (size_t i = 0; i < ruleset->rule_count; i++) {
		const struct landlock_rule *rule = &ruleset->rules[i];
		const struct file_entry *entry = file_entry_for(&entries, rule->path);

		ck_assert_int_eq(rule->path[0], '/');
		ck_assert_msg(rule->access != 0, "%s: a rule without rights (ENOMSG)", rule->path);
		ck_assert_uint_eq(rule->access & ~ruleset->value[0], 0);
		/* what is hidden is not there to make a rule for */
		for (size_t e = 0; e < entries.count; e++)
			ck_assert((entries.items[e].kinds & KIND(PATH_HIDE)) == 0 ||
				  !path_is_below(rule->path, entries.items[e].path));
		if (entry != NULL && !S_ISDIR(entry->fact->mode))
			ck_assert_msg((rule->access & ~0xc007ULL) == 0, "%s is a file: %#llx",
				      rule->path, (unsigned long long)rule->access);
	}
}
END_TEST

START_TEST(no_rule_for_what_is_listed_and_hidden)
{
	add_folder(PATH_READ, "/opt");
	add_folder(PATH_HIDE, "/opt");
	make_steps();
	const struct step *ruleset = find_step(STEP_RULESET, 0);

	for (size_t i = 0; i < ruleset->rule_count; i++)
		ck_assert_str_ne(ruleset->rules[i].path, "/opt");
	ck_assert_ptr_null(step_at(STEP_ATTACH, "opt"));
}
END_TEST

static void add(TCase *tcase)
{
	tcase_add_checked_fixture(tcase, setup_steps, NULL);
	tcase_add_loop_test(tcase, steps_are_golden, 0, ROWS(runs));
	tcase_add_loop_test(tcase, each_list_is_in_order, 0, ROWS(runs));
	tcase_add_loop_test(tcase, what_every_list_has_once, 0, ROWS(runs));
	tcase_add_loop_test(tcase, paths_are_below_the_new_root, 0, ROWS(runs));
	tcase_add_loop_test(tcase, mount_points_are_made_once_parents_first, 0, ROWS(runs));
	tcase_add_loop_test(tcase, each_source_is_attached_once, 0, ROWS(runs));
	tcase_add_loop_test(tcase, mounts_above_come_first, 0, ROWS(runs));
	tcase_add_test(tcase, mounts_above_come_first_also_with_layers);
	tcase_add_loop_test(tcase, mounts_are_restricted, 0, ROWS(runs));
	tcase_add_loop_test(tcase, rules_stay_within_the_ruleset, 0, ROWS(runs));
	tcase_add_test(tcase, no_rule_for_what_is_listed_and_hidden);
}

int main(void)
{
	return run_suite("steps", add);
}
