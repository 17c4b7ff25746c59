// SPDX-License-Identifier: Apache-2.0
#include "boundary.h"

#include <sched.h>
#include <sys/resource.h>

/*
 * Namespaces hide every other process; limits come from a cgroup where the
 * caller has one, from rlimits, and from looking at the whole tree's memory.
 *
 * cgroup v1 cannot take a process at birth, and moving one costs 11-15 ms (it
 * waits for an RCU grace period). There, `on_missing = refuse` buys the exact limit
 * at that price; otherwise memory is sampled, and the plan says so.
 */

static const char sampled[] = "sampled, so a burst can overshoot; socket and pipe buffers are not "
			      "counted, memfd_create and "
			      "shmget are refused";

static void plan_namespaces(const struct host *host, struct plan *plan)
{
	struct plan_item *item =
		plan_add(plan, BOUNDARY_PROCESS, "namespaces", "pid, ipc, uts, cgroup");

	(void)host;
	plan->namespaces |= CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP;
	plan_enforced(item, "pid, ipc, uts and cgroup namespaces, landlock signal scope",
		      "the kernel is shared with the host");
	if (host->landlock_abi < 6)
		item->mechanism = "pid, ipc, uts and cgroup namespaces";
}

static void decide_cgroup(const struct profile *profile, const struct host *host, struct plan *plan)
{
	const struct cgroup_host *cgroup = &host->cgroup;
	bool wanted = profile->process.memory_bytes != 0 || profile->process.cpus_milli != 0;

	if (cgroup->version == CGROUP_V2 && cgroup->has_memory) {
		plan->use_cgroup = true;
	} else if (cgroup->version == CGROUP_V1 && cgroup->has_memory && wanted &&
		   profile->process.on_missing == ON_MISSING_REFUSE) {
		plan->use_cgroup = true;
		plan->attach_first = true;
	}
	plan->count_cpu_by_cgroup =
		plan->use_cgroup && (cgroup->version == CGROUP_V2 || cgroup->cpuacct != NULL);
}

static void plan_memory(const struct profile *profile, const struct host *host, struct plan *plan)
{
	uint64_t bytes = profile->process.memory_bytes;
	struct plan_item *item =
		plan_add(plan, BOUNDARY_PROCESS, "memory", plan_size(plan->arena, bytes));

	if (bytes == 0)
		return;
	if (plan->use_cgroup) {
		plan->memory = MEMORY_CGROUP;
		plan_enforced(item,
			      host->cgroup.version == CGROUP_V2 ? "cgroup v2 memory.max"
								: "cgroup v1 memory.limit_in_bytes",
			      NULL);
		return;
	}
	plan->memory = MEMORY_SAMPLED;
	const char *why =
		host->cgroup.version == CGROUP_V1 && host->cgroup.has_memory
			? "cgroup v1 costs 11-15 ms a start; [process] on_missing = refuse "
			  "uses it"
			: host->cgroup.why_not;
	plan_reduced(item, "sampling, RLIMIT_DATA",
		     arena_printf(plan->arena, "%s (%s)", sampled,
				  why != NULL ? why : "no cgroup with a memory controller"));
}

static void plan_processes(const struct profile *profile, const struct host *host,
			   struct plan *plan)
{
	uint64_t count = profile->process.processes;
	struct plan_item *item = plan_add(
		plan, BOUNDARY_PROCESS, "processes",
		count == 0 ? "none" : arena_printf(plan->arena, "%llu", (unsigned long long)count));

	if (count == 0)
		return;
	/* QUIRK(nproc): counted per user namespace since 5.14; before that per user of the host. */
	if (host->kernel_major < 5 || (host->kernel_major == 5 && host->kernel_minor < 14))
		plan_missing(item, "RLIMIT_NPROC counts the whole user before Linux 5.14");
	else
		plan_enforced(item,
			      plan->use_cgroup && host->cgroup.has_pids
				      ? "RLIMIT_NPROC in a user namespace of its own, cgroup pids"
				      : "RLIMIT_NPROC in a user namespace of its own",
			      NULL);
}

static void plan_cpus(const struct profile *profile, const struct host *host, struct plan *plan)
{
	uint64_t milli = profile->process.cpus_milli;
	struct plan_item *item = plan_add(plan, BOUNDARY_PROCESS, "cpus", "all");

	if (milli == 0)
		return;
	item->asked = arena_printf(plan->arena, "%llu.%03llu", (unsigned long long)milli / 1000,
				   (unsigned long long)milli % 1000);
	if (plan->use_cgroup && host->cgroup.has_cpu)
		plan_enforced(item, "cgroup cpu quota", NULL);
	else if (milli >= 1000)
		plan_reduced(item, "processor affinity",
			     "without a cgroup only whole processors can be given, and the "
			     "program can choose others among those that the caller has");
	else
		plan_missing(item,
			     "a fraction of a processor needs a cgroup with a cpu controller");
}

static void plan_simple_limits(const struct profile *profile, struct plan *plan)
{
	struct arena *arena = plan->arena;
	uint64_t output = profile->process.output_bytes;

	plan_enforced(plan_add(plan, BOUNDARY_PROCESS, "open_files",
			       arena_printf(arena, "%llu",
					    (unsigned long long)profile->process.open_files)),
		      "RLIMIT_NOFILE", NULL);
	struct plan_item *item =
		plan_add(plan, BOUNDARY_PROCESS, "output", plan_size(arena, output));
	if (output != 0)
		plan_enforced(item, "counted by the relay", NULL);
	plan_enforced(plan_add(plan, BOUNDARY_PROCESS, "core", "none"), "RLIMIT_CORE", NULL);
	plan_enforced(plan_add(plan, BOUNDARY_PROCESS, "hostname", profile->process.hostname),
		      "uts namespace", NULL);
}

void process_plan(const struct profile *profile, const struct host *host, struct plan *plan)
{
	plan_namespaces(host, plan);
	decide_cgroup(profile, host, plan);
	plan_memory(profile, host, plan);
	plan_processes(profile, host, plan);
	plan_cpus(profile, host, plan);
	plan_simple_limits(profile, plan);
}

static void add_limit(struct arm *arm, int resource, uint64_t soft, uint64_t hard)
{
	struct step *limit = steps_add(&arm->steps, STEP_LIMIT);

	limit->value[0] = (uint64_t)resource;
	limit->value[1] = soft;
	limit->value[2] = hard;
}

static uint64_t at_most(uint64_t value, uint64_t bound)
{
	return value < bound ? value : bound;
}

int process_arm(struct arm *arm, struct error *err)
{
	const struct profile *profile = arm->profile;
	uint64_t files = at_most(profile->process.open_files, arm->host->hard_open_files);

	(void)err;
	struct step *name = steps_add(&arm->steps, STEP_HOSTNAME);
	name->text = profile->process.hostname;
	add_limit(arm, RLIMIT_NOFILE, files, files);
	/* QUIRK(core): a limit of 0 does not stop a core_pattern pipe handler, 1 does
	 * (do_coredump(): "if (cprm.limit == 1)"; since 2.6.32). */
	add_limit(arm, RLIMIT_CORE, 1, 1);
	if (profile->process.processes != 0) {
		/* one more: pid 1 of the sandbox counts too */
		uint64_t count = at_most(profile->process.processes + 1, arm->host->hard_processes);

		add_limit(arm, RLIMIT_NPROC, count, count);
	}
	if (arm->plan->memory == MEMORY_SAMPLED) {
		/* A fence, far above the limit: runtimes reserve much more than they use. */
		uint64_t fence = profile->process.memory_bytes * 2 + (512ULL << 20);

		add_limit(arm, RLIMIT_DATA, fence, fence);
	}
	if (profile->process.cpus_milli >= 1000 &&
	    !(arm->plan->use_cgroup && arm->host->cgroup.has_cpu)) {
		struct step *affinity = steps_add(&arm->steps, STEP_AFFINITY);

		affinity->value[0] = profile->process.cpus_milli / 1000;
	}
	return 0;
}
