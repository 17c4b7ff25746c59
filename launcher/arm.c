// SPDX-License-Identifier: Apache-2.0
#include "boundary.h"

#include <sched.h>
#include <unistd.h>

/* The steps that belong to no boundary, and the order of all. */

static void add_common(struct arm *arm)
{
	static const enum step_id plain[] = {STEP_PARENT_DEATH, STEP_FORK,    STEP_CLOSE,
					     STEP_WAIT_GO,      STEP_SIGNALS, STEP_READY};
	const uint64_t made = arm->plan->namespaces & ~(uint64_t)BIRTH_NAMESPACES;

	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
		steps_add(&arm->steps, plain[i]);
	if (made != 0)
		steps_add(&arm->steps, STEP_NAMESPACES)->value[0] = made;
	/* a keeper has to outlive its supervisor, if only for a moment */
	steps_add(&arm->steps, STEP_REARM_DEATH)->flags = arm->plan->keeper;
	if (arm->plan->tree)
		steps_add(&arm->steps, STEP_SEND_FDS);
	steps_add(&arm->steps, STEP_SESSION)->flags = arm->foreground;
	if (arm->terminal != NULL)
		steps_add(&arm->steps, STEP_TERMINAL)->terminal = arm->terminal;
	steps_add(&arm->steps, STEP_DIRECTORY_CHANGE)->path = arm->inside_cwd;
	struct step *exec = steps_add(&arm->steps, STEP_EXEC);
	exec->path = arm->program;
	exec->argv = arm->argv;
	exec->envp = arm->envp;
	exec->value[0] = arm->exec_mark;
}

int arm_all(struct arm *arm, struct error *err)
{
	int (*const boundaries[BOUNDARY_MAX])(struct arm *, struct error *) = {
		[BOUNDARY_FILE] = file_arm,       [BOUNDARY_NETWORK] = network_arm,
		[BOUNDARY_PROCESS] = process_arm, [BOUNDARY_PRIVILEGE] = privilege_arm,
		[BOUNDARY_TIME] = time_arm,
	};

	arm->steps.arena = arm->arena;
	add_common(arm);
	for (int i = 0; i < BOUNDARY_MAX; i++)
		if (boundaries[i](arm, err) != 0)
			return -1;
	return 0;
}

void arm_maps(struct arena *arena, struct steps *steps, uid_t uid, gid_t gid)
{
	struct step *maps = steps_add(steps, STEP_ID_MAPS);

	maps->text = arena_printf(arena, "0 %u 1", uid);
	maps->source = arena_printf(arena, "0 %u 1", gid);
}

enum { GUESS_MAX = 24 };

void arm_guess(struct arena *arena, struct steps *steps, uint64_t *ret_namespaces)
{
	bool root = geteuid() == 0;

	*ret_namespaces = CLONE_NEWPID | (root ? 0 : CLONE_NEWUSER);
	steps->arena = arena;
	steps->items = arena_alloc(arena, GUESS_MAX * sizeof(*steps->items));
	if (!root)
		arm_maps(arena, steps, geteuid(), getegid());
	steps_add(steps, STEP_NAMESPACES)->value[0] =
		CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP;
	steps_add(steps, STEP_PARENT_DEATH);
	steps_add(steps, STEP_PRIVATE_MOUNTS)->flags = root;
	steps_add(steps, STEP_LOOPBACK);
	file_arm_skeleton(steps, true);
}
