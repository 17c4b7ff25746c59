// SPDX-License-Identifier: Apache-2.0
/*
 * The supervisor's end, with a real listener: a child puts the filter on, hands
 * the listener over and misbehaves; the test answers as the supervisor does and
 * looks at what was written down. Also redaction, and the table of denials.
 */
#include <asm/ioctls.h>
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "filter.h"
#include "notify.h"
#include "redact.h"
#include "sys.h"

enum { FLOOD = 100000 };

static struct arena arena;
static struct denials denials;
static struct notify notify;
static const char *redact_items[] = {"--token", "*_KEY=*"};
static const struct string_list redact = {redact_items, 2};

static struct sock_fprog build(void)
{
	const char *items[] = {"@default"};
	const struct string_list list = {items, 1};
	const struct filter_policy policy = {
		.syscalls = &list, .listener = true, .trap_exec = true};
	struct sock_fprog program;
	struct error err = {0};

	ck_assert_msg(filter_build(&arena, &policy, &program, &err) == 0, "%s", err.text);
	return program;
}

/* Without WAIT_KILLABLE_RECV (before 5.19) the listener is still one. */
static int install(const struct sock_fprog *program)
{
	unsigned flags = SECCOMP_FILTER_FLAG_NEW_LISTENER;

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	int fd = sys_seccomp(SECCOMP_SET_MODE_FILTER,
			     flags | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, program);
	return fd >= 0 ? fd : sys_seccomp(SECCOMP_SET_MODE_FILTER, flags, program);
}

union fd_message {
	struct cmsghdr header;
	char room[CMSG_SPACE(sizeof(int))];
};

static void send_fd(int socket_fd, int fd)
{
	union fd_message control = {0};
	char byte = 'x';
	struct iovec one = {.iov_base = &byte, .iov_len = 1};
	struct msghdr message = {.msg_iov = &one, .msg_iovlen = 1};

	message.msg_control = &control;
	message.msg_controllen = sizeof(control);
	control.header.cmsg_level = SOL_SOCKET;
	control.header.cmsg_type = SCM_RIGHTS;
	control.header.cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
	if (sendmsg(socket_fd, &message, 0) != 1)
		_exit(99);
}

static int receive_fd(int socket_fd)
{
	union fd_message control = {0};
	char byte;
	struct iovec one = {.iov_base = &byte, .iov_len = 1};
	struct msghdr message = {.msg_iov = &one, .msg_iovlen = 1};
	int fd;

	message.msg_control = &control;
	message.msg_controllen = sizeof(control);
	ck_assert_int_eq((int)recvmsg(socket_fd, &message, MSG_CMSG_CLOEXEC), 1);
	memcpy(&fd, CMSG_DATA(&control.header), sizeof(fd));
	return fd;
}

/* Answers until the listener is gone. */
static void supervise(void)
{
	struct pollfd waiting = {.fd = notify.fd, .events = POLLIN};
	int64_t wait_ns = 0;

	notify_start(&notify);
	while (wait_ns >= 0) {
		const struct timespec pause = {.tv_nsec = wait_ns};

		if (wait_ns > 0)
			nanosleep(&pause, NULL);
		else
			poll(&waiting, 1, -1);
		wait_ns = notify_handle(&notify);
	}
}

/* Runs `inside` in a child under the filter and supervises it; its exit status. */
static int run(int (*inside)(void))
{
	struct sock_fprog program = build();
	int sockets[2], status;

	denials = (struct denials){.arena = &arena};
	notify = (struct notify){.fd = -1,
				 .proc_fd = -1,
				 .record_denials = true,
				 .record_execs = true,
				 .redact = &redact,
				 .denials = &denials,
				 .arena = &arena};
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets), 0);
	pid_t child = fork();
	if (child == 0) {
		int fd = install(&program);

		send_fd(sockets[1], fd);
		close(fd);
		_exit(inside());
	}
	notify.fd = receive_fd(sockets[0]);
	supervise();
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	close(notify.fd);
	ck_assert_msg(WIFEXITED(status), "status %#x", (unsigned)status);
	return WEXITSTATUS(status);
}

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

static int call(long nr, long a, long b, long c)
{
	errno = 0;
	return syscall(nr, a, b, c, 0) == -1 ? errno : 0;
}

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
		uint32_t arch = AUDIT_ARCH_X86_64;
#ifdef __aarch64__
		arch = AUDIT_ARCH_AARCH64;
#endif
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
	/* 20,000 a second; the first window is free. */
	ck_assert_msg(seconds > (double)FLOOD / 20000 - 0.2, "%.2f s", seconds);
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
	notify.window_count = 999;
	ck_assert_int_eq((int)notify_handle(&notify), -1); /* handled: the listener is gone */
	notify.window_count = 1000;
	int64_t late = notify_handle(&notify);
	ck_assert(late > 0 && late <= 50000000);
	const struct timespec pause = {.tv_nsec = late};
	nanosleep(&pause, NULL);
	ck_assert_int_eq((int)notify_handle(&notify), -1);
}
END_TEST

START_TEST(dead_task_ends_the_listener)
{
	ck_assert_int_eq(run(getpid) != 0, 1);
	ck_assert_int_eq((int)notify_handle(&notify), -1);
}
END_TEST

/* ---- execs ---- */

static void spawn(const char *file, const char *const argv[], bool search)
{
	pid_t child = fork();

	if (child == 0) {
		if (search)
			execvp(file, (char *const *)argv);
		else
			execv(file, (char *const *)argv);
		_exit(127);
	}
	waitpid(child, NULL, 0);
}

static int execute(void)
{
	const char *const plain[] = {"true", NULL};
	const char *const secret[] = {"true",           "--token", "s3cret", "--token=s3cret",
				      "API_KEY=s3cret", "ok",      NULL};
	const char *const fd_argv[] = {"by-fd", NULL};

	char link_name[64], through_link[80];

	snprintf(link_name, sizeof(link_name), "/tmp/notify-link-%d", (int)getpid());
	snprintf(through_link, sizeof(through_link), "%s/true", link_name);
	setenv("PATH", "/nonexistent:/proc:/etc:/usr/bin", 1);
	for (int i = 0; i < 3; i++)
		spawn("true", plain, true);
	spawn("/usr/bin/true", secret, false);
	spawn("/usr/bin/no-such-program", plain, false);
	spawn("/etc/passwd", plain, false);
	spawn("/usr/bin/true/x", plain, false);
	/* Ways round the record. */
	spawn("/proc/self/root/usr/bin/true", plain, false);
	if (chdir("/usr/bin") == 0)
		spawn("./true", plain, false);
	if (fork() == 0) {
		int fd = open("/usr/bin/true", O_PATH);

		syscall(SYS_execveat, fd, "", fd_argv, NULL, AT_EMPTY_PATH);
		_exit(127);
	}
	while (wait(NULL) > 0)
		;
	/* A link that leads where only the task can look is not taken for a miss. */
	if (symlink("/nowhere", link_name) == 0)
		spawn(through_link, plain, false);
	unlink(link_name);
	call(SYS_execve, 8, 0, 0); /* a pointer to nowhere */
	return 0;
}

static const struct record_exec *find_exec(const char *path, const char *first, const char *last)
{
	for (size_t i = 0; i < notify.exec_count; i++) {
		const struct record_exec *exec = &notify.execs[i];
		size_t argc = 0;

		while (exec->argv[argc] != NULL)
			argc++;
		if (strcmp(exec->path, path) == 0 && argc > 0 &&
		    strcmp(exec->argv[0], first) == 0 && strcmp(exec->argv[argc - 1], last) == 0)
			return exec;
	}
	ck_abort_msg("no exec %s %s", path, first);
	return NULL;
}

START_TEST(execs_are_written_down)
{
	ck_assert_int_eq(run(execute), 0);
	/* Searched three times, and once as ./true. */
	ck_assert_uint_eq(find_exec("/usr/bin/true", "true", "true")->count, 4);
	ck_assert_uint_eq(find_exec("/usr/bin/true", "by-fd", "by-fd")->count, 1);
	ck_assert_uint_eq(find_exec("/proc/self/root/usr/bin/true", "true", "true")->count, 1);
	const struct record_exec *secret = find_exec("/usr/bin/true", "true", "ok");
	ck_assert_str_eq(secret->argv[1], "--token");
	ck_assert_str_eq(secret->argv[2], REDACTED);
	ck_assert_str_eq(secret->argv[3], "--token=" REDACTED);
	ck_assert_str_eq(secret->argv[4], "API_KEY=" REDACTED);
	ck_assert_int_gt(secret->pid, 0);
	ck_assert_uint_eq(notify.exec_count, 5);
	ck_assert_uint_eq(notify.execs_total, 8);
}
END_TEST

static int execute_long(void)
{
	const char *argv[130] = {"true"};
	char big[3000];

	for (size_t i = 0; i < sizeof(big) - 1; i++)
		big[i] = i % 2 == 0 ? '\xc3' : '\xa9';
	big[sizeof(big) - 1] = '\0';
	for (int i = 1; i < 100; i++)
		argv[i] = "a";
	spawn("/usr/bin/true", argv, false);
	argv[1] = big;
	spawn("/usr/bin/true", argv, false);
	for (int i = 1; i < 50; i++)
		argv[i] = "exactly-twenty-chars";
	argv[50] = NULL;
	spawn("/usr/bin/true", argv, false);
	argv[2] = NULL;
	for (int i = 0; i < EXECS_MAX + 10; i++) {
		snprintf(big, sizeof(big), "%d", i);
		argv[1] = big;
		spawn("/usr/bin/true", argv, false);
	}
	return 0;
}

static size_t text_size(const struct record_exec *exec)
{
	size_t size = strlen(exec->path) + 1;

	for (size_t i = 0; exec->argv[i] != NULL; i++)
		size += strlen(exec->argv[i]) + 1;
	return size;
}

START_TEST(execs_are_bounded)
{
	ck_assert_int_eq(run(execute_long), 0);
	const struct record_exec *many = &notify.execs[0], *big = &notify.execs[1];

	ck_assert_str_eq(many->argv[EXEC_ARGV_MAX - 1], "a");
	ck_assert_str_eq(many->argv[EXEC_ARGV_MAX], "…");
	ck_assert_ptr_null(many->argv[EXEC_ARGV_MAX + 1]);
	size_t length = strlen(big->argv[1]);
	ck_assert_str_eq(big->argv[1] + length - 5, "é…");
	ck_assert_ptr_null(big->argv[2]);
	for (int i = 0; i < 3; i++)
		ck_assert_uint_le(text_size(&notify.execs[i]), EXEC_TEXT_MAX);
	ck_assert_uint_gt(text_size(&notify.execs[2]), EXEC_TEXT_MAX - 40);
	ck_assert_uint_eq(notify.exec_count, EXECS_MAX);
	ck_assert_uint_eq(notify.execs_total, EXECS_MAX + 10 + 3);
}
END_TEST

/* ---- redaction ---- */

static const struct {
	const char *pattern, *arg, *previous, *result;
} redactions[] = {
	{"--token", "--token=abc", NULL, "--token=" REDACTED},
	{"--token", "--token=", NULL, "--token=" REDACTED},
	{"--token", "--token", NULL, "--token"},
	{"--token", "abc", "--token", REDACTED},
	{"--token", "", "--token", REDACTED},
	{"--token", "--tokens=abc", NULL, "--tokens=abc"},
	{"--token", "abc", "--tokens", "abc"},
	{"--*-token", "--git-token=a=b", NULL, "--git-token=" REDACTED},
	{"-p", "-psecret", NULL, "-p" REDACTED},
	{"-p", "secret", "-p", REDACTED},
	{"-p", "-p", NULL, "-p"},
	{"*_KEY=*", "API_KEY=abc", NULL, "API_KEY=" REDACTED},
	{"*_KEY=*", "API_KEY", NULL, "API_KEY"},
	{"*_KEY=*", "api_key=abc", NULL, "api_key=abc"},
	{"*_KEY=*", "--env=API_KEY=abc", NULL, "--env=" REDACTED},
	{"sk-*", "sk-12345", NULL, REDACTED},
	{"sk-*", "ask-12345", NULL, "ask-12345"},
};

START_TEST(arguments_are_redacted)
{
	const char *items[] = {"nothing", redactions[_i].pattern};
	const struct string_list list = {items, 2};

	ck_assert_str_eq(
		redact_argument(&arena, &list, redactions[_i].arg, redactions[_i].previous),
		redactions[_i].result);
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
	TCase *live = tcase_create("live"), *plain = tcase_create("plain");

	tcase_set_timeout(live, 60);
	tcase_add_test(live, refused_calls_are_named);
	tcase_add_test(live, every_refused_call_has_its_errno);
	tcase_add_test(live, flood_is_counted_and_slowed);
	tcase_add_test(live, price_is_printed);
	tcase_add_test(live, answers_are_late_beyond_the_rate);
	tcase_add_test(live, dead_task_ends_the_listener);
	tcase_add_test(live, execs_are_written_down);
	tcase_add_test(live, execs_are_bounded);
	suite_add_tcase(suite, live);
	tcase_add_loop_test(plain, arguments_are_redacted, 0,
			    sizeof(redactions) / sizeof(redactions[0]));
	tcase_add_test(plain, table_is_bounded);
	suite_add_tcase(suite, plain);

	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
