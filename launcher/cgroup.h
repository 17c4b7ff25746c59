// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_CGROUP_H
#define SBOX_CGROUP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "arena.h"
#include "error.h"

/* Control groups, v1 and v2, always below the caller's own group. */

enum cgroup_version { CGROUP_NONE, CGROUP_V1, CGROUP_V2 };

/* What the host offers, found by reading only. Paths are absolute folders of
 * the caller's own group, or NULL where that controller cannot be used. */
struct cgroup_host {
	enum cgroup_version version;
	const char *unified; /* v2: the group below which a child can be made */
	const char *memory, *pids, *cpu, *cpuacct; /* v1: one folder a controller */
	bool has_memory, has_pids, has_cpu;
	bool alone;           /* v2: only this process is in `unified`; it has to step aside into a
				 leaf before limits can be set there (no inner processes) */
	bool may_ask;         /* the group is systemd's to give: its manager could be asked */
	bool is_crowded;      /* v2: it could be used if no other process were in it */
	bool proc_is_covered; /* met on the way: something is mounted below /proc */
	const char *why_not;  /* for NONE: one clause, "the session's group is not delegated" */
};

/* Reads /proc/self/cgroup and, only if that names something usable, /proc/self/mountinfo. */
void cgroup_probe(struct arena *arena, struct cgroup_host *ret_host);
/* v1 in its usual place is found without the latter; then proc_is_covered is not known. */
void cgroup_probe_quickly(struct arena *arena, struct cgroup_host *ret_host);

/* cgroup_ask.c: the socket of the caller's systemd manager, or NULL; one access(2). */
const char *cgroup_manager(struct arena *arena, bool root);
/* Asks that manager, by the program `helper` (NULL: it is not installed), for a group of this
 * process's own. What the host offers then, or why_not with what came of it; waits 2.5 s at most.
 */
void cgroup_ask(struct arena *arena, const char *helper, const char *manager,
		struct cgroup_host *host);

struct cgroup_limits {
	uint64_t memory_bytes, processes, cpus_milli; /* 0: no limit; least CPU: 1 (0.001) */
};

struct cgroup {
	enum cgroup_version version;
	const char *paths[4]; /* folders made: v2 one, v1 one a controller */
	size_t path_count;
	int dir_fd; /* v2: for CLONE_INTO_CGROUP; else -1 */
	/* Kept open for reading; -1 when absent. On v2 epoll reports EPOLLPRI on
	 * events_fd when the group runs out of memory. */
	int memory_fd, cpu_fd, pids_fd, events_fd;
	int peak_fd, refused_fd;
};

/* Makes the group named sbox-ID and sets limits (swap 0, oom group on v2).
 * On failure everything made is removed again. v1: a folder for each limit
 * and one for CPU accounting. A limit whose controller is not there is an error. */
int cgroup_make(struct arena *arena, const struct cgroup_host *host,
		const struct cgroup_limits *limits, const char *id, struct cgroup *ret_cgroup,
		struct error *err);
/* v1: moves a process in; takes 11-15 ms when it comes alone. */
int cgroup_attach(const struct cgroup *cgroup, pid_t pid, struct error *err);

struct cgroup_usage {
	uint64_t memory_bytes, peak_memory_bytes, cpu_ns, tasks,
		oom_kills;          /* UINT64_MAX: not known */
	uint64_t processes_refused; /* pids.events max */
};
void cgroup_read(const struct cgroup *cgroup, struct cgroup_usage *ret_usage);
/* Kills what is left, removes the folders; waits at most `wait_ms`. 0 when all is
 * gone. The descriptors are closed in any case; paths stay for the record. */
int cgroup_remove(struct cgroup *cgroup, unsigned wait_ms);
/* For a folder that a dead run left: same, by path; only one named sbox-… (EINVAL). */
int cgroup_remove_path(const char *path);

#endif
