// SPDX-License-Identifier: Apache-2.0
/*
 * Every shipped profile's filter, asked about everything of a kind: all numbers, all socket
 * families and types, all flags of clone and unshare, all options of prctl, all terminal ioctls,
 * all personalities. Golden text (REGENERATE=1 writes it anew): what a change of a set or a rule
 * does to the whole is in a reviewed file. tests/attack/sweeps.py asks the kernel the same.
 */
#include <glob.h>
#include <limits.h>
#include <unistd.h>

#include "filter_fixture.h"
#include "profile.h"

enum { NUMBERS = 1000, FAMILIES = 64, TYPES = 16, PRCTLS = 128, PROTOCOLS = 300 };

static const int wild[] = {1024,       4096, 65535, 0x40000000, 0x4000003b,
			   0x7fffffff, -1,   -2,    INT32_MIN};

struct sweep {
	FILE *out;
	const struct filter_policy *policy;
	struct sock_fprog program;
};

/* The answer that the program gets. */
static const char *answer(const struct sweep *sweep, int nr, const uint64_t args[6])
{
	uint32_t verdict = filter_simulate(&sweep->program, NATIVE, nr, args);

	if (verdict != SECCOMP_RET_USER_NOTIF)
		return verdict_text(verdict);
	if (nr == syscall_number("execve") || nr == syscall_number("execveat") ||
	    filter_wants_network(sweep->policy, NATIVE, nr, args))
		return "asked about, then allow";
	return strerrorname_np(filter_refusal_errno(NATIVE, nr, args));
}

/* The argument `which` of a call goes from first to last; with `bits` it is that bit of it. */
struct series {
	const char *label, *call;
	uint64_t args[6], first, last;
	int which;
	bool bits;
};

/* Runs of equal answers, a line each. */
static void sweep_series(const struct sweep *sweep, const struct series *series)
{
	int nr = syscall_number(series->call);
	uint64_t now[6], begun = series->first;
	char before[64] = "";

	ck_assert_int_ge(nr, 0);
	for (uint64_t value = series->first; value <= series->last + 1; value++) {
		const char *text = "";

		memcpy(now, series->args, sizeof(now));
		now[series->which] =
			series->bits ? now[series->which] | 1ULL << (value % 64) : value;
		if (value <= series->last)
			text = answer(sweep, nr, now);
		if (value > series->first && strcmp(before, text) != 0) {
			fprintf(sweep->out, "%s %#jx-%#jx: %s\n", series->label, (uintmax_t)begun,
				(uintmax_t)(value - 1), before);
			begun = value;
		}
		snprintf(before, sizeof(before), "%s", text);
	}
}

static void sweep_numbers(const struct sweep *sweep)
{
	const uint64_t none[6] = {0};
	char name[SYSCALL_NAME_MAX];

	for (int nr = 0; nr <= NUMBERS; nr++)
		if (syscall_find(nr) != NULL)
			fprintf(sweep->out, "call %d %s: %s\n", nr, syscall_name(nr, name),
				answer(sweep, nr, none));
		else
			ck_assert_str_eq(answer(sweep, nr, none), "ENOSYS");
	fputs("call all other numbers: ENOSYS\n", sweep->out);
	for (size_t i = 0; i < sizeof(wild) / sizeof(wild[0]); i++)
		ck_assert_str_eq(answer(sweep, wild[i], none), "ENOSYS");
}

static void sweep_sockets(const struct sweep *sweep)
{
	static const uint64_t families[] = {AF_UNIX, AF_INET, AF_INET6, AF_NETLINK};
	char label[64];

	for (uint64_t family = 0; family < FAMILIES; family++) {
		snprintf(label, sizeof(label), "socket family %ju type", (uintmax_t)family);
		sweep_series(sweep,
			     &(struct series){label, "socket", {family}, 0, TYPES - 1, 1, false});
	}
	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++)
		for (uint64_t type = 1; type <= 5; type++) {
			snprintf(label, sizeof(label), "socket family %ju type %ju protocol",
				 (uintmax_t)families[i], (uintmax_t)type);
			sweep_series(sweep, &(struct series){label,
							     "socket",
							     {families[i], type},
							     0,
							     PROTOCOLS,
							     2,
							     false});
		}
}

/* clang-format off */
static const struct series all[] = {
	{"socketpair family", "socketpair", {0, 1}, 0, FAMILIES - 1, 0, false},
	{"clone flag bit", "clone", {0}, 0, 63, 0, true},
	{"unshare flag bit", "unshare", {0}, 0, 63, 0, true},
	{"personality bit", "personality", {0}, 0, 63, 0, true},
	{"personality", "personality", {0}, 0, 0x20, 0, false},
	{"chmod mode bit", "chmod", {0}, 0, 63, 1, true},
	{"fchmodat mode bit", "fchmodat", {0}, 0, 63, 2, true},
	{"mkdirat mode bit", "mkdirat", {0}, 0, 63, 2, true},
	{"openat O_CREAT mode bit", "openat", {0, 0, O_CREAT}, 0, 63, 3, true},
	{"openat mode 4000 flag bit", "openat", {0, 0, 0, S_ISUID}, 0, 63, 2, true},
	{"mknodat mode bit", "mknodat", {0}, 0, 63, 2, true},
	{"mknodat type", "mknodat", {0}, 0, 0, 2, false},
	{"prctl option", "prctl", {0}, 0, PRCTLS, 0, false},
	{"prctl option", "prctl", {0}, 0x41555856, 0x41555856, 0, false},
	{"prctl option", "prctl", {0}, 0x53564d41, 0x53564d41, 0, false},
	{"prctl option", "prctl", {0}, 0x59616d61, 0x59616d61, 0, false},
	{"ioctl", "ioctl", {0}, 0x5400, 0x54ff, 1, false},
	{"ioctl", "ioctl", {0}, 0x100005400, 0x1000054ff, 1, false},
	{"ioctl", "ioctl", {0}, 0xc0045877, 0xc0045878, 1, false},
	{"seccomp operation", "seccomp", {0}, 0, 7, 0, false},
	{"seccomp filter flag bit", "seccomp", {SECCOMP_SET_MODE_FILTER}, 0, 63, 1, true},
	{"prlimit64 pid", "prlimit64", {0}, 0, 3, 0, false},
};
/* clang-format on */

static void sweep_arguments(const struct sweep *sweep)
{
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		sweep_series(sweep, &all[i]);
}

/* ---- profiles and forms ---- */

/* From the project's folder, in which unit tests are started. */
static void load(const char *name, struct profile *profile)
{
	struct error err = {0};
	char top[PATH_MAX];
	const char *shipped =
		arena_printf(&arena, "%s/profiles", getcwd(top, sizeof(top)) != NULL ? top : "");
	const char *path = arena_printf(&arena, "%s/%s", shipped, name);
	const struct profile_context context = {.cwd = "/work",
						.home = "/home/somebody",
						.user = "somebody",
						.uid = getuid(),
						.store = "/store",
						.shipped_dir = shipped};

	ck_assert_msg(profile_load(&arena, &context, path, NULL, 0, profile, NULL, &err) == 0, "%s",
		      err.text);
}

/* As privilege_arm() does for the full form and the one in place. */
static char *text_for(const char *name, bool in_place)
{
	struct profile profile;
	struct sweep sweep;
	char *text = NULL;
	size_t size;

	static bool passes[SYSCALL_NUMBERS];

	load(name, &profile);
	const struct filter_policy policy = {
		.syscalls = &profile.privilege.syscalls,
		.network = profile.network.mode,
		.listener = true,
		.trap_exec = profile.audit.execs == YES,
		.passes = passes,
		.late_network = !in_place && profile.network.mode == NETWORK_ALLOW,
		.shared_network = in_place,
		.refuse_unix = in_place,
		.refuse_ipc = in_place,
		.refuse_others = in_place,
	};
	sweep.policy = &policy;
	sweep.program = build(&policy);
	sweep.out = open_memstream(&text, &size);
	sweep_numbers(&sweep);
	sweep_sockets(&sweep);
	sweep_arguments(&sweep);
	fclose(sweep.out);
	return text;
}

static void compare(const char *path, const char *text)
{
	char *stored = NULL;
	size_t size = 0;
	bool anew = getenv("REGENERATE") != NULL;
	FILE *file = fopen(path, anew ? "w" : "r");

	ck_assert_msg(file != NULL, "%s is missing; REGENERATE=1 writes it", path);
	if (anew)
		fputs(text, file);
	else
		ck_assert(getdelim(&stored, &size, '\0', file) > 0);
	fclose(file);
	ck_assert_msg(anew || strcmp(stored, text) == 0,
		      "%s differs; REGENERATE=1 and git diff show where", path);
	free(stored);
}

static const char *const forms[] = {"full", "in-place"};

/* The one that is used when none is named is written out; the others are as it is. */
START_TEST(sweeps_are_as_reviewed)
{
	bool in_place = _i == 1;
	char path[128];
	char *agent = text_for("agent.ini", in_place);

	snprintf(path, sizeof(path), "tests/golden/sweep-%s%s.txt", forms[_i],
		 NATIVE == AUDIT_ARCH_AARCH64 ? "-aarch64" : "");
	compare(path, agent);
	free(agent);
}
END_TEST

/* Lines that a profile has otherwise than agent.ini, one after the other. */
static void print_differences(FILE *out, const char *name, const char *form, char *text,
			      char *agent)
{
	char *rest = NULL, *other = NULL;
	char *line = strtok_r(text, "\n", &rest), *model = strtok_r(agent, "\n", &other);

	for (; line != NULL && model != NULL;
	     line = strtok_r(NULL, "\n", &rest), model = strtok_r(NULL, "\n", &other))
		if (strcmp(line, model) != 0)
			fprintf(out, "%s, %s: %s\n", name, form, line);
	ck_assert(line == NULL && model == NULL);
}

START_TEST(other_profiles_differ_as_reviewed)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	glob_t found;

	ck_assert_int_eq(glob("profiles/*.ini", 0, NULL, &found), 0);
	fprintf(out, "# %zu shipped profiles; what differs from agent.ini\n", found.gl_pathc);
	for (size_t i = 0; i < found.gl_pathc; i++)
		for (int form = 0; form < 2; form++) {
			const char *name = strrchr(found.gl_pathv[i], '/') + 1;

			print_differences(out, name, forms[form], text_for(name, form == 1),
					  text_for("agent.ini", form == 1));
		}
	globfree(&found);
	fclose(out);
	compare("tests/golden/sweep-profiles.txt", text);
	free(text);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("filter-sweep");
	TCase *values = tcase_create("sweeps");

	tcase_add_checked_fixture(values, NULL, drop);
	tcase_set_timeout(values, 60);
	tcase_add_loop_test(values, sweeps_are_as_reviewed, 0, 2);
	tcase_add_test(values, other_profiles_differ_as_reviewed);
	suite_add_tcase(suite, values);

	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
