// SPDX-License-Identifier: Apache-2.0
#include "plan.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "obstacle.h"

/*
 * Which form of the sandbox this host allows, before any boundary says what it
 * makes of it:
 *
 *   tree     a mount tree with only the listed paths, in the namespaces that can be had
 *   in place Landlock on the host's own tree, no namespace at all
 *
 * Both run through the same steps; the second has fewer. Without a pid
 * namespace init is a keeper: a subreaper in a Landlock domain of its own, which one
 * kill(2) empties.
 */

#define MOUNTLESS (CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP)

static const char *why_no_namespaces(struct arena *arena, const struct host *host)
{
	if (host->can_become && !host->root)
		return arena_printf(arena,
				    "this root lacks %s (in a container: %s, or run it as an "
				    "ordinary user)",
				    host->root_lacks, host->root_needs);
	if (!host->user_namespaces)
		return host->user_namespaces_why;
	return host->refused_why;
}

static void decide_tree(const struct profile *profile, const struct host *host, uint64_t lost,
			struct plan *plan)
{
	bool may_mount = host->root || (!host->can_become && (lost & CLONE_NEWUSER) == 0);

	plan->tree = may_mount && (lost & CLONE_NEWNS) == 0;
	if (plan->tree) {
		plan->namespaces = CLONE_NEWNS | (MOUNTLESS & ~lost);
		if (host->proc_refused)
			plan->namespaces &= ~(uint64_t)CLONE_NEWPID;
		if (profile->network.mode == NETWORK_HOST)
			plan->namespaces &= ~(uint64_t)CLONE_NEWNET;
		if (!host->root)
			plan->namespaces |= CLONE_NEWUSER;
	}
	plan->inner_user = plan->tree && (lost & CLONE_NEWUSER) == 0;
	plan->keeper = (plan->namespaces & CLONE_NEWPID) == 0;
}

void form_decide(const struct profile *profile, const struct host *host, struct plan *plan)
{
	uint64_t lost = host->refused;

	if (!host->user_namespaces)
		lost |= CLONE_NEWUSER;
	decide_tree(profile, host, lost, plan);
	plan->own_uid = host->can_become && strcmp(profile->privilege.user, "auto") == 0;
	if (!plan->tree || !plan->inner_user || lost != 0)
		plan->form_why = why_no_namespaces(plan->arena, host);
	else if (host->proc_refused)
		plan->form_why = obstacle_sentence(plan->arena, OBSTACLE_COVERED_PROC);
	plan->proc_why = host->proc_refused ? obstacle_sentence(plan->arena, OBSTACLE_COVERED_PROC)
					    : plan->form_why;
	/* nobody runs it as uid 0 of the host */
	if (host->uid == 0 && !host->can_become && !host->mapped_root)
		plan->impossible = "this root cannot become another user (that takes CAP_SETUID, "
				   "CAP_SETGID and CAP_CHOWN, and all uids in its user namespace): "
				   "run sbox as an ordinary user";
	else if (!plan->tree && host->landlock_abi == 0)
		plan->impossible =
			arena_printf(plan->arena,
				     "files can be bounded neither by a mount tree nor by "
				     "Landlock: %s; and this "
				     "kernel has no Landlock (Linux 5.13, with landlock in lsm=)",
				     plan->form_why);
}

char *plan_print(struct arena *arena, const struct plan *plan)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (out == NULL)
		return arena_strdup(arena, "");
	for (size_t i = 0; i < plan->item_count; i++) {
		const struct plan_item *item = &plan->items[i];
		const char *detail = item->mechanism != NULL ? item->mechanism : "";

		fprintf(out, "# %-9s %-18s %-9s %s", boundary_names[item->boundary], item->name,
			item_state_names[item->state], detail);
		if (item->reason != NULL)
			fprintf(out, "%s%s", detail[0] != '\0' ? ": " : "", item->reason);
		if (item->residual != NULL)
			fprintf(out, " [%s]", item->residual);
		fputc('\n', out);
	}
	if (plan->impossible != NULL)
		fprintf(out, "# cannot run here: %s\n", plan->impossible);
	fclose(out);
	char *copy = arena_strdup(arena, text != NULL ? text : "");
	free(text);
	return copy;
}
