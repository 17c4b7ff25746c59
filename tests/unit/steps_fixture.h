// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_STEPS_FIXTURE_H
#define SBOX_STEPS_FIXTURE_H

/* Runs made up as a whole: host, profile, identity, and the steps armed for them. */
#include <linux/mount.h>
#include <sys/resource.h>

#include "boundary_file.h"
#include "host_fixture.h"

enum { LEASED = 1900000007, OWNER = 1500, OWNERS_IDMAP = 0 };

static struct arm arm;
static struct file_entries entries;
static char *step_argv[] = {(char *)"tool", NULL}, *step_envp[] = {NULL};
static bool with_listener;

static inline void setup_steps(void)
{
	setup();
	with_listener = true;
	arm = (struct arm){.file_bytes = RLIM_INFINITY};
}

/* As spawn.c: its own steps, then the order. */
static inline void finish_steps(void)
{
	struct step *stdio = steps_add(&arm.steps, STEP_STDIO);

	stdio->value[0] = 10;
	stdio->value[1] = 11;
	stdio->value[2] = 12;
	if (plan.attach_first)
		steps_add(&arm.steps, STEP_WAIT_ATTACH);
	steps_sort(&arm.steps);
}

/* Idmaps of one owner are there already: making one needs root. */
static inline int try_arm(void)
{
	make_plan();
	file_entries_make(&arena, &host, profile.file.writes == WRITES_KEEP, &entries);
	arm.arena = &arena;
	arm.profile = &profile;
	arm.host = &host;
	arm.plan = &plan;
	arm.entries = &entries;
	arm.identity = (struct identity){.inner_uid = INNER_UID,
					 .inner_gid = INNER_GID,
					 .outer_uid = host.root ? LEASED : host.uid,
					 .outer_gid = host.root ? LEASED : host.gid,
					 .build_uid = host.root ? LEASED : 0,
					 .build_gid = host.root ? LEASED : 0,
					 .leased = host.root};
	arm.inside_cwd = "/work";
	arm.argv = step_argv;
	arm.envp = step_envp;
	arm.program = "/usr/bin/tool";
	arm.have_listener = with_listener;
	arm.idmaps[0].uid = arm.idmaps[0].gid = OWNER;
	arm.idmap_count = 1;
	return arm_all(&arm, &err);
}

static inline void make_steps(void)
{
	int failed = try_arm();

	ck_assert_msg(failed == 0, "%s", err.text);
	finish_steps();
}

static inline struct path_fact *add_write(const char *path)
{
	struct path_fact *fact = add_folder(PATH_WRITE, path);

	fact->uid = fact->gid = OWNER;
	return fact;
}

static inline size_t count_steps(enum step_id id)
{
	size_t count = 0;

	for (size_t i = 0; i < arm.steps.count; i++)
		count += arm.steps.items[i].id == id;
	return count;
}

/* The nth of its kind (from 0), or NULL. */
static inline const struct step *find_step(enum step_id id, size_t nth)
{
	for (size_t i = 0; i < arm.steps.count; i++)
		if (arm.steps.items[i].id == id && nth-- == 0)
			return &arm.steps.items[i];
	return NULL;
}

/* What fills the slots: the devices first, then the profile's paths. */
static inline const struct step *find_source(size_t slot)
{
	size_t devices = 0;

	while (find_step(STEP_DEVICE, devices) != NULL)
		devices++;
	return slot < devices ? find_step(STEP_DEVICE, slot)
			      : find_step(STEP_SOURCE, slot - devices);
}

/* The step of that kind with that path, or NULL. */
static inline const struct step *step_at(enum step_id id, const char *path)
{
	for (size_t i = 0; i < arm.steps.count; i++)
		if (arm.steps.items[i].id == id && strcmp(arm.steps.items[i].path, path) == 0)
			return &arm.steps.items[i];
	return NULL;
}

static inline const struct step *limit_of(uint64_t resource)
{
	for (size_t i = 0; i < arm.steps.count; i++)
		if (arm.steps.items[i].id == STEP_LIMIT && arm.steps.items[i].value[0] == resource)
			return &arm.steps.items[i];
	return NULL;
}

#endif
