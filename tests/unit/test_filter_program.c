// SPDX-License-Identifier: Apache-2.0
/*
 * The compiled filter: its verdicts as golden text (REGENERATE=1 writes it anew), and
 * the program against a plain reading of the tables.
 */
#include "filter_fixture.h"

/* ---- golden text ---- */

static const int wild[] = {1000, 0x7fffffff, -1, -2, INT32_MIN, 0x40000000, 0x40000000 | 59};

/* Writes one line, unless `before` has it: then only what differs is of interest. */
static void print_verdict(FILE *out, const char *before, const struct filter_policy *policy,
			  const struct sock_fprog *program, const char *call, uint32_t arch, int nr,
			  const uint64_t args[6])
{
	uint32_t verdict = filter_simulate(program, arch, nr, args);
	bool is_exec = nr == syscall_number("execve") || nr == syscall_number("execveat");
	bool goes_on = (is_exec && arch == NATIVE) || filter_wants_network(policy, arch, nr, args);
	const char *then = "";
	char line[192];

	if (verdict == SECCOMP_RET_USER_NOTIF)
		then = goes_on ? ", then continue"
			       : strerrorname_np(filter_refusal_errno(arch, nr, args));
	snprintf(line, sizeof(line), "%-48s %s%s%s\n", call, verdict_text(verdict),
		 then[0] != '\0' && then[0] != ',' ? ", then " : "", then);
	if (before == NULL || strstr(before, line) == NULL)
		fputs(line, out);
}

static void print_rows(FILE *out, const char *before, const struct filter_policy *policy,
		       const struct sock_fprog *program)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const uint64_t *a = rows[i].args;
		const uint64_t args[6] = {a[0], a[1], a[2], a[3], 0, 0};
		char call[128];

		snprintf(call, sizeof(call), "%s(%#jx, %#jx, %#jx, %#jx)", rows[i].call,
			 (uintmax_t)a[0], (uintmax_t)a[1], (uintmax_t)a[2], (uintmax_t)a[3]);
		print_verdict(out, before, policy, program, call, NATIVE,
			      syscall_number(rows[i].call), args);
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
		print_verdict(out, before, policy, &program, call, NATIVE, nr, none);
	}
	for (size_t i = 0; i < sizeof(wild) / sizeof(wild[0]); i++) {
		snprintf(call, sizeof(call), "%#x", (unsigned)wild[i]);
		print_verdict(out, before, policy, &program, call, NATIVE, wild[i], none);
	}
	print_verdict(out, before, policy, &program, "i386 5", AUDIT_ARCH_I386, 5, none);
	print_rows(out, before, policy, &program);
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
	char path[128];
	char *plain = _i == 0 ? NULL : verdicts(&policies[0].policy, NULL);
	char *text = verdicts(&policies[_i].policy, plain);

	/* the numbers are the architecture's */
	snprintf(path, sizeof(path), "tests/golden/verdicts-%s%s.txt", policies[_i].name,
		 NATIVE == AUDIT_ARCH_AARCH64 ? "-aarch64" : "");
	compare(path, text);
	free(text);
	free(plain);
}
END_TEST

/* ---- the program against the tables ---- */

static bool is_one_of(int nr, const char *names)
{
	char name[SYSCALL_NAME_MAX];

	for (const char *at = syscall_next_name(names, name); name[0] != '\0';
	     at = syscall_next_name(at, name))
		if (nr == syscall_number(name))
			return true;
	return false;
}

static bool is_refused_by_form(const struct filter_policy *policy, int nr)
{
	return (policy->refuse_memfd && is_one_of(nr, "memfd_create memfd_secret shmget")) ||
	       (policy->refuse_ipc &&
		is_one_of(nr, "shmget shmat shmctl semget semop semctl semtimedop msgget msgsnd "
			      "msgrcv msgctl mq_open mq_unlink")) ||
	       (policy->refuse_others && is_one_of(nr, "setpriority ioprio_set")) ||
	       (policy->refuse_truncate && is_one_of(nr, "truncate"));
}

/* What the tables say, number by number and row by row, with nothing compiled. */
static uint32_t expected(const struct filter_policy *policy, uint32_t arch, int nr,
			 const uint64_t args[6])
{
	const struct syscall_info *info = syscall_find(nr);
	uint32_t notify = SECCOMP_RET_USER_NOTIF, refuse = policy->listener ? notify : 0;
	unsigned given =
		(!policy->shared_network || policy->network == NETWORK_HOST ? ARG_NEEDS_NETWORK
									    : 0) |
		(policy->refuse_unix ? 0 : ARG_NEEDS_UNIX) |
		(policy->refuse_others ? 0 : ARG_NEEDS_PIDS);

	if (arch != NATIVE)
		return refuse != 0 ? refuse : SECCOMP_RET_ERRNO | EPERM;
	if (info == NULL || syscall_sets[info->set].absent)
		return SECCOMP_RET_ERRNO | ENOSYS;
	const struct syscall_set *set = &syscall_sets[info->set];
	bool allowed = strstr(syscall_sets[0].members, set->name) != NULL;
	if (!allowed || is_refused_by_form(policy, nr))
		return refuse != 0 ? refuse : SECCOMP_RET_ERRNO | (uint32_t)set->errnum;
	if (policy->trap_exec && policy->listener &&
	    (nr == syscall_number("execve") || nr == syscall_number("execveat")))
		return notify;
	int8_t index = arg_check_table()[nr];
	if (index < 0)
		return SECCOMP_RET_ALLOW;
	const struct arg_row *row = arg_check_decide(&arg_checks[index], given, args);
	if (row->allow)
		return row->network && policy->late_network ? notify : SECCOMP_RET_ALLOW;
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

/* sbox's own exec is not asked about; one that lacks a bit of the mark, or is another call, is. */
START_TEST(only_the_marked_exec_passes)
{
	const uint64_t mark = 0x8badf00d5ca1ab1e;
	const struct filter_policy policy = {
		.syscalls = &defaults, .listener = true, .trap_exec = true, .exec_mark = mark};
	struct sock_fprog program = build(&policy);
	uint64_t args[6] = {0, 0, 0, 0, 0, mark};
	int nr = syscall_number("execve");

	ck_assert_uint_eq(filter_simulate(&program, NATIVE, nr, args), SECCOMP_RET_ALLOW);
	ck_assert_uint_eq(filter_simulate(&program, NATIVE, syscall_number("execveat"), args),
			  SECCOMP_RET_USER_NOTIF);
	for (int bit = 0; bit < 64; bit++) {
		args[5] = mark ^ (1ULL << bit);
		ck_assert_uint_eq(filter_simulate(&program, NATIVE, nr, args),
				  SECCOMP_RET_USER_NOTIF);
	}
	args[5] = 0;
	ck_assert_uint_eq(filter_simulate(&program, NATIVE, nr, args), SECCOMP_RET_USER_NOTIF);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("filter-program");
	TCase *values = tcase_create("verdicts");

	tcase_add_checked_fixture(values, NULL, drop);
	tcase_set_timeout(values, 60);
	tcase_add_loop_test(values, verdicts_are_as_reviewed, 0, POLICIES);
	tcase_add_loop_test(values, program_agrees_with_tables, 0, POLICIES);
	tcase_add_loop_test(values, any_list_is_compiled_right, 0, 40);
	tcase_add_loop_test(values, program_is_short, 0, POLICIES);
	tcase_add_test(values, only_the_marked_exec_passes);
	suite_add_tcase(suite, values);

	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
