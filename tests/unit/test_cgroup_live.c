// SPDX-License-Identifier: Apache-2.0
#include "cgroup_internal.h"

#include <check.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Real control groups, below this process's own: where it may make some. */

static struct arena arena;
static struct cgroup_host host;
static struct cgroup group;
static struct error err;

static void teardown(void)
{
	arena_free(&arena);
}

static bool real(const char *test, struct cgroup_limits limits)
{
	cgroup_probe(&arena, &host);
	bool can = host.version != CGROUP_NONE && (limits.memory_bytes == 0 || host.has_memory) &&
		   (limits.processes == 0 || host.has_pids) &&
		   (limits.cpus_milli == 0 || host.has_cpu);
	if (!can) {
		printf("skip: %s: %s\n", test,
		       host.why_not != NULL ? host.why_not : "a controller is not there");
		return false;
	}
	const char *id = arena_printf(&arena, "test%d", (int)getpid());
	ck_assert_msg(cgroup_make(&arena, &host, &limits, id, &group, &err) == 0, "%s", err.text);
	return true;
}

/* A child that is in the group before it does anything. */
static pid_t inside(int (*work)(void))
{
	int go[2];
	char byte;

	ck_assert_int_eq(pipe(go), 0);
	pid_t pid = fork();
	if (pid == 0) {
		close(go[1]);
		_exit(read(go[0], &byte, 1) == 1 ? work() : 99);
	}
	ck_assert_msg(cgroup_attach(&group, pid, &err) == 0, "%s", err.text);
	ck_assert_int_eq(write(go[1], "g", 1), 1);
	close(go[0]);
	close(go[1]);
	return pid;
}

static int status_of(pid_t pid)
{
	int status;

	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return status;
}

static void check_removed(void)
{
	for (size_t i = 0; i < group.path_count; i++)
		ck_assert_int_eq(access(group.paths[i], F_OK), 0);
	ck_assert_int_eq(cgroup_remove(&group, 2000), 0);
	for (size_t i = 0; i < group.path_count; i++)
		ck_assert_int_eq(access(group.paths[i], F_OK), -1);
}

static int eat_memory(void)
{
	size_t size = 128 << 20;
	char *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memset(at, 1, size);
	return 0;
}

static int eat_little(void)
{
	size_t size = 8 << 20;
	volatile char *at = malloc(size);

	for (size_t i = 0; i < size; i += 4096)
		at[i] = 1;
	return 7;
}

START_TEST(real_memory)
{
	struct cgroup_usage usage;

	if (!real("real_memory", (struct cgroup_limits){.memory_bytes = 32 << 20}))
		return;
	int status = status_of(inside(eat_little)); /* what fits is left alone */
	ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 7);
	cgroup_read(&group, &usage);
	ck_assert_uint_eq(usage.oom_kills, 0);
	ck_assert_uint_ge(usage.peak_memory_bytes, 8 << 20);
	status = status_of(inside(eat_memory));
	ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	cgroup_read(&group, &usage);
	/* QUIRK(oom-group): with memory.oom.group the victim is counted once more with its group
	 * (6.1, 6.12) */
	ck_assert_uint_ge(usage.oom_kills, 1);
	ck_assert_uint_le(usage.oom_kills, host.version == CGROUP_V2 ? 2 : 1);
	ck_assert_uint_le(usage.peak_memory_bytes, 32 << 20);
	ck_assert_uint_ge(usage.peak_memory_bytes, 30 << 20);
	ck_assert_uint_eq(usage.tasks, UINT64_MAX); /* not limited, so not counted (v1) */
	check_removed();
}
END_TEST

static int fork_many(void)
{
	for (int i = 0; i < 50; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			pause();
			_exit(0);
		}
		if (pid < 0)
			return errno == EAGAIN ? i : 98;
	}
	return 97;
}

START_TEST(real_processes)
{
	struct cgroup_usage usage;

	if (!real("real_processes", (struct cgroup_limits){.processes = 5}))
		return;
	int status = status_of(inside(fork_many));
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), 4);
	cgroup_read(&group, &usage);
	ck_assert_uint_eq(usage.tasks, 4); /* the four that wait were left behind */
	ck_assert_uint_eq(usage.processes_refused, 1);
	/* v1 has a folder for each limit, v2 one for all */
	ck_assert_int_eq(usage.memory_bytes == UINT64_MAX, host.version == CGROUP_V1);
	check_removed();
}
END_TEST

static int burn(void)
{
	struct timespec start, now;

	clock_gettime(CLOCK_MONOTONIC, &start);
	do {
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((now.tv_sec - start.tv_sec) * 1000 + (now.tv_nsec - start.tv_nsec) / 1000000 <
		 600);
	return 0;
}

START_TEST(real_cpus)
{
	struct cgroup_usage usage;

	if (!real("real_cpus", (struct cgroup_limits){.cpus_milli = 200}))
		return;
	status_of(inside(burn));
	cgroup_read(&group, &usage);
	ck_assert_uint_ge(usage.cpu_ns, 40 * 1000000);
	ck_assert_uint_le(usage.cpu_ns, 250 * 1000000); /* of 600 ms: 120 and a period */
	check_removed();
}
END_TEST

/* v1 refuses that; the group is then held to what is further up. */
START_TEST(real_cpus_above_the_parents)
{
	struct cgroup_limits limits = {.cpus_milli = 200};
	struct cgroup outer;
	struct cgroup_usage usage;

	if (!real("real_cpus_above_the_parents", limits))
		return;
	outer = group;
	if (host.version == CGROUP_V1) {
		host.cpu = outer.paths[0];
		limits.cpus_milli = 2000;
		ck_assert_int_eq(cgroup_make(&arena, &host, &limits, "testinner", &group, &err), 0);
		status_of(inside(burn));
		cgroup_read(&group, &usage);
		ck_assert_uint_le(usage.cpu_ns, 250 * 1000000);
		check_removed();
	}
	group = outer;
	check_removed();
}
END_TEST

static int forks_on(void)
{
	for (int i = 0; i < 30; i++) {
		if (fork() == 0) {
			setsid();
			signal(SIGTERM, SIG_IGN);
			for (;;)
				pause();
		}
	}
	pause();
	return 0;
}

START_TEST(real_remove_kills)
{
	struct cgroup_usage usage;

	if (!real("real_remove_kills", (struct cgroup_limits){.processes = 100}))
		return;
	pid_t pid = inside(forks_on);
	do {
		usleep(1000);
		cgroup_read(&group, &usage);
	} while (usage.tasks < 31);
	/* a group made inside, with a process in it */
	const char *nested = arena_printf(&arena, "%s/a", group.paths[0]);
	ck_assert_int_eq(mkdir(nested, 0755), 0);
	ck_assert_int_eq(mkdir(arena_printf(&arena, "%s/b", nested), 0755), 0);
	ck_assert_int_eq(cgroup_write_number(nested, "cgroup.procs", pid), 0);
	check_removed();
	ck_assert_int_eq(WTERMSIG(status_of(pid)), SIGKILL);
}
END_TEST

START_TEST(real_all_limits)
{
	struct cgroup_limits limits = {64 << 20, 10, 1000};
	struct cgroup_usage usage;

	if (!real("real_all_limits", limits))
		return;
	status_of(inside(eat_little));
	cgroup_read(&group, &usage);
	ck_assert_uint_ne(usage.memory_bytes, UINT64_MAX);
	ck_assert_uint_ne(usage.cpu_ns, UINT64_MAX);
	ck_assert_uint_eq(usage.tasks, 0);
	ck_assert_uint_eq(usage.processes_refused, 0);
	check_removed();
}
END_TEST

START_TEST(real_failure_leaves_nothing)
{
	struct cgroup_limits limits = {.memory_bytes = 32 << 20};

	if (!real("real_failure_leaves_nothing", limits))
		return;
	check_removed();
	host.pids = "/nowhere";
	host.unified = "/nowhere";
	limits.processes = 3;
	ck_assert_int_eq(cgroup_make(&arena, &host, &limits, "testfail", &group, &err), -1);
	ck_assert_int_eq(err.kind, ERROR_SYSTEM);
	if (host.memory != NULL)
		ck_assert_int_eq(
			access(arena_printf(&arena, "%s/sbox-testfail", host.memory), F_OK), -1);
}
END_TEST

/* The unified hierarchy's kill and rmdir, also where it has no controllers. */
START_TEST(real_unified_kill)
{
	static const char *const tops[] = {"/sys/fs/cgroup/unified", "/sys/fs/cgroup"};
	struct cgroup_limits none = {0};

	memset(&host, 0, sizeof(host));
	for (size_t i = 0; i < 2 && host.unified == NULL; i++) {
		if (access(arena_printf(&arena, "%s/cgroup.controllers", tops[i]), F_OK) == 0 &&
		    access(tops[i], W_OK) == 0)
			host.unified = tops[i];
	}
	if (host.unified == NULL) {
		puts("skip: real_unified_kill: no writable cgroup2");
		return;
	}
	host.version = CGROUP_V2;
	const char *id = arena_printf(&arena, "test%d", (int)getpid());
	ck_assert_int_eq(cgroup_make(&arena, &host, &none, id, &group, &err), 0);
	ck_assert_int_ge(group.dir_fd, 0);
	pid_t pid = inside(forks_on);
	mkdir(arena_printf(&arena, "%s/inner", group.paths[0]), 0755);
	ck_assert_int_eq(access(group.paths[0], F_OK), 0);
	ck_assert_int_eq(cgroup_remove_path(group.paths[0]), 0);
	ck_assert_int_eq(access(group.paths[0], F_OK), -1);
	ck_assert_int_eq(WTERMSIG(status_of(pid)), SIGKILL);
	ck_assert_int_eq(cgroup_remove(&group, 0), 0); /* gone already: fine */
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		real_memory,
		real_processes,
		real_cpus,
		real_cpus_above_the_parents,
		real_remove_kills,
		real_all_limits,
		real_failure_leaves_nothing,
		real_unified_kill,
	};
	Suite *suite = suite_create("cgroup_live");
	TCase *tcase = tcase_create("cgroup_live");

	tcase_add_checked_fixture(tcase, NULL, teardown);
	tcase_set_timeout(tcase, 20);
	for (size_t i = 0; i < sizeof(tests) / sizeof(*tests); i++)
		tcase_add_test(tcase, tests[i]);
	suite_add_tcase(suite, tcase);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
