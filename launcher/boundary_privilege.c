// SPDX-License-Identifier: Apache-2.0
#include "boundary.h"

#include <sched.h>
#include <string.h>

#include "filter.h"

/*
 * A non-root uid in a user namespace, no capability in any of the five sets,
 * securebits locked, no_new_privs, and the seccomp filter.
 */

static const char no_seccomp[] = "this kernel has no seccomp filter (CONFIG_SECCOMP_FILTER)";

static void plan_user(const struct profile *profile, const struct host *host, struct plan *plan)
{
	bool automatic = strcmp(profile->privilege.user, "auto") == 0;
	struct plan_item *item =
		plan_add(plan, BOUNDARY_PRIVILEGE, "user", profile->privilege.user);

	if (!host->root && !automatic)
		plan_missing(item,
			     "only root can run a program as another user; write user = auto");
	else if (host->root)
		plan_enforced(item,
			      automatic ? "uid leased for this run, user namespace, no groups"
					: "setresuid, user namespace, no groups",
			      NULL);
	else
		plan_enforced(item, "user namespace with one mapping",
			      host->group_count > 1
				      ? "the caller's supplementary groups stay and reach only "
					"listed paths"
				      : NULL);
}

static void plan_labels(const struct profile *profile, struct plan *plan)
{
	struct plan_item *apparmor =
		plan_add(plan, BOUNDARY_PRIVILEGE, "apparmor", profile->privilege.apparmor);
	struct plan_item *selinux =
		plan_add(plan, BOUNDARY_PRIVILEGE, "selinux", profile->privilege.selinux);

	if (profile->privilege.apparmor[0] != '\0')
		plan_missing(apparmor, "this version does not enter AppArmor profiles; "
				       "leave apparmor empty");
	if (profile->privilege.selinux[0] != '\0')
		plan_missing(selinux, "this version does not enter SELinux contexts; "
				      "leave selinux empty");
}

static void plan_denials(const struct profile *profile, const struct host *host, struct plan *plan)
{
	static const char *const words[] = {"full", "calls", "off"};
	enum denial_level level = profile->audit.denials;
	struct plan_item *item = plan_add(plan, BOUNDARY_PRIVILEGE, "denials", words[level]);

	if (level == DENIALS_FULL)
		plan_missing(item, "this version names refused calls, not refused paths; "
				   "write [audit] denials = calls");
	else if (level == DENIALS_CALLS && !host->seccomp)
		plan_missing(item, no_seccomp);
	else if (level == DENIALS_CALLS)
		plan_enforced(item, "seccomp user notification", NULL);
	/* QUIRK(listener): one listener a chain of filters (EBUSY), so inside another
	 * sandbox that has one the filter answers by itself. */
	if (host->filtered && level == DENIALS_CALLS)
		item->residual = "if the filter around sbox has a listener, refused calls are "
				 "answered but not written down";
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
		plan_enforced(item, "all five sets empty, securebits locked", NULL);
	}
	plan_enforced(plan_add(plan, BOUNDARY_PRIVILEGE, "no-new-privileges", "yes"),
		      "no_new_privs, nosuid mounts", NULL);
	item = plan_add(plan, BOUNDARY_PRIVILEGE, "syscalls",
			profile->privilege.syscalls.count > 0 ? profile->privilege.syscalls.items[0]
							      : "none");
	if (host->seccomp)
		plan_enforced(item, "seccomp allow-list", NULL);
	else
		plan_missing(item, no_seccomp);
	item = plan_add(plan, BOUNDARY_PRIVILEGE, "setuid-files", "refused");
	if (host->seccomp)
		plan_enforced(item, "seccomp on the mode of every call that takes one", NULL);
	else
		plan_missing(item, no_seccomp);
	plan_labels(profile, plan);
	plan_denials(profile, host, plan);
	if (host->kernel_major < 5 || (host->kernel_major == 5 && host->kernel_minor < 12))
		plan->impossible =
			arena_printf(plan->arena,
				     "Linux %d.%d: the file tree needs mount_setattr(2), "
				     "which came with 5.12",
				     host->kernel_major, host->kernel_minor);
	if (!host->user_namespaces)
		plan->impossible =
			arena_printf(plan->arena, "user namespaces are not available: %s",
				     host->user_namespaces_why);
}

static int arm_filter(struct arm *arm, struct error *err)
{
	struct step *step = steps_add(&arm->steps, STEP_SECCOMP);
	struct sock_fprog *programs = arena_alloc(arm->arena, 2 * sizeof(*programs));
	struct filter_policy *policy = arena_alloc(arm->arena, sizeof(*policy));

	*policy = (struct filter_policy){
		.syscalls = &arm->profile->privilege.syscalls,
		.network = arm->profile->network.mode,
		.listener = arm->have_listener,
		.trap_exec = arm->have_listener && arm->profile->audit.execs == YES,
		.refuse_memfd = arm->plan->memory == MEMORY_SAMPLED,
		.shared_network = (arm->plan->namespaces & CLONE_NEWNET) == 0,
	};
	arm->policy = policy;

	if (filter_build(arm->arena, policy, &programs[0], err) != 0)
		return profile_blame(arm->profile, KEY_PRIVILEGE_SYSCALLS, err);
	step->filter = &programs[0];
	step->flags = arm->have_listener;
	if (!arm->have_listener || !arm->host->filtered)
		return 0;
	struct filter_policy plain = *policy;
	plain.listener = false;
	plain.trap_exec = false;
	if (filter_build(arm->arena, &plain, &programs[1], err) != 0)
		return -1;
	step->plain_filter = &programs[1];
	return 0;
}

/* The maps of the namespace in which init builds, and of the one in which the program runs. */
static void arm_maps(struct arm *arm)
{
	const struct identity *who = &arm->identity;
	struct step *inner = steps_add(&arm->steps, STEP_INNER_USER);

	if (!arm->host->root) {
		struct step *outer = steps_add(&arm->steps, STEP_ID_MAPS);

		outer->text = arena_printf(arm->arena, "0 %u 1", who->outer_uid);
		outer->source = arena_printf(arm->arena, "0 %u 1", who->outer_gid);
	} else {
		struct step *become = steps_add(&arm->steps, STEP_BECOME);

		become->value[0] = who->outer_uid;
		become->value[1] = who->outer_gid;
	}
	inner->text = arena_printf(arm->arena, "%u %u 1", who->inner_uid, who->build_uid);
	inner->source = arena_printf(arm->arena, "%u %u 1", who->inner_gid, who->build_gid);
}

int privilege_arm(struct arm *arm, struct error *err)
{
	arm_maps(arm);
	steps_add(&arm->steps, STEP_NO_MORE_NAMESPACES);
	steps_add(&arm->steps, STEP_CAPABILITIES);
	steps_add(&arm->steps, STEP_NO_NEW_PRIVS);
	/* without seccomp the plan says so, item by item, and was accepted */
	return arm->host->seccomp ? arm_filter(arm, err) : 0;
}
