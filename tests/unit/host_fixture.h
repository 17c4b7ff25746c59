// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_HOST_FIXTURE_H
#define SBOX_HOST_FIXTURE_H

/*
 * A host and a profile that nobody probed or parsed: filled by hand, so that
 * one machine tests the plans and steps of all others. A new test starts with
 * a good machine of an ordinary user and a profile that asks for little.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "boundary.h"
#include "plan.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))
#define ROWS(table)  ((int)COUNT(table))

static struct arena arena;
static struct profile profile;
static struct host host;
static struct plan plan;
static struct error err;

static const char *default_syscalls[] = {"@default"};

static inline void reset_profile(void)
{
	profile = (struct profile){.name = "test", .path = "/test.ini"};
	profile.file.scratch_bytes = 64 << 20;
	profile.process.open_files = 1024;
	profile.process.hostname = "sandbox";
	profile.privilege.user = "auto";
	profile.privilege.apparmor = "";
	profile.privilege.selinux = "";
	profile.privilege.syscalls = (struct string_list){default_syscalls, 1};
	profile.time.grace_ms = 2000;
	profile.audit.execs = YES;
	profile.audit.denials = DENIALS_CALLS;
}

static inline void reset_host(void)
{
	host = (struct host){
		.kernel_major = 6,
		.kernel_minor = 18,
		.landlock_abi = 7,
		.user_namespaces = true,
		.seccomp = true,
		.processors = 4,
		.real_uid = 1234,
		.uid = 1234,
		.real_gid = 1235,
		.gid = 1235,
		.user_uid = 1234,
		.user_gid = 1235,
		.group_count = 1,
		.cwd = "/work",
		.path = "/usr/bin:/bin",
		.hard_open_files = 4096,
		.hard_processes = 10000,
		.cgroup = {.version = CGROUP_NONE, .why_not = "no group is delegated"},
	};
}

static inline void setup(void)
{
	reset_profile();
	reset_host();
	err = (struct error){0};
}

static inline void become_root(void)
{
	host.root = host.can_become = host.can_bound = true;
	host.real_uid = host.uid = 0;
	host.real_gid = host.gid = 0;
}

static inline void use_kernel(int major, int minor)
{
	host.kernel_major = major;
	host.kernel_minor = minor;
}

/* One path of the profile, there on the host; inodes count up from 100. */
static inline struct path_fact *add_path(enum path_kind kind, const char *path, mode_t mode)
{
	static ino_t inode = 100;
	struct path_list *list = (struct path_list *)profile_paths(&profile, kind);
	struct path_rule *rule = ARENA_PUSH(&arena, list->items, list->count);
	struct path_facts *facts = &host.paths[kind];
	struct path_fact *fact = ARENA_PUSH(&arena, facts->items, facts->count);

	rule->path = path;
	*fact = (struct path_fact){.path = path,
				   .mode = mode,
				   .device = 1,
				   .inode = inode++,
				   .uid = host.uid,
				   .gid = host.gid,
				   .fs_type = 0xef53 /* ext4 */};
	return fact;
}

static inline struct path_fact *add_folder(enum path_kind kind, const char *path)
{
	return add_path(kind, path, S_IFDIR | 0755);
}

static inline void add_link(const char *at, const char *target)
{
	*ARENA_PUSH(&arena, host.links, host.link_count) = (struct link_fact){at, target};
}

static inline void make_plan(void)
{
	plan_make(&arena, &profile, &host, &plan);
}

/* The item of that name; the plan has to have it. */
static inline const struct plan_item *item_of(enum boundary boundary, const char *name)
{
	for (size_t i = 0; i < plan.item_count; i++)
		if (plan.items[i].boundary == boundary && strcmp(plan.items[i].name, name) == 0)
			return &plan.items[i];
	ck_abort_msg("no item [%s] %s", boundary_names[boundary], name);
	abort();
}

static inline void assert_contains(const char *text, const char *part)
{
	ck_assert_msg(text != NULL && strstr(text, part) != NULL, "got \"%s\", wanted \"%s\"",
		      text != NULL ? text : "(nothing)", part);
}

/* A text against the stored one; REGENERATE=1 writes it anew. */
static inline void compare_golden(const char *path, const char *text)
{
	bool anew = getenv("REGENERATE") != NULL;
	FILE *file = fopen(path, anew ? "w" : "r");
	char stored[65536];

	ck_assert_msg(file != NULL, "%s is missing; REGENERATE=1 writes it", path);
	if (anew) {
		fputs(text, file);
		fclose(file);
		return;
	}
	stored[fread(stored, 1, sizeof(stored) - 1, file)] = '\0';
	fclose(file);
	ck_assert_msg(strcmp(stored, text) == 0,
		      "%s differs; REGENERATE=1 and git diff show where. Now:\n%s", path, text);
}

static inline int run_suite(const char *name, void (*add)(TCase *tcase))
{
	Suite *suite = suite_create(name);
	TCase *tcase = tcase_create(name);
	SRunner *runner = srunner_create(suite);

	tcase_add_checked_fixture(tcase, setup, NULL);
	tcase_set_timeout(tcase, 60);
	suite_add_tcase(suite, tcase);
	add(tcase);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	arena_free(&arena);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

#endif
