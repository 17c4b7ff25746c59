// SPDX-License-Identifier: Apache-2.0
#include "cgroup_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* One group for all controllers. */

/* The process alone in its group moves one down, so that the group may have
 * children with limits. The leaf stays: this process lives there to its end. */
static int step_aside(const struct cgroup_host *host, struct error *err)
{
	char leaf[4096], pid[24];
	int len = snprintf(leaf, sizeof(leaf), "%s/" CGROUP_LEAF, host->unified);

	if (len < 0 || (size_t)len >= sizeof(leaf))
		return error_set(err, ERROR_SYSTEM, "the path of the control group is too long: %s",
				 host->unified);
	if (mkdir(leaf, 0755) < 0 && errno != EEXIST)
		return error_sys(err, "cannot make the control group %s", leaf);
	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	if (cgroup_write(leaf, "cgroup.procs", pid) < 0)
		return error_sys(err, "cannot move sbox into the control group %s", leaf);
	return 0;
}

static void want(const char *enabled, uint64_t limit, const char *name, char *list, size_t size)
{
	size_t len = strlen(list);

	if (limit != 0 && !cgroup_has_word(enabled, name))
		snprintf(list + len, size - len, "%s+%s", len == 0 ? "" : " ", name);
}

/* Lets children of the group have the controllers that these limits need. */
int cgroup_v2_enable(const struct cgroup_host *host, const struct cgroup_limits *limits,
		     struct error *err)
{
	char enabled[256], list[64] = "";

	if ((limits->memory_bytes != 0 && !host->has_memory) ||
	    (limits->processes != 0 && !host->has_pids) ||
	    (limits->cpus_milli != 0 && !host->has_cpu))
		return error_set(err, ERROR_MISSING,
				 "the control group %s has no controller for this limit",
				 host->unified);
	if (!cgroup_read_text(host->unified, "cgroup.subtree_control", enabled, sizeof(enabled)))
		return error_sys(err, "cannot read cgroup.subtree_control of %s", host->unified);
	want(enabled, limits->memory_bytes, "memory", list, sizeof(list));
	want(enabled, limits->processes, "pids", list, sizeof(list));
	want(enabled, limits->cpus_milli, "cpu", list, sizeof(list));
	if (list[0] == '\0')
		return 0;
	if (host->alone && step_aside(host, err) < 0)
		return -1;
	if (cgroup_write(host->unified, "cgroup.subtree_control", list) < 0)
		return error_sys(err, "cannot enable %s below the control group %s", list,
				 host->unified);
	return 0;
}

static int set_memory(const char *group, uint64_t bytes, struct error *err)
{
	if (cgroup_write_number(group, "memory.max", bytes) < 0)
		return error_sys(err, "cannot limit the memory of %s to %ju bytes", group,
				 (uintmax_t)bytes);
	/* Absent without swap accounting, and memory.oom.group before 4.19. */
	if (cgroup_write(group, "memory.swap.max", "0") < 0 && errno != ENOENT)
		return error_sys(err, "cannot keep %s from swapping", group);
	if (cgroup_write(group, "memory.oom.group", "1") < 0 && errno != ENOENT)
		return error_sys(err, "cannot make %s run out of memory as one", group);
	return 0;
}

int cgroup_v2_limit(const char *group, const struct cgroup_limits *limits, struct error *err)
{
	uint64_t tasks = limits->processes < CGROUP_PIDS_MAX ? limits->processes : CGROUP_PIDS_MAX;
	struct cgroup_quota quota = cgroup_quota(limits->cpus_milli);
	char text[64];

	if (limits->memory_bytes != 0 && set_memory(group, limits->memory_bytes, err) < 0)
		return -1;
	if (tasks != 0 && cgroup_write_number(group, "pids.max", tasks) < 0)
		return error_sys(err, "cannot limit the tasks of %s to %ju", group,
				 (uintmax_t)tasks);
	snprintf(text, sizeof(text), "%ju %ju", (uintmax_t)quota.quota_us,
		 (uintmax_t)quota.period_us);
	if (limits->cpus_milli != 0 && cgroup_write(group, "cpu.max", text) < 0)
		return error_sys(err, "cannot limit the CPU time of %s to %s", group, text);
	return 0;
}

void cgroup_v2_open(const char *group, struct cgroup *cgroup)
{
	cgroup->memory_fd = cgroup_open(group, "memory.current");
	cgroup->peak_fd = cgroup_open(group, "memory.peak"); /* 5.19 */
	cgroup->cpu_fd = cgroup_open(group, "cpu.stat");
	cgroup->pids_fd = cgroup_open(group, "pids.current");
	cgroup->events_fd = cgroup_open(group, "memory.events");
	cgroup->refused_fd = cgroup_open(group, "pids.events");
}

int cgroup_v2_make(struct arena *arena, const struct cgroup_host *host,
		   const struct cgroup_limits *limits, const char *id, struct cgroup *cgroup,
		   struct error *err)
{
	const char *group = arena_printf(arena, "%s/sbox-%s", host->unified, id);

	if (cgroup_v2_enable(host, limits, err) < 0)
		return -1;
	if (mkdir(group, 0755) < 0)
		return error_sys(err, "cannot make the control group %s", group);
	cgroup->paths[cgroup->path_count++] = group;
	cgroup->dir_fd = open(group, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (cgroup->dir_fd < 0)
		return error_sys(err, "cannot open the control group %s", group);
	if (cgroup_v2_limit(group, limits, err) < 0)
		return -1;
	cgroup_v2_open(group, cgroup);
	return 0;
}

void cgroup_v2_read(const struct cgroup *cgroup, struct cgroup_usage *usage)
{
	uint64_t usec = cgroup_keyed(cgroup->cpu_fd, "usage_usec");

	usage->cpu_ns = usec == UINT64_MAX ? UINT64_MAX : usec * 1000;
	usage->oom_kills = cgroup_keyed(cgroup->events_fd, "oom_kill");
}
