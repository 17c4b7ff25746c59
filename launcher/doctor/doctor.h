// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_DOCTOR_H
#define SBOX_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arena.h"
#include "host.h"
#include "options.h"
#include "profile.h"

/*
 * What this machine gives for each boundary. Facts come from the launcher's own
 * probe (host.c) and table of obstacles, verdicts from its planner, and above
 * both stands a run of the launcher itself, looked at from inside.
 */

enum form { FORM_FULL, FORM_WEAKER, FORM_NONE, FORM_MAX };
extern const char *const form_names[FORM_MAX]; /* "full", "weaker", "none" */

enum finding_state {
	FINDING_GOOD,
	FINDING_NOTE,    /* nothing is lost; worth knowing */
	FINDING_WEAKER,  /* a weaker form of something */
	FINDING_MISSING, /* not at all */
	FINDING_STATE_MAX
};
extern const char *const finding_state_names[FINDING_STATE_MAX];

struct finding {
	enum finding_state state;
	const char *found;   /* what was seen: "Landlock ABI 7" */
	const char *lost;    /* what goes with it, or NULL */
	const char *way_out; /* the setting or command that changes it, or NULL */
};

enum { PARTS_MAX = 16 };

/* One run of the launcher. */
struct trial {
	bool tried, ran;     /* ran: the program was executed and everything it tried was refused */
	const char *how;     /* "sbox --strict --profile agent" */
	const char *message; /* why not, or what was not refused */
	const char *weaker;  /* items that are not enforced, with their reasons; NULL: none */
	size_t refused;      /* things tried inside that were refused */
};

struct verdict {
	const char *name, *path;
	enum form form;
	const char *reason; /* for weaker and none */
};

/* A step of the sequence with which every start begins, tried in a child. */
enum stage { STAGE_CLONE, STAGE_ID_MAPS, STAGE_MOUNT, STAGE_PROC, STAGE_INNER, STAGE_DONE };

struct doctor {
	struct arena *arena;
	const char *root; /* where /proc and /sys are read: "" but for tests */
	const char *launcher, *self;
	struct options options;
	struct profile_context context;
	struct host host;
	enum stage stage; /* the first that failed, with its errno */
	int stage_errnum;
	struct finding *findings; /* in the order of checks */
	struct trial trial, discard;
	int signals; /* a signalfd of those that end the doctor; the trial's folder goes first */
	bool stopped;
	struct verdict *verdicts;
	size_t verdict_count;
	enum form form; /* of the default profile */
};

struct check {
	const char *name;     /* "user-namespaces" */
	const char *boundary; /* "file" …; "start": all of them; "record" */
	const char *help;     /* what it is for, in a line */
	void (*look)(struct doctor *doctor, struct finding *ret_finding);
};
extern const struct check checks[];
size_t check_count(void);
/* Runs all of them. */
void checks_run(struct doctor *doctor);

/* doctor_namespaces.c */
void namespaces_try(bool root, enum stage *ret_stage, int *ret_errnum);
void check_user_namespaces(struct doctor *doctor, struct finding *finding);
void check_namespaces(struct doctor *doctor, struct finding *finding);
void check_mounts(struct doctor *doctor, struct finding *finding);
void check_proc(struct doctor *doctor, struct finding *finding);
/* doctor_file.c */
/* Why there is none: errnum is that of landlock_create_ruleset(2). */
void no_landlock(struct doctor *doctor, int errnum, struct finding *ret_finding);
void check_landlock(struct doctor *doctor, struct finding *finding);
void check_workspace(struct doctor *doctor, struct finding *finding);
void check_idmap(struct doctor *doctor, struct finding *finding);
void check_discard(struct doctor *doctor, struct finding *finding);
void check_store(struct doctor *doctor, struct finding *finding);
/* doctor_process.c */
void check_cgroup(struct doctor *doctor, struct finding *finding);
void check_open_files(struct doctor *doctor, struct finding *finding);
void check_seccomp(struct doctor *doctor, struct finding *finding);
void check_listener(struct doctor *doctor, struct finding *finding);
void check_no_new_privs(struct doctor *doctor, struct finding *finding);
void check_yama(struct doctor *doctor, struct finding *finding);
void check_labels(struct doctor *doctor, struct finding *finding);

/* doctor_trial.c: the launcher, started for real; then nothing is left of it. */
void trial_run(struct doctor *doctor, struct error *err);
/* doctor_inside.c: what the trial's program does. Prints "NAME refused" or "NAME open". */
int inside_main(const char *hidden, const char *pid);

/* doctor_verdict.c: `names` NULL: every profile in the profile folders. */
void verdicts_make(struct doctor *doctor, char *const *names, size_t count);

/* doctor_print.c */
void doctor_print_text(const struct doctor *doctor);
char *doctor_print_json(const struct doctor *doctor);

#endif
