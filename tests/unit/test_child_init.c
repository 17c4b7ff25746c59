// SPDX-License-Identifier: Apache-2.0
/*
 * Pid 1 of the sandbox and the program it starts: what is reported, what is
 * passed on, what is left of the caller.
 */
#include <sys/resource.h>

#include "child_fixture.h"

/* The usual steps of a program, without a tree around it. */
static void put_usual(const char *script)
{
	put_fork();
	put(STEP_SESSION);
	put(STEP_CLOSE);
	put(STEP_WAIT_GO);
	put(STEP_SIGNALS);
	put(STEP_READY);
	put_program(script);
}

static void assert_ready_then_exec(void)
{
	struct fault fault;

	ck_assert(take_fault(&fault));
	ck_assert_msg(fault.id == STEP_READY && fault.errnum == 0, "%s: %s", step_names[fault.id],
		      strerror(fault.errnum));
	ck_assert_msg(!take_fault(&fault), "after ready: %s: %s", step_names[fault.id],
		      strerror(fault.errnum));
}

static void wait_for_program(void)
{
	for (int waited = 0; !program_ran(); waited += 2) {
		ck_assert_int_lt(waited, PATIENCE_MS);
		usleep(2000);
	}
}

/* Runs a script with the usual steps; its wait status as init reports it. */
static int run_script(const char *script)
{
	put_usual(script);
	start(0);
	assert_ready_then_exec();
	int status = take_exit().status;

	ck_assert(exited_with(end_of_init(), 0));
	ck_assert(program_ran());
	return status;
}

/* ---- ends ---- */

static const struct {
	const char *script;
	int status;
} end_rows[] = {
	{"exit 0", 0},
	{"exit 1", 1 << 8},
	{"exit 42", 42 << 8},
	{"exit 125", 125 << 8},
	{"exit 255", 255 << 8},
	{"kill -KILL $$", SIGKILL},
	{"kill -TERM $$", SIGTERM},
	{"kill -USR1 $$", SIGUSR1},
	{"exec sleep 0", 0},
	{"(exit 9) & wait $!", 9 << 8},
};

START_TEST(the_end_is_reported_as_the_kernel_has_it)
{
	ck_assert_int_eq(run_script(end_rows[_i].script), end_rows[_i].status);
}
END_TEST

START_TEST(usage_is_reported_with_it)
{
	put_usual("i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done");
	start(0);
	struct message message = take_exit();

	ck_assert_uint_gt(message.user_us + message.sys_us, 1000);
	ck_assert_uint_gt(message.peak_rss_kb, 100);
	ck_assert_uint_lt(message.user_us + message.sys_us, 30000000);
}
END_TEST

/* ---- signals ---- */

static void send_message(uint32_t kind, int32_t status)
{
	const struct message message = {.kind = kind, .status = status};

	ck_assert_int_eq(child_send(control_fd, &message, NULL, 0), 0);
}

START_TEST(a_signal_is_passed_on)
{
	put_usual("trap 'exit 7' TERM; while :; do sleep 0.02; done 2>/dev/null");
	start(0);
	wait_for_program();
	usleep(100000);
	send_message(MESSAGE_SIGNAL, SIGTERM);
	ck_assert_int_eq(take_exit().status, 7 << 8);
	ck_assert(exited_with(end_of_init(), 0));
}
END_TEST

/* Of the whole group, which is the program's session. */
START_TEST(a_signal_reaches_the_children_too)
{
	char late[80], script[200];

	snprintf(late, sizeof(late), "%s.late", marker);
	snprintf(script, sizeof(script), "(sleep 0.5; : > %s) & wait", late);
	put_usual(script);
	start(0);
	wait_for_program();
	send_message(MESSAGE_SIGNAL, SIGKILL);
	ck_assert_int_eq(take_exit().status, SIGKILL);
	usleep(700000);
	ck_assert_msg(unlink(late) != 0, "a child lives on");
}
END_TEST

START_TEST(what_is_no_signal_is_ignored)
{
	put_usual("sleep 0.3; exit 4");
	start(0);
	wait_for_program();
	send_message(MESSAGE_SIGNAL, 0);
	send_message(MESSAGE_SIGNAL, -SIGKILL);
	send_message(MESSAGE_FDS, SIGKILL);
	send_message(4711, SIGKILL);
	ck_assert_int_eq(send(control_fd, "x", 1, MSG_NOSIGNAL), 1);
	ck_assert_int_eq(take_exit().status, 4 << 8);
}
END_TEST

/* ---- the supervisor's end ---- */

START_TEST(init_ends_with_the_control_socket)
{
	put_usual("exec sleep 2");
	start(0);
	wait_for_program();
	close(control_fd);
	ck_assert(exited_with(end_of_init(), 125));
}
END_TEST

START_TEST(the_program_waits_for_the_go)
{
	put_usual("true");
	start(NO_GO);
	usleep(100000);
	ck_assert(!program_ran());
	ck_assert_int_eq(write(go_fd, "g", 1), 1);
	assert_ready_then_exec();
	ck_assert_int_eq(take_exit().status, 0);
	ck_assert(program_ran());
}
END_TEST

START_TEST(nobody_to_say_go)
{
	struct fault fault;

	put_usual("true");
	start(NO_GO);
	close(go_fd);
	close(control_fd);
	ck_assert(take_fault(&fault));
	ck_assert_int_eq(fault.id, STEP_WAIT_GO);
	ck_assert_int_eq(fault.errnum, EPIPE);
	/* which of the two it sees first, the death or the end of file, is open */
	int status = end_of_init();
	ck_assert(exited_with(status, 125) || exited_with(status, 0));
	ck_assert(!program_ran());
}
END_TEST

/* ---- what is left of the caller ---- */

/* A line of /proc/PID/status, as a number in the base given. */
static unsigned long long status_of(pid_t pid, const char *name, int number_base)
{
	char path[64], line[256];
	unsigned long long value = ~0ULL;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	FILE *file = fopen(path, "r");
	ck_assert_ptr_nonnull(file);
	while (fgets(line, sizeof(line), file) != NULL)
		if (strncmp(line, name, strlen(name)) == 0 && line[strlen(name)] == ':')
			value = strtoull(line + strlen(name) + 1, NULL, number_base);
	fclose(file);
	return value;
}

static void wait_for_filter(void)
{
	for (int waited = 0; status_of(init_pid, "Seccomp", 10) != 2; waited += 2) {
		ck_assert_int_lt(waited, PATIENCE_MS);
		usleep(2000);
	}
}

START_TEST(the_callers_arguments_are_wiped_in_init)
{
	char path[64], seen[sizeof(secret)] = "", zeros[sizeof(secret)] = "";

	put_usual("exec sleep 2");
	start(0);
	wait_for_program();
	wait_for_filter();
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)init_pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0) {
		printf("skipped: child-init: no look into a child: %s\n", strerror(errno));
		return;
	}
	ck_assert_int_eq(pread(fd, seen, sizeof(seen), (off_t)(uintptr_t)secret), sizeof(seen));
	ck_assert_mem_eq(seen, zeros, sizeof(zeros));
	ck_assert_str_ne(secret, "");
}
END_TEST

START_TEST(init_keeps_one_descriptor)
{
	char path[64];

	dup2(2, 50);
	put_usual("exec sleep 2");
	start(0);
	wait_for_program();
	wait_for_filter();
	for (int fd = 0; fd < 100; fd++) {
		snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)init_pid, fd);
		struct stat st;
		ck_assert_msg((lstat(path, &st) == 0) == (fd == 0), "descriptor %d", fd);
	}
}
END_TEST

/* Else a death between its look and its sleep is slept through (init.c, supervise()). */
START_TEST(init_misses_no_death)
{
	put_usual("true");
	start(NO_GO);
	usleep(100000);
	unsigned long long blocked = status_of(init_pid, "SigBlk", 16);

	ck_assert_msg((blocked & (1ULL << (SIGCHLD - 1))) != 0, "SIGCHLD is not blocked: %#llx",
		      blocked);
}
END_TEST

/* ---- what the program gets ---- */

static void block_and_leak(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	dup2(2, 50);
	umask(0);
}

static const char *const clean_rows[] = {
	"test ! -e /proc/$$/fd/50",
	"test \"$(umask)\" = 0022",
	/* a shell that waits for a child blocks all of them for a moment */
	"exec grep -q '^SigBlk:.0000000000000000$' /proc/self/status",
	"test \"$(cut -d' ' -f6 /proc/$$/stat)\" = $$", /* its own session */
	"test \"$(cut -d' ' -f7 /proc/$$/stat)\" = 0",  /* no terminal */
	"grep -q '^NoNewPrivs:.1$' /proc/$$/status",
};

START_TEST(the_program_starts_clean)
{
	block_and_leak();
	ck_assert_msg(run_script(clean_rows[_i]) == 0, "not so: %s", clean_rows[_i]);
}
END_TEST

START_TEST(limits_only_go_down)
{
	struct rlimit now = {.rlim_cur = 64, .rlim_max = 64};

	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &now), 0);
	put_fork();
	struct step *limit = put(STEP_LIMIT);
	limit->value[0] = RLIMIT_NOFILE;
	limit->value[1] = limit->value[2] = 1000;
	limit = put(STEP_LIMIT);
	limit->value[0] = RLIMIT_CORE;
	put_program("test $(ulimit -Hn) = 64 && test $(ulimit -Hc) = 0");
	start(0);
	ck_assert_int_eq(take_exit().status, 0);
}
END_TEST

START_TEST(fewer_processors)
{
	put_fork();
	put(STEP_AFFINITY)->value[0] = 1;
	put_program("test $(nproc) = 1");
	start(0);
	ck_assert_int_eq(take_exit().status, 0);
}
END_TEST

static void add(TCase *tcase)
{
	tcase_add_loop_test(tcase, the_end_is_reported_as_the_kernel_has_it, 0, ROWS(end_rows));
	tcase_add_test(tcase, usage_is_reported_with_it);
	tcase_add_test(tcase, a_signal_is_passed_on);
	tcase_add_test(tcase, a_signal_reaches_the_children_too);
	tcase_add_test(tcase, what_is_no_signal_is_ignored);
	tcase_add_test(tcase, init_ends_with_the_control_socket);
	tcase_add_test(tcase, the_program_waits_for_the_go);
	tcase_add_test(tcase, nobody_to_say_go);
	tcase_add_test(tcase, the_callers_arguments_are_wiped_in_init);
	tcase_add_test(tcase, init_keeps_one_descriptor);
	tcase_add_test(tcase, init_misses_no_death);
	tcase_add_loop_test(tcase, the_program_starts_clean, 0, ROWS(clean_rows));
	tcase_add_test(tcase, limits_only_go_down);
	tcase_add_test(tcase, fewer_processors);
}

int main(void)
{
	return run_suite("child-init", add);
}
