// SPDX-License-Identifier: Apache-2.0
#include "run.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "file_entries.h"
#include "identity.h"
#include "locate.h"
#include "roots.h"
#include "sys.h"
#include "toolchain.h"

/*
 * parse -> probe -> plan -> arm -> run, and the record around it. The new
 * process builds its tree while the start is written down; it waits for "go"
 * until that is on disk.
 */

enum {
	END_ROOM = 256 * 1024, /* bytes reserved for run.end */
	DEATH_WAIT_MS = 5000,
};

static int open_cache(struct run *run, struct error *err)
{
	cache_probe(run->arena, &run->profile, run->context.store, &run->host);
	return cache_open(run->arena, &run->profile, &run->host, &run->cache, err);
}

/* A closer look costs a start of its own, so it is had only when something asks for it. */
static int decide(struct run *run, struct error *err)
{
	if (run->spawn_refused)
		host_probe_user_namespaces(run->arena, &run->host);
	if (run->spawn_refused || host_is_doubtful(&run->host))
		host_look(run->arena, &run->host);
	if (run->host.looked && run->profile.network.mode == NETWORK_ALLOW)
		host_look_gate(run->arena, &run->host);
	host_look_label(run->arena, &run->profile, &run->host);
	run_find_cgroup(run);
	plan_make(run->arena, &run->profile, &run->host, &run->plan);
	if (plan_judge(&run->plan, &run->profile, run->options->strict, &run->accepted, err) != 0)
		return -1;
	/* where it cannot be given and that was accepted */
	run->host.cache.made &= run->plan.use_cache;
	return 0;
}

static int prepare(struct run *run, struct error *err)
{
	struct profile_context *context = &run->context;
	const char *note = NULL;

	terminal_find(run);
	if (locate_context(run->arena, run->options, context, err) != 0)
		return -1;
	if (profile_load(run->arena, context, run->options->profile, run->options->overrides,
			 run->options->override_count, &run->profile, &note, err) != 0)
		return -1;
	run_say(run, note);
	if (store_open(&run->store, context->store, context->uid, err) != 0)
		return -1;
	run->store_is_open = true;
	run_set_store_policy(run);
	if (store_run_sweep(&run->store, place_undo, NULL, err) != 0)
		return -1;
	run->host.is_tried = run->spawn != NULL;
	if (host_probe(run->arena, &run->host, err) != 0 ||
	    host_probe_paths(run->arena, &run->profile, &run->host, err) != 0 ||
	    open_cache(run, err) != 0 ||
	    toolchain_find(run->arena, context, &run->profile, run->options->arguments[0],
			   &run->host, err) != 0)
		return -1;
	host_hide(run->arena, &run->host, context->store);
	if (run->profile.network.mode != NETWORK_HOST)
		host_hide_sockets(run->arena, &run->host);
	return decide(run, err);
}

static int arm(struct run *run, const char **ret_program, struct error *err)
{
	struct file_entries *entries = arena_alloc(run->arena, sizeof(*entries));
	struct arm *arm = &run->arm;

	arm->arena = run->arena;
	arm->profile = &run->profile;
	arm->host = &run->host;
	arm->plan = &run->plan;
	file_entries_make(run->arena, &run->host, run->profile.file.writes == WRITES_KEEP, entries);
	arm->entries = entries;
	if (identity_take(run->arena, &run->profile, &run->host, &arm->identity, &run->lease_fd,
			  err) != 0)
		return -1;
	if (!run->plan.tree && place_scratch(run, err) != 0)
		return -1;
	arm->inside_cwd = environment_cwd(run);
	arm->have_listener = run->host.seccomp && (run->profile.audit.denials != DENIALS_OFF ||
						   run->profile.audit.execs == YES);
	if (getrandom(&arm->exec_mark, sizeof(arm->exec_mark), 0) != sizeof(arm->exec_mark))
		arm->exec_mark = 0;
	run_pass_options(run);
	terminal_decide(run);
	arm->argv = environment_arguments(run);
	arm->envp = environment_make(run);
	if (program_find(run, ret_program, err) != 0)
		return -1;
	arm->program = arena_strdup(run->arena, *ret_program);
	return arm_all(arm, err);
}

/* While init builds the tree: hash, write down, make it durable. */
static int record_start(struct run *run, const char *program, struct error *err)
{
	script_collect(run, program);
	record_build_start(run);
	if (store_reserve(&run->store, END_ROOM, err) != 0)
		return -1;
	if (spawn_check(run, err) != 0 || gate_hand_over(run, err) != 0)
		return -1;
	if (store_append(&run->store, render_start(run->arena, &run->start), run->store.policy.sync,
			 err) != 0)
		return -1;
	run->started_on_record = true;
	return 0;
}

static int attach_cgroup(struct run *run, struct error *err)
{
	if (!run->plan.attach_first)
		return 0;
	if (cgroup_attach(&run->cgroup, run->init_pid, err) != 0)
		return -1;
	spawn_go(run);
	return 0;
}

/* The run's mark in the store, with what the next start would have to undo. */
static int begin(struct run *run, struct error *err)
{
	if (run->run_lock_fd >= 0)
		return 0;
	return store_run_begin(&run->store, run->id, &run->run_lock_fd, err);
}

/* What must be so before the program goes, and can be seen to while init builds the tree. */
static int claim(struct run *run, struct error *err)
{
	if (begin(run, err) != 0)
		return -1;
	if (run->profile.file.writes == WRITES_KEEP &&
	    roots_lease(run->arena, &run->store, &run->host.paths[PATH_WRITE], &run->profile,
			err) != 0)
		return -1;
	return run_watch_growth(run, err);
}

static void prepare_notify(struct run *run)
{
	struct notify *notify = &run->notify;

	run->denials.arena = run->arena;
	notify->arena = run->arena;
	notify->denials = &run->denials;
	notify->policy = run->arm.policy;
	notify->redact = &run->profile.audit.redact;
	notify->first_path = run->arm.program;
	notify->first_argv = (const char *const *)run->arm.argv;
	notify->network_waits = run->plan.late_network;
	notify->record_denials = run->profile.audit.denials != DENIALS_OFF;
	notify->record_execs = run->profile.audit.execs == YES;
	run_prepare_judge(run);
}

static int start(struct run *run, struct error *err)
{
	const char *program = NULL;

	/* what outlives a killed sbox comes after the mark that tells of it */
	if ((run->plan.use_cgroup || run->plan.keeper) && begin(run, err) != 0)
		return -1;
	if (run->plan.use_cgroup && !run->has_cgroup && run_make_cgroup(run, err) != 0)
		return -1;
	if (arm(run, &program, err) != 0)
		return -1;
	prepare_notify(run);
	run->stdin_is_script = script_comes_on_stdin(run->options->arguments, program);
	if (spawn_init(run, err) != 0)
		return -1;
	if (gate_start(run, err) == 0 && place_watch(run, err) == 0 && claim(run, err) == 0 &&
	    record_start(run, program, err) == 0 && attach_cgroup(run, err) == 0 &&
	    gate_wait_ready(run, err) == 0)
		return 0;
	/* it waits for a "go" that never comes: settle() */
	return -1;
}

/* Refused namespaces that nothing told of before: nothing has begun yet, so once more, knowing. */
static int start_or_look(struct run *run, struct error *err)
{
	if (start(run, err) == 0)
		return 0;
	if (!run->spawn_refused || run->host.looked)
		return -1;
	gate_end(run);
	/* the maps of a process that cannot be looked into are not its own to write */
	prctl(PR_SET_DUMPABLE, 1);
	spawn_forget(run);
	identity_release(&run->arm.identity, run->lease_fd);
	run->lease_fd = -1;
	run->arm = (struct arm){0};
	run->fault = (struct fault){0};
	return decide(run, err) == 0 ? start(run, err) : -1;
}

static enum end_kind kind_of(enum error_kind kind)
{
	switch (kind) {
	case ERROR_NOT_FOUND:
		return END_NOT_FOUND;
	case ERROR_NOT_EXECUTABLE:
		return END_NOT_EXECUTABLE;
	case ERROR_MISSING:
	case ERROR_PROFILE:
	case ERROR_USAGE:
		return END_DENIED_START;
	case ERROR_NONE:
	case ERROR_SYSTEM:
	case ERROR_AUDIT:
		break;
	}
	return END_SBOX_ERROR;
}

/* A run that was refused is written down too, as far as it is known. */
static void record_refusal(struct run *run)
{
	struct error err;

	if (!run->store_is_open || run->started_on_record)
		return;
	record_build_start(run);
	run->started_on_record = store_append(&run->store, render_start(run->arena, &run->start),
					      STORE_SYNC_NONE, &err) == 0;
}

static void fail(struct run *run, const struct error *err)
{
	char *text = arena_alloc(run->arena, 2048);

	error_format(err, text, 2048);
	outcome_end(run, kind_of(err->kind), err->errnum, NULL);
	run->end.message = text;
	record_refusal(run);
}

/* Never silent: the run happened, its end is not on disk. */
static void complain_about_end(struct run *run, const struct error *err)
{
	fprintf(stderr, "sbox: the end of run %s is not on record: %s\n", run->id, err->text);
	if (run->end.exit_status == 0)
		run->end.exit_status = 125;
}

/* Where pid 1 is all that is left, it dies while the disk is waited for. */
static void write_down_end(struct run *run)
{
	struct error err;

	outcome_describe(run);
	record_build_end(run);
	if (!run->started_on_record)
		return;
	if (store_append(&run->store, render_end(run->arena, &run->end), run->store.policy.sync,
			 &err) != 0)
		complain_about_end(run, &err);
}

/* Nothing of the sandbox is left when the end is written down. */
static void settle(struct run *run)
{
	struct pollfd dead = {.fd = run->init_pidfd, .events = POLLIN};

	if (run->init_pid > 0 && run->end.leftover == NULL) {
		place_kill(run);
		if (poll(&dead, 1, DEATH_WAIT_MS) > 0)
			waitpid(run->init_pid, NULL, 0);
		else
			run->end.leftover = "pid 1 of the sandbox cannot be killed";
	}
	if (run->has_cgroup && cgroup_remove(&run->cgroup, DEATH_WAIT_MS) != 0 &&
	    run->end.leftover == NULL)
		run->end.leftover = "the run's control group cannot be removed";
}

static void release(struct run *run)
{
	if (run->scratch != NULL && run->end.leftover == NULL)
		place_remove(run->scratch);
	identity_release(&run->arm.identity, run->lease_fd);
	cache_close(&run->cache);
	/* what is left over is for the next start to remove */
	if (run->run_lock_fd >= 0 && run->end.leftover == NULL)
		store_run_finish(&run->store, run->id, run->run_lock_fd);
}

/* In the arena, not on the stack: the caller's stack limit may be small, and init finds there what
 * a step points to. */
static struct run *run_new(struct arena *arena, const struct options *options)
{
	struct run *run = arena_alloc(arena, sizeof(*run));

	run->arena = arena;
	run->options = options;
	run->run_lock_fd = run->lease_fd = -1;
	run->gate.fd = run->gate.lease_fd = run->gate.network_fd = run->gate.visitor_fd = -1;
	run->init_pidfd = run->control_fd = run->fault_fd = run->go_fd = -1;
	run->sandbox_root_fd = run->notify.fd = run->notify.proc_fd = -1;
	run->cache = (struct cache){-1, -1, -1};
	run->wait_status = -1;
	run->end.usage.peak_memory_bytes = UNKNOWN;
	run->end.usage.peak_tasks = UNKNOWN;
	run->end.usage.read_bytes = UNKNOWN;
	run->end.usage.written_bytes = UNKNOWN;
	run_id_make(run->id);
	/* what sbox makes for itself its owner can use, whatever the caller's; the program has that
	 */
	run->caller_umask = umask(0);
	umask(run->caller_umask & ~(mode_t)S_IRWXU);
	return run;
}

int run_program(struct arena *arena, const struct options *options)
{
	struct run *run = run_new(arena, options);
	struct error *err = arena_alloc(arena, sizeof(*err));

	spawn_early(run);
	if (prepare(run, err) != 0 || start_or_look(run, err) != 0) {
		fail(run, err);
	} else {
		run_say(run, run->accepted);
		supervise(run);
	}
	gate_end(run);
	hold_back(run);
	/* with nobody left in the sandbox, pid 1 can die while the end is written down */
	if (!run->alone)
		settle(run);
	write_down_end(run);
	if (run->alone)
		settle(run);
	release(run);
	run_tell(run);
	if (run->store_is_open) {
		store_prune_when_due(&run->store);
		store_close(&run->store);
	}
	return run->end.exit_status;
}
