// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_CHILD_DOCTORS_H
#define SBOX_CHILD_DOCTORS_H

/* Lists of steps whose last one fails. */
#include <sys/resource.h>

#include "child_fixture.h"

enum { BAD_FD = 900, BAD_FLAG = 1U << 31 };

static void set_ino(struct step *step, uint64_t inode)
{
	step->value[0] = 1;
	step->value[1] = inode;
}

static void maps_are_there_already(void)
{
	put(STEP_ID_MAPS)->text = "0 0 1";
}

static void source_is_not_there(void)
{
	put(STEP_SOURCE)->source = "/tmp/sbox/nowhere";
}

static void source_is_a_link(void)
{
	put(STEP_SOURCE)->source = "/proc/self/cwd";
}

static void source_was_replaced(void)
{
	struct step *step = put(STEP_SOURCE);

	step->source = "/usr";
	set_ino(step, 1234567890123);
}

static void source_is_another_device(void)
{
	struct step *step = put(STEP_SOURCE);

	step->source = "/dev/null";
	step->flags = 4711;
}

static void source_with_unknown_flag(void)
{
	struct step *step = put(STEP_SOURCE);

	step->source = "/usr";
	step->value[2] = BAD_FLAG;
}

static void root_of_no_size(void)
{
	struct step *step = put(STEP_NEW_ROOT);

	step->text = "much";
	step->source = "100";
	step->path = base;
}

static inline struct step *put_root(const char *path)
{
	struct step *step = put(STEP_NEW_ROOT);

	step->text = "1048576";
	step->source = "100";
	step->path = path;
	return step;
}

static void root_is_nowhere(void)
{
	put_root("/tmp/sbox/nowhere");
}

static void folder_without_parent(void)
{
	put_root(base);
	put(STEP_DIRECTORY)->path = "a/b";
}

static void folder_of_an_unmapped_owner(void)
{
	put_root(base);
	struct step *step = put(STEP_DIRECTORY);

	step->path = "a";
	step->value[1] = 12345;
}

static void link_without_parent(void)
{
	put_root(base);
	struct step *step = put(STEP_LINK);

	step->path = "a/b";
	step->text = "c";
}

static void content_without_parent(void)
{
	put_root(base);
	put(STEP_CONTENT)->path = "a/b";
}

/* Of the machine's pid namespace, which is not the test's own. */
static void proc_of_somebody_else(void)
{
	put_root(base);
	put(STEP_PROC);
}

static void terminals_without_a_folder(void)
{
	put_root(base);
	put(STEP_DEVPTS);
}

static void attach_nowhere(void)
{
	put(STEP_SOURCE)->source = "/usr/bin";
	put_root(base);
	put(STEP_ATTACH)->path = "usr";
}

/* The stage of the layers is fixed below /tmp, where this root is not. */
static void layer_without_a_stage(void)
{
	put_root(base);
	put(STEP_OVERLAY)->path = "work";
}

static void layers_done_without_any(void)
{
	put_root(base);
	put(STEP_OVERLAYS_DONE);
}

static void bind_what_is_not_there(void)
{
	put_root(base);
	put(STEP_SELF_BIND)->path = "a";
}

static void bind_what_was_replaced(void)
{
	put_root(base);
	put(STEP_DIRECTORY)->path = "a";
	struct step *step = put(STEP_SELF_BIND);

	step->path = "a";
	set_ino(step, 1234567890123);
}

static void bind_with_unknown_flag(void)
{
	put_root(base);
	put(STEP_DIRECTORY)->path = "a";
	struct step *step = put(STEP_SELF_BIND);

	step->path = "a";
	step->value[2] = BAD_FLAG;
}

static void bind_across_a_link(void)
{
	put_root(base);
	put(STEP_DIRECTORY)->path = "a";
	struct step *step = put(STEP_LINK);

	step->path = "b";
	step->text = "a";
	put(STEP_SELF_BIND)->path = "b/x";
}

static void cover_what_is_not_there(void)
{
	put_root(base);
	put(STEP_COVER)->path = "a";
}

static void cover_across_a_link(void)
{
	put_root(base);
	struct step *step = put(STEP_LINK);

	step->path = "a";
	step->text = "/etc";
	step = put(STEP_COVER);
	step->path = "a/passwd";
	step->flags = 1;
}

static void no_descriptors_to_send(void)
{
	put(STEP_SEND_FDS);
}

static void loopback_of_the_machine(void)
{
	put(STEP_LOOPBACK);
}

static void name_of_the_machine(void)
{
	put(STEP_HOSTNAME)->text = "sbox-test";
}

static void pivot_to_nowhere(void)
{
	put(STEP_PIVOT);
}

static void root_without_hidden_names(void)
{
	put(STEP_READ_ONLY_ROOT);
}

static void become_without_privilege(void)
{
	put(STEP_BECOME)->value[0] = 12345;
}

static void inner_map_is_no_map(void)
{
	put(STEP_PRIVATE_MOUNTS);
	put(STEP_INNER_USER)->text = "nonsense";
}

static void inner_group_map_is_no_map(void)
{
	put(STEP_PRIVATE_MOUNTS);
	struct step *step = put(STEP_INNER_USER);

	step->text = "1000 0 1";
	step->source = "nonsense";
}

static void inner_user_without_proc(void)
{
	put(STEP_INNER_USER)->text = "1000 0 1";
}

static void capabilities_twice(void)
{
	put(STEP_CAPABILITIES);
	put(STEP_CAPABILITIES);
}

static void ruleset_of_unknown_rights(void)
{
	put(STEP_RULESET)->value[0] = 1ULL << 60;
}

static inline struct step *put_rule(const char *path, uint64_t access)
{
	static struct landlock_rule rule;
	struct step *step = put(STEP_RULESET);

	rule = (struct landlock_rule){.path = path, .access = access, .slot = -1};
	step->value[0] = 0xf;
	step->rules = &rule;
	step->rule_count = 1;
	return step;
}

static void rule_for_nothing(void)
{
	put_rule("/tmp/sbox/nowhere", 1);
}

static void rule_of_rights_not_handled(void)
{
	put_rule("/usr", 1 << 12);
}

static void nobody_lets_init_go_on(void)
{
	put(STEP_WAIT_ATTACH);
}

static void session_twice(void)
{
	put_fork();
	put(STEP_SESSION);
	put(STEP_SESSION);
}

static inline struct step *put_stdio(uint64_t in, uint64_t out, uint64_t err)
{
	put_fork();
	struct step *step = put(STEP_STDIO);

	step->value[0] = in;
	step->value[1] = out;
	step->value[2] = err;
	return step;
}

static void no_stdin(void)
{
	put_stdio(BAD_FD, 1, 2);
}

static void no_stdout(void)
{
	put_stdio(0, BAD_FD, 2);
}

static void no_stderr(void)
{
	put_stdio(0, 1, BAD_FD);
}

static void start_in_no_folder(void)
{
	put_fork();
	put(STEP_DIRECTORY_CHANGE)->path = "/tmp/sbox/nowhere";
}

static void limit_of_nothing(void)
{
	put_fork();
	put(STEP_LIMIT)->value[0] = 4711;
}

static void limit_upside_down(void)
{
	put_fork();
	struct step *step = put(STEP_LIMIT);

	step->value[0] = RLIMIT_CORE;
	step->value[1] = 1;
	step->value[2] = 0;
}

static void affinity_to_nothing(void)
{
	put_fork();
	put(STEP_AFFINITY);
}

static void landlock_without_ruleset(void)
{
	put_fork();
	put(STEP_LANDLOCK);
}

static void nobody_lets_the_program_go(void)
{
	put_fork();
	put(STEP_WAIT_GO);
}

static void exec_of(const char *path)
{
	put_fork();
	put_program("true");
	list[list_count - 1].path = path;
}

static void exec_of_nothing(void)
{
	exec_of("/tmp/sbox/nowhere");
}

static void exec_of_a_folder(void)
{
	exec_of("/usr");
}

#endif
