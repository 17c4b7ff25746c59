// SPDX-License-Identifier: Apache-2.0
#include "apparmor.h"

#include <errno.h>
#include <string.h>

/*
 * An AppArmor profile that the program enters at its exec. It can only take away: what it allows
 * and another layer refuses stays refused.
 */

static const char *why_not_entered(struct arena *arena, const char *name,
				   const struct label_fact *fact)
{
	if (fact->errnum == ENOENT)
		return arena_printf(arena,
				    "AppArmor has no profile \"%s\" loaded; load it "
				    "(apparmor_parser -r FILE; aa-status lists what is "
				    "loaded), or leave apparmor empty",
				    name);
	if (fact->errnum == EACCES)
		return arena_printf(arena,
				    "sbox runs under the AppArmor profile \"%s\", which does not "
				    "let it enter \"%s\"; add \"change_profile -> %s,\" to it",
				    fact->own, name, name);
	return arena_printf(arena, "AppArmor does not let \"%s\" be entered (%s)", name,
			    strerror(fact->errnum));
}

/* A label is "name (mode)"; only that of nobody confined, "unconfined", has no mode. */
static bool is_mode(const char *label, const char *mode)
{
	const char *at = strrchr(label, '(');

	return at != NULL && strncmp(at + 1, mode, strlen(mode)) == 0 &&
	       at[1 + strlen(mode)] == ')';
}

static void plan_entered(struct plan *plan, struct plan_item *item, const struct label_fact *fact)
{
	const char *mechanism =
		fact->stacked ? "entered at exec, on top of the caller's own" : "entered at exec";
	const char *label = fact->entered;

	if (is_mode(label, "enforce") || is_mode(label, "kill"))
		plan_enforced(item, mechanism,
			      "root can unload it, and a program under it is unconfined then");
	else if (is_mode(label, "complain"))
		plan_reduced(item, mechanism,
			     "the profile is in complain mode: it logs and refuses nothing; "
			     "aa-enforce changes that");
	else if (is_mode(label, "mixed"))
		plan_reduced(
			item, mechanism,
			arena_printf(plan->arena,
				     "of \"%s\" one part is not in enforce mode, and which one "
				     "AppArmor does not say; aa-enforce changes that",
				     label));
	else if (label[0] == '\0')
		plan_reduced(item, mechanism,
			     arena_printf(plan->arena,
					  "its mode cannot be read; let \"%s\" read "
					  "@{PROC}/*/attr/apparmor/current",
					  fact->own));
	else
		plan_missing(item, arena_printf(plan->arena,
						"\"%s\" refuses nothing: name a profile that is in "
						"enforce mode, or leave apparmor empty",
						label));
}

void apparmor_plan(const struct profile *profile, const struct host *host, struct plan *plan)
{
	const char *name = profile->privilege.apparmor;
	struct plan_item *item = plan_add(plan, BOUNDARY_PRIVILEGE, "apparmor", name);

	if (name[0] == '\0')
		return;
	if (!host->apparmor)
		plan_missing(item, "AppArmor is not at work in this kernel (lsm= does not have it, "
				   "or it is not built in); leave apparmor empty");
	/* a keeper ends by signals what it leaves, and a profile can refuse those */
	else if (plan->keeper || !plan->tree)
		plan_missing(item,
			     "without a mount tree and a pid namespace of its own a program "
			     "under an AppArmor profile could not be ended for certain; leave "
			     "apparmor empty");
	else if (host->label.errnum != 0 || host->label.entered == NULL)
		plan_missing(item, why_not_entered(plan->arena, name, &host->label));
	else
		plan_entered(plan, item, &host->label);
}

void apparmor_arm(struct arm *arm)
{
	const char *name = arm->profile->privilege.apparmor;

	/* what cannot be entered is missing, and was accepted when it comes to this */
	if (name[0] == '\0' || !arm->plan->tree || arm->plan->keeper || !arm->host->apparmor ||
	    arm->host->label.entered == NULL)
		return;
	steps_add(&arm->steps, STEP_APPARMOR)->text = arena_printf(
		arm->arena, "%s %s", arm->host->label.stacked ? "stack" : "exec", name);
}
