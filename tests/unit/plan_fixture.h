// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_PLAN_FIXTURE_H
#define SBOX_PLAN_FIXTURE_H

/* Hosts and wishes that more than one test of the plan uses. */
#include <linux/magic.h>
#include <sched.h>

#include "host_fixture.h"

enum { FS_EXT4 = 0xef53, FS_9P = 0x01021997 };

static const struct cgroup_host cgroups[] = {
	{.version = CGROUP_NONE, .why_not = "no group is delegated"},
	{.version = CGROUP_V1, .memory = "/m", .has_memory = true},
	{.version = CGROUP_V1,
	 .memory = "/m",
	 .cpu = "/c",
	 .cpuacct = "/c",
	 .has_memory = true,
	 .has_cpu = true},
	{.version = CGROUP_V1, .pids = "/p", .has_pids = true},
	{.version = CGROUP_V2, .unified = "/u", .has_memory = true},
	{.version = CGROUP_V2,
	 .unified = "/u",
	 .has_memory = true,
	 .has_pids = true,
	 .has_cpu = true},
	{.version = CGROUP_V2, .unified = "/u", .has_pids = true},
};

static inline void ask_for_everything(void)
{
	profile.file.growth_bytes = 1 << 30;
	profile.file.max_file_bytes = 1 << 20;
	profile.process.processes = 100;
	profile.process.memory_bytes = 1 << 30;
	profile.process.cpus_milli = 1500;
	profile.process.output_bytes = 1 << 20;
	profile.time.wall_ms = 60000;
	profile.time.cpu_ms = 30000;
	add_folder(PATH_EXEC, "/usr");
	add_folder(PATH_WRITE, "/work");
	add_folder(PATH_HIDE, "/work/secret");
	add_folder(PATH_PROTECT, "/work/.git/hooks");
	add_folder(PATH_NOEXEC, "/work/data");
}

static inline bool says(const struct plan_item *item, const char *word)
{
	return item->mechanism != NULL && strstr(item->mechanism, word) != NULL;
}

#endif
