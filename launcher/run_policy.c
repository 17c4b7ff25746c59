// SPDX-License-Identifier: Apache-2.0
#include <sched.h>

#include "locate.h"
#include "run.h"

_Static_assert((int)SYNC_NONE == STORE_SYNC_NONE && (int)SYNC_EACH == STORE_SYNC_EACH &&
		       (int)SYNC_GROUP == STORE_SYNC_GROUP,
	       "the words of [audit] sync are in the order of enum store_sync");

/* What [audit] says about the store itself. Its texts were checked when they were read. */
void run_set_store_policy(struct run *run)
{
	struct store_policy *policy = &run->store.policy;

	policy->sync = (enum store_sync)run->profile.audit.sync;
	policy->has_anchor = run->profile.audit.anchor == ANCHOR_SYSLOG;
	store_parse_limits(run->profile.audit.keep, &policy->keep_ms, &policy->keep_bytes);
	store_parse_limits(run->profile.audit.segment, &policy->segment_ms, &policy->segment_bytes);
}

void run_ask_for_cgroup(struct arena *arena, const struct profile *profile, struct host *host)
{
	bool wanted = profile->process.memory_bytes != 0 || profile->process.cpus_milli != 0;

	if (!host->cgroup.may_ask || !wanted || profile->process.cgroup == PROCESS_CGROUP_NONE)
		return;
	const char *manager = cgroup_manager(arena, host->root);
	if (manager != NULL)
		cgroup_ask(arena, locate_helper(arena, "sbox-cgroup"), manager, &host->cgroup);
	else
		host->cgroup.may_ask = false;
}

/* Limits are set below a group that holds this process alone, and the one that was made early is
 * in it too. It could not stay in any case: it was not born into the run's group. */
void run_find_cgroup(struct run *run)
{
	struct cgroup_host *cgroup = &run->host.cgroup;

	if (cgroup->is_crowded && run->spawn != NULL) {
		spawn_forget(run);
		cgroup_probe(run->arena, cgroup);
	}
	run_ask_for_cgroup(run->arena, &run->profile, &run->host);
}

/* The process that was made early would have told; one that is made late, knowing all, cannot be
 * had instead for what it does not know. */
int run_look_before_late(struct run *run, struct error *err)
{
	struct cgroup_host cgroup;

	if (!run->host.is_tried || !run->host.root || run->host.looked)
		return 0;
	host_probe_user_namespaces(run->arena, &run->host);
	cgroup_probe(run->arena, &cgroup);
	if (run->host.user_namespaces && !cgroup.proc_is_covered)
		return 0;
	run->spawn_refused = true;
	return error_set(err, ERROR_MISSING, "%s",
			 run->host.user_namespaces ? "something is mounted below /proc"
						   : run->host.user_namespaces_why);
}

int run_make_cgroup(struct run *run, struct error *err)
{
	const struct cgroup_host *host = &run->host.cgroup;
	const struct cgroup_limits limits = {
		.memory_bytes = host->has_memory ? run->profile.process.memory_bytes : 0,
		/* one more: pid 1 of the sandbox counts too */
		.processes = host->has_pids && run->profile.process.processes != 0
				     ? run->profile.process.processes + 1
				     : 0,
		.cpus_milli = host->has_cpu ? run->profile.process.cpus_milli : 0};

	if (cgroup_make(run->arena, host, &limits, run->id, &run->cgroup, err) != 0)
		return -1;
	run->has_cgroup = true;
	for (size_t i = 0; i < run->cgroup.path_count; i++) {
		const char *line = arena_printf(run->arena, "cgroup %s", run->cgroup.paths[i]);
		if (store_run_undo(&run->store, run->id, line, err) != 0)
			return -1;
	}
	return 0;
}

/* What refused paths are judged by; the sandbox's root comes when init has made it. */
void run_prepare_judge(struct run *run)
{
	if (run->arm.policy == NULL || run->arm.policy->ask == ASK_NOTHING)
		return;
	run->judge = (struct judge){.root_fd = -1,
				    .entries = run->arm.entries,
				    .host = &run->host,
				    .store = run->context.store,
				    .by_mode = run->host.can_become,
				    .uid = run->arm.identity.outer_uid,
				    .hides = run->host.paths[PATH_HIDE].count > 0,
				    .private_home = run->profile.file.home == HOME_PRIVATE,
				    .arena = run->arena};
	run->notify.judge = &run->judge;
	if (run->arm.watched)
		run->notify.watch = run->watch = watch_make(run->arena, run->options->watch_fd);
	run->notify.has_own_network = run->profile.network.mode == NETWORK_NONE &&
				      (run->plan.namespaces & CLONE_NEWNET) != 0;
}

void run_pass_options(struct run *run)
{
	run->arm.file_bytes = run->options->file_bytes;
	run->arm.watched = run->options->watch_fd > 0;
}
