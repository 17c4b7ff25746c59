// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_BOUNDARY_H
#define SBOX_BOUNDARY_H

#include <sched.h>

#include "arena.h"
#include "error.h"
#include "file_entries.h"
#include "host.h"
#include "plan.h"
#include "profile.h"
#include "step.h"

/*
 * The five boundaries, each one file pair with the same two functions.
 *
 *   plan   pure: appends items and decides
 *   arm    parent, before clone: opens, compiles, appends steps
 */

/* Who the program is. Inside it is always uid and gid 1000, "sandbox". */
struct identity {
	uid_t inner_uid;
	gid_t inner_gid;
	uid_t outer_uid; /* on the host: the caller, or the uid leased for the run */
	gid_t outer_gid;
	uid_t build_uid; /* the program's uid as init sees it while it builds the tree */
	gid_t build_gid;
	bool leased;
};

enum { INNER_UID = 1000, INNER_GID = 1000 };
#define INNER_USER "sandbox"
#define INNER_HOME "/home/sandbox"

struct filter_policy;
struct network_rules;

/* What arm() works with and fills. */
struct arm {
	struct arena *arena;
	const struct profile *profile;
	const struct host *host;
	const struct plan *plan;
	struct identity identity;
	struct steps steps;
	const struct file_entries *entries; /* the profile's paths, for the file boundary */
	const char *inside_cwd;             /* set by the caller: where the program starts */
	char *const *argv, *const *envp;
	uint64_t file_bytes; /* the caller's own limit of file size */
	const char *program; /* absolute, as seen inside */
	const char *scratch; /* without a tree: the run's own folder on the host */
	const struct terminal_setup *terminal; /* the program gets one; NULL: pipes only */
	bool foreground;                       /* and has it from the beginning */
	bool have_listener;                    /* notifications are wanted */
	const struct filter_policy *policy;    /* of the seccomp filter, once armed */
	/* [network] mode = allow; else NULL */
	const struct network_rules *network_rules;
	const struct network_setup *network_setup;
	uint64_t exec_mark; /* see filter.h; 0: none */
	bool watched;       /* --watch-fd: the supervisor is asked about every path */
	struct {
		uid_t uid;
		gid_t gid;
		int fd;
	} idmaps[IDMAPS_MAX];
	size_t idmap_count;
	unsigned overlays; /* throw-away layers so far */
};

void file_plan(const struct profile *profile, const struct host *host, struct plan *plan);
int file_arm(struct arm *arm, struct error *err);
/* The user namespaces that arming numbered, as descriptors. They take a process each, so they are
 * made while init is busy with all else. */
int idmaps_open(struct arm *arm, struct error *err);
void idmaps_close(struct arm *arm);
void network_plan(const struct profile *profile, const struct host *host, struct plan *plan);
int network_arm(struct arm *arm, struct error *err);
void process_plan(const struct profile *profile, const struct host *host, struct plan *plan);
int process_arm(struct arm *arm, struct error *err);
void privilege_plan(const struct profile *profile, const struct host *host, struct plan *plan);
int privilege_arm(struct arm *arm, struct error *err);
void time_plan(const struct profile *profile, const struct host *host, struct plan *plan);
int time_arm(struct arm *arm, struct error *err);

/* All five, then the steps that belong to none, sorted. */
int arm_all(struct arm *arm, struct error *err);

/* Namespaces that the new process is born into; it makes the others itself. */
enum { BIRTH_NAMESPACES = CLONE_NEWUSER | CLONE_NEWPID };
void arm_maps(struct arena *arena, struct steps *steps, uid_t uid, gid_t gid);
/* A root that is attached to nothing yet, with devices (in the first slots), terminals and /proc.
 */
void file_arm_skeleton(struct steps *steps, bool own_proc);
/* What nearly every run begins with, so that it can begin before the profile is read. */
void arm_guess(struct arena *arena, struct steps *steps, uint64_t *ret_namespaces);

#endif
