// SPDX-License-Identifier: Apache-2.0
/*
 * The filter in the running kernel, without a listener: what it refuses has
 * the errno that the simulator says, and what it allows still works. Each test
 * is a process of its own (check forks), since a filter cannot be taken off.
 * Also prints what building and installing costs.
 */
#include <asm/ioctls.h>
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "filter.h"
#include "sys.h"
#include "syscalls.h"

#define NATIVE SBOX_AUDIT_ARCH

enum { ROUNDS = 21 };

static struct arena arena;

static struct sock_fprog build(void)
{
	const char *items[] = {"@default"};
	const struct string_list list = {items, 1};
	const struct filter_policy policy = {.syscalls = &list};
	struct sock_fprog program;
	struct error err = {0};

	ck_assert_msg(filter_build(&arena, &policy, &program, &err) == 0, "%s", err.text);
	return program;
}

static void install(const struct sock_fprog *program)
{
	ck_assert_int_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	ck_assert_msg(sys_seccomp(SECCOMP_SET_MODE_FILTER, 0, program) == 0, "errno %d", errno);
}

START_TEST(refused_calls_have_the_errno_of_the_simulator)
{
	const uint64_t none[6] = {0};
	struct sock_fprog program = build();
	int tried = 0;

	install(&program);
	for (int nr = -3; nr < 1100; nr++) {
		uint32_t verdict = filter_simulate(&program, NATIVE, nr, none);

		if (verdict == SECCOMP_RET_ALLOW)
			continue;
		errno = 0;
		ck_assert_int_eq(syscall(nr, 0, 0, 0, 0, 0, 0), -1);
		ck_assert_msg(errno == (int)(verdict & SECCOMP_RET_DATA), "call %d: errno %d", nr,
			      errno);
		tried++;
	}
	ck_assert_int_gt(tried, 600);
}
END_TEST

static const struct {
	const char *call;
	uint64_t args[4];
	int errnum; /* with the filter; 0: it works */
} rows[] = {
	{"socket", {AF_UNIX, SOCK_STREAM, 0}, 0},
	{"socket", {AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0}, 0},
	{"socket", {AF_NETLINK, SOCK_RAW, 0}, 0},
	{"socket", {AF_VSOCK, SOCK_STREAM, 0}, EAFNOSUPPORT},
	{"socket", {AF_ALG, SOCK_SEQPACKET, 0}, EAFNOSUPPORT},
	{"socket", {AF_INET, SOCK_RAW, 1}, EPERM},
	{"socket", {AF_INET, SOCK_STREAM, 262}, EPROTONOSUPPORT},
	{"unshare", {CLONE_FILES}, 0},
	{"unshare", {CLONE_NEWUSER}, EPERM},
	{"unshare", {0x80}, EPERM},
	{"ioctl", {0, TIOCSTI}, EPERM},
	{"ioctl", {0, TIOCSTI | 1ULL << 32}, EPERM},
	{"clone", {CLONE_NEWUSER | 17}, EPERM},
	{"prctl", {PR_SET_MM, 1}, EPERM},
	{"prctl", {PR_GET_DUMPABLE}, 0},
	{"prctl", {4711}, EINVAL},
	{"personality", {0xffffffff}, 0},
	{"personality", {0x0400000}, EPERM},
	{"fchmod", {3, 04755}, EPERM},
	{"seccomp", {SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER}, EBUSY},
	{"memfd_create", {(uintptr_t) "x", 0}, 0},
	{"io_uring_setup", {8, 0}, ENOSYS},
	{"clone3", {0, 88}, ENOSYS},
	{"keyctl", {0, 0}, EPERM},
};

START_TEST(arguments_decide)
{
	const uint64_t *a = rows[_i].args;
	struct sock_fprog program = build();
	int nr = syscall_number(rows[_i].call);

	install(&program);
	errno = 0;
	long result = syscall(nr, a[0], a[1], a[2], a[3], 0, 0);
	if (rows[_i].errnum == 0)
		ck_assert_msg(result >= 0, "%s: errno %d", rows[_i].call, errno);
	else
		ck_assert_msg(result == -1 && errno == rows[_i].errnum, "%s: %ld, errno %d",
			      rows[_i].call, result, errno);
}
END_TEST

#ifdef __x86_64__
/* getpid by the 32-bit gate: number 20 there. */
static long foreign_getpid(void)
{
	long result;

	__asm__ volatile("int $0x80"
			 : "=a"(result)
			 : "a"(20L)
			 : "memory", "r8", "r9", "r10", "r11");
	return result;
}

/* Some kernels and hypervisors kill whoever knocks at that gate: try it in a child. */
static bool has_foreign_calls(void)
{
	int status = 0;
	pid_t child = fork();

	if (child == 0)
		_exit(foreign_getpid() == getpid() ? 0 : 1);
	waitpid(child, &status, 0);
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

START_TEST(foreign_calls_are_refused)
{
	struct sock_fprog program = build();

	if (!has_foreign_calls()) {
		puts("skipped: this kernel has no 32-bit calls");
		return;
	}
	install(&program);
	ck_assert_int_eq((int)foreign_getpid(), -EPERM);
	ck_assert_int_eq(syscall(0x40000000 | SYS_getpid), -1);
	ck_assert_int_eq(errno, ENOSYS);
}
END_TEST
#endif

static void *thread(void *argument)
{
	return argument;
}

START_TEST(programs_still_work)
{
	char name[] = "/tmp/filter-XXXXXX";
	struct sock_fprog program = build();
	pthread_t id;

	install(&program);
	int fd = mkstemp(name);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fchmod(fd, 0755), 0);
	ck_assert_int_eq(chmod(name, 04755), -1);
	ck_assert_int_eq(errno, EPERM);
	ck_assert_int_eq(open(name, O_RDONLY, 04755) >= 0, 1);
	ck_assert_int_eq(open(name, O_RDWR | O_CREAT, 04755), -1);
	unlink(name);
	/* clone3 is not there: libc makes threads and processes by clone. */
	ck_assert_int_eq(pthread_create(&id, NULL, thread, NULL), 0);
	ck_assert_int_eq(pthread_join(id, NULL), 0);
	ck_assert_int_eq(system("exit 7") >> 8, 7);
}
END_TEST

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000ULL + (uint64_t)now.tv_nsec;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Nanoseconds, measured in a child: the first build there is a cold one. */
static void measure(int times_fd)
{
	uint64_t times[3], start = now_ns();
	struct sock_fprog program = build();

	times[0] = now_ns() - start;
	start = now_ns();
	program = build();
	times[1] = now_ns() - start;
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	start = now_ns();
	sys_seccomp(SECCOMP_SET_MODE_FILTER, 0, &program);
	times[2] = now_ns() - start;
	_exit(write(times_fd, times, sizeof(times)) == sizeof(times) ? 0 : 1);
}

START_TEST(costs_are_printed)
{
	static const char *const names[] = {"build (first)", "build (again)", "install"};
	uint64_t times[3][ROUNDS], one[3];
	int fds[2];

	ck_assert_int_eq(pipe(fds), 0);
	for (int i = 0; i < ROUNDS; i++) {
		pid_t child = fork();

		if (child == 0)
			measure(fds[1]);
		ck_assert_int_eq(read(fds[0], one, sizeof(one)), sizeof(one));
		waitpid(child, NULL, 0);
		for (int j = 0; j < 3; j++)
			times[j][i] = one[j];
	}
	for (int j = 0; j < 3; j++) {
		qsort(times[j], ROUNDS, sizeof(times[j][0]), compare);
		printf("%-14s %.1f us\n", names[j], (double)times[j][ROUNDS / 2] / 1000);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("filter in the kernel");
	TCase *live = tcase_create("live");

	tcase_add_test(live, refused_calls_have_the_errno_of_the_simulator);
	tcase_add_loop_test(live, arguments_decide, 0, sizeof(rows) / sizeof(rows[0]));
#ifdef __x86_64__
	tcase_add_test(live, foreign_calls_are_refused);
#endif
	tcase_add_test(live, programs_still_work);
	tcase_add_test(live, costs_are_printed);
	suite_add_tcase(suite, live);

	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
