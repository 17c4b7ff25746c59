// SPDX-License-Identifier: Apache-2.0
#include "boundary.h"

#include <sched.h>

#include "network_rules.h"

/*
 * none: a network namespace of its own with only loopback, and socket families
 * by seccomp. Landlock's TCP rules are not used there: they would break the
 * program's own servers on localhost and add nothing to an empty namespace.
 *
 * allow: the same namespace, in which every address is local and what the profile
 * names leads to sbox-gate, outside, which judges, dials and relays. All of that is made when
 * the program asks for its first socket, where that can be noticed; until then it is as for none.
 */

static const char *const mode_names[] = {"none", "allow", "host"};
static const char gate_name[] = "sbox-gate";

enum { LIST_SHOWN = 6 };

static const char *join(struct arena *arena, const struct string_list *list)
{
	const char *text = "";

	for (size_t i = 0; i < list->count && i < LIST_SHOWN; i++)
		text = arena_printf(arena, "%s%s%s", text, i > 0 ? ", " : "", list->items[i]);
	if (list->count > LIST_SHOWN)
		text = arena_printf(arena, "%s and %zu more", text, list->count - LIST_SHOWN);
	return text;
}

/* With mode none there is nothing to take from; with mode host nothing that would. */
static void plan_lists(const struct profile *profile, struct plan *plan, bool has_gate)
{
	const struct {
		const char *name;
		const struct string_list *list;
		bool harmless; /* mode none gives less than it asks for */
	} lists[] = {{"allow", &profile->network.allow, true},
		     {"deny", &profile->network.deny, true},
		     {"resolve", &profile->network.resolve, true},
		     {"listen", &profile->network.listen, false}};
	enum network_mode mode = profile->network.mode;

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		if (lists[i].list->count == 0)
			continue;
		struct plan_item *item = plan_add(plan, BOUNDARY_NETWORK, lists[i].name,
						  join(plan->arena, lists[i].list));
		if (mode == NETWORK_ALLOW && has_gate)
			plan_enforced(item, gate_name, NULL);
		else if (mode == NETWORK_ALLOW)
			plan_missing(item, "without mode = allow there is no gate");
		else if (mode == NETWORK_HOST || !lists[i].harmless)
			plan_missing(item, "only mode = allow has a gate that judges by names and "
					   "ports: set that, or leave the list empty");
	}
}

/*
 * The filter tells of the first socket. Ports of the host's are served from the start; and a filter
 * around sbox may have the only listener there can be (EBUSY), which shows when it is too late.
 */
static bool can_be_late(const struct profile *profile, const struct host *host)
{
	return host->seccomp && !host->filtered && profile->network.listen.count == 0;
}

/* Whatever on_missing says: what was to have a gate does not run without one. */
static void plan_gate(const struct profile *profile, const struct host *host, struct plan *plan,
		      struct plan_item *item)
{
	const char *why = host->gate_why;

	if ((plan->namespaces & CLONE_NEWNET) == 0)
		why = arena_printf(plan->arena, "no network namespace: %s", plan->form_why);
	/* an ordinary user whom a user namespace calls root: see gate/confine.c */
	else if (why == NULL && host->uid == 0 && !host->can_become)
		why = "sbox-gate does not run as root, and there is nobody else in this user "
		      "namespace; run sbox outside of it";
	if (why == NULL) {
		plan->late_network = can_be_late(profile, host);
		plan_enforced(item,
			      plan->late_network
				      ? "network namespace, sbox-gate from the first socket on"
				      : "network namespace, sbox-gate",
			      "whom the program may talk to, it may tell everything that it can "
			      "read");
		return;
	}
	plan_missing(item, why);
	plan->impossible = arena_printf(plan->arena,
					"[network] mode = allow cannot be had here: %s; use mode = "
					"none, or mode = host for the whole network",
					why);
}

/* The host's sockets are in reach then: what the kernel gives by family has to go. */
static void plan_without_namespace(const struct host *host, struct plan *plan,
				   struct plan_item *item, struct plan_item *families)
{
	/* UNIX sockets are reached through the tree, or by abstract names */
	plan->refuse_unix = !plan->tree || host->landlock_abi < 6;
	families->asked = plan->refuse_unix ? "none; pairs of UNIX sockets" : "unix";
	if (!host->seccomp)
		plan_missing(item, arena_printf(plan->arena,
						"no network namespace: %s; and no seccomp "
						"filter to refuse sockets instead",
						plan->form_why));
	else
		plan_reduced(
			item, "seccomp by socket family",
			arena_printf(plan->arena,
				     "no network namespace: %s. Lost: the program's own servers "
				     "on localhost%s",
				     plan->form_why,
				     plan->refuse_unix ? ", and UNIX sockets other than pairs, "
							 "since the host's would be in reach"
						       : ""));
}

/* Abstract names belong to the network namespace; Landlock's scope for them is of ABI 6. */
static const char *reach_of_the_host(const struct host *host, const struct plan *plan)
{
	if (!plan->tree)
		return "every address that the host reaches is reachable, and every UNIX socket "
		       "that the program's user may use";
	if (host->landlock_abi < 6)
		return "every address that the host reaches is reachable, and every UNIX socket "
		       "with an abstract name (Landlock ABI 6, Linux 6.12, refuses those)";
	return "every address that the host reaches is reachable";
}

void network_plan(const struct profile *profile, const struct host *host, struct plan *plan)
{
	enum network_mode mode = profile->network.mode;
	struct plan_item *item = plan_add(plan, BOUNDARY_NETWORK, "mode", mode_names[mode]);
	struct plan_item *families =
		plan_add(plan, BOUNDARY_NETWORK, "families", "unix, inet, inet6, netlink route");

	if (mode == NETWORK_ALLOW)
		plan_gate(profile, host, plan, item);
	else if (mode == NETWORK_NONE && (plan->namespaces & CLONE_NEWNET) != 0)
		plan_enforced(item, "network namespace", NULL);
	else if (mode == NETWORK_NONE)
		plan_without_namespace(host, plan, item, families);
	else
		item->residual = reach_of_the_host(host, plan);
	plan_lists(profile, plan, item->state == ITEM_ENFORCED);
	if (host->seccomp)
		plan_enforced(families, "seccomp", NULL);
	else
		plan_missing(families, "this kernel has no seccomp filter");
}

static void arm_gate(struct arm *arm)
{
	struct network_rules *rules = arena_alloc(arm->arena, sizeof(*rules));
	struct port_range *ranges;

	network_rules_read(arm->arena, arm->profile, rules);
	size_t count = network_rules_ports(arm->arena, rules, &ranges);
	arm->network_rules = rules;
	arm->network_setup = network_setup_make(arm->arena, ranges, count, rules->listen_count > 0);
	struct step *step = steps_add(&arm->steps, STEP_GATE);
	step->network = arm->network_setup;
	step->flags = arm->plan->late_network;
}

int network_arm(struct arm *arm, struct error *err)
{
	(void)err;
	if (arm->plan->namespaces & CLONE_NEWNET)
		steps_add(&arm->steps, STEP_LOOPBACK);
	if (arm->profile->network.mode == NETWORK_ALLOW)
		arm_gate(arm);
	return 0;
}
