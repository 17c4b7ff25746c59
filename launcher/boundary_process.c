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

static const char *without_namespaces(const struct plan *plan)
{
	if (!plan->keeper)
		return "pid namespace, seccomp for what the others would hold";
	return plan->own_uid ? "a keeper that kills every process of the leased uid"
			     : "a keeper that kills every descendant, landlock signal scope";
}

/* A sentence for each namespace that is not there and whose absence can be noticed. */
static const char *lost(const struct plan *plan, uint64_t namespace)
{
	if ((plan->namespaces & namespace) != 0)
		return "";
	if (namespace == CLONE_NEWPID)
		return ". Lost: command lines and states of the host's processes, and names of "
		       "the caller's keys, can be seen in /proc";
	if (namespace == CLONE_NEWIPC)
		return ". System V IPC and message queues are refused";
	return ". Names of the host's control groups can be seen";
}

static const char shared[] = "the kernel is shared with the host; of the caller's inotify watches "
			     "half can be used up, where "
			     "/proc/sys is read-only (containers) all";

static void plan_namespaces(const struct host *host, struct plan *plan)
{
	const uint64_t all = CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP;
	struct plan_item *item =
		plan_add(plan, BOUNDARY_PROCESS, "namespaces", "pid, ipc, uts, cgroup");

	if ((plan->namespaces & all) == all)
		plan_enforced(item,
			      host->landlock_abi < 6 ? "pid, ipc, uts and cgroup namespaces"
						     : "pid, ipc, uts and cgroup namespaces, "
						       "landlock signal scope",
			      host->can_become ? "the kernel is shared with the host" : shared);
	else if (plan->keeper && host->landlock_abi < 6 && !plan->own_uid)
		plan_missing(item,
			     arena_printf(plan->arena,
					  "no pid namespace: %s; and below Landlock ABI 6 (Linux "
					  "6.12) the program could signal every process of the "
					  "caller, sbox included",
					  plan->form_why));
	else
		plan_reduced(item, without_namespaces(plan),
			     arena_printf(plan->arena, "not all namespaces: %s%s%s%s%s",
					  plan->form_why, lost(plan, CLONE_NEWPID),
					  lost(plan, CLONE_NEWIPC), lost(plan, CLONE_NEWCGROUP),
					  plan->inner_user || plan->own_uid
						  ? ""
						  : ". All inotify watches that the caller may "
						    "have can be used up"));
}

static void decide_cgroup(const struct profile *profile, const struct host *host, struct plan *plan)
{
	const struct cgroup_host *cgroup = &host->cgroup;
	bool wanted = profile->process.memory_bytes != 0 || profile->process.cpus_milli != 0;

	if (profile->process.cgroup == PROCESS_CGROUP_NONE)
		return;
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

static const char *why_sampled(const struct profile *profile, const struct cgroup_host *host,
			       struct arena *arena)
{
	if (profile->process.cgroup == PROCESS_CGROUP_NONE)
		return "[process] cgroup = none";
	if (host->version == CGROUP_V1 && host->has_memory)
		return "cgroup v1 costs 11-15 ms a start; [process] on_missing = refuse uses it";
	const char *why =
		host->why_not != NULL ? host->why_not : "no cgroup with a memory controller";
	/* not asked yet: a run does, showing a plan does not */
	return host->may_ask ? arena_printf(arena, "%s; a run asks systemd for a group", why) : why;
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
	const char *why = why_sampled(profile, &host->cgroup, plan->arena);
	plan_reduced(item, "sampling, RLIMIT_DATA",
		     arena_printf(plan->arena, "%s (%s)", sampled, why));
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
	bool by_cgroup = plan->use_cgroup && host->cgroup.has_pids;
	if (!plan->inner_user && !plan->own_uid) {
		plan->count_processes = !by_cgroup;
		if (by_cgroup)
			plan_enforced(item, "cgroup pids", NULL);
		else
			plan_reduced(
				item, "counted by looking, the run ends when there are more",
				"RLIMIT_NPROC counts the whole user without a user namespace; a "
				"burst can overshoot before it is seen");
		return;
	}
	plan->limit_processes = true;
	if (!plan->inner_user) {
		plan_enforced(item, "RLIMIT_NPROC of the leased uid", NULL);
		return;
	}
	/* QUIRK(nproc): counted per user namespace since 5.14; before that per user of the host. */
	if (host->kernel_major < 5 || (host->kernel_major == 5 && host->kernel_minor < 14))
		plan_missing(item, "RLIMIT_NPROC counts the whole user before Linux 5.14");
	else
		plan_enforced(item,
			      by_cgroup ? "RLIMIT_NPROC in a user namespace of its own, cgroup pids"
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
	item = plan_add(plan, BOUNDARY_PROCESS, "hostname", profile->process.hostname);
	if ((plan->namespaces & CLONE_NEWUTS) != 0)
		plan_enforced(item, "uts namespace", NULL);
	else
		plan_reduced(item, "the host's own name",
			     arena_printf(arena, "no uts namespace: %s", plan->form_why));
	item = plan_add(plan, BOUNDARY_PROCESS, "tty",
			profile->process.tty == TTY_AUTO ? "auto" : "no");
	if (profile->process.tty == TTY_AUTO && plan->keeper)
		plan_reduced(item, "pipes",
			     arena_printf(arena, "no pid namespace to have a terminal in: %s",
					  plan->proc_why));
	else if (profile->process.tty == TTY_AUTO)
		plan_enforced(item, "a pty of the run's own, relayed",
			      "the caller's terminal acts on what is printed");
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

/* Half of the kernel's default for message queues; timers take a queued signal each. */
enum { QUEUED_SIGNALS = 4096, QUEUE_BYTES = 400 << 10 };

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

/* In place of a pid namespace: see init_keeper.c. */
static void add_keeper(struct arm *arm)
{
	struct step *keeper = steps_add(&arm->steps, STEP_KEEPER);

	keeper->value[0] = arm->plan->landlock_scopes;
	keeper->flags = arm->plan->own_uid;
}

int process_arm(struct arm *arm, struct error *err)
{
	const struct profile *profile = arm->profile;
	uint64_t files = at_most(profile->process.open_files, arm->host->hard_open_files);

	(void)err;
	if ((arm->plan->namespaces & CLONE_NEWUTS) != 0)
		steps_add(&arm->steps, STEP_HOSTNAME)->text = profile->process.hostname;
	add_limit(arm, RLIMIT_NOFILE, files, files);
	/* QUIRK(core): a limit of 0 does not stop a core_pattern pipe handler, 1 does
	 * (do_coredump(): "if (cprm.limit == 1)"; since 2.6.32). */
	add_limit(arm, RLIMIT_CORE, 1, 1);
	/* Counted for the user of the host, whose other programs need some too. */
	add_limit(arm, RLIMIT_SIGPENDING, QUEUED_SIGNALS, QUEUED_SIGNALS);
	add_limit(arm, RLIMIT_MSGQUEUE, QUEUE_BYTES, QUEUE_BYTES);
	if (arm->plan->limit_processes) {
		/* one more: pid 1 of the sandbox counts too; and one above the cgroup, which then
		 * refuses first and counts what it refused */
		bool by_cgroup = arm->plan->use_cgroup && arm->host->cgroup.has_pids;
		uint64_t count = at_most(profile->process.processes + 1 + by_cgroup,
					 arm->host->hard_processes);

		add_limit(arm, RLIMIT_NPROC, count, count);
	}
	if (arm->plan->memory == MEMORY_SAMPLED) {
		/* A fence, far above the limit: runtimes reserve much more than they use. */
		uint64_t fence = profile->process.memory_bytes * 2 + (512ULL << 20);

		add_limit(arm, RLIMIT_DATA, fence, fence);
	}
	if (arm->plan->keeper)
		add_keeper(arm);
	if (profile->process.cpus_milli >= 1000 &&
	    !(arm->plan->use_cgroup && arm->host->cgroup.has_cpu)) {
		struct step *affinity = steps_add(&arm->steps, STEP_AFFINITY);

		affinity->value[0] = profile->process.cpus_milli / 1000;
	}
	return 0;
}
