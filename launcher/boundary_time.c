// SPDX-License-Identifier: Apache-2.0
#include "boundary.h"

#include <sys/resource.h>

/*
 * Wall clock by a timerfd on CLOCK_MONOTONIC in the supervisor (a step of the
 * host's clock does not move it). CPU time of the whole tree by cgroup or by
 * the sum over the tree's processes, and per process by RLIMIT_CPU.
 */

static void plan_cpu(const struct profile *profile, struct plan *plan)
{
	struct plan_item *item = plan_add(plan, BOUNDARY_TIME, "cpu",
					  plan_duration(plan->arena, profile->time.cpu_ms));

	if (profile->time.cpu_ms == 0)
		return;
	if (plan->count_cpu_by_cgroup)
		plan_enforced(item, "cgroup cpu accounting, RLIMIT_CPU", NULL);
	else
		plan_enforced(item, "sum over the tree's processes, RLIMIT_CPU",
			      "time of a child that nobody waits for and that lives between two "
			      "looks is not seen; the wall clock bounds it");
}

void time_plan(const struct profile *profile, const struct host *host, struct plan *plan)
{
	struct arena *arena = plan->arena;
	struct plan_item *wall =
		plan_add(plan, BOUNDARY_TIME, "wall", plan_duration(arena, profile->time.wall_ms));

	(void)host;
	if (profile->time.wall_ms != 0)
		plan_enforced(wall, "timerfd in the supervisor", NULL);
	plan_cpu(profile, plan);
	struct plan_item *grace = plan_add(plan, BOUNDARY_TIME, "grace",
					   plan_duration(arena, profile->time.grace_ms));
	plan_enforced(grace,
		      plan->keeper ? "SIGTERM, then SIGKILL to all by the keeper"
				   : "SIGTERM, then SIGKILL to pid 1 of the sandbox",
		      NULL);
	if (profile->time.on_timeout == ON_TIMEOUT_FREEZE) {
		struct plan_item *freeze = plan_add(plan, BOUNDARY_TIME, "on_timeout", "freeze");

		plan_missing(freeze, "this version can only kill at a time limit; "
				     "write on_timeout = kill");
	}
}

int time_arm(struct arm *arm, struct error *err)
{
	uint64_t ms = arm->profile->time.cpu_ms;

	(void)err;
	if (ms == 0)
		return 0;
	struct step *limit = steps_add(&arm->steps, STEP_LIMIT);
	limit->value[0] = RLIMIT_CPU;
	/* whole seconds, rounded up; SIGXCPU at the soft limit, SIGKILL a second later */
	limit->value[1] = (ms + 999) / 1000;
	limit->value[2] = limit->value[1] + 1;
	return 0;
}
