// SPDX-License-Identifier: Apache-2.0
#include "boundary.h"

/* The steps that belong to no boundary, and the order of all. */

static void add_common(struct arm *arm)
{
	static const enum step_id plain[] = {STEP_PARENT_DEATH, STEP_SEND_FDS, STEP_REARM_DEATH,
					     STEP_FORK,         STEP_SESSION,  STEP_CLOSE,
					     STEP_WAIT_GO,      STEP_SIGNALS,  STEP_READY};

	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
		steps_add(&arm->steps, plain[i]);
	steps_add(&arm->steps, STEP_DIRECTORY_CHANGE)->path = arm->inside_cwd;
	struct step *exec = steps_add(&arm->steps, STEP_EXEC);
	exec->path = arm->program;
	exec->argv = arm->argv;
	exec->envp = arm->envp;
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
