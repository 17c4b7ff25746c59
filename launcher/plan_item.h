// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_PLAN_ITEM_H
#define SBOX_PLAN_ITEM_H

/* One thing a profile asked for and what becomes of it: plain data, shown, recorded and judged. */

enum boundary {
	BOUNDARY_FILE,
	BOUNDARY_NETWORK,
	BOUNDARY_PROCESS,
	BOUNDARY_PRIVILEGE,
	BOUNDARY_TIME,
	BOUNDARY_MAX
};

enum item_state {
	ITEM_ENFORCED, /* by the mechanism named */
	ITEM_REDUCED,  /* in a weaker form; reason says which and what it loses */
	ITEM_MISSING,  /* not at all; reason says why and the way out */
	ITEM_OFF,      /* not asked for */
	ITEM_STATE_MAX
};

extern const char *const boundary_names[BOUNDARY_MAX];     /* "file", ... */
extern const char *const item_state_names[ITEM_STATE_MAX]; /* "enforced", ... */

struct plan_item {
	enum boundary boundary;
	const char *name;  /* "tree", "memory", "syscalls": unique within its boundary */
	const char *asked; /* the value asked for, as text: "2G" */
	enum item_state state;
	const char
		*mechanism;   /* "mount namespace, landlock": never NULL when enforced or reduced */
	const char *reason;   /* for reduced and missing; else NULL */
	const char *residual; /* what no launcher can close, or NULL */
};

#endif
