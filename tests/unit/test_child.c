// SPDX-License-Identifier: Apache-2.0
/*
 * Set-up that fails: each step that can be made to, in a list of its own. The
 * supervisor gets the step, the error, its place and which of its calls it
 * was; the program never runs.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>

#include "child_doctors.h"
#include "child_doctors_tree.h"
#include "sys.h"

static const struct sock_filter allow_code[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
static const struct sock_fprog allow_all = {1, (struct sock_filter *)allow_code};
static const struct sock_fprog no_code = {0, (struct sock_filter *)allow_code};

static inline struct step *put_filter(const struct sock_fprog *filter, unsigned flags)
{
	struct step *step = put(STEP_SECCOMP);

	step->filter = filter;
	step->flags = flags;
	return step;
}

static void empty_filter(void)
{
	put_fork();
	put_filter(&no_code, 0);
}

static void empty_filter_with_listener(void)
{
	put_fork();
	put_filter(&no_code, 1);
}

/* The plain filter is for EBUSY alone. */
static void empty_filter_with_listener_and_a_plain_one(void)
{
	empty_filter_with_listener();
	list[list_count - 1].plain_filter = &allow_all;
}

static void a_second_listener(void)
{
	put_fork();
	put_filter(&allow_all, 1);
	put_filter(&allow_all, 1);
}

static void a_second_listener_and_an_empty_filter(void)
{
	a_second_listener();
	list[list_count - 1].plain_filter = &no_code;
}

/* ---- what the supervisor is told ---- */

enum { STAY = 0, NS = IN_NAMESPACE, WAIT = NO_GO };

static const struct row {
	void (*doctor)(void);
	int errnum;
	unsigned detail, flags;
} rows[] = {
	{maps_are_there_already, EPERM, 2, NS},
	{namespaces_of_no_kind, EINVAL, 1, NS},
	{source_is_not_there, ENOENT, 1, NS},
	{source_is_a_link, ELOOP, 1, NS},
	{source_was_replaced, ESTALE, 2, NS},
	{source_is_another_device, ESTALE, 2, NS},
	{source_with_unknown_flag, EINVAL, 3, NS},
	{skeleton_folder_without_parent, ENOENT, 1, NS},
	{skeleton_file_without_parent, ENOENT, 2, NS},
	{skeleton_link_without_parent, ENOENT, 3, NS},
	{root_of_no_size, EINVAL, 1, NS},
	{root_smaller_than_it_is, EINVAL, 2, NS},
	{root_is_nowhere, ENOENT, 3, NS},
	{folder_without_parent, ENOENT, 1, NS},
	{folder_of_an_unmapped_owner, EINVAL, 2, NS},
	{link_without_parent, ENOENT, 1, NS},
	{content_without_parent, ENOENT, 1, NS},
	{proc_of_somebody_else, EPERM, 2, NS},
	{terminals_without_a_folder, ENOENT, 5, NS},
	{attach_nowhere, ENOENT, 1, NS},
	{layer_without_a_stage, ENOENT, 1, NS},
	{layers_done_without_any, ENOENT, 1, NS},
	{bind_what_is_not_there, ENOENT, 1, NS},
	{bind_what_was_replaced, ESTALE, 2, NS},
	{bind_with_unknown_flag, EINVAL, 3, NS},
	{bind_across_a_link, ELOOP, 1, NS},
	{cover_what_is_not_there, ENOENT, 1, NS},
	{cover_across_a_link, ELOOP, 1, NS},
	{no_descriptors_to_send, EBADF, 1, STAY},
	{loopback_of_the_machine, EPERM, 2, NS},
	{name_of_the_machine, EPERM, 1, NS},
	{pivot_to_nowhere, EBADF, 1, NS},
	{root_without_hidden_names, EBADF, 1, NS},
	{become_without_privilege, EPERM, 1, NS},
	{inner_map_is_no_map, EINVAL, 3, NS},
	{inner_group_map_is_no_map, EINVAL, 4, NS},
	{inner_user_without_proc, EBADF, 2, NS},
	{capabilities_twice, EPERM, 1, NS},
	{ruleset_of_unknown_rights, EINVAL, 1, STAY},
	{rule_for_nothing, ENOENT, 2, STAY},
	{rule_of_rights_not_handled, EINVAL, 3, STAY},
	{nobody_lets_init_go_on, EPIPE, 1, WAIT},
	{session_twice, EPERM, 1, STAY},
	{no_stdin, EBADF, 1, STAY},
	{no_stdout, EBADF, 2, STAY},
	{no_stderr, EBADF, 3, STAY},
	{start_in_no_folder, ENOENT, 1, STAY},
	{limit_of_nothing, EINVAL, 1, STAY},
	{limit_upside_down, EINVAL, 2, STAY},
	{affinity_to_nothing, EINVAL, 2, STAY},
	{landlock_without_ruleset, EBADF, 1, STAY},
	{nobody_lets_the_program_go, EPIPE, 1, WAIT},
	{empty_filter, EINVAL, 1, STAY},
	{empty_filter_with_listener, EINVAL, 3, STAY},
	{empty_filter_with_listener_and_a_plain_one, EINVAL, 3, STAY},
	{a_second_listener, EBUSY, 3, STAY},
	{a_second_listener_and_an_empty_filter, EINVAL, 4, STAY},
	{exec_of_nothing, ENOENT, 1, STAY},
	{exec_of_a_folder, EACCES, 1, STAY},
};

static bool lacks_landlock(void)
{
	return sys_landlock_create_ruleset(NULL, 0, LANDLOCK_CREATE_RULESET_VERSION) < 1;
}

/* The list after the step that is to fail, as if it did not. */
static size_t doctor(const struct row *row)
{
	row->doctor();
	size_t failing = list_count - 1;

	if (list[failing].id == STEP_EXEC)
		return failing;
	if (list[failing].id < STEP_FORK)
		put_fork();
	put(STEP_READY);
	put_program("true");
	return failing;
}

START_TEST(a_failing_step_is_told_and_nothing_runs)
{
	const struct row *row = &rows[_i];
	struct fault fault;

	if ((row->flags & IN_NAMESPACE) != 0 && !can_make_namespaces())
		return;
	size_t failing = doctor(row);
	if ((list[failing].id == STEP_RULESET || list[failing].id == STEP_LANDLOCK) &&
	    lacks_landlock()) {
		puts("skipped: child: no Landlock here");
		return;
	}
	start(row->flags);
	if ((row->flags & NO_GO) != 0)
		close(go_fd);
	ck_assert_msg(take_fault(&fault), "%s: no fault", step_names[list[failing].id]);
	ck_assert_str_eq(fault.id < STEP_MAX ? step_names[fault.id] : "?",
			 step_names[list[failing].id]);
	ck_assert_msg(fault.errnum == row->errnum, "%s: %s instead of %s", step_names[fault.id],
		      strerror(fault.errnum), strerror(row->errnum));
	ck_assert_uint_eq(fault.index, failing);
	ck_assert_uint_eq(fault.detail, row->detail);
	ck_assert_msg(!take_fault(&fault), "more than one fault");
	int status = end_of_init();
	/* the program's failure is init's only by its report */
	ck_assert(exited_with(status, list[failing].id > STEP_FORK ? 0 : 125));
	ck_assert(!program_ran());
}
END_TEST

static void add(TCase *tcase)
{
	tcase_add_loop_test(tcase, a_failing_step_is_told_and_nothing_runs, 0, ROWS(rows));
}

int main(void)
{
	return run_suite("child", add);
}
