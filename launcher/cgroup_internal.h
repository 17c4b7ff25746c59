// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_CGROUP_INTERNAL_H
#define SBOX_CGROUP_INTERNAL_H

#include "cgroup.h"

/* What cgroup*.c share, and what tests feed with files and folders of their own. */

/* v2: where this process steps aside to. Not named like a run's group: it must
 * never be taken for what a dead run left. */
#define CGROUP_LEAF "self.sbox"

/* cgroup_probe.c */
void cgroup_probe_files(struct arena *arena, const char *own_file, const char *mounts_file,
			const char *top, struct cgroup_host *ret_host);

/* cgroup_file.c: one control file of a group */
int cgroup_write(const char *group, const char *file, const char *text);
int cgroup_write_number(const char *group, const char *file, uint64_t number);
int cgroup_open(const char *group, const char *file); /* for reading; -1 */
/* The text, cut at size; false when it cannot be read. */
bool cgroup_read_text(const char *group, const char *file, char *buf, size_t size);
/* Is `word` one of the blank-separated words of text? */
bool cgroup_has_word(const char *text, const char *word);
/* From an open control file: its number, or that of the line "key N". UINT64_MAX: none. */
uint64_t cgroup_number(int fd);
uint64_t cgroup_keyed(int fd, const char *key);

/* The kernel takes periods of 1 ms to 1 s and quotas from 1 ms. */
struct cgroup_quota {
	uint64_t quota_us, period_us;
};
struct cgroup_quota cgroup_quota(uint64_t cpus_milli);

enum { CGROUP_PIDS_MAX = 4194304 }; /* pids.max takes no more than PID_MAX_LIMIT */

/* cgroup_v1.c, cgroup_v2.c: make appends to cgroup->paths as it goes; limit and
 * open work on a folder that is there. */
int cgroup_v1_make(struct arena *arena, const struct cgroup_host *host,
		   const struct cgroup_limits *limits, const char *id, struct cgroup *cgroup,
		   struct error *err);
void cgroup_v1_read(const struct cgroup *cgroup, struct cgroup_usage *usage);
int cgroup_v2_make(struct arena *arena, const struct cgroup_host *host,
		   const struct cgroup_limits *limits, const char *id, struct cgroup *cgroup,
		   struct error *err);
int cgroup_v2_enable(const struct cgroup_host *host, const struct cgroup_limits *limits,
		     struct error *err);
int cgroup_v2_limit(const char *group, const struct cgroup_limits *limits, struct error *err);
void cgroup_v2_open(const char *group, struct cgroup *cgroup);
void cgroup_v2_read(const struct cgroup *cgroup, struct cgroup_usage *usage);

/* cgroup_remove.c */
int cgroup_remove_tree(const char *path, unsigned wait_ms);

#endif
