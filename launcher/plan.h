// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_PLAN_H
#define SBOX_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host.h"
#include "plan_item.h"
#include "profile.h"

/*
 * What will be done about a profile on a host. Made by plan_make(), a pure
 * function: no system call, no allocation outside the arena; never changed
 * afterwards. `show`, the record and the judgement all read the items.
 */

enum { PLAN_ITEMS_MAX = 64 };

enum memory_form {
	MEMORY_UNLIMITED,
	MEMORY_CGROUP,  /* the kernel counts and kills */
	MEMORY_SAMPLED, /* the supervisor looks, at a pace set by what is left */
};

struct plan {
	struct arena *arena;
	struct plan_item items[PLAN_ITEMS_MAX];
	size_t item_count;
	const char *impossible; /* no form of the sandbox can be built here: why, and the way out */

	/* The form, decided first, by form_decide(). */
	bool tree;         /* a mount tree of its own; else Landlock on the host's tree, in place */
	bool inner_user;   /* the second user namespace */
	bool keeper;       /* no pid namespace: a subreaper ends what it leaves */
	bool own_uid;      /* nobody else on the host has the program's uid */
	bool plain_writes; /* root: write paths belong to the program's user, no idmap */
	bool use_cache;
	uint64_t namespaces;  /* CLONE_NEW* flags of init */
	const char *proc_why; /* without a pid namespace: why the host's /proc is shown, or NULL */
	const char *form_why; /* why not all of them: one clause with the way out, or NULL */

	bool use_cgroup;   /* make one and put init into it */
	bool attach_first; /* cgroup v1: the program waits until init has been moved */
	enum memory_form memory;
	bool late_network;    /* the gate is started at the program's first socket */
	bool refuse_unix;     /* no UNIX sockets but pairs: the host's would be in reach */
	bool limit_processes; /* RLIMIT_NPROC */
	bool count_processes; /* by looking: more than the limit end the run */
	bool count_cpu_by_cgroup;
	uint64_t landlock_fs, landlock_scopes; /* rights handled; 0: no Landlock */
};

/* plan_form.c: namespaces, tree, keeper; what the boundaries start from. */
void form_decide(const struct profile *profile, const struct host *host, struct plan *plan);

void plan_make(struct arena *arena, const struct profile *profile, const struct host *host,
	       struct plan *ret_plan);

/* Adds an item; the boundaries' plan functions use it. Strings are kept as they are. */
struct plan_item *plan_add(struct plan *plan, enum boundary boundary, const char *name,
			   const char *asked);
void plan_enforced(struct plan_item *item, const char *mechanism, const char *residual);
void plan_reduced(struct plan_item *item, const char *mechanism, const char *reason);
void plan_missing(struct plan_item *item, const char *reason);

/*
 * Whether the run may start: each reduced or missing item against its
 * section's on_missing (strict: refuse all). 0, or -1 with ERROR_MISSING naming the
 * first such item, the reason and the way out. `ret_accepted`, when not NULL,
 * gets one line naming what was accepted, or NULL.
 */
int plan_judge(const struct plan *plan, const struct profile *profile, bool strict,
	       const char **ret_accepted, struct error *err);

/* The items, one a line, for people and golden files. */
char *plan_print(struct arena *arena, const struct plan *plan);

/* "2G", "10m", "1.5": as the profile would write it; "none" for 0. */
const char *plan_size(struct arena *arena, uint64_t bytes);
const char *plan_duration(struct arena *arena, uint64_t ms);

#endif
