// SPDX-License-Identifier: Apache-2.0
#include "cgroup_internal.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct arena arena;
static struct cgroup_host host;
static struct cgroup group;
static struct error err;
static char base[64]; /* a folder of the test's own: fake control groups */

static const char *in_base(const char *name)
{
	return arena_printf(&arena, "%s/%s", base, name);
}

static void put(const char *name, const char *text)
{
	FILE *file = fopen(in_base(name), "w");

	ck_assert_ptr_nonnull(file);
	fputs(text, file);
	fclose(file);
}

static const char *get(const char *name)
{
	char text[256];

	ck_assert(cgroup_read_text(base, name, text, sizeof(text)));
	return arena_strdup(&arena, text);
}

static void setup(void)
{
	strcpy(base, "/tmp/sbox-test-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(base));
}

static void teardown(void)
{
	ck_assert_int_eq(system(arena_printf(&arena, "rm -rf '%s'", base)), 0);
	arena_free(&arena);
}

static void probe(const char *own, const char *mounts)
{
	put("own", own);
	put("mounts", mounts);
	cgroup_probe_files(&arena, in_base("own"), in_base("mounts"), base, &host);
}

static const char *mount_line(const char *root, const char *folder, const char *type,
			      const char *super)
{
	return arena_printf(&arena, "31 30 0:28 %s %s/%s rw,relatime shared:9 - %s none %s\n", root,
			    base, folder, type, super);
}

/* --- probe ------------------------------------------------------------- */

START_TEST(probe_v1_joins_mount_and_group)
{
	mkdir(in_base("mem"), 0755);
	mkdir(in_base("mem/inner"), 0755);
	mkdir(in_base("cpu acct"), 0755);
	probe("5:memory:/docker/abc/inner\n4:cpu,cpuacct:/\n3:pids:/x\n1:name=systemd:/\n0::/\n",
	      arena_printf(&arena, "%s%s%s", mount_line("/docker/ab", "mem", "cgroup", "rw,memory"),
			   mount_line("/docker/abc", "mem", "cgroup", "rw,memory"),
			   mount_line("/", "cpu\\040acct", "cgroup", "rw,cpu,cpuacct")));
	ck_assert_int_eq(host.version, CGROUP_V1);
	ck_assert_str_eq(host.memory, in_base("mem/inner"));
	ck_assert_str_eq(host.cpu, in_base("cpu acct"));
	ck_assert_str_eq(host.cpuacct, host.cpu);
	ck_assert(host.has_memory && host.has_cpu && !host.has_pids);
	ck_assert_ptr_null(host.pids);
}
END_TEST

static void fake_v2(const char *controllers, const char *subtree, const char *procs, bool root)
{
	mkdir(in_base("u"), 0755);
	put("u/cgroup.controllers", controllers);
	put("u/cgroup.subtree_control", subtree);
	put("u/cgroup.procs", procs);
	if (!root)
		put("u/cgroup.type", "domain\n");
	probe("0::/user.slice/me\n", mount_line("/user.slice/me", "u", "cgroup2", "rw"));
}

START_TEST(probe_v2_root)
{
	fake_v2("cpuset cpu io memory pids\n", "\n", "1\n2\n", true);
	ck_assert_int_eq(host.version, CGROUP_V2);
	ck_assert_str_eq(host.unified, in_base("u"));
	ck_assert(host.has_memory && host.has_pids && host.has_cpu && !host.alone);
}
END_TEST

START_TEST(probe_v2_alone)
{
	fake_v2("memory pids\n", "\n", arena_printf(&arena, "%d\n", getpid()), false);
	ck_assert_int_eq(host.version, CGROUP_V2);
	ck_assert(host.has_memory && host.has_pids && !host.has_cpu && host.alone);
	ck_assert(!host.is_crowded && !host.may_ask);
}
END_TEST

START_TEST(probe_v2_with_others)
{
	fake_v2("memory pids\n", "\n", arena_printf(&arena, "1\n%d\n", getpid()), false);
	ck_assert_int_eq(host.version, CGROUP_NONE);
	ck_assert_ptr_nonnull(strstr(host.why_not, "other processes"));
	ck_assert(host.is_crowded && host.may_ask);
	ck_assert(!host.has_memory && host.unified == NULL);
}
END_TEST

START_TEST(probe_v2_already_enabled)
{
	fake_v2("cpu memory pids\n", "pids\n", arena_printf(&arena, "1\n%d\n", getpid()), false);
	ck_assert_int_eq(host.version, CGROUP_V2);
	ck_assert(host.has_pids && !host.has_memory && !host.has_cpu);
}
END_TEST

START_TEST(probe_says_why_not)
{
	cgroup_probe_files(&arena, in_base("none"), in_base("none"), base, &host);
	ck_assert_ptr_nonnull(strstr(host.why_not, "/proc"));
	probe("1:name=systemd:/\n", "");
	ck_assert_ptr_nonnull(strstr(host.why_not, "mounted"));
	probe("4:memory:/\n0::/\n", mount_line("/", "nowhere", "cgroup", "rw,memory"));
	ck_assert_ptr_nonnull(strstr(host.why_not, "not reachable"));
	fake_v2("cpuset io\n", "\n", "1\n", true);
	ck_assert_ptr_nonnull(strstr(host.why_not, "no controller"));
	ck_assert_int_eq(host.version, CGROUP_NONE);
	probe("garbage\n\n:\n::\n0:", "garbage - cgroup\n - cgroup2\n1 2 3 - cgroup x memory\n");
	ck_assert_int_eq(host.version, CGROUP_NONE);
	ck_assert_int_eq(cgroup_make(&arena, &host, &(struct cgroup_limits){0}, "x", &group, &err),
			 -1);
	ck_assert_int_eq(err.kind, ERROR_MISSING);
}
END_TEST

/* Whatever this machine has: the short way finds it where the long one does. */
START_TEST(probe_quickly_finds_the_same)
{
	struct cgroup_host quick;
	const char *const *const pairs[][2] = {
		{&host.memory, &quick.memory},   {&host.pids, &quick.pids},
		{&host.cpu, &quick.cpu},         {&host.cpuacct, &quick.cpuacct},
		{&host.unified, &quick.unified}, {&host.why_not, &quick.why_not}};

	cgroup_probe(&arena, &host);
	cgroup_probe_quickly(&arena, &quick);
	ck_assert_int_eq(quick.version, host.version);
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		ck_assert_pstr_eq(*pairs[i][1], *pairs[i][0]);
	ck_assert(quick.has_memory == host.has_memory && quick.has_pids == host.has_pids &&
		  quick.has_cpu == host.has_cpu && quick.may_ask == host.may_ask);
}
END_TEST

/* In a process of its own: the test's folder is still to be removed afterwards. */
static int probe_as_nobody(void)
{
	if (geteuid() == 0 && setuid(65534) < 0)
		return 1;
	cgroup_probe(&arena, &host);
	if (host.version != CGROUP_NONE)
		puts("skip: probe_as_a_user: this user has a delegated control group");
	else
		printf("# why not, as a user: %s\n", host.why_not);
	fflush(stdout);
	return host.version == CGROUP_NONE && host.why_not == NULL;
}

START_TEST(probe_as_a_user)
{
	int status;

	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0)
		_exit(probe_as_nobody());
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}
END_TEST

/* --- v2, on a fake tree ------------------------------------------------- */

static const char *const v2_files[] = {"memory.max",     "memory.swap.max", "memory.oom.group",
				       "memory.current", "memory.peak",     "memory.events",
				       "pids.max",       "pids.current",    "pids.events",
				       "cpu.max",        "cpu.stat"};

START_TEST(v2_limits)
{
	struct cgroup_limits limits = {1 << 30, 256, 1500};

	for (size_t i = 0; i < sizeof(v2_files) / sizeof(*v2_files); i++)
		put(v2_files[i], "");
	ck_assert_int_eq(cgroup_v2_limit(base, &limits, &err), 0);
	ck_assert_str_eq(get("memory.max"), "1073741824");
	ck_assert_str_eq(get("memory.swap.max"), "0");
	ck_assert_str_eq(get("memory.oom.group"), "1");
	ck_assert_str_eq(get("pids.max"), "256");
	ck_assert_str_eq(get("cpu.max"), "150000 100000");
	limits = (struct cgroup_limits){0, UINT64_MAX, 5};
	ck_assert_int_eq(cgroup_v2_limit(base, &limits, &err), 0);
	ck_assert_str_eq(get("pids.max"), "4194304");
	ck_assert_ptr_nonnull(strstr(get("cpu.max"), "5000 1000000"));
	/* a kernel without swap accounting, then one without the limit itself */
	limits.memory_bytes = 1;
	unlink(in_base("memory.swap.max"));
	ck_assert_int_eq(cgroup_v2_limit(base, &limits, &err), 0);
	unlink(in_base("memory.max"));
	ck_assert_int_eq(cgroup_v2_limit(base, &limits, &err), -1);
	ck_assert_ptr_nonnull(strstr(err.text, "cannot limit the memory"));
}
END_TEST

START_TEST(v2_usage)
{
	struct cgroup_usage usage;
	struct cgroup fake = {.version = CGROUP_V2, .dir_fd = -1};

	put("memory.current", "4096\n");
	put("memory.peak", "8192\n");
	put("memory.events", "low 0\nmax 7\noom 3\noom_kill 2\noom_group_kill 1\n");
	put("pids.current", "5\n");
	put("pids.events", "max 9\n");
	put("cpu.stat", "usage_usec 1234\nuser_usec 1000\n");
	cgroup_v2_open(base, &fake);
	cgroup_read(&fake, &usage);
	ck_assert_uint_eq(usage.memory_bytes, 4096);
	ck_assert_uint_eq(usage.peak_memory_bytes, 8192);
	ck_assert_uint_eq(usage.oom_kills, 2);
	ck_assert_uint_eq(usage.tasks, 5);
	ck_assert_uint_eq(usage.processes_refused, 9);
	ck_assert_uint_eq(usage.cpu_ns, 1234000);
	unlink(in_base("memory.peak"));
	unlink(in_base("memory.events"));
	cgroup_v2_open(base, &fake);
	cgroup_read(&fake, &usage);
	ck_assert_uint_eq(usage.peak_memory_bytes, UINT64_MAX);
	ck_assert_uint_eq(usage.oom_kills, UINT64_MAX);
}
END_TEST

START_TEST(v2_enables_what_is_needed)
{
	struct cgroup_limits limits = {.memory_bytes = 1, .processes = 1};

	fake_v2("cpu memory pids\n", "memory\n", "1\n", true);
	ck_assert_int_eq(cgroup_v2_enable(&host, &limits, &err), 0);
	ck_assert_int_eq(strncmp(get("u/cgroup.subtree_control"), "+pids", 5), 0);
	host.has_cpu = false;
	limits.cpus_milli = 1;
	ck_assert_int_eq(cgroup_v2_enable(&host, &limits, &err), -1);
	ck_assert_int_eq(err.kind, ERROR_MISSING);
}
END_TEST

START_TEST(v2_steps_aside)
{
	struct cgroup_limits limits = {.processes = 1};
	const char *self = arena_printf(&arena, "%d", getpid());

	fake_v2("pids\n", "\n", arena_printf(&arena, "%s\n", self), false);
	ck_assert(host.alone);
	mkdir(in_base("u/" CGROUP_LEAF), 0755);
	put("u/" CGROUP_LEAF "/cgroup.procs", "");
	ck_assert_int_eq(cgroup_v2_enable(&host, &limits, &err), 0);
	ck_assert_str_eq(get("u/" CGROUP_LEAF "/cgroup.procs"), self);
	ck_assert_str_eq(get("u/cgroup.subtree_control"), "+pids");
}
END_TEST

START_TEST(only_our_groups_are_removed)
{
	ck_assert_int_eq(cgroup_remove_path("/sys/fs/cgroup"), -1);
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_int_eq(cgroup_remove_path("sbox-x"), -1);
	ck_assert_int_eq(cgroup_remove_path(in_base("sbox-not-there")), 0);
}
END_TEST

START_TEST(probe_is_cheap)
{
	struct timespec from, to;
	enum { TIMES = 200 };

	clock_gettime(CLOCK_MONOTONIC, &from);
	for (int i = 0; i < TIMES; i++) {
		arena_free(&arena);
		cgroup_probe(&arena, &host);
	}
	clock_gettime(CLOCK_MONOTONIC, &to);
	printf("# probe: %.1f us\n",
	       ((to.tv_sec - from.tv_sec) * 1e6 + (to.tv_nsec - from.tv_nsec) / 1e3) / TIMES);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		probe_v1_joins_mount_and_group,
		probe_v2_root,
		probe_v2_alone,
		probe_v2_with_others,
		probe_v2_already_enabled,
		probe_says_why_not,
		probe_as_a_user,
		probe_quickly_finds_the_same,
		v2_limits,
		v2_usage,
		v2_enables_what_is_needed,
		v2_steps_aside,
		only_our_groups_are_removed,
		probe_is_cheap,
	};
	Suite *suite = suite_create("cgroup");
	TCase *tcase = tcase_create("cgroup");

	tcase_add_checked_fixture(tcase, setup, teardown);
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
