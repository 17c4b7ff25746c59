// SPDX-License-Identifier: Apache-2.0
#include "cgroup_internal.h"

#include <string.h>
#include <unistd.h>

static void close_all(struct cgroup *cgroup)
{
	int *fds[] = {&cgroup->dir_fd,    &cgroup->memory_fd, &cgroup->cpu_fd,    &cgroup->pids_fd,
		      &cgroup->events_fd, &cgroup->peak_fd,   &cgroup->refused_fd};

	for (size_t i = 0; i < sizeof(fds) / sizeof(*fds); i++) {
		if (*fds[i] >= 0)
			close(*fds[i]);
		*fds[i] = -1;
	}
}

int cgroup_make(struct arena *arena, const struct cgroup_host *host,
		const struct cgroup_limits *limits, const char *id, struct cgroup *ret_cgroup,
		struct error *err)
{
	struct cgroup cgroup = {.version = host->version,
				.dir_fd = -1,
				.memory_fd = -1,
				.cpu_fd = -1,
				.pids_fd = -1,
				.events_fd = -1,
				.peak_fd = -1,
				.refused_fd = -1};
	int rc = -1;

	if (id[0] == '\0' || strchr(id, '/') != NULL)
		return error_set(err, ERROR_SYSTEM, "\"%s\" cannot name a control group", id);
	if (host->version == CGROUP_V1)
		rc = cgroup_v1_make(arena, host, limits, id, &cgroup, err);
	else if (host->version == CGROUP_V2)
		rc = cgroup_v2_make(arena, host, limits, id, &cgroup, err);
	else
		error_set(err, ERROR_MISSING, "no control group can be made: %s",
			  host->why_not != NULL ? host->why_not : "none is there");
	if (rc < 0) {
		cgroup_remove(&cgroup, 0);
		return -1;
	}
	*ret_cgroup = cgroup;
	return 0;
}

int cgroup_attach(const struct cgroup *cgroup, pid_t pid, struct error *err)
{
	for (size_t i = 0; i < cgroup->path_count; i++) {
		if (cgroup_write_number(cgroup->paths[i], "cgroup.procs", pid) < 0)
			return error_sys(err, "cannot move process %d into the control group %s",
					 (int)pid, cgroup->paths[i]);
	}
	return 0;
}

void cgroup_read(const struct cgroup *cgroup, struct cgroup_usage *ret_usage)
{
	ret_usage->memory_bytes = cgroup_number(cgroup->memory_fd);
	ret_usage->peak_memory_bytes = cgroup_number(cgroup->peak_fd);
	ret_usage->tasks = cgroup_number(cgroup->pids_fd);
	ret_usage->processes_refused = cgroup_keyed(cgroup->refused_fd, "max");
	if (cgroup->version == CGROUP_V2)
		cgroup_v2_read(cgroup, ret_usage);
	else
		cgroup_v1_read(cgroup, ret_usage);
}

int cgroup_remove(struct cgroup *cgroup, unsigned wait_ms)
{
	int rc = 0;

	close_all(cgroup);
	for (size_t i = cgroup->path_count; i > 0; i--) {
		if (cgroup_remove_tree(cgroup->paths[i - 1], wait_ms) < 0)
			rc = -1;
	}
	return rc;
}

int cgroup_remove_path(const char *path)
{
	enum { WAIT_MS = 500 };

	return cgroup_remove_tree(path, WAIT_MS);
}
