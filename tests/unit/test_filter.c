// SPDX-License-Identifier: Apache-2.0
/*
 * The filter without a kernel: its tables, its verdicts row by row, the same
 * as golden text (REGENERATE=1 writes it anew), and the compiled program
 * against a plain reading of the tables.
 */
#include <asm/ioctls.h>
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "filter.h"
#include "filter_rows.h"
#include "syscalls.h"

#ifdef __x86_64__
#define NATIVE AUDIT_ARCH_X86_64
#else
#define NATIVE AUDIT_ARCH_AARCH64
#endif

static const char *default_items[] = {"@default"};
static const struct string_list defaults = {default_items, 1};

/* The policies that are tested; the first one is what the others are compared with. */
static const struct {
	const char *name;
	struct filter_policy policy;
} policies[] = {
	{"default", {.syscalls = &defaults, .listener = true}},
	{"host", {.syscalls = &defaults, .listener = true, .network = NETWORK_HOST}},
	{"shared-network", {.syscalls = &defaults, .listener = true, .shared_network = true}},
	{"refuse-memfd", {.syscalls = &defaults, .listener = true, .refuse_memfd = true}},
	{"no-listener", {.syscalls = &defaults}},
	{"trap-exec", {.syscalls = &defaults, .listener = true, .trap_exec = true}},
};
enum { POLICIES = sizeof(policies) / sizeof(policies[0]) };

static struct arena arena;

static void drop(void)
{
	arena_free(&arena);
}

static struct sock_fprog build(const struct filter_policy *policy)
{
	struct sock_fprog program;
	struct error err = {0};

	ck_assert_msg(filter_build(&arena, policy, &program, &err) == 0, "%s", err.text);
	return program;
}

static uint32_t run(const struct sock_fprog *program, int nr, uint64_t a, uint64_t b, uint64_t c,
		    uint64_t d)
{
	const uint64_t args[6] = {a, b, c, d, 0, 0};

	return filter_simulate(program, NATIVE, nr, args);
}

static const char *verdict_text(uint32_t verdict)
{
	static char text[64];

	if (verdict == SECCOMP_RET_ALLOW)
		return "allow";
	if (verdict == SECCOMP_RET_USER_NOTIF)
		return "notify";
	if ((verdict & SECCOMP_RET_ACTION_FULL) == SECCOMP_RET_ERRNO)
		snprintf(text, sizeof(text), "%s", strerrorname_np(verdict & SECCOMP_RET_DATA));
	else
		snprintf(text, sizeof(text), "0x%08x", verdict);
	return text;
}

/* ---- tables ---- */

START_TEST(every_set_is_described)
{
	for (const struct syscall_set *set = syscall_sets; set->name != NULL; set++) {
		ck_assert(set->name[0] == '@' && set->help != NULL && set->help[0] != '\0');
		ck_assert_ptr_eq(syscall_set_find(set->name), set);
		if (!syscall_set_is_group(set))
			ck_assert_msg(set->errnum > 0, "%s has no errno", set->name);
	}
}
END_TEST

static int times_listed(const char *wanted)
{
	char name[SYSCALL_NAME_MAX];
	int times = 0;

	for (const struct syscall_set *set = syscall_sets; set->name != NULL; set++) {
		const char *at = syscall_next_name(set->members, name);

		for (; name[0] != '\0'; at = syscall_next_name(at, name))
			if (strcmp(name, wanted) == 0)
				times++;
	}
	return times;
}

static void check_architecture(uint32_t arch)
{
	for (int nr = 0; nr < 1024; nr++) {
		char *name = seccomp_syscall_resolve_num_arch(arch, nr);

		if (name != NULL)
			ck_assert_msg(times_listed(name) == 1, "%s is in %d sets", name,
				      times_listed(name));
		free(name);
	}
}

START_TEST(every_call_is_in_one_set)
{
	char name[SYSCALL_NAME_MAX];

	ck_assert_str_eq(syscall_name(syscall_number("read"), name), "read");
	ck_assert_str_eq(syscall_name(syscall_number("clone3"), name), "clone3");
	ck_assert_str_eq(syscall_name(SYSCALL_NUMBERS, name), "");
	check_architecture(SCMP_ARCH_X86_64);
	check_architecture(SCMP_ARCH_AARCH64);
}
END_TEST

START_TEST(every_name_exists)
{
	char name[SYSCALL_NAME_MAX];

	for (const struct syscall_set *set = syscall_sets; set->name != NULL; set++) {
		const char *at = syscall_next_name(set->members, name);

		for (; name[0] != '\0'; at = syscall_next_name(at, name)) {
			ck_assert_int_eq(times_listed(name), 1);
			if (name[0] == '@')
				ck_assert(!syscall_set_is_group(syscall_set_find(name)));
			else
				ck_assert_msg(seccomp_syscall_resolve_name(name) !=
							      __NR_SCMP_ERROR ||
						      syscall_number(name) >= 0,
					      "there is no %s", name);
		}
	}
}
END_TEST

static void check_row(const struct arg_row *row)
{
	for (size_t i = 0; i < ARG_CONDITIONS; i++)
		for (size_t j = 1; j < row->when[i].count; j++)
			ck_assert(row->when[i].ranges[j - 1].last < row->when[i].ranges[j].first);
	if (row->allow)
		return;
	ck_assert_int_gt(row->errnum, 0);
	ck_assert((row->permit != NULL) != (row->never != NULL));
}

START_TEST(every_check_is_complete)
{
	char name[SYSCALL_NAME_MAX];

	for (size_t i = 0; i < arg_check_count; i++) {
		const struct arg_check *check = &arg_checks[i];
		const char *at = syscall_next_name(check->calls, name);

		for (; name[0] != '\0'; at = syscall_next_name(at, name))
			ck_assert_msg(syscall_set_of(name) != NULL, "there is no %s", name);
		for (size_t j = 0; j < check->count; j++)
			check_row(&check->rows[j]);
		const struct arg_row *last = &check->rows[check->count - 1];
		ck_assert(last->when[0].test == ARG_UNUSED && !last->own_network);
	}
}
END_TEST

/* ---- the profile's list ---- */

START_TEST(list_is_applied_in_order)
{
	struct string_list list = {.items = (const char **)lists[_i].items};
	const struct filter_policy policy = {.syscalls = &list, .listener = true};
	struct sock_fprog program;
	struct error err = {0};

	while (list.count < 3 && list.items[list.count] != NULL)
		list.count++;
	int done = filter_build(&arena, &policy, &program, &err);
	if (lists[_i].call == NULL) {
		ck_assert_int_eq(done, -1);
		ck_assert_int_eq(err.kind, ERROR_PROFILE);
		ck_assert_msg(strstr(err.text, lists[_i].text) != NULL, "%s", err.text);
		return;
	}
	ck_assert_msg(done == 0, "%s", err.text);
	uint32_t verdict = run(&program, syscall_number(lists[_i].call), 0, 0, 0, 0);
	ck_assert_str_eq(verdict_text(verdict), lists[_i].text);
}
END_TEST

/* ---- verdicts by argument, without a listener so that the errno shows ---- */

START_TEST(row_has_its_verdict)
{
	struct filter_policy policy = {.syscalls = &defaults};
	int nr = syscall_number(rows[_i].call);
	const uint64_t *a = rows[_i].args;
	const uint64_t args[6] = {a[0], a[1], a[2], a[3], 0, 0};

	if (nr < 0)
		return;
	struct sock_fprog program = build(&policy);
	const char *text = verdict_text(run(&program, nr, a[0], a[1], a[2], a[3]));
	ck_assert_msg(strcmp(text, rows[_i].verdict) == 0, "%s: %s instead of %s", rows[_i].call,
		      text, rows[_i].verdict);

	/* With a listener the supervisor's errno is the same, or the answer needs none. */
	policy.listener = true;
	program = build(&policy);
	uint32_t verdict = run(&program, nr, a[0], a[1], a[2], a[3]);
	if (verdict == SECCOMP_RET_USER_NOTIF)
		verdict = SECCOMP_RET_ERRNO | (uint32_t)filter_refusal_errno(NATIVE, nr, args);
	ck_assert_str_eq(verdict_text(verdict), rows[_i].verdict);
}
END_TEST

START_TEST(shared_network_has_unix_sockets_only)
{
	const struct filter_policy policy = {.syscalls = &defaults, .shared_network = true};
	struct sock_fprog program = build(&policy);
	int nr = syscall_number("socket");

	ck_assert_uint_eq(run(&program, nr, AF_UNIX, SOCK_DGRAM, 0, 0), SECCOMP_RET_ALLOW);
	ck_assert_str_eq(verdict_text(run(&program, nr, AF_INET, SOCK_STREAM, 0, 0)),
			 "EAFNOSUPPORT");
	ck_assert_str_eq(verdict_text(run(&program, nr, AF_NETLINK, SOCK_RAW, 0, 0)),
			 "EAFNOSUPPORT");
}
END_TEST

/* ---- golden text ---- */

static const int wild[] = {1000, 0x7fffffff, -1, -2, INT32_MIN, 0x40000000, 0x40000000 | 59};

/* Writes one line, unless `before` has it: then only what differs is of interest. */
static void print_verdict(FILE *out, const char *before, const struct sock_fprog *program,
			  const char *call, uint32_t arch, int nr, const uint64_t args[6])
{
	uint32_t verdict = filter_simulate(program, arch, nr, args);
	bool is_exec = nr == syscall_number("execve") || nr == syscall_number("execveat");
	const char *then = "";
	char line[192];

	if (verdict == SECCOMP_RET_USER_NOTIF)
		then = is_exec && arch == NATIVE
			       ? ", then continue"
			       : strerrorname_np(filter_refusal_errno(arch, nr, args));
	snprintf(line, sizeof(line), "%-48s %s%s%s\n", call, verdict_text(verdict),
		 then[0] != '\0' && then[0] != ',' ? ", then " : "", then);
	if (before == NULL || strstr(before, line) == NULL)
		fputs(line, out);
}

static void print_rows(FILE *out, const char *before, const struct sock_fprog *program)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const uint64_t *a = rows[i].args;
		const uint64_t args[6] = {a[0], a[1], a[2], a[3], 0, 0};
		char call[128];

		snprintf(call, sizeof(call), "%s(%#jx, %#jx, %#jx, %#jx)", rows[i].call,
			 (uintmax_t)a[0], (uintmax_t)a[1], (uintmax_t)a[2], (uintmax_t)a[3]);
		print_verdict(out, before, program, call, NATIVE, syscall_number(rows[i].call),
			      args);
	}
}

/* Known numbers with zeros as arguments, wild numbers, a foreign call, calls by argument. */
static char *verdicts(const struct filter_policy *policy, const char *before)
{
	struct sock_fprog program = build(policy);
	const uint64_t none[6] = {0};
	char *text = NULL, call[128], name[SYSCALL_NAME_MAX];
	size_t size;
	FILE *out = open_memstream(&text, &size);

	fputs(before == NULL
		      ? "# verdict of each call with zeros as arguments, and of rows by argument\n"
		      : "# only what differs from verdicts-default.txt\n",
	      out);
	for (int nr = 0; nr < 1000; nr++) {
		if (syscall_find(nr) == NULL) {
			ck_assert_str_eq(verdict_text(run(&program, nr, 0, 0, 0, 0)), "ENOSYS");
			continue;
		}
		snprintf(call, sizeof(call), "%d %s", nr, syscall_name(nr, name));
		print_verdict(out, before, &program, call, NATIVE, nr, none);
	}
	for (size_t i = 0; i < sizeof(wild) / sizeof(wild[0]); i++) {
		snprintf(call, sizeof(call), "%#x", (unsigned)wild[i]);
		print_verdict(out, before, &program, call, NATIVE, wild[i], none);
	}
	print_verdict(out, before, &program, "i386 5", AUDIT_ARCH_I386, 5, none);
	print_rows(out, before, &program);
	fclose(out);
	return text;
}

static void compare(const char *path, const char *text)
{
	char *stored = NULL;
	size_t size = 0;
	FILE *file;

	if (getenv("REGENERATE") != NULL) {
		file = fopen(path, "w");
		ck_assert_ptr_nonnull(file);
		fputs(text, file);
		fclose(file);
		return;
	}
	file = fopen(path, "r");
	ck_assert_msg(file != NULL, "%s is missing; REGENERATE=1 writes it", path);
	ck_assert(getdelim(&stored, &size, '\0', file) > 0);
	fclose(file);
	ck_assert_msg(strcmp(stored, text) == 0, "%s differs; REGENERATE=1 and git diff show where",
		      path);
	free(stored);
}

START_TEST(verdicts_are_as_reviewed)
{
#ifdef __x86_64__
	char path[128];
	char *plain = _i == 0 ? NULL : verdicts(&policies[0].policy, NULL);
	char *text = verdicts(&policies[_i].policy, plain);

	snprintf(path, sizeof(path), "tests/golden/verdicts-%s.txt", policies[_i].name);
	compare(path, text);
	free(text);
	free(plain);
#else
	puts("skipped: the golden text has the numbers of x86_64");
#endif
}
END_TEST

/* ---- the program against the tables ---- */

/* What the tables say, number by number and row by row, with nothing compiled. */
static uint32_t expected(const struct filter_policy *policy, uint32_t arch, int nr,
			 const uint64_t args[6])
{
	const struct syscall_info *info = syscall_find(nr);
	uint32_t notify = SECCOMP_RET_USER_NOTIF, refuse = policy->listener ? notify : 0;
	bool own = !policy->shared_network || policy->network == NETWORK_HOST;

	if (arch != NATIVE)
		return refuse != 0 ? refuse : SECCOMP_RET_ERRNO | EPERM;
	if (info == NULL || syscall_sets[info->set].absent)
		return SECCOMP_RET_ERRNO | ENOSYS;
	const struct syscall_set *set = &syscall_sets[info->set];
	bool allowed = strstr(syscall_sets[0].members, set->name) != NULL;
	bool memory = nr == syscall_number("memfd_create") || nr == syscall_number("shmget");
	if (!allowed || (policy->refuse_memfd && memory))
		return refuse != 0 ? refuse : SECCOMP_RET_ERRNO | (uint32_t)set->errnum;
	if (policy->trap_exec && policy->listener &&
	    (nr == syscall_number("execve") || nr == syscall_number("execveat")))
		return notify;
	int8_t index = arg_check_table()[nr];
	if (index < 0)
		return SECCOMP_RET_ALLOW;
	const struct arg_row *row = arg_check_decide(&arg_checks[index], own, args);
	if (row->allow)
		return SECCOMP_RET_ALLOW;
	return refuse != 0 ? refuse : SECCOMP_RET_ERRNO | (uint32_t)row->errnum;
}

static uint64_t random_argument(void)
{
	static const uint64_t pool[] = {
		0,       1,         2,       3,         4,        5,          6,
		10,      16,        17,      38,        40,       58,         132,
		262,     04755,     02000,   0644,      S_IFCHR,  S_IFBLK,    S_IFIFO,
		O_CREAT, O_TMPFILE, TIOCSTI, TIOCLINUX, TIOCSETD, 0x59616d61, 28,
		35,      78,        79,      80,        0x80,     0x10000000, 0x20000,
	};
	uint64_t value = pool[(size_t)rand() % (sizeof(pool) / sizeof(pool[0]))];

	switch (rand() % 6) {
	case 0:
		return value | ((uint64_t)rand() << 32);
	case 1:
		return (uint64_t)rand() << 33 ^ (uint64_t)rand();
	case 2:
		return value | (1ULL << (rand() % 64));
	default:
		return value;
	}
}

START_TEST(program_agrees_with_tables)
{
	struct sock_fprog program = build(&policies[_i].policy);
	const int8_t *checks = arg_check_table();
	static const uint32_t arches[] = {AUDIT_ARCH_I386, AUDIT_ARCH_ARM, 0, 0xffffffff};

	srand(20240601);
	for (int round = 0; round < 300000; round++) {
		uint64_t args[6];
		int nr = rand() % 8 == 0 ? rand() - RAND_MAX / 2 : rand() % 480;
		uint32_t arch = rand() % 32 == 0 ? arches[rand() % 4] : NATIVE;

		/* Mostly calls whose arguments matter. */
		while (rand() % 4 != 0 && (syscall_find(nr) == NULL || checks[nr] < 0))
			nr = rand() % 480;
		for (int i = 0; i < 6; i++)
			args[i] = random_argument();
		ck_assert_msg(filter_simulate(&program, arch, nr, args) ==
				      expected(&policies[_i].policy, arch, nr, args),
			      "arch %#x nr %d (%#jx, %#jx, %#jx, %#jx)", arch, nr,
			      (uintmax_t)args[0], (uintmax_t)args[1], (uintmax_t)args[2],
			      (uintmax_t)args[3]);
	}
}
END_TEST

/* Any set of allowed numbers: many short spans, jumps further than one can reach. */
START_TEST(any_list_is_compiled_right)
{
	static char names[SYSCALL_NUMBERS][SYSCALL_NAME_MAX];
	const char *items[SYSCALL_NUMBERS] = {"!@default"};
	struct string_list list = {items, 1};
	const struct filter_policy policy = {.syscalls = &list, .listener = _i % 2 == 0};
	bool allowed[SYSCALL_NUMBERS];
	struct error err = {0};

	srand((unsigned)_i);
	for (int nr = 0; nr < SYSCALL_NUMBERS; nr++) {
		const struct syscall_info *info = syscall_find(nr);

		if (info != NULL && syscall_sets[info->set].never == NULL && rand() % 2 == 0)
			items[list.count++] = syscall_name(nr, names[nr]);
	}
	struct sock_fprog program = build(&policy);
	ck_assert_int_eq(syscalls_select(&list, allowed, &err), 0);
	for (int nr = 0; nr < SYSCALL_NUMBERS; nr++) {
		uint32_t verdict = run(&program, nr, 0, 0, 0, 0);

		if (arg_check_table()[nr] >= 0)
			continue;
		ck_assert_msg((verdict == SECCOMP_RET_ALLOW) == allowed[nr], "call %d", nr);
		ck_assert((verdict & SECCOMP_RET_ACTION_FULL) != SECCOMP_RET_KILL_PROCESS);
	}
}
END_TEST

START_TEST(program_is_short)
{
	struct sock_fprog program = build(&policies[_i].policy);

	printf("%-15s %u instructions\n", policies[_i].name, program.len);
	ck_assert_uint_lt(program.len, 400);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("filter");
	TCase *tables = tcase_create("tables"), *values = tcase_create("verdicts");

	tcase_add_test(tables, every_set_is_described);
	tcase_add_test(tables, every_call_is_in_one_set);
	tcase_add_test(tables, every_name_exists);
	tcase_add_test(tables, every_check_is_complete);
	suite_add_tcase(suite, tables);

	tcase_add_checked_fixture(values, NULL, drop);
	tcase_set_timeout(values, 60);
	tcase_add_loop_test(values, list_is_applied_in_order, 0, sizeof(lists) / sizeof(lists[0]));
	tcase_add_loop_test(values, row_has_its_verdict, 0, sizeof(rows) / sizeof(rows[0]));
	tcase_add_test(values, shared_network_has_unix_sockets_only);
	tcase_add_loop_test(values, verdicts_are_as_reviewed, 0, POLICIES);
	tcase_add_loop_test(values, program_agrees_with_tables, 0, POLICIES);
	tcase_add_loop_test(values, any_list_is_compiled_right, 0, 40);
	tcase_add_loop_test(values, program_is_short, 0, POLICIES);
	suite_add_tcase(suite, values);

	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
