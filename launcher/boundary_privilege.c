// SPDX-License-Identifier: Apache-2.0
#include "boundary.h"

#include <sched.h>
#include <string.h>

#include "apparmor.h"
#include "filter.h"
#include "syscalls.h"

/*
 * A non-root uid in a user namespace, no capability in any of the five sets,
 * securebits locked, no_new_privs, and the seccomp filter.
 */

static const char no_seccomp[] = "this kernel has no seccomp filter (CONFIG_SECCOMP_FILTER)";

/* Root: the uid is another in any case. In a tree the namespace was its second lock. */
static void plan_without_namespace(struct plan *plan, struct plan_item *item)
{
	const char *mechanism =
		plan->own_uid ? "uid leased for this run, no groups" : "setresuid, no groups";

	if (!plan->tree)
		plan_enforced(item, mechanism, NULL);
	else
		plan_reduced(
			item, mechanism,
			arena_printf(plan->arena,
				     "no user namespace: %s. The mounts are held by the want of "
				     "capabilities alone",
				     plan->form_why));
}

static void plan_user(const struct profile *profile, const struct host *host, struct plan *plan)
{
	bool automatic = strcmp(profile->privilege.user, "auto") == 0;
	struct plan_item *item =
		plan_add(plan, BOUNDARY_PRIVILEGE, "user", profile->privilege.user);

	if (!host->can_become && !automatic)
		plan_missing(item,
			     "only root can run a program as another user; write user = auto");
	else if (host->can_become && !plan->inner_user)
		plan_without_namespace(plan, item);
	else if (host->can_become)
		plan_enforced(item,
			      automatic ? "uid leased for this run, user namespace, no groups"
					: "setresuid, user namespace, no groups",
			      NULL);
	else if (!plan->inner_user)
		plan_reduced(
			item, "the caller's own uid and groups",
			arena_printf(plan->arena,
				     "no user namespace: %s. Files of the caller's own are kept "
				     "apart by Landlock alone",
				     plan->form_why));
	else
		plan_enforced(item, "user namespace with one mapping",
			      host->group_count > 1
				      ? "the caller's supplementary groups stay and reach only "
					"listed paths"
				      : NULL);
}

static void plan_labels(const struct profile *profile, const struct host *host, struct plan *plan)
{
	apparmor_plan(profile, host, plan);
	struct plan_item *selinux =
		plan_add(plan, BOUNDARY_PRIVILEGE, "selinux", profile->privilege.selinux);

	if (profile->privilege.selinux[0] != '\0')
		plan_missing(selinux, "this version does not enter SELinux contexts; "
				      "leave selinux empty");
}

/* What a level leaves unnamed: see sbox.ini(5). */
static const char unnamed[] = "not named: paths that are only looked at (stat), folders that are "
			      "only listed, times, owners "
			      "and extended attributes, network and FUSE file systems";
static const char unnamed_reads[] =
	"not named: files that are only read or looked at, folders that are only listed, times, "
	"owners and extended attributes, network and FUSE file systems";

static void plan_paths(enum denial_level level, const struct plan *plan, struct plan_item *item)
{
	if (!plan->tree)
		plan_reduced(item, "seccomp user notification: refused calls",
			     "without a mount tree refused paths are not named");
	else if (level == DENIALS_FULL)
		plan_enforced(item, "seccomp user notification: calls, paths", unnamed);
	else
		plan_enforced(item,
			      "seccomp user notification: calls, paths that are written or "
			      "executed",
			      unnamed_reads);
}

static void plan_denials(const struct profile *profile, const struct host *host, struct plan *plan)
{
	static const char *const words[] = {"full", "writes", "calls", "off"};
	enum denial_level level = profile->audit.denials;
	struct plan_item *item = plan_add(plan, BOUNDARY_PRIVILEGE, "denials", words[level]);

	if (level == DENIALS_OFF)
		return;
	if (!host->seccomp)
		plan_missing(item, no_seccomp);
	else if (level != DENIALS_CALLS)
		plan_paths(level, plan, item);
	else
		plan_enforced(item, "seccomp user notification", NULL);
	/* QUIRK(listener): one listener a chain of filters (EBUSY), so inside another
	 * sandbox that has one the filter answers by itself. */
	if (host->can_become && !host->root)
		item->residual =
			"without CAP_SYS_PTRACE executed programs and the objects of refused "
			"calls are counted, not named";
	else if (host->filtered)
		item->residual = "if the filter around sbox has a listener, refused calls are "
				 "answered but not written down";
}

/* CAP_SETPCAP comes with a user namespace, or the caller has it. */
static bool can_bound(const struct host *host, const struct plan *plan)
{
	return plan->inner_user || host->can_bound;
}

void privilege_plan(const struct profile *profile, const struct host *host, struct plan *plan)
{
	struct plan_item *item;

	plan_user(profile, host, plan);
	item = plan_add(plan, BOUNDARY_PRIVILEGE, "capabilities", "none");
	if (profile->privilege.capabilities.count > 0) {
		item->asked = profile->privilege.capabilities.items[0];
		plan_missing(item, "this version keeps no capability; leave capabilities empty");
	} else {
		plan_enforced(item,
			      can_bound(host, plan) ? "all five sets empty, securebits locked"
						    : "four sets empty, no_new_privs",
			      can_bound(host, plan) ? NULL
						    : "the bounding set stays, which no_new_privs "
						      "leaves without effect");
	}
	plan_enforced(plan_add(plan, BOUNDARY_PRIVILEGE, "no-new-privileges", "yes"),
		      plan->tree ? "no_new_privs, nosuid mounts" : "no_new_privs", NULL);
	item = plan_add(plan, BOUNDARY_PRIVILEGE, "syscalls",
			profile->privilege.syscalls.count > 0 ? profile->privilege.syscalls.items[0]
							      : "none");
	if (host->seccomp)
		plan_enforced(item, "seccomp allow-list", NULL);
	else
		plan_missing(item, no_seccomp);
	item = plan_add(plan, BOUNDARY_PRIVILEGE, "setuid-files", "refused");
	if (host->seccomp)
		plan_enforced(item, "seccomp on the mode of every call that takes one",
			      "a set-id file that a write path had before the run can be written "
			      "to through a shared mapping and keeps its bit");
	else
		plan_missing(item, no_seccomp);
	plan_labels(profile, host, plan);
	plan_denials(profile, host, plan);
	if (plan->tree &&
	    (host->kernel_major < 5 || (host->kernel_major == 5 && host->kernel_minor < 12)))
		plan->impossible =
			arena_printf(plan->arena,
				     "Linux %d.%d: the file tree needs mount_setattr(2), "
				     "which came with 5.12",
				     host->kernel_major, host->kernel_minor);
}

static enum arg_ask asked_by(enum denial_level level)
{
	return level == DENIALS_FULL     ? ASK_READS
	       : level == DENIALS_WRITES ? ASK_WRITES
					 : ASK_NOTHING;
}

static int arm_filter(struct arm *arm, struct error *err)
{
	struct step *step = steps_add(&arm->steps, STEP_SECCOMP);
	struct sock_fprog *programs = arena_alloc(arm->arena, 2 * sizeof(*programs));
	struct filter_policy *policy = arena_alloc(arm->arena, sizeof(*policy));
	enum arg_ask ask = !arm->have_listener || !arm->plan->tree ? ASK_NOTHING
			   : arm->watched                          ? ASK_USES
					  : asked_by(arm->profile->audit.denials);

	*policy = (struct filter_policy){
		.syscalls = &arm->profile->privilege.syscalls,
		.network = arm->profile->network.mode,
		.listener = arm->have_listener,
		.trap_exec = arm->have_listener &&
			     (arm->profile->audit.execs == YES || ask != ASK_NOTHING),
		.ask = ask,
		.passes = arena_alloc(arm->arena, SYSCALL_NUMBERS),
		.exec_mark = arm->exec_mark,
		.late_network = arm->plan->late_network,
		.refuse_memfd = arm->plan->memory == MEMORY_SAMPLED,
		.shared_network = (arm->plan->namespaces & CLONE_NEWNET) == 0,
		.refuse_unix = arm->plan->refuse_unix,
		.refuse_ipc = (arm->plan->namespaces & CLONE_NEWIPC) == 0,
		.refuse_others = arm->plan->keeper,
		.refuse_truncate = !arm->plan->tree && arm->host->landlock_abi < 3,
	};
	arm->policy = policy;

	if (filter_build(arm->arena, policy, &programs[0], err) != 0)
		return profile_blame(arm->profile, KEY_PRIVILEGE_SYSCALLS, err);
	step->filter = &programs[0];
	step->flags = arm->have_listener || policy->late_network;
	if (!arm->have_listener || !arm->host->filtered)
		return 0;
	struct filter_policy plain = *policy;
	plain.listener = false;
	plain.trap_exec = false;
	plain.ask = ASK_NOTHING;
	plain.passes = NULL;
	if (filter_build(arm->arena, &plain, &programs[1], err) != 0)
		return -1;
	step->plain_filter = &programs[1];
	return 0;
}

/* The maps of the namespace in which init builds, and of the one in which the program runs. */
static void arm_users(struct arm *arm)
{
	const struct identity *who = &arm->identity;

	if (arm->host->can_become) {
		struct step *become = steps_add(&arm->steps, STEP_BECOME);

		become->value[0] = who->outer_uid;
		become->value[1] = who->outer_gid;
		become->flags = !can_bound(arm->host, arm->plan);
	} else if ((arm->plan->namespaces & CLONE_NEWUSER) != 0) {
		arm_maps(arm->arena, &arm->steps, who->outer_uid, who->outer_gid);
	}
	if (!arm->plan->inner_user)
		return;
	struct step *inner = steps_add(&arm->steps, STEP_INNER_USER);
	inner->text = arena_printf(arm->arena, "%u %u 1", who->inner_uid, who->build_uid);
	inner->source = arena_printf(arm->arena, "%u %u 1", who->inner_gid, who->build_gid);
	/* of the inner one: without it the limit would be the host's own */
	steps_add(&arm->steps, STEP_NO_MORE_NAMESPACES);
}

int privilege_arm(struct arm *arm, struct error *err)
{
	arm_users(arm);
	apparmor_arm(arm);
	steps_add(&arm->steps, STEP_CAPABILITIES)->flags = !can_bound(arm->host, arm->plan);
	steps_add(&arm->steps, STEP_NO_NEW_PRIVS);
	/* without seccomp the plan says so, item by item, and was accepted */
	return arm->host->seccomp ? arm_filter(arm, err) : 0;
}
