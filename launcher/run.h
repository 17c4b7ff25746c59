// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_RUN_H
#define SBOX_RUN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "arena.h"
#include "boundary.h"
#include "cache.h"
#include "cgroup.h"
#include "error.h"
#include "gate.h"
#include "growth.h"
#include "host.h"
#include "judge.h"
#include "notify.h"
#include "options.h"
#include "plan.h"
#include "profile.h"
#include "record.h"
#include "relay.h"
#include "sample.h"
#include "store.h"
#include "terminal.h"
#include "watch.h"

/*
 * One run, from the profile to the record of its end. Filled step by step by
 * run_program(); everything it points to lives in its arena or is closed by
 * run_cleanup().
 */
struct run {
	struct arena *arena;
	const struct options *options;
	struct profile_context context;
	struct profile profile;
	struct host host;
	struct plan plan;
	const char *accepted; /* reductions, as one line */
	struct arm arm;

	char id[27];
	struct store store;
	bool store_is_open;
	int run_lock_fd, lease_fd;
	bool started_on_record; /* run.start is on disk */
	bool told_not_kept;     /* record_not_kept() has */
	struct run_start start;
	struct run_end end;
	const char **held; /* what was held back at the end, in words */
	size_t held_count;
	bool ended;  /* end.kind is decided; the first cause wins */
	bool killed; /* SIGKILL was sent to all that is in the sandbox */

	struct cgroup cgroup;
	bool has_cgroup;

	struct spawn *spawn; /* spawn.c: the process that becomes init; NULL: none yet */
	mode_t caller_umask;
	pid_t init_pid;
	int init_pidfd, control_fd, fault_fd, go_fd;
	bool ready, no_listener;
	bool spawn_refused; /* the kernel did not make the namespaces: nothing has begun */
	struct fault fault; /* errnum 0: none came */
	int wait_status;    /* of the program; -1: not known */
	bool alone;         /* when the program ended nothing else was left in the sandbox */

	struct gate gate;
	struct relay in, out, err;
	struct terminal terminal;
	struct timing timing;
	bool relaying; /* in, out and err are set up */
	bool stdin_is_script;
	struct store_hashing *hashing; /* of a large program, beside the run; NULL: none, or done */
	struct record_file hashed;     /* what becomes of it */
	struct notify notify;
	struct denials denials;
	struct judge judge;
	struct watch *watch; /* with --watch-fd, where paths can be asked about; else NULL */
	struct sampler sampler;
	bool sampling;
	uint64_t seen_cpu_ns;   /* the most that a look has seen */
	uint64_t spared_cpu_ns; /* sbox's own work that is not done for the program: looks, hash */
	int sandbox_root_fd;    /* the new root: its tmpfs is the scratch */
	bool scratch_full;      /* a look found no room */
	bool tasks_refused;     /* the cgroup has counted one that was */
	struct cache cache;
	struct watch_growth {
		struct growth growth;
		const char *key; /* whose limit it is; NULL: not watched */
		uint64_t limit;
		bool confirming;
	} growth[2]; /* of write paths, and of scratch where that is a folder on the host */
	const char *growth_key; /* the limit that was reached */
	uint64_t growth_limit;
	const char *scratch;    /* without a tree: that folder, once it is made */
	uint64_t start_ns;      /* monotonic, when the program was let go */
	uint64_t cpu_before_ns; /* supervisor's own, at that moment */
};

/* Runs options->argv; returns sbox's exit status. Never prints but to stderr, and to
 * stdout what --json asks for. */
int run_program(struct arena *arena, const struct options *options);

/*
 * spawn.c: the process that becomes init. Early: before the profile is read, with what
 * nearly every run begins with; when that cannot be had nothing happens. Init: the early
 * one when the plan begins as was guessed, else a new one; it gets its steps and goes on.
 */
void spawn_early(struct run *run);
/* Ends what spawn_early() made; spawn_init() then makes another. */
void spawn_forget(struct run *run);
int spawn_init(struct run *run, struct error *err);
/* -1: its namespaces, or the first steps in them, were refused: spawn_refused. */
int spawn_check(struct run *run, struct error *err);
/* Lets the program go (or, before that, past the handover and WAIT_ATTACH). */
void spawn_go(struct run *run);

/* supervise.c: until everything in the sandbox is dead and the streams are done. */
void supervise(struct run *run);

/* run_tell.c: one line on stderr, unless --quiet; and all that is said of a run that has ended. */
void run_say(const struct run *run, const char *text);
void run_tell(struct run *run);

/* outcome.c: what an end is called, and its one sentence. */
void outcome_end(struct run *run, enum end_kind kind, int code, const char *decided_by);
void outcome_kill(struct run *run, enum end_kind kind, const char *decided_by);
void outcome_exited(struct run *run);
void outcome_fault(struct run *run);
void outcome_describe(struct run *run);
/* 125, 126 and 127 of sbox's own, which a program's exit status can be as well. */
bool outcome_did_not_run(enum end_kind kind);
/* outcome_denials.c: what a failed run was refused, in at most a few lines; "" for nothing. */
const char *outcome_denials(const struct run *run);

/* limits.c: one look at the whole tree; nanoseconds until the next. */
uint64_t limits_look(struct run *run);
uint64_t limits_first_look(const struct run *run);
void limits_look_at_scratch(struct run *run);
void limits_finish(struct run *run);
/* Kills everything in the sandbox, after a last look at what it used: what dies with
 * pid 1 is reaped by the kernel without being counted (zap_pid_ns_processes()). */
void limits_kill(struct run *run);

/*
 * place.c: what a run has on the host, and what one without a tree, or without a pid
 * namespace, leaves to the supervisor.
 * place_scratch: its own folder on the host, noted for the next start. place_watch: once
 * init is there. place_kill: all that is in the sandbox, in either form.
 */
int place_scratch(struct run *run, struct error *err);
void place_remove(const char *path);
int place_watch(struct run *run, struct error *err);
void place_first_pid(struct run *run);
/* One line of what a killed run left behind. */
void place_undo(const char *line, void *unused);
void place_kill(struct run *run);

/* record_build.c */
void record_build_start(struct run *run);
void record_build_end(struct run *run);
/* On stderr, once a run, --quiet or not: what should be beside the record is not. */
void record_not_kept(struct run *run, const char *what, const struct error *err);

/* script.c: the program and what it is told to run, with hashes and kept text. */
void script_collect(struct run *run, const char *host_program);
/* A piece of run->hashing; false: all of the file is read. */
bool script_hash_more(struct run *run);
/* What only the end knows: that hash, and stdin when it was the program text. */
void script_finish(struct run *run);
bool script_comes_on_stdin(char *const *argv, const char *host_program);

/* program.c: finds argv[0] as the program will be able to execute it. The errors are
 * ERROR_NOT_FOUND and ERROR_NOT_EXECUTABLE, with the line that would show it. */
int program_find(struct run *run, const char **ret_host_path, struct error *err);
/* program_hint.c: the error for a program that exists and is not visible. Returns -1. */
int program_not_visible(struct run *run, const char *name, const char *path, struct error *err);

/* hold.c: at the end, when nothing lives in the sandbox. */
void hold_back(struct run *run);

/* run_growth.c */
int run_watch_growth(struct run *run, struct error *err);

/* run_policy.c: from [audit] to run->store, which is open. */
void run_set_store_policy(struct run *run);
/* Where a limit wants a cgroup, the caller's is not delegated and a systemd manager is there. */
void run_ask_for_cgroup(struct arena *arena, const struct profile *profile, struct host *host);
/* That, once nobody of this run's own stands in the way. */
void run_find_cgroup(struct run *run);
void run_prepare_judge(struct run *run);
/* Before a process is made that nothing is tried with first: -1 when there is more to find out. */
int run_look_before_late(struct run *run, struct error *err);
/* What options say about arming. */
void run_pass_options(struct run *run);
/* Makes it, with the plan's limits; the store knows of it, should sbox be killed. */
int run_make_cgroup(struct run *run, struct error *err);

/* environment.c */
const char *environment_path(struct run *run);
/* The arguments, where pid 1 does not wipe them: what lies on the stack it does. */
char *const *environment_arguments(const struct run *run);
char *const *environment_make(struct run *run);
const char *environment_home(const struct run *run); /* the private one */
const char *environment_scratch(const struct run *run);
const char *environment_cwd(const struct run *run);

uint64_t clock_ns(void); /* monotonic */
uint64_t own_cpu_ns(void);

#endif
