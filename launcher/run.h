// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_RUN_H
#define SBOX_RUN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "arena.h"
#include "boundary.h"
#include "cgroup.h"
#include "error.h"
#include "growth.h"
#include "host.h"
#include "notify.h"
#include "options.h"
#include "plan.h"
#include "profile.h"
#include "record.h"
#include "relay.h"
#include "sample.h"
#include "store.h"

/*
 * One run, from the profile to the record of its end. Filled step by step by
 * run_program(); everything it points to lives in its arena or is closed by
 * run_cleanup().
 */
struct run {
	struct arena *arena;
	const struct options *options;
	struct profile profile;
	struct host host;
	struct plan plan;
	struct arm arm;

	char id[27];
	struct store store;
	bool store_is_open;
	int run_lock_fd, lease_fd;
	bool started_on_record; /* run.start is on disk */
	bool end_to_sync;       /* run.end is in the log and on its way to the disk */
	struct run_start start;
	struct run_end end;
	bool ended; /* end.kind is decided; the first cause wins */

	struct cgroup cgroup;
	bool has_cgroup;

	pid_t init_pid;
	int init_pidfd, control_fd, fault_fd, go_fd;
	bool ready, no_listener;
	struct fault fault; /* errnum 0: none came */
	int wait_status;    /* of the program; -1: not known */
	bool alone;         /* when the program ended nothing else was left in the sandbox */

	struct relay in, out, err;
	struct timing timing;
	bool relaying; /* in, out and err are set up */
	bool stdin_is_script;
	struct notify notify;
	struct denials denials;
	struct sampler sampler;
	bool sampling;
	uint64_t seen_cpu_ns; /* the most that a look has seen */
	uint64_t look_cpu_ns; /* what the looks themselves took */
	int sandbox_root_fd;  /* the new root: its tmpfs is the scratch */
	struct growth growth;
	bool watches_growth, confirming;
	uint64_t start_ns;      /* monotonic, when the program was let go */
	uint64_t cpu_before_ns; /* supervisor's own, at that moment */
};

/* Runs options->argv; returns sbox's exit status. Never prints but to stderr, and to
 * stdout what --json asks for. */
int run_program(struct arena *arena, const struct options *options);

/* spawn.c: clones init, hands over its ends of the pipes. */
int spawn_init(struct run *run, char *const *original_argv, struct error *err);
/* Lets the program go (or, before that, past WAIT_ATTACH). */
void spawn_go(struct run *run);

/* supervise.c: until everything in the sandbox is dead and the streams are done. */
void supervise(struct run *run);

/* outcome.c: what an end is called, and its one sentence. */
void outcome_end(struct run *run, enum end_kind kind, int code, const char *decided_by);
void outcome_kill(struct run *run, enum end_kind kind, const char *decided_by);
void outcome_exited(struct run *run);
void outcome_fault(struct run *run);
void outcome_describe(struct run *run);

/* limits.c: one look at the whole tree; nanoseconds until the next. */
uint64_t limits_look(struct run *run);
uint64_t limits_first_look(const struct run *run);
void limits_finish(struct run *run);
/* Kills everything in the sandbox, after a last look at what it used: what dies with
 * pid 1 is reaped by the kernel without being counted (zap_pid_ns_processes()). */
void limits_kill(struct run *run);

/* record_build.c */
void record_build_start(struct run *run);
void record_build_end(struct run *run);

/* script.c: the program and what it is told to run, with hashes and kept text. */
void script_collect(struct run *run, const char *host_program);
void script_stdin(struct run *run);
bool script_comes_on_stdin(char *const *argv, const char *host_program);

/* program.c: finds argv[0] as the program will be able to execute it. The errors are
 * ERROR_NOT_FOUND and ERROR_NOT_EXECUTABLE, with the line that would show it. */
int program_find(struct run *run, const char **ret_host_path, struct error *err);

/* run_policy.c: from [audit] to run->store, which is open. */
void run_set_store_policy(struct run *run);

/* environment.c */
const char *environment_path(struct run *run);
char *const *environment_make(struct run *run);

uint64_t clock_ns(void); /* monotonic */
uint64_t own_cpu_ns(void);

#endif
