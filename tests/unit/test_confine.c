// SPDX-License-Identifier: Apache-2.0
/*
 * The supervisor's own filter without a kernel: for each reason to need more, its verdicts as
 * golden text (REGENERATE=1 writes it anew), and what no reason allows.
 */
#include <linux/prctl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "confine.h"
#include "filter_fixture.h"

enum { INIT = 7, GATE = 4711 };

static const struct {
	const char *name;
	unsigned reasons;
} runs[] = {
	{"none", 0},
	{"terminal", CONFINE_TERMINAL},
	{"gate", CONFINE_GATE},
	{"cgroup", CONFINE_CGROUP},
	{"folders", CONFINE_FOLDERS},
	{"hold", CONFINE_HOLD},
	{"growth", CONFINE_GROWTH},
	{"anchor", CONFINE_ANCHOR},
};
enum { RUNS = sizeof(runs) / sizeof(runs[0]) };

static struct sock_fprog filter_of(unsigned reasons)
{
	const struct confine_needs needs = {
		.reasons = reasons, .init_pidfd = INIT, .gate_pid = GATE};
	struct sock_fprog program;

	confine_build(&needs, arena_alloc(&arena, sizeof(struct code)), &program);
	return program;
}

static bool passes(const struct sock_fprog *program, const char *call, uint64_t a, uint64_t b,
		   uint64_t c, uint64_t d, uint64_t e)
{
	const uint64_t args[6] = {a, b, c, d, e, 0};
	uint32_t verdict = filter_simulate(program, NATIVE, syscall_number(call), args);

	ck_assert(verdict == SECCOMP_RET_ALLOW || verdict == SECCOMP_RET_KILL_PROCESS);
	return verdict == SECCOMP_RET_ALLOW;
}

static const struct confine_row {
	const char *call;
	uint64_t args[5];
} argument_rows[] = {
	{"close", {INIT}},
	{"close", {INIT + 1}},
	{"pidfd_send_signal", {INIT, SIGKILL}},
	{"pidfd_send_signal", {INIT + 1, SIGKILL}},
	{"kill", {GATE, SIGKILL}},
	{"kill", {GATE, SIGTERM}},
	{"kill", {GATE + 1, SIGKILL}},
	{"mmap", {0, 4096, PROT_READ | PROT_WRITE}},
	{"mmap", {0, 4096, PROT_READ | PROT_EXEC}},
	{"mprotect", {0, 4096, PROT_READ}},
	{"mprotect", {0, 4096, PROT_EXEC}},
	{"fcntl", {3, F_SETFL}},
	{"fcntl", {3, F_DUPFD}},
	{"fcntl", {3, F_SETOWN}},
	{"ioctl", {3, SECCOMP_IOCTL_NOTIF_SEND}},
	{"ioctl", {3, SECCOMP_IOCTL_NOTIF_ADDFD}},
	{"ioctl", {3, TIOCSPGRP}},
	{"ioctl", {3, TIOCSTI}},
	{"seccomp", {SECCOMP_GET_NOTIF_SIZES}},
	{"seccomp", {SECCOMP_SET_MODE_FILTER}},
	{"sendto", {3, 0, 1, 0, 0}},
	{"sendto", {3, 0, 1, 0, 0x1000}},
	{"sendto", {3, 0, 1, 0, 0x100000000}},
	{"socket", {AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK}},
	{"socket", {AF_UNIX, SOCK_STREAM}},
	{"socket", {AF_INET, SOCK_DGRAM}},
	{"clone", {SIGCHLD}},
	{"clone", {SIGCHLD | CLONE_NEWUSER}},
	{"clone", {SIGCHLD | CLONE_VM}},
	{"prctl", {PR_SET_PDEATHSIG}},
	{"prctl", {PR_SET_DUMPABLE}},
};

static void print_calls(FILE *out, const struct sock_fprog *program, const struct sock_fprog *plain)
{
	char name[SYSCALL_NAME_MAX];

	for (int nr = 0; nr < SYSCALL_NUMBERS; nr++) {
		const uint64_t none[6] = {0};
		bool before = plain != NULL &&
			      filter_simulate(plain, NATIVE, nr, none) == SECCOMP_RET_ALLOW;

		if (filter_simulate(program, NATIVE, nr, none) != SECCOMP_RET_ALLOW)
			ck_assert_msg(!before, "a reason takes %d away", nr);
		else if (!before)
			fprintf(out, "  %s\n", syscall_name(nr, name));
	}
}

static void print_rows(FILE *out, const struct sock_fprog *program, const struct sock_fprog *plain)
{
	for (size_t i = 0; i < sizeof(argument_rows) / sizeof(argument_rows[0]); i++) {
		const struct confine_row *row = &argument_rows[i];
		const uint64_t *a = row->args;
		bool now = passes(program, row->call, a[0], a[1], a[2], a[3], a[4]);

		if (plain != NULL && now == passes(plain, row->call, a[0], a[1], a[2], a[3], a[4]))
			continue;
		fprintf(out, "  %s(%#jx, %#jx, %#jx, %#jx, %#jx) %s\n", row->call, (uintmax_t)a[0],
			(uintmax_t)a[1], (uintmax_t)a[2], (uintmax_t)a[3], (uintmax_t)a[4],
			now ? "allow" : "kill");
	}
}

START_TEST(calls_are_as_reviewed)
{
	struct sock_fprog plain = filter_of(0);
	char *text = NULL, *stored = NULL, path[128];
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	for (size_t i = 0; i < RUNS; i++) {
		struct sock_fprog program = filter_of(runs[i].reasons);

		fprintf(out, "%s%s\n", i == 0 ? "every run: " : "more for: ", runs[i].name);
		print_calls(out, &program, i == 0 ? NULL : &plain);
		print_rows(out, &program, i == 0 ? NULL : &plain);
	}
	fclose(out);
	snprintf(path, sizeof(path), "tests/golden/supervisor-calls%s.txt",
		 NATIVE == AUDIT_ARCH_AARCH64 ? "-aarch64" : "");
	FILE *file = fopen(path, getenv("REGENERATE") != NULL ? "w+" : "r");
	ck_assert_msg(file != NULL, "%s is missing; REGENERATE=1 writes it", path);
	if (getenv("REGENERATE") != NULL) {
		fputs(text, file);
		rewind(file);
	}
	size = 0;
	ck_assert(getdelim(&stored, &size, '\0', file) > 0);
	fclose(file);
	ck_assert_msg(strcmp(stored, text) == 0, "%s differs; REGENERATE=1 and git diff show where",
		      path);
	free(stored);
	free(text);
}
END_TEST

/* Whatever a run needs. */
static const char *const never[] = {
	"execve",
	"execveat",
	"ptrace",
	"process_vm_writev",
	"socket",
	"socketpair",
	"connect",
	"bind",
	"listen",
	"accept4",
	"sendmsg",
	"sendmmsg",
	"mount",
	"umount2",
	"open_tree",
	"move_mount",
	"fsopen",
	"fsmount",
	"pivot_root",
	"chroot",
	"setns",
	"unshare",
	"clone3",
	"vfork",
	"setuid",
	"setresuid",
	"setresgid",
	"setgroups",
	"capset",
	"bpf",
	"init_module",
	"finit_module",
	"kexec_load",
	"perf_event_open",
	"userfaultfd",
	"keyctl",
	"add_key",
	"io_uring_setup",
	"mknodat",
	"linkat",
	"symlinkat",
	"fchownat",
	"fchown",
	"setxattr",
	"prlimit64",
	"setrlimit",
	"tgkill",
	"tkill",
	"rt_sigqueueinfo",
	"memfd_create",
	"pidfd_getfd",
	"process_madvise",
	"open_by_handle_at",
	"name_to_handle_at",
	"reboot",
};

START_TEST(never_allowed)
{
	struct sock_fprog program = filter_of(~0U);

	for (size_t i = 0; i < sizeof(never) / sizeof(never[0]); i++)
		if (syscall_number(never[i]) >= 0)
			ck_assert_msg(!passes(&program, never[i], 0, 0, 0, 0, 0), "%s", never[i]);
}
END_TEST

/* A foreign architecture, x32's numbers, numbers that no table has. */
START_TEST(wild_numbers)
{
	static const int wild[] = {SYSCALL_NUMBERS, 1000, 0x7fffffff, -2, 0x40000000, 0x40000001};
	struct sock_fprog program = filter_of(~0U);
	const uint64_t none[6] = {0};

	for (size_t i = 0; i < sizeof(wild) / sizeof(wild[0]); i++)
		ck_assert_uint_eq(filter_simulate(&program, NATIVE, wild[i], none),
				  SECCOMP_RET_KILL_PROCESS);
	ck_assert_uint_eq(filter_simulate(&program, AUDIT_ARCH_I386, 3, none),
			  SECCOMP_RET_KILL_PROCESS);
}
END_TEST

START_TEST(capabilities_by_reason)
{
	/* KILL, DAC_READ_SEARCH, SYS_PTRACE; DAC_OVERRIDE and FOWNER; CHECKPOINT_RESTORE */
	const uint64_t least = 1 << 5 | 1 << 2 | 1 << 19, others = 1 << 1 | 1 << 3;

	ck_assert_uint_eq(confine_capabilities(0), least);
	ck_assert_uint_eq(confine_capabilities(CONFINE_TERMINAL | CONFINE_GATE), least);
	ck_assert_uint_eq(confine_capabilities(CONFINE_CGROUP), least | 1ULL << 1);
	ck_assert_uint_eq(confine_capabilities(CONFINE_HOLD), least | others);
	ck_assert_uint_eq(confine_capabilities(CONFINE_FOLDERS), least | others);
	ck_assert_uint_eq(confine_capabilities(CONFINE_GROWTH), least | 1ULL << 40);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("confine");
	TCase *all = tcase_create("all");

	tcase_add_checked_fixture(all, NULL, drop);
	tcase_add_test(all, calls_are_as_reviewed);
	tcase_add_test(all, never_allowed);
	tcase_add_test(all, wild_numbers);
	tcase_add_test(all, capabilities_by_reason);
	suite_add_tcase(suite, all);

	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
