// SPDX-License-Identifier: Apache-2.0
/* [privilege] apparmor: what the plan makes of what came of entering the profile. */
#include <errno.h>
#include <sched.h>

#include "host_fixture.h"

static const struct {
	struct label_fact label;
	enum item_state state;
	const char *part; /* of the reason; of the mechanism when it is enforced */
} rows[] = {
	{{.entered = "strict (enforce)"}, ITEM_ENFORCED, "entered at exec"},
	{{.entered = "strict (kill)"}, ITEM_ENFORCED, "entered at exec"},
	/* a profile's name may look like a mode */
	{{.entered = "a(complain)b (enforce)"}, ITEM_ENFORCED, "entered at exec"},
	{{.entered = "strict//&web (enforce)", .stacked = true},
	 ITEM_ENFORCED,
	 "on top of the caller's own"},
	{{.entered = "strict (complain)"}, ITEM_REDUCED, "aa-enforce"},
	{{.entered = "strict//&web (mixed)", .stacked = true}, ITEM_REDUCED, "aa-enforce"},
	{{.entered = "", .own = "web (enforce)", .stacked = true},
	 ITEM_REDUCED,
	 "attr/apparmor/current"},
	{{.entered = "strict (unconfined)"}, ITEM_MISSING, "refuses nothing"},
	{{.entered = "unconfined"}, ITEM_MISSING, "refuses nothing"},
	{{.errnum = ENOENT}, ITEM_MISSING, "no profile \"strict\" loaded"},
	{{.errnum = EACCES, .own = "web (enforce)", .stacked = true},
	 ITEM_MISSING,
	 "add \"change_profile -> strict,\""},
	{{.errnum = EPERM}, ITEM_MISSING, "Operation not permitted"},
};

static void ask(struct label_fact label)
{
	profile.privilege.apparmor = "strict";
	host.apparmor = true;
	label.tried = true;
	host.label = label;
}

START_TEST(state_and_words)
{
	ask(rows[_i].label);
	make_plan();
	const struct plan_item *item = item_of(BOUNDARY_PRIVILEGE, "apparmor");

	ck_assert_int_eq(item->state, rows[_i].state);
	assert_contains(item->state == ITEM_ENFORCED ? item->mechanism : item->reason,
			rows[_i].part);
	ck_assert_int_eq(item->residual != NULL, item->state == ITEM_ENFORCED);
}
END_TEST

START_TEST(kernel_without_it)
{
	ask((struct label_fact){.entered = "strict (enforce)"});
	host.apparmor = false;
	make_plan();
	const struct plan_item *item = item_of(BOUNDARY_PRIVILEGE, "apparmor");

	ck_assert_int_eq(item->state, ITEM_MISSING);
	assert_contains(item->reason, "not at work in this kernel");
}
END_TEST

/* What only signals can end must not be under a profile that may refuse them. */
START_TEST(without_a_pid_namespace)
{
	ask((struct label_fact){.entered = "strict (enforce)"});
	host.looked = true;
	host.refused = _i == 0 ? CLONE_NEWPID : CLONE_NEWUSER;
	host.refused_why = "refused";
	make_plan();
	const struct plan_item *item = item_of(BOUNDARY_PRIVILEGE, "apparmor");

	ck_assert_int_eq(item->state, ITEM_MISSING);
	assert_contains(item->reason, "could not be ended for certain");
}
END_TEST

static void add(TCase *tcase)
{
	tcase_add_loop_test(tcase, state_and_words, 0, ROWS(rows));
	tcase_add_test(tcase, kernel_without_it);
	tcase_add_loop_test(tcase, without_a_pid_namespace, 0, 2);
}

int main(void)
{
	return run_suite("plan-apparmor", add);
}
