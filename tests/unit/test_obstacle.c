// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "doctor.h"
#include "obstacle.h"

/* Machines that cannot be had here, as the files that tell them apart. */

#define COUNT(table) ((int)(sizeof(table) / sizeof((table)[0])))

enum { FILES = 4 };

struct file {
	const char *path, *text;
};

#define PLAIN_MOUNTS                                                                               \
	{                                                                                          \
		"/proc/self/mountinfo",                                                            \
			"22 1 8:1 / / rw - ext4 /dev/sda1 rw\n23 22 0:5 / /proc rw - proc proc "   \
			"rw\n"                                                                     \
	}
#define UBUNTU                                                                                     \
	{                                                                                          \
		"/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1\n"                    \
	}
#define LABEL(text)                                                                                \
	{                                                                                          \
		"/proc/self/attr/apparmor/current", text                                           \
	}
#define FILTERED                                                                                   \
	{                                                                                          \
		"/proc/self/status", "Name:\tsbox\nNoNewPrivs:\t1\nSeccomp:\t2\nSeccomp_filters:"  \
				     "\t1\n"                                                       \
	}
#define HAS_APPARMOR                                                                               \
	{                                                                                          \
		"/sys/module/apparmor/parameters/enabled", "Y\n"                                   \
	}

static const struct {
	const char *name;
	struct file files[FILES];
	enum obstacle_at at;
	int errnum;
	bool root;
	enum obstacle found;
} machines[] = {
	{"wsl1",
	 {{"/proc/sys/kernel/osrelease", "4.4.0-19041-Microsoft\n"}},
	 AT_CLONE,
	 EINVAL,
	 false,
	 OBSTACLE_WSL1},
	{"wsl2 is a kernel like others",
	 {{"/proc/sys/kernel/osrelease", "5.15.153.1-microsoft-standard-WSL2\n"},
	  {"/proc/sys/user/max_user_namespaces", "0\n"}},
	 AT_CLONE,
	 ENOSPC,
	 false,
	 OBSTACLE_MAX_USER_NAMESPACES},
	{"limit",
	 {{"/proc/sys/user/max_user_namespaces", "9\n"}},
	 AT_CLONE,
	 ENOSPC,
	 false,
	 OBSTACLE_NAMESPACE_LIMIT},
	{"too many processes", {PLAIN_MOUNTS}, AT_CLONE, EAGAIN, false, OBSTACLE_TASK_LIMIT},
	{"nested too deep", {PLAIN_MOUNTS}, AT_CLONE, EUSERS, false, OBSTACLE_NAMESPACE_LIMIT},
	{"old debian",
	 {PLAIN_MOUNTS, {"/proc/sys/kernel/unprivileged_userns_clone", "0\n"}},
	 AT_CLONE,
	 EPERM,
	 false,
	 OBSTACLE_USERNS_CLONE},
	{"old debian does not stop root",
	 {PLAIN_MOUNTS, HAS_APPARMOR, {"/proc/sys/kernel/unprivileged_userns_clone", "0\n"}},
	 AT_CLONE,
	 EPERM,
	 true,
	 OBSTACLE_SECURITY_MODULE},
	{"ubuntu 23.10: refused at once",
	 {UBUNTU, LABEL("unconfined\n"), PLAIN_MOUNTS},
	 AT_CLONE,
	 EPERM,
	 false,
	 OBSTACLE_APPARMOR},
	{"ubuntu 24.04: refused at the first mount",
	 {UBUNTU, LABEL("unconfined\n")},
	 AT_MOUNT,
	 EPERM,
	 false,
	 OBSTACLE_APPARMOR},
	{"ubuntu 24.04, after the move",
	 {UBUNTU, LABEL("unprivileged_userns (enforce)\n")},
	 AT_MOUNT,
	 EACCES,
	 false,
	 OBSTACLE_APPARMOR},
	{"ubuntu with sbox's profile",
	 {UBUNTU, LABEL("sbox (unconfined)\n")},
	 AT_PROC,
	 EPERM,
	 false,
	 OBSTACLE_COVERED_PROC},
	{"ubuntu does not restrict root",
	 {UBUNTU, LABEL("unconfined\n")},
	 AT_PROC,
	 EPERM,
	 true,
	 OBSTACLE_COVERED_PROC},
	{"docker", {PLAIN_MOUNTS, FILTERED}, AT_CLONE, ENOSYS, false, OBSTACLE_FILTER},
	{"a filter that lets namespaces be made",
	 {PLAIN_MOUNTS, FILTERED},
	 AT_MOUNT,
	 EPERM,
	 true,
	 OBSTACLE_FILTER},
	{"chroot",
	 {{"/proc/self/mountinfo", "31 22 0:5 / /proc rw - proc proc rw\n"}, HAS_APPARMOR},
	 AT_CLONE,
	 EPERM,
	 false,
	 OBSTACLE_CHROOT},
	{"no reason of the kernel's own",
	 {PLAIN_MOUNTS, HAS_APPARMOR},
	 AT_CLONE,
	 EPERM,
	 false,
	 OBSTACLE_SECURITY_MODULE},
	{"podman", {PLAIN_MOUNTS, FILTERED}, AT_PROC, EPERM, false, OBSTACLE_COVERED_PROC},
};

static struct arena arena;
static char tree[] = "/tmp/sbox-obstacle-XXXXXX";

static void put_file(const struct file *file)
{
	char path[512];

	snprintf(path, sizeof(path), "%s%s", tree, file->path);
	for (char *at = path + strlen(tree) + 1; (at = strchr(at, '/')) != NULL; at++) {
		*at = '\0';
		mkdir(path, 0700);
		*at = '/';
	}
	FILE *out = fopen(path, "w");
	ck_assert_ptr_nonnull(out);
	fputs(file->text, out);
	fclose(out);
}

static void setup(void)
{
	strcpy(tree, "/tmp/sbox-obstacle-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(tree));
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *walk)
{
	(void)st;
	(void)kind;
	(void)walk;
	return remove(path);
}

static void teardown(void)
{
	nftw(tree, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	arena_free(&arena);
}

START_TEST(the_cause_is_found)
{
	for (int i = 0; i < FILES && machines[_i].files[i].path != NULL; i++)
		put_file(&machines[_i].files[i]);
	enum obstacle found =
		obstacle_find(tree, machines[_i].at, machines[_i].errnum, machines[_i].root);
	ck_assert_msg(found == machines[_i].found, "%s: %s", machines[_i].name,
		      obstacle_texts[found].name);
}
END_TEST

START_TEST(every_obstacle_has_a_way_out)
{
	const struct obstacle_text *text = &obstacle_texts[_i];
	bool is_seen = false;

	ck_assert_ptr_nonnull(text->name);
	ck_assert_uint_gt(strlen(text->cause), 10);
	ck_assert_uint_gt(strlen(text->way_out), 10);
	ck_assert_ptr_nonnull(strstr(obstacle_sentence(&arena, (enum obstacle)_i), text->cause));
	for (int i = 0; i < COUNT(machines); i++)
		is_seen = is_seen || machines[i].found == (enum obstacle)_i;
	ck_assert_msg(is_seen, "no machine has %s", text->name);
}
END_TEST

START_TEST(numbers_are_read_or_not_known)
{
	put_file(&(struct file){"/proc/a", "42\n"});
	put_file(&(struct file){"/proc/b", "\n"});
	put_file(&(struct file){"/proc/c", "many"});
	ck_assert_int_eq(obstacle_number(tree, "/proc/a"), 42);
	ck_assert_int_eq(obstacle_number(tree, "/proc/b"), -1);
	ck_assert_int_eq(obstacle_number(tree, "/proc/c"), -1);
	ck_assert_int_eq(obstacle_number(tree, "/proc/d"), -1);
}
END_TEST

/* ---- the doctor's own looks ---- */

static const struct {
	const char *check;
	struct file file;
	int abi; /* of Landlock */
	enum finding_state state;
	const char *text; /* in what is found or in the way out */
} looks[] = {
	{"yama", {"/proc/sys/kernel/yama/ptrace_scope", "1\n"}, 7, FINDING_GOOD, "ptrace_scope 1"},
	{"yama", {"/proc/sys/kernel/yama/ptrace_scope", "3\n"}, 7, FINDING_WEAKER, "reboot"},
	{"yama", {"/proc/sys/kernel/x", "3\n"}, 7, FINDING_GOOD, "not in this kernel"},
	{"kernel",
	 {"/proc/sys/kernel/osrelease", "4.4.0-19041-Microsoft\n"},
	 0,
	 FINDING_MISSING,
	 "--set-version"},
	{"landlock", {"/proc/x", "1"}, 7, FINDING_GOOD, "ABI 7"},
	{"landlock", {"/proc/x", "1"}, 4, FINDING_NOTE, "6.12"},
	{"landlock", {"/proc/x", "1"}, 2, FINDING_NOTE, "6.12"},
	{"landlock", {"/proc/x", "1"}, 1, FINDING_WEAKER, "6.12"},
	{"labels",
	 {"/proc/self/attr/current", "sbox (unconfined)\n"},
	 7,
	 FINDING_GOOD,
	 "sbox (unconfined)"},
};

static const struct check *check_named(const char *name)
{
	for (size_t i = 0; i < check_count(); i++)
		if (strcmp(checks[i].name, name) == 0)
			return &checks[i];
	ck_abort_msg("no check %s", name);
	abort();
}

START_TEST(looks_at_a_tree)
{
	struct doctor doctor = {.arena = &arena, .root = tree};
	struct finding finding = {0};

	doctor.host = (struct host){.kernel_major = 6, .kernel_minor = 18, .apparmor = true};
	doctor.host.landlock_abi = looks[_i].abi;
	put_file(&looks[_i].file);
	check_named(looks[_i].check)->look(&doctor, &finding);
	ck_assert_msg(finding.state == looks[_i].state, "%s: %s", looks[_i].check,
		      finding_state_names[finding.state]);
	ck_assert_msg(strstr(finding.found, looks[_i].text) != NULL ||
			      (finding.way_out != NULL &&
			       strstr(finding.way_out, looks[_i].text) != NULL),
		      "found \"%s\", way out \"%s\"", finding.found, finding.way_out);
	if (finding.state >= FINDING_WEAKER)
		ck_assert_ptr_nonnull(finding.lost);
}
END_TEST

/* A kernel with Landlock whose lsm= leaves it out: the ABI is refused, the list says what is on. */
START_TEST(landlock_left_out_of_lsm)
{
	struct doctor doctor = {.arena = &arena, .root = tree};
	struct finding finding = {0};

	put_file(&(struct file){"/sys/kernel/security/lsm", "capability,yama,apparmor"});
	no_landlock(&doctor, EOPNOTSUPP, &finding);
	ck_assert_int_eq(finding.state, FINDING_MISSING);
	ck_assert_ptr_nonnull(strstr(finding.way_out, "lsm=landlock,capability,yama,apparmor "));
	no_landlock(&doctor, ENOSYS, &finding);
	ck_assert_ptr_nonnull(strstr(finding.way_out, "CONFIG_SECURITY_LANDLOCK"));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("obstacle");
	TCase *all = tcase_create("obstacle");

	tcase_add_checked_fixture(all, setup, teardown);
	tcase_add_loop_test(all, the_cause_is_found, 0, COUNT(machines));
	tcase_add_loop_test(all, every_obstacle_has_a_way_out, 0, OBSTACLE_MAX);
	tcase_add_test(all, numbers_are_read_or_not_known);
	tcase_add_loop_test(all, looks_at_a_tree, 0, COUNT(looks));
	tcase_add_test(all, landlock_left_out_of_lsm);
	suite_add_tcase(suite, all);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
