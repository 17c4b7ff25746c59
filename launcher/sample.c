// SPDX-License-Identifier: Apache-2.0
#include "sample.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "descendants.h"

enum { KEPT_FDS = 128 };

struct process {
	uint64_t own_ticks, waited_ticks, threads, start_ticks;
	uint64_t resident_pages, shared_pages;
};

int sampler_init(struct sampler *sampler, int proc_fd, pid_t keeper)
{
	memset(sampler, 0, sizeof(*sampler));
	sampler->proc_fd = proc_fd;
	sampler->init = keeper != 0 ? keeper : 1;
	sampler->descend = keeper != 0;
	sampler->page_bytes = sysconf(_SC_PAGESIZE);
	sampler->tick_ns = 1000000000 / sysconf(_SC_CLK_TCK);
	sampler->list_fd = openat(proc_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (sampler->list_fd < 0)
		return -1;
	sampler->pids = calloc(2 * SAMPLER_PIDS, sizeof(*sampler->pids));
	if (sampler->pids == NULL) {
		sampler_free(sampler);
		errno = ENOMEM;
		return -1;
	}
	sampler->next = sampler->pids + SAMPLER_PIDS;
	sampler->fd_budget = KEPT_FDS;
	return 0;
}

static void close_kept(struct sampler *sampler, int *fd)
{
	if (*fd < 0)
		return;
	close(*fd);
	*fd = -1;
	sampler->fd_budget++;
}

void sampler_free(struct sampler *sampler)
{
	for (size_t i = 0; sampler->pids != NULL && i < sampler->pid_count; i++) {
		close_kept(sampler, &sampler->pids[i].stat_fd);
		close_kept(sampler, &sampler->pids[i].statm_fd);
	}
	struct sampler_pid *block = sampler->pids < sampler->next ? sampler->pids : sampler->next;

	/* before the second half is known there is only the first */
	free(sampler->next == NULL ? sampler->pids : block);
	if (sampler->list_fd >= 0)
		close(sampler->list_fd);
	memset(sampler, 0, sizeof(*sampler));
	sampler->proc_fd = sampler->list_fd = -1;
}

static int open_file(const struct sampler *sampler, pid_t pid, const char *name)
{
	char path[40];

	snprintf(path, sizeof(path), "%d/%s", (int)pid, name);
	return openat(sampler->proc_fd, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
}

static ssize_t read_fd(int fd, char *buf, size_t size)
{
	ssize_t len = pread(fd, buf, size - 1, 0);

	buf[len > 0 ? len : 0] = '\0';
	return len;
}

static ssize_t read_once(const struct sampler *sampler, pid_t pid, const char *name, char *buf,
			 size_t size)
{
	int fd = open_file(sampler, pid, name);

	if (fd < 0)
		return -1;
	ssize_t len = read_fd(fd, buf, size);
	int saved = errno;
	close(fd);
	errno = saved;
	return len;
}

/* A descriptor that stays open goes on meaning the same process when its number is
 * used again, and says ESRCH when it is gone. */
static ssize_t read_kept(struct sampler *sampler, pid_t pid, const char *name, int *kept, char *buf,
			 size_t size)
{
	if (*kept < 0 && sampler->fd_budget == 0)
		return read_once(sampler, pid, name, buf, size);
	if (*kept < 0) {
		*kept = open_file(sampler, pid, name);
		if (*kept < 0)
			return -1;
		sampler->fd_budget--;
	}
	return read_fd(*kept, buf, size);
}

/* stat(5) fields by their number there; the name, field 2, may hold blanks and ")". */
static bool parse_stat(const char *text, struct process *ret)
{
	const char *at = strrchr(text, ')');
	uint64_t fields[23] = {0};
	int field = 3;

	if (at == NULL || at[1] != ' ' || at[2] == '\0')
		return false;
	for (at += 3; *at == ' ' && field < 22;) {
		char *end;

		fields[++field] = strtoull(at + 1, &end, 10);
		if (end == at + 1)
			return false;
		at = end;
	}
	ret->own_ticks = fields[14] + fields[15];
	ret->waited_ticks = fields[16] + fields[17];
	ret->threads = fields[20];
	ret->start_ticks = fields[22];
	return field == 22;
}

static bool read_stat(struct sampler *sampler, struct sampler_pid *entry, struct process *ret)
{
	char text[1024];

	errno = 0;
	return read_kept(sampler, entry->pid, "stat", &entry->stat_fd, text, sizeof(text)) > 0 &&
	       parse_stat(text, ret);
}

static void read_statm(struct sampler *sampler, struct sampler_pid *entry, struct process *ret)
{
	char text[128], *at = text;

	ret->resident_pages = ret->shared_pages = 0;
	if (read_kept(sampler, entry->pid, "statm", &entry->statm_fd, text, sizeof(text)) <= 0)
		return;
	strtoull(at, &at, 10);
	ret->resident_pages = strtoull(at, &at, 10);
	ret->shared_pages = strtoull(at, &at, 10);
	if (ret->shared_pages > ret->resident_pages) /* two counters, read one after the other */
		ret->shared_pages = ret->resident_pages;
}

/* Runs `each` on every process, in order of pid. getdents64 without libc: readdir
 * would allocate, and this runs every few milliseconds. */
static void each_process(const struct sampler *sampler, void (*each)(void *arg, pid_t pid),
			 void *arg)
{
	if (sampler->descend) {
		descendants_each(sampler->proc_fd, sampler->init, each, arg);
		return;
	}
	_Alignas(struct dirent64) char buf[8192];
	ssize_t len;

	if (lseek(sampler->list_fd, 0, SEEK_SET) < 0)
		return;
	while ((len = getdents64(sampler->list_fd, buf, sizeof(buf))) > 0) {
		for (ssize_t at = 0; at < len;) {
			const struct dirent64 *entry = (const struct dirent64 *)(buf + at);

			at += entry->d_reclen;
			if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
				each(arg, strtol(entry->d_name, NULL, 10));
		}
	}
}

struct walk {
	struct sampler *sampler;
	struct sample *sample;
	size_t old, count; /* next entry of the last walk's table; entries in the new one */
	uint64_t own_ticks, waited_ticks;
	pid_t last;
};

static void let_go(struct sampler *sampler, struct sampler_pid *entry)
{
	close_kept(sampler, &entry->stat_fd);
	close_kept(sampler, &entry->statm_fd);
}

static void keep(struct walk *walk, struct sampler_pid *entry)
{
	if (walk->count < SAMPLER_PIDS)
		walk->sampler->next[walk->count++] = *entry;
	else
		let_go(walk->sampler, entry);
}

static void bury(struct walk *walk, struct sampler_pid *entry)
{
	walk->sampler->gone_ticks += entry->cpu_ticks;
	let_go(walk->sampler, entry);
}

/*
 * Looks at a process of the old table. One that cannot be looked at (no descriptor
 * left) is not gone: counted as gone and met again, its time would count twice and
 * end the run for nothing. False: it is gone, or another has its number.
 */
static bool still_there(struct walk *walk, struct sampler_pid *entry, struct process *ret,
			bool *ret_seen)
{
	*ret_seen = read_stat(walk->sampler, entry, ret);
	if (*ret_seen)
		return ret->start_ticks == entry->start_ticks;
	return errno != ENOENT && errno != ESRCH && errno != 0;
}

static void keep_unseen(struct walk *walk, struct sampler_pid *entry)
{
	walk->own_ticks += entry->cpu_ticks;
	keep(walk, entry);
}

/* Those of the old table below `pid`, which the listing did not name. */
static void settle_unmet(struct walk *walk, pid_t pid)
{
	struct sampler *sampler = walk->sampler;
	struct process process;
	bool seen;

	while (walk->old < sampler->pid_count && sampler->pids[walk->old].pid < pid) {
		struct sampler_pid *entry = &sampler->pids[walk->old++];

		if (still_there(walk, entry, &process, &seen))
			keep_unseen(walk, entry);
		else
			bury(walk, entry);
	}
}

static void add_live(struct walk *walk, struct sampler_pid *entry, struct process *process)
{
	struct sample *sample = walk->sample;
	uint64_t page = walk->sampler->page_bytes;

	read_statm(walk->sampler, entry, process);
	sample->rss_bytes += process->resident_pages * page;
	sample->private_bytes += (process->resident_pages - process->shared_pages) * page;
	sample->processes++;
	/* a dead process that nobody has waited for shows no thread and still counts as a task */
	sample->tasks += process->threads > 0 ? process->threads : 1;
	walk->own_ticks += process->own_ticks;
	walk->waited_ticks += process->own_ticks + process->waited_ticks;
	entry->start_ticks = process->start_ticks;
	entry->cpu_ticks = process->own_ticks;
	keep(walk, entry);
}

static void add_init(struct walk *walk)
{
	struct process process;
	char text[1024];

	if (read_once(walk->sampler, walk->sampler->init, "stat", text, sizeof(text)) > 0 &&
	    parse_stat(text, &process))
		walk->waited_ticks += process.waited_ticks;
}

/* Both the listing and the old table are in order of pid, so this is one merge. */
static void add(void *arg, pid_t pid)
{
	struct walk *walk = arg;
	struct sampler *sampler = walk->sampler;
	struct sampler_pid fresh = {.pid = pid, .stat_fd = -1, .statm_fd = -1};
	struct process process;
	bool seen;

	if (pid == sampler->init)
		add_init(walk);
	if (pid <= walk->last ||
	    pid == sampler->init) /* no /proc lists a number twice or backwards */
		return;
	walk->last = pid;
	settle_unmet(walk, pid);
	if (walk->old < sampler->pid_count && sampler->pids[walk->old].pid == pid) {
		struct sampler_pid *entry = &sampler->pids[walk->old++];

		if (still_there(walk, entry, &process, &seen)) {
			seen ? add_live(walk, entry, &process) : keep_unseen(walk, entry);
			return;
		}
		bury(walk, entry);
	}
	if (read_stat(sampler, &fresh, &process))
		add_live(walk, &fresh, &process);
	else
		let_go(sampler, &fresh);
}

void sampler_walk(struct sampler *sampler, struct sample *ret_sample)
{
	struct sample sample = {.read_bytes = UINT64_MAX, .written_bytes = UINT64_MAX};
	struct walk walk = {.sampler = sampler, .sample = &sample};

	each_process(sampler, add, &walk);
	settle_unmet(&walk, INT_MAX);
	struct sampler_pid *swap = sampler->pids;
	sampler->pids = sampler->next;
	sampler->next = swap;
	sampler->pid_count = walk.count;
	uint64_t ticks = walk.own_ticks + sampler->gone_ticks;
	if (ticks < walk.waited_ticks)
		ticks = walk.waited_ticks;
	if (sampler->cpu_ns < ticks * sampler->tick_ns)
		sampler->cpu_ns = ticks * sampler->tick_ns;
	sample.cpu_ns = sampler->cpu_ns;
	*ret_sample = sample;
}

/* The number behind "KEY:" at the start of a line; 0 when it is not there. */
static uint64_t keyed(const char *text, const char *key)
{
	size_t len = strlen(key);

	for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, key, len) == 0)
			return strtoull(line + len, NULL, 10);
	}
	return 0;
}

struct sums {
	const struct sampler *sampler;
	uint64_t first, second;
	bool any, missed;
};

static void add_pss(void *arg, pid_t pid)
{
	struct sums *sums = arg;
	char text[2048];

	if (pid == sums->sampler->init)
		return;
	if (read_once(sums->sampler, pid, "smaps_rollup", text, sizeof(text)) < 0)
		sums->missed |= errno != ENOENT && errno != ESRCH; /* gone, or a zombie */
	else
		sums->first += keyed(text, "Pss:") * 1024;
}

uint64_t sampler_pss(const struct sampler *sampler)
{
	struct sums sums = {.sampler = sampler};

	each_process(sampler, add_pss, &sums);
	return sums.missed ? UINT64_MAX : sums.first;
}

static void add_io(void *arg, pid_t pid)
{
	struct sums *sums = arg;
	char text[512];

	if (read_once(sums->sampler, pid, "io", text, sizeof(text)) <= 0)
		return;
	sums->any = true;
	sums->first += keyed(text, "read_bytes:");
	sums->second += keyed(text, "write_bytes:");
}

void sampler_io(const struct sampler *sampler, uint64_t *ret_read, uint64_t *ret_written)
{
	struct sums sums = {.sampler = sampler};

	each_process(sampler, add_io, &sums);
	*ret_read = sums.any ? sums.first : UINT64_MAX;
	*ret_written = sums.any ? sums.second : UINT64_MAX;
}
