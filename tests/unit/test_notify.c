// SPDX-License-Identifier: Apache-2.0
/* Refused calls: the errno that arrives, what is written down, floods; and the table of denials. */
#include <asm/ioctls.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "notify_fixture.h"
#include "supervise.h"

enum { FLOOD = 100000, ASKERS = 8 };

static const struct record_denial *find(const char *op, const char *object)
{
	for (size_t i = 0; i < denials.count; i++) {
		const struct record_denial *one = &denials.items[i];

		if (strcmp(one->op, op) == 0 &&
		    (object == NULL ? one->object == NULL
				    : one->object != NULL && strcmp(one->object, object) == 0))
			return one;
	}
	ck_abort_msg("no denial %s %s", op, object != NULL ? object : "");
	return NULL;
}

/* ---- refused calls ---- */

static int misbehave(void)
{
	int wrong = 0;

	wrong += call(SYS_keyctl, 0, 0, 0) != EPERM;
	wrong += call(SYS_keyctl, 1, 2, 3) != EPERM;
	wrong += call(SYS_socket, AF_VSOCK, SOCK_STREAM, 0) != EAFNOSUPPORT;
	wrong += call(SYS_socket, AF_INET, SOCK_RAW, 1) != EPERM;
	wrong += call(SYS_unshare, CLONE_NEWUSER | CLONE_NEWNET, 0, 0) != EPERM;
	wrong += call(SYS_clone, CLONE_NEWNS, 0, 0) != EPERM;
	wrong += call(SYS_ioctl, 0, TIOCSTI, 0) != EPERM;
	wrong += call(SYS_fchmod, 0, 04755, 0) != EPERM;
	wrong += call(SYS_io_uring_setup, 8, 0, 0) != ENOSYS;
	wrong += call(SYS_mount, 0, 0, 0) != EPERM;
	wrong += call(SYS_clone3, 0, 0, 0) != ENOSYS;
	wrong += call(600, 0, 0, 0) != ENOSYS;
	wrong += call(SYS_prctl, 0x59616d61, 1, 0) != EPERM;
	wrong += call(SYS_seccomp, 1, SECCOMP_FILTER_FLAG_NEW_LISTENER, 0) != EBUSY;
	return wrong;
}

static const struct {
	const char *op, *object;
	enum boundary boundary;
	int errnum;
	uint64_t count;
	const char *permit; /* NULL: nothing permits it */
} expected[] = {
	{"keyctl", NULL, BOUNDARY_PRIVILEGE, EPERM, 2, "[privilege] syscalls = keyctl"},
	{"socket", "AF_VSOCK", BOUNDARY_NETWORK, EAFNOSUPPORT, 1, NULL},
	{"socket", "SOCK_RAW", BOUNDARY_NETWORK, EPERM, 1, NULL},
	{"unshare", "CLONE_NEWUSER", BOUNDARY_PRIVILEGE, EPERM, 1, NULL},
	{"clone", "CLONE_NEWNS", BOUNDARY_PRIVILEGE, EPERM, 1, NULL},
	{"ioctl", "TIOCSTI", BOUNDARY_PROCESS, EPERM, 1, NULL},
	{"fchmod", "mode 4755", BOUNDARY_FILE, EPERM, 1, NULL},
	{"io_uring_setup", NULL, BOUNDARY_PRIVILEGE, ENOSYS, 1, NULL},
	{"mount", NULL, BOUNDARY_FILE, EPERM, 1, NULL},
	{"prctl", "PR_SET_PTRACER", BOUNDARY_PRIVILEGE, EPERM, 1, NULL},
	{"seccomp", "SECCOMP_FILTER_FLAG_NEW_LISTENER", BOUNDARY_PRIVILEGE, EBUSY, 1, NULL},
};
enum { EXPECTED = sizeof(expected) / sizeof(expected[0]) };

START_TEST(refused_calls_are_named)
{
	char exe[4096] = "";

	ck_assert_int_eq(run(misbehave), 0);
	ck_assert_uint_eq(denials.count, EXPECTED);
	ck_assert_uint_eq(notify.refused_total, EXPECTED + 1);
	ck_assert(readlink("/proc/self/exe", exe, sizeof(exe) - 1) > 0);
	for (int i = 0; i < EXPECTED; i++) {
		const struct record_denial *one = find(expected[i].op, expected[i].object);

		ck_assert_int_eq(one->boundary, expected[i].boundary);
		ck_assert_int_eq(one->errnum, expected[i].errnum);
		ck_assert_uint_eq(one->count, expected[i].count);
		ck_assert_int_gt(one->pid, 0);
		ck_assert_str_eq(one->exe, exe);
		ck_assert((one->permit == NULL) != (one->never == NULL));
		ck_assert_pstr_eq(one->permit, expected[i].permit);
	}
}
END_TEST

/* Every call that the filter asks about, with zeros: the supervisor's errno arrives. */
static int call_all(void)
{
	const uint64_t none[6] = {0};
	struct sock_fprog program = build();
	int wrong = 0;

	for (int nr = 0; nr < 600; nr++) {
		const uint32_t arch = SBOX_AUDIT_ARCH;

		if (nr == SYS_execve || nr == SYS_execveat ||
		    filter_simulate(&program, arch, nr, none) != SECCOMP_RET_USER_NOTIF)
			continue;
		wrong += call(nr, 0, 0, 0) != filter_refusal_errno(arch, nr, none);
	}
	return wrong;
}

START_TEST(every_refused_call_has_its_errno)
{
	ck_assert_int_eq(run(call_all), 0);
	ck_assert_uint_gt(denials.count, 60);
	ck_assert_uint_eq(denials.dropped, 0);
}
END_TEST

static int flood(void)
{
	for (int i = 0; i < FLOOD; i++)
		syscall(SYS_keyctl, i, 0, 0, 0, 0);
	/* A thousand different objects do not fill the table. */
	for (int i = 0; i < 1000; i++)
		syscall(SYS_fchmod, 0, 04000 + i);
	return 0;
}

/* The supervisor belongs on the processor of the one who waits for it. */
static void share_processor(void)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	sched_setaffinity(0, sizeof(one), &one);
}

START_TEST(flood_is_counted_and_slowed)
{
	struct timespec start, end;

	share_processor();
	clock_gettime(CLOCK_MONOTONIC, &start);
	ck_assert_int_eq(run(flood), 0);
	clock_gettime(CLOCK_MONOTONIC, &end);
	double seconds =
		(double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec) / 1e9;

	ck_assert_uint_eq(find("keyctl", NULL)->count, FLOOD);
	ck_assert_uint_eq(find("fchmod", "others")->count, 1000 - DENIAL_OBJECTS_MAX);
	ck_assert_uint_eq(denials.count, 1 + DENIAL_OBJECTS_MAX + 1);
	ck_assert_uint_eq(notify.refused_total, FLOOD + 1000);
	/* 80,000 a second; the first window is free. */
	ck_assert_msg(seconds > (double)FLOOD / 80000 - 0.2, "%.2f s", seconds);
}
END_TEST

/* Fewer than the rate, so that the price of one can be seen. */
static int few(void)
{
	struct timespec start, end;

	clock_gettime(CLOCK_MONOTONIC, &start);
	for (int i = 0; i < 900; i++)
		syscall(SYS_keyctl, i, 0, 0, 0, 0);
	clock_gettime(CLOCK_MONOTONIC, &end);
	printf("a refused call  %.1f us\n",
	       ((double)(end.tv_sec - start.tv_sec) * 1e9 + (double)(end.tv_nsec - start.tv_nsec)) /
		       900 / 1000);
	fflush(stdout);
	return 0;
}

START_TEST(price_is_printed)
{
	share_processor();
	ck_assert_int_eq(run(few), 0);
}
END_TEST

/* The window is a matter of time: set by hand, so that no slow machine hides it. */
START_TEST(answers_are_late_beyond_the_rate)
{
	struct timespec now;

	ck_assert_int_eq(run(few), 0);
	clock_gettime(CLOCK_MONOTONIC, &now);
	notify.window_start_ns = (uint64_t)now.tv_sec * 1000000000ULL + (uint64_t)now.tv_nsec;
	notify.window_count = 3999;
	ck_assert_int_eq((int)notify_handle(&notify, POLLHUP),
			 -1); /* handled: the listener is gone */
	notify.window_count = 4000;
	int64_t late = notify_handle(&notify, POLLHUP);
	ck_assert(late > 0 && late <= 50000000);
	const struct timespec pause = {.tv_nsec = late};
	nanosleep(&pause, NULL);
	ck_assert_int_eq((int)notify_handle(&notify, POLLHUP), -1);
}
END_TEST

START_TEST(dead_task_ends_the_listener)
{
	ck_assert_int_eq(run(getpid) != 0, 1);
	ck_assert_int_eq((int)notify_handle(&notify, POLLHUP), -1);
}
END_TEST

/* ---- the loop ---- */

static int ask_together(void)
{
	for (int i = 0; i < ASKERS; i++)
		if (fork() == 0)
			_exit(call(SYS_keyctl, 0, 0, 0) == EPERM ? 0 : 1);
	int status, wrong = 0;
	while (wait(&status) > 0)
		wrong += status != 0;
	return wrong;
}

/* A file as stdin waits for its turn without a word from epoll. */
static uint64_t answered_in_one_turn(void)
{
	static struct run one_run;
	struct loop loop = {.run = &one_run, .epoll_fd = -1, .mounts_fd = -1};
	const struct timespec all_ask = {.tv_nsec = 300000000};
	struct pollfd fds[LOOP_FDS];

	pid_t child = begin(ask_together);
	notify_start(&notify);
	nanosleep(&all_ask, NULL);
	one_run.notify = notify;
	loop.listener_fd = notify.fd;
	listener_poll(&loop, fds, 0);
	notify = one_run.notify;
	uint64_t answered = notify.refused_total;
	ck_assert_int_eq(finish(child), 0);
	ck_assert_uint_eq(notify.refused_total, ASKERS);
	return answered;
}

START_TEST(who_asks_without_end_leaves_the_streams_their_turn)
{
	ck_assert_uint_eq(answered_in_one_turn(), 1);
}
END_TEST

/* ---- the table of denials ---- */

START_TEST(table_is_bounded)
{
	char op[32];

	denials = (struct denials){.arena = &arena};
	for (int round = 0; round < 2; round++)
		for (int i = 0; i < DENIALS_MAX + 100; i++) {
			struct record_denial one = {.op = op, .errnum = EPERM, .count = 3};

			snprintf(op, sizeof(op), "op-%d", i);
			denials_add(&denials, &one);
		}
	ck_assert_uint_eq(denials.count, DENIALS_MAX);
	ck_assert_uint_eq(denials.items[7].count, 6);
	ck_assert_str_eq(denials.items[7].op, "op-7");
	ck_assert_uint_gt(denials.dropped, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("notify");
	TCase *live = tcase_create("live");

	tcase_set_timeout(live, 60);
	tcase_add_test(live, refused_calls_are_named);
	tcase_add_test(live, every_refused_call_has_its_errno);
	tcase_add_test(live, flood_is_counted_and_slowed);
	tcase_add_test(live, price_is_printed);
	tcase_add_test(live, answers_are_late_beyond_the_rate);
	tcase_add_test(live, dead_task_ends_the_listener);
	tcase_add_test(live, who_asks_without_end_leaves_the_streams_their_turn);
	tcase_add_test(live, table_is_bounded);
	suite_add_tcase(suite, live);

	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
