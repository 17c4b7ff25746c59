// SPDX-License-Identifier: Apache-2.0
#include "cgroup_internal.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

/* Each controller in a hierarchy of its own, or several mounted together ("cpu,cpuacct"). */

static const char *make_folder(struct arena *arena, struct cgroup *cgroup, const char *parent,
			       const char *id, struct error *err)
{
	const char *path = arena_printf(arena, "%s/sbox-%s", parent, id);

	for (size_t i = 0; i < cgroup->path_count; i++) {
		if (strcmp(cgroup->paths[i], path) == 0)
			return path;
	}
	if (mkdir(path, 0755) < 0) {
		error_sys(err, "cannot make the control group %s", path);
		return NULL;
	}
	cgroup->paths[cgroup->path_count++] = path;
	return path;
}

static int set_memory(const char *group, uint64_t bytes, struct error *err)
{
	if (cgroup_write_number(group, "memory.limit_in_bytes", bytes) < 0)
		return error_sys(err, "cannot limit the memory of %s to %ju bytes", group,
				 (uintmax_t)bytes);
	/* Memory and swap together, or else as little swap as there can be. */
	if (cgroup_write_number(group, "memory.memsw.limit_in_bytes", bytes) == 0)
		return 0;
	if (errno != ENOENT)
		return error_sys(err, "cannot limit the memory and swap of %s to %ju bytes", group,
				 (uintmax_t)bytes);
	cgroup_write(group, "memory.swappiness", "0");
	return 0;
}

static int set_processes(const char *group, uint64_t processes, struct error *err)
{
	uint64_t max = processes < CGROUP_PIDS_MAX ? processes : CGROUP_PIDS_MAX;

	if (cgroup_write_number(group, "pids.max", max) < 0)
		return error_sys(err, "cannot limit the tasks of %s to %ju", group, (uintmax_t)max);
	return 0;
}

static int set_cpus(const char *group, uint64_t cpus_milli, struct error *err)
{
	struct cgroup_quota quota = cgroup_quota(cpus_milli);

	if (cgroup_write_number(group, "cpu.cfs_period_us", quota.period_us) < 0)
		return error_sys(err, "cannot set the CPU period of %s", group);
	/* QUIRK(cfs): v1 refuses a quota above that of a group further up with EINVAL, all
	 * versions (tg_cfs_schedulable_down); without one of its own this group is held to
	 * the lower. Pinned by real_cpus_above_the_parents. */
	if (cgroup_write_number(group, "cpu.cfs_quota_us", quota.quota_us) < 0 && errno != EINVAL)
		return error_sys(err, "cannot limit the CPU time of %s to %ju µs in %ju", group,
				 (uintmax_t)quota.quota_us, (uintmax_t)quota.period_us);
	return 0;
}

static int make_one(struct arena *arena, struct cgroup *cgroup, const char *parent, const char *id,
		    uint64_t limit, int (*set)(const char *, uint64_t, struct error *),
		    const char **ret_group, struct error *err)
{
	if (limit == 0)
		return 0;
	if (parent == NULL)
		return error_set(err, ERROR_MISSING,
				 "no control group for this limit can be made by this caller");
	const char *group = make_folder(arena, cgroup, parent, id, err);
	if (group == NULL)
		return -1;
	*ret_group = group;
	return set(group, limit, err);
}

int cgroup_v1_make(struct arena *arena, const struct cgroup_host *host,
		   const struct cgroup_limits *limits, const char *id, struct cgroup *cgroup,
		   struct error *err)
{
	const char *memory = NULL, *pids = NULL, *cpu = NULL, *cpuacct = NULL;

	if (make_one(arena, cgroup, host->memory, id, limits->memory_bytes, set_memory, &memory,
		     err) < 0 ||
	    make_one(arena, cgroup, host->pids, id, limits->processes, set_processes, &pids, err) <
		    0 ||
	    make_one(arena, cgroup, host->cpu, id, limits->cpus_milli, set_cpus, &cpu, err) < 0)
		return -1;
	/* Attaching costs once; counting CPU time as well costs next to nothing then. */
	if (host->cpuacct != NULL) {
		cpuacct = make_folder(arena, cgroup, host->cpuacct, id, err);
		if (cpuacct == NULL)
			return -1;
		cgroup->cpu_fd = cgroup_open(cpuacct, "cpuacct.usage");
	}
	if (memory != NULL) {
		cgroup->memory_fd = cgroup_open(memory, "memory.usage_in_bytes");
		cgroup->peak_fd = cgroup_open(memory, "memory.max_usage_in_bytes");
		cgroup->events_fd = cgroup_open(memory, "memory.oom_control");
	}
	if (pids != NULL) {
		cgroup->pids_fd = cgroup_open(pids, "pids.current");
		cgroup->refused_fd = cgroup_open(pids, "pids.events");
	}
	return 0;
}

void cgroup_v1_read(const struct cgroup *cgroup, struct cgroup_usage *usage)
{
	usage->cpu_ns = cgroup_number(cgroup->cpu_fd);
	usage->oom_kills = cgroup_keyed(cgroup->events_fd, "oom_kill"); /* 4.13 */
}
