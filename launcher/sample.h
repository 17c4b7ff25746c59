// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_SAMPLE_H
#define SBOX_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * The whole tree's memory, CPU time, tasks and I/O by reading the sandbox's
 * own /proc (its pid namespace: every process in it belongs to the run). Used
 * where no cgroup counts, and for what cgroups do not tell.
 */
struct sample {
	uint64_t rss_bytes;     /* sum of statm resident: shared pages counted more than once */
	uint64_t private_bytes; /* sum of resident - shared (file and shmem) */
	uint64_t cpu_ns;        /* see below; never goes back */
	uint64_t processes, tasks;
	uint64_t read_bytes, written_bytes; /* UINT64_MAX after a walk: ask sampler_io */
};

/*
 * CPU time is the larger of two sums, neither of which can be too high:
 *   own      time of live processes, and what was last seen of those that are gone.
 *            Misses what ran between the last look and the end, so all of a process
 *            that lived between two looks.
 *   waited   time of live processes with that of the children they waited for. Misses
 *            processes that nobody waits for (SIGCHLD ignored), and what a parent that is
 *            gone without being waited for had gathered.
 * Init's own time is sbox's, not the program's; what it reaped is the program's. The
 * kernel counts in ticks of 10 ms, cut off for every live process.
 */
enum { SAMPLER_PIDS = 4096 }; /* processes beyond these count while they live */

struct sampler {
	int proc_fd;  /* the sandbox's /proc; stays the caller's */
	pid_t init;   /* sbox's own process in it, 1 with a pid namespace */
	bool descend; /* only what descends from it is the run's: the host's own /proc */
	int list_fd;  /* our own, for listing it */
	struct sampler_pid {
		pid_t pid;
		int stat_fd, statm_fd;           /* kept open, or -1 */
		uint64_t start_ticks, cpu_ticks; /* last seen own time of a live process */
	} * pids, *next;                         /* in order of pid; the walk fills the other */
	size_t pid_count;
	int fd_budget;       /* how many more may be kept open: a kept one costs a third */
	uint64_t gone_ticks; /* own time of processes that are gone */
	uint64_t cpu_ns;
	uint64_t page_bytes, tick_ns;
};

/* -1 with errno. keeper: 0, or the process whose descendants are meant. */
int sampler_init(struct sampler *sampler, int proc_fd, pid_t keeper);
/* One walk. Cheap: statm and stat of each process, nothing else. */
void sampler_walk(struct sampler *sampler, struct sample *ret_sample);
/* Proportional set size of the tree (smaps_rollup): dear, exact; asked before a
 * kill for memory. UINT64_MAX when it cannot be read. */
uint64_t sampler_pss(const struct sampler *sampler);
/* Sum of /proc/PID/io, bytes that went to or came from storage, with those of children
 * that were waited for; dear enough to be asked seldom. UINT64_MAX: none can be read. */
void sampler_io(const struct sampler *sampler, uint64_t *ret_read, uint64_t *ret_written);
void sampler_free(struct sampler *sampler);

#endif
