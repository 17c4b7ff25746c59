// SPDX-License-Identifier: Apache-2.0
#include "plan.h"

#include <stdlib.h>
#include <string.h>

#include "boundary.h"

struct plan_item *plan_add(struct plan *plan, enum boundary boundary, const char *name,
			   const char *asked)
{
	if (plan->item_count == PLAN_ITEMS_MAX)
		abort();
	struct plan_item *item = &plan->items[plan->item_count++];
	item->boundary = boundary;
	item->name = name;
	item->asked = asked;
	item->state = ITEM_OFF;
	return item;
}

void plan_enforced(struct plan_item *item, const char *mechanism, const char *residual)
{
	item->state = ITEM_ENFORCED;
	item->mechanism = mechanism;
	item->residual = residual;
}

void plan_reduced(struct plan_item *item, const char *mechanism, const char *reason)
{
	item->state = ITEM_REDUCED;
	item->mechanism = mechanism;
	item->reason = reason;
}

/* The first reason stays: it is the nearest to what was asked. */
void plan_missing(struct plan_item *item, const char *reason)
{
	if (item->state == ITEM_MISSING)
		return;
	item->state = ITEM_MISSING;
	item->reason = reason;
}

void plan_make(struct arena *arena, const struct profile *profile, const struct host *host,
	       struct plan *ret_plan)
{
	*ret_plan = (struct plan){.arena = arena};
	form_decide(profile, host, ret_plan);
	file_plan(profile, host, ret_plan);
	network_plan(profile, host, ret_plan);
	process_plan(profile, host, ret_plan);
	privilege_plan(profile, host, ret_plan);
	time_plan(profile, host, ret_plan);
}

static enum on_missing policy_of(const struct profile *profile, enum boundary boundary)
{
	switch (boundary) {
	case BOUNDARY_FILE:
		return profile->file.on_missing;
	case BOUNDARY_NETWORK:
		return profile->network.on_missing;
	case BOUNDARY_PROCESS:
		return profile->process.on_missing;
	case BOUNDARY_PRIVILEGE:
		return profile->privilege.on_missing;
	case BOUNDARY_TIME:
		return profile->time.on_missing;
	case BOUNDARY_MAX:
		break;
	}
	abort();
}

static bool accepted(const struct plan_item *item, enum on_missing policy)
{
	switch (item->state) {
	case ITEM_REDUCED:
		return policy != ON_MISSING_REFUSE;
	case ITEM_MISSING:
		return policy == ON_MISSING_ALLOW;
	case ITEM_ENFORCED:
	case ITEM_OFF:
		return true;
	case ITEM_STATE_MAX:
		break;
	}
	abort();
}

static int refuse(const struct plan_item *item, bool strict, struct error *err)
{
	const char *section = boundary_names[item->boundary];
	const char *word = item->state == ITEM_REDUCED ? "reduce" : "allow";

	if (strict)
		return error_set(
			err, ERROR_MISSING,
			"[%s] %s is %s here: %s (--strict accepts nothing less; sbox doctor "
			"says what changes it)",
			section, item->name, item_state_names[item->state], item->reason);
	return error_set(err, ERROR_MISSING,
			 "[%s] %s is %s here: %s (to accept that: [%s] on_missing = %s)", section,
			 item->name, item_state_names[item->state], item->reason, section, word);
}

/* Why the form is what it is stands in many reasons; one line says it once. */
static const char *reason_once(const struct plan *plan, const char *reason, const char *line)
{
	const char *why = plan->form_why;

	if (why == NULL || line == NULL || strstr(line, why) == NULL)
		return reason;
	const char *at = strstr(reason, why);
	if (at == NULL)
		return reason;
	return arena_printf(plan->arena, "%.*sas above%s", (int)(at - reason), reason,
			    at + strlen(why));
}

int plan_judge(const struct plan *plan, const struct profile *profile, bool strict,
	       const char **ret_accepted, struct error *err)
{
	const char *line = NULL;

	if (plan->impossible != NULL)
		return error_set(err, ERROR_MISSING, "%s", plan->impossible);
	for (size_t i = 0; i < plan->item_count; i++) {
		const struct plan_item *item = &plan->items[i];

		if (item->state == ITEM_ENFORCED || item->state == ITEM_OFF)
			continue;
		if (strict || !accepted(item, policy_of(profile, item->boundary)))
			return refuse(item, strict, err);
		line = arena_printf(plan->arena, "%s%s%s.%s %s (%s)", line != NULL ? line : "",
				    line != NULL ? "; " : "", boundary_names[item->boundary],
				    item->name, item_state_names[item->state],
				    reason_once(plan, item->reason, line));
	}
	if (ret_accepted != NULL)
		*ret_accepted = line != NULL ? arena_printf(plan->arena,
							    "accepted by the profile: %s", line)
					     : NULL;
	return 0;
}

const char *plan_size(struct arena *arena, uint64_t bytes)
{
	static const char units[] = "KMGT";
	int unit = -1;

	if (bytes == 0)
		return "none";
	while (unit < 3 && bytes % 1024 == 0) {
		bytes /= 1024;
		unit++;
	}
	if (unit < 0)
		return arena_printf(arena, "%llu", (unsigned long long)bytes);
	return arena_printf(arena, "%llu%c", (unsigned long long)bytes, units[unit]);
}

const char *plan_duration(struct arena *arena, uint64_t ms)
{
	static const struct {
		uint64_t ms;
		const char *unit;
	} units[] = {{86400000, "d"}, {3600000, "h"}, {60000, "m"}, {1000, "s"}, {1, "ms"}};

	if (ms == 0)
		return "none";
	for (size_t i = 0;; i++)
		if (ms % units[i].ms == 0)
			return arena_printf(arena, "%llu%s", (unsigned long long)(ms / units[i].ms),
					    units[i].unit);
}
