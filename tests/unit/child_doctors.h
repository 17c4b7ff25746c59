// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_CHILD_DOCTORS_H
#define SBOX_CHILD_DOCTORS_H

/* Lists of steps whose last one fails; those that build the tree are in child_doctors_tree.h. */
#include <sys/resource.h>

#include "child_fixture.h"

enum { BAD_FD = 900 };

static void maps_are_there_already(void)
{
	put(STEP_ID_MAPS)->text = "0 0 1";
}

static void namespaces_of_no_kind(void)
{
	put(STEP_NAMESPACES)->value[0] = 1;
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
