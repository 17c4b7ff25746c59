// SPDX-License-Identifier: Apache-2.0
/* Execs as they are written down: what counts as one, how much is kept, what is blanked. */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "notify_fixture.h"
#include "redact.h"

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

	char link_name[64], through_link[80], longest[PATH_MAX];

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
	if (chdir("/usr/bin") == 0) {
		spawn("./true", plain, false);
		spawn(".//true", plain, false);
	}
	memset(longest, '/', sizeof(longest));
	strcpy(longest + sizeof(longest) - sizeof("usr/bin/true"), "usr/bin/true");
	spawn(longest, (const char *const[]){"longest", NULL}, false);
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
	/* Searched three times, and once each as ./true and .//true. */
	ck_assert_uint_eq(find_exec("/usr/bin/true", "true", "true")->count, 5);
	ck_assert_uint_eq(find_exec("/usr/bin/true", "by-fd", "by-fd")->count, 1);
	ck_assert_uint_eq(find_exec("/proc/self/root/usr/bin/true", "true", "true")->count, 1);
	const struct record_exec *secret = find_exec("/usr/bin/true", "true", "ok");
	ck_assert_str_eq(secret->argv[1], "--token");
	ck_assert_str_eq(secret->argv[2], REDACTED);
	ck_assert_str_eq(secret->argv[3], "--token=" REDACTED);
	ck_assert_str_eq(secret->argv[4], "API_KEY=" REDACTED);
	ck_assert_int_gt(secret->pid, 0);
	/* and by the longest path that the kernel takes, which is cut */
	ck_assert_uint_eq(notify.exec_count, 6);
	ck_assert_uint_eq(notify.execs_total, 10);
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

int main(void)
{
	Suite *suite = suite_create("execs");
	TCase *live = tcase_create("live");

	tcase_set_timeout(live, 60);
	tcase_add_test(live, execs_are_written_down);
	tcase_add_test(live, execs_are_bounded);
	tcase_add_loop_test(live, arguments_are_redacted, 0,
			    sizeof(redactions) / sizeof(redactions[0]));
	suite_add_tcase(suite, live);

	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
