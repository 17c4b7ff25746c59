// SPDX-License-Identifier: Apache-2.0
#include "boundary.h"

#include <sched.h>

/*
 * none: a network namespace of its own with only loopback, and socket families
 * by seccomp. Landlock's TCP rules are not used there: they would break the
 * program's own servers on localhost and add nothing to an empty namespace.
 */

static const char *const mode_names[] = {"none", "allow", "host"};

static void plan_lists(const struct profile *profile, struct plan *plan)
{
	static const char reason[] =
		"this version has no gate: names and ports can be neither allowed nor published; "
		"leave the list empty and use mode = none or mode = host";
	const struct {
		const char *name;
		const struct string_list *list;
	} lists[] = {{"allow", &profile->network.allow},
		     {"resolve", &profile->network.resolve},
		     {"listen", &profile->network.listen}};

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		if (lists[i].list->count > 0)
			plan_missing(plan_add(plan, BOUNDARY_NETWORK, lists[i].name,
					      lists[i].list->items[0]),
				     reason);
}

void network_plan(const struct profile *profile, const struct host *host, struct plan *plan)
{
	enum network_mode mode = profile->network.mode;
	struct plan_item *item = plan_add(plan, BOUNDARY_NETWORK, "mode", mode_names[mode]);
	struct plan_item *families =
		plan_add(plan, BOUNDARY_NETWORK, "families", "unix, inet, inet6, netlink route");

	plan_lists(profile, plan);
	if (mode == NETWORK_ALLOW)
		plan_missing(item, "this version has no gate that lets single names through");
	if (mode == NETWORK_ALLOW)
		/* Without the gate nothing is reachable; the program still must not run unasked. */
		plan->impossible = "[network] mode = allow: this version has no gate that lets "
				   "single names through; use mode = none, or mode = host for the "
				   "whole network";
	else if (mode == NETWORK_NONE)
		plan_enforced(item, "network namespace", NULL);
	else
		item->residual = "every address that the host reaches is reachable";
	if (mode != NETWORK_HOST)
		plan->namespaces |= CLONE_NEWNET;
	if (host->seccomp)
		plan_enforced(families, "seccomp", NULL);
	else
		plan_missing(families, "this kernel has no seccomp filter");
}

int network_arm(struct arm *arm, struct error *err)
{
	(void)err;
	if (arm->plan->namespaces & CLONE_NEWNET)
		steps_add(&arm->steps, STEP_LOOPBACK);
	return 0;
}
