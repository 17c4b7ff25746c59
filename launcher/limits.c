// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/vfs.h>
#include <time.h>

#include "run.h"
#include "sys.h"

/*
 * One look at the whole tree: memory where it is sampled, CPU time, growth,
 * peaks. The next look comes when the nearest limit could be reached at full
 * speed, at the earliest after MIN_NS, at the latest after MAX_NS.
 */

enum {
	MIN_NS = 1000000,
	FIRST_NS = 10000000,
	MAX_NS = 100000000,
	BYTES_PER_NS = 8, /* a core that touches fresh pages: 8 GB/s */
	DISK_BYTES_PER_NS = 4,
	WALK_ENTRIES = 2000, /* files looked at between two turns of the loop */
};

uint64_t clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

uint64_t own_cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static uint64_t scratch_bytes(struct run *run)
{
	struct statfs fs;

	if (run->sandbox_root_fd < 0 || fstatfs(run->sandbox_root_fd, &fs) != 0)
		return 0;
	run->scratch_full |= fs.f_bfree == 0 || fs.f_ffree == 0;
	return (uint64_t)(fs.f_blocks - fs.f_bfree) * (uint64_t)fs.f_bsize;
}

static uint64_t at_pace(const struct run *run, uint64_t left, uint64_t per_ns)
{
	return left / (per_ns * (uint64_t)run->host.processors);
}

static void raise_peak(struct run *run, uint64_t bytes)
{
	if (run->end.usage.peak_memory_bytes == UNKNOWN || run->end.usage.peak_memory_bytes < bytes)
		run->end.usage.peak_memory_bytes = bytes;
}

/*
 * The sum of resident sizes counts shared pages more than once: it can only be
 * too high, so it decides when to look closer, and the proportional sizes
 * decide.
 */
static uint64_t look_at_memory(struct run *run, const struct sample *sample)
{
	uint64_t limit = run->profile.process.memory_bytes;
	uint64_t scratch = scratch_bytes(run);
	uint64_t upper = sample->rss_bytes + scratch;

	raise_peak(run, sample->private_bytes + scratch);
	if (run->plan.memory != MEMORY_SAMPLED)
		return MAX_NS;
	if (upper <= limit)
		return at_pace(run, limit - upper, BYTES_PER_NS);
	uint64_t exact = sampler_pss(&run->sampler);
	if (exact == UINT64_MAX)
		exact = sample->private_bytes;
	exact += scratch;
	raise_peak(run, exact);
	if (exact > limit)
		outcome_kill(run, END_MEMORY, "process.memory");
	return exact > limit ? MAX_NS : at_pace(run, limit - exact, BYTES_PER_NS);
}

static void note_refused(struct run *run, const struct cgroup_usage *usage)
{
	run->tasks_refused |= usage->processes_refused != UNKNOWN && usage->processes_refused > 0;
}

static uint64_t look_at_cgroup(struct run *run, uint64_t *ret_cpu_ns)
{
	struct cgroup_usage usage;

	cgroup_read(&run->cgroup, &usage);
	if (usage.cpu_ns != UNKNOWN && run->plan.count_cpu_by_cgroup)
		*ret_cpu_ns = usage.cpu_ns;
	if (usage.peak_memory_bytes != UNKNOWN)
		raise_peak(run, usage.peak_memory_bytes);
	if (usage.oom_kills != UNKNOWN && usage.oom_kills > 0)
		outcome_kill(run, END_MEMORY, "process.memory");
	note_refused(run, &usage);
	return MAX_NS;
}

static uint64_t look_at_cpu(struct run *run, uint64_t cpu_ns)
{
	uint64_t limit = run->profile.time.cpu_ms * 1000000;
	/* sbox's own work for the program is the program's: refused calls, output */
	uint64_t used = cpu_ns + own_cpu_ns() - run->cpu_before_ns - run->spared_cpu_ns;

	if (limit == 0)
		return MAX_NS;
	if (used >= limit)
		outcome_end(run, END_CPU, 0, "time.cpu");
	return used >= limit ? MAX_NS : (limit - used) / (uint64_t)run->host.processors;
}

static uint64_t look_at_growth(struct run *run, struct watch_growth *watch)
{
	uint64_t bytes, files, left = 0;
	struct growth_found found;

	if (watch->key == NULL)
		return MAX_NS;
	if (!watch->confirming && !growth_suspect(&watch->growth, &bytes, &files, &left))
		return at_pace(run, left, DISK_BYTES_PER_NS);
	watch->growth.keeper = run->plan.keeper ? run->init_pid : 0;
	enum growth_verdict verdict = growth_confirm(
		&watch->growth, run->sampling ? run->sampler.proc_fd : -1, WALK_ENTRIES, &found);
	watch->confirming = verdict == GROWTH_MORE;
	if (verdict == GROWTH_YES) {
		run->growth_key = watch->key;
		run->growth_limit = watch->limit;
		outcome_kill(run, END_DISK, watch->key);
	}
	return MIN_NS;
}

static uint64_t nearest(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t look(struct run *run)
{
	struct sample sample = {0};
	uint64_t next = MAX_NS;

	if (run->sampling)
		sampler_walk(&run->sampler, &sample);
	if (sample.tasks > 0 &&
	    (run->end.usage.peak_tasks == UNKNOWN || run->end.usage.peak_tasks < sample.tasks - 1))
		run->end.usage.peak_tasks = sample.tasks - 1; /* pid 1 is sbox's */
	if (run->plan.count_processes && sample.tasks > run->profile.process.processes)
		outcome_kill(run, END_PROCESSES, "process.processes");
	if (sample.tasks * 2 > run->profile.process.processes &&
	    run->profile.process.processes != 0)
		next = MIN_NS * 4; /* a limit that may soon be reached is to be seen reached */
	next = nearest(next, look_at_memory(run, &sample));
	if (run->has_cgroup)
		next = nearest(next, look_at_cgroup(run, &sample.cpu_ns));
	if (run->seen_cpu_ns < sample.cpu_ns)
		run->seen_cpu_ns = sample.cpu_ns;
	next = nearest(next, look_at_cpu(run, sample.cpu_ns));
	next = nearest(next, look_at_growth(run, &run->growth[0]));
	next = nearest(next, look_at_growth(run, &run->growth[1]));
	return next < MIN_NS ? MIN_NS : next;
}

/* Nothing is used yet: as soon as the memory could all be touched, and soon enough for peaks. */
uint64_t limits_first_look(const struct run *run)
{
	uint64_t limit = run->profile.process.memory_bytes;
	uint64_t first =
		limit != 0 ? nearest(FIRST_NS, at_pace(run, limit, BYTES_PER_NS)) : FIRST_NS;

	return first < MIN_NS ? MIN_NS : first;
}

uint64_t limits_look(struct run *run)
{
	uint64_t before = own_cpu_ns(), next = look(run);

	run->spared_cpu_ns += own_cpu_ns() - before;
	return next;
}

/* While the file system is there: what filled it seldom takes the file away again. */
void limits_look_at_scratch(struct run *run)
{
	(void)scratch_bytes(run);
}

void limits_kill(struct run *run)
{
	struct sample sample = {0};

	if (run->sampling)
		sampler_walk(&run->sampler, &sample);
	if (run->seen_cpu_ns < sample.cpu_ns)
		run->seen_cpu_ns = sample.cpu_ns;
	run->killed = true;
	place_kill(run);
}

/* What only the end can tell: the kernel's own kill for memory, CPU of the whole tree. */
void limits_finish(struct run *run)
{
	struct record_usage *usage = &run->end.usage;

	if (run->ready && run->fault.errnum == 0 &&
	    (usage->peak_tasks == UNKNOWN || usage->peak_tasks == 0))
		usage->peak_tasks = 1;
	/* of a tree that was killed the last look knows more than the kernel told */
	if (usage->user_ns + usage->sys_ns < run->seen_cpu_ns)
		usage->user_ns = run->seen_cpu_ns - usage->sys_ns;
	usage->sbox_cpu_ns = own_cpu_ns() - run->cpu_before_ns - run->spared_cpu_ns;
	usage->memory_source = run->has_cgroup ? "cgroup" : "sampling";
	if (!run->has_cgroup)
		return;
	struct cgroup_usage read;

	cgroup_read(&run->cgroup, &read);
	if (read.peak_memory_bytes != UNKNOWN)
		usage->peak_memory_bytes = read.peak_memory_bytes;
	note_refused(run, &read);
	if (read.oom_kills != UNKNOWN && read.oom_kills > 0)
		outcome_end(run, END_MEMORY, 0, "process.memory");
}
