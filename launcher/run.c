// SPDX-License-Identifier: Apache-2.0
#include "run.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "file_entries.h"
#include "identity.h"
#include "locate.h"
#include "roots.h"
#include "sys.h"

/*
 * parse -> probe -> plan -> arm -> run, and the record around it. The new
 * process builds its tree while the start is written down; it waits for "go"
 * until that is on disk.
 */

enum {
	END_ROOM = 256 * 1024, /* bytes reserved for run.end */
	DEATH_WAIT_MS = 5000,
};

static void undo_line(const char *line, void *unused)
{
	(void)unused;
	if (strncmp(line, "cgroup ", 7) == 0)
		cgroup_remove_path(line + 7);
}

static void say(const struct run *run, const char *text)
{
	if (!run->options->quiet && text != NULL)
		fprintf(stderr, "sbox: %s\n", text);
}

static int prepare(struct run *run, struct error *err)
{
	struct profile_context context;
	const char *note = NULL, *accepted = NULL;

	if (locate_context(run->arena, run->options, &context, err) != 0)
		return -1;
	if (profile_load(run->arena, &context, run->options->profile, run->options->overrides,
			 run->options->override_count, &run->profile, &note, err) != 0)
		return -1;
	say(run, note);
	if (store_open(&run->store, context.store, context.uid, err) != 0)
		return -1;
	run->store_is_open = true;
	run_set_store_policy(run);
	if (store_run_sweep(&run->store, undo_line, NULL, err) != 0)
		return -1;
	if (host_probe(run->arena, &run->host, err) != 0 ||
	    host_probe_paths(run->arena, &run->profile, &run->host, err) != 0)
		return -1;
	host_hide(run->arena, &run->host, context.store);
	if (run->profile.network.mode != NETWORK_HOST)
		host_hide_sockets(run->arena, &run->host);
	plan_make(run->arena, &run->profile, &run->host, &run->plan);
	if (plan_judge(&run->plan, &run->profile, run->options->strict, &accepted, err) != 0)
		return -1;
	if (accepted != NULL)
		say(run, arena_printf(run->arena, "accepted by the profile: %s", accepted));
	return 0;
}

static const char *inside_cwd(const struct run *run)
{
	const char *cwd = run->host.cwd;

	if (cwd != NULL && file_entry_for(run->arm.entries, cwd) != NULL)
		return cwd;
	return run->profile.file.home == HOME_PRIVATE ? INNER_HOME : "/tmp";
}

static int make_cgroup(struct run *run, struct error *err)
{
	const struct cgroup_host *host = &run->host.cgroup;
	const struct cgroup_limits limits = {
		.memory_bytes = host->has_memory ? run->profile.process.memory_bytes : 0,
		/* one more: pid 1 of the sandbox counts too */
		.processes = host->has_pids && run->profile.process.processes != 0
				     ? run->profile.process.processes + 1
				     : 0,
		.cpus_milli = host->has_cpu ? run->profile.process.cpus_milli : 0};

	if (cgroup_make(run->arena, &run->host.cgroup, &limits, run->id, &run->cgroup, err) != 0)
		return -1;
	run->has_cgroup = true;
	for (size_t i = 0; i < run->cgroup.path_count; i++)
		if (store_run_undo(&run->store, run->id,
				   arena_printf(run->arena, "cgroup %s", run->cgroup.paths[i]),
				   err) != 0)
			return -1;
	return 0;
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
	arm->inside_cwd = inside_cwd(run);
	arm->have_listener = run->host.seccomp && (run->profile.audit.denials != DENIALS_OFF ||
						   run->profile.audit.execs == YES);
	arm->file_bytes = run->options->file_bytes;
	arm->argv = run->options->arguments;
	arm->envp = environment_make(run);
	if (program_find(run, ret_program, err) != 0)
		return -1;
	arm->program = *ret_program;
	return arm_all(arm, err);
}

static int watch_growth(struct run *run, struct error *err)
{
	const struct path_facts *roots = &run->host.paths[PATH_WRITE];
	uint64_t limit = run->profile.file.growth_bytes;

	if (limit == 0 || roots->count == 0 || run->profile.file.writes != WRITES_KEEP)
		return 0;
	int *fds = arena_alloc(run->arena, roots->count * sizeof(int));
	for (size_t i = 0; i < roots->count; i++) {
		fds[i] = open(roots->items[i].path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		if (fds[i] < 0)
			return error_sys(err, "cannot open %s to watch its growth",
					 roots->items[i].path);
	}
	/* as many files as pages: a file takes an inode and usually a block */
	if (growth_init(&run->growth, fds, roots->count, limit, limit / 4096, err) != 0)
		return -1;
	run->watches_growth = true;
	return 0;
}

/* While init builds the tree: hash, write down, make it durable. */
static int record_start(struct run *run, const char *program, struct error *err)
{
	script_collect(run, program);
	record_build_start(run);
	if (store_reserve(&run->store, END_ROOM, err) != 0)
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
	    roots_lease(run->arena, &run->store, &run->host.paths[PATH_WRITE],
			run->profile.network.mode == NETWORK_HOST, err) != 0)
		return -1;
	return watch_growth(run, err);
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
	notify->record_denials = run->profile.audit.denials != DENIALS_OFF;
	notify->record_execs = run->profile.audit.execs == YES;
}

static int start(struct run *run, struct error *err)
{
	const char *program = NULL;

	/* a cgroup outlives a killed sbox, so the mark that tells of it comes first */
	if (run->plan.use_cgroup && (begin(run, err) != 0 || make_cgroup(run, err) != 0))
		return -1;
	if (arm(run, &program, err) != 0)
		return -1;
	prepare_notify(run);
	run->stdin_is_script = script_comes_on_stdin(run->options->arguments, program);
	if (spawn_init(run, run->options->original, err) != 0)
		return -1;
	if (claim(run, err) == 0 && record_start(run, program, err) == 0 &&
	    attach_cgroup(run, err) == 0)
		return 0;
	/* it waits for a "go" that never comes */
	sys_pidfd_send_signal(run->init_pidfd, SIGKILL);
	return -1;
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

static void write_status(const struct run *run)
{
	int fd = run->options->status_fd;

	if (fd < 0)
		return;
	const char *line = arena_printf(run->arena, "%s\n", render_end(run->arena, &run->end));

	if (write(fd, line, strlen(line)) < 0)
		say(run, "--status-fd: the descriptor cannot be written to");
}

/* Never silent: the run happened, its end is not on disk. */
static void complain_about_end(struct run *run, const struct error *err)
{
	fprintf(stderr, "sbox: the end of run %s is not on record: %s\n", run->id, err->text);
	if (run->end.exit_status == 0)
		run->end.exit_status = 125;
}

/* Into the log, and on its way to the disk; announce() waits for it. */
static void write_down_end(struct run *run)
{
	enum store_sync sync = run->store.policy.sync;
	struct error err;

	outcome_describe(run);
	record_build_end(run);
	if (!run->started_on_record)
		return;
	if (sync == STORE_SYNC_GROUP)
		sync = STORE_SYNC_LATER;
	if (store_append(&run->store, render_end(run->arena, &run->end), sync, &err) != 0)
		complain_about_end(run, &err);
	else
		run->end_to_sync = sync == STORE_SYNC_LATER;
}

static void announce(struct run *run)
{
	struct error err;

	if (run->end_to_sync && store_sync(&run->store, &err) != 0)
		complain_about_end(run, &err);
	/* --quiet is about the program's end; why sbox did not run it is always said */
	if (run->end.exit_status == 125 && run->end.message != NULL)
		fprintf(stderr, "sbox: %s\n", run->end.message);
	else
		say(run, run->end.message);
	if (run->options->json) {
		puts(render_result(run->arena, run->started_on_record ? &run->start : NULL,
				   &run->end));
		fflush(stdout);
	}
	write_status(run);
}

/* Nothing of the sandbox is left when the end is written down. */
static void settle(struct run *run)
{
	struct pollfd dead = {.fd = run->init_pidfd, .events = POLLIN};

	if (run->init_pid > 0 && run->end.leftover == NULL) {
		sys_pidfd_send_signal(run->init_pidfd, SIGKILL);
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
	identity_release(&run->arm.identity, run->lease_fd);
	/* what is left over is for the next start to remove */
	if (run->run_lock_fd >= 0 && run->end.leftover == NULL)
		store_run_finish(&run->store, run->id, run->run_lock_fd);
}

/* In the arena, not on the stack: the caller's stack limit may be small. */
static struct run *run_new(struct arena *arena, const struct options *options)
{
	struct run *run = arena_alloc(arena, sizeof(*run));

	run->arena = arena;
	run->options = options;
	run->run_lock_fd = run->lease_fd = -1;
	run->init_pidfd = run->control_fd = run->fault_fd = run->go_fd = -1;
	run->sandbox_root_fd = run->notify.fd = run->notify.proc_fd = -1;
	run->wait_status = -1;
	run->end.usage.peak_memory_bytes = UNKNOWN;
	run->end.usage.peak_tasks = UNKNOWN;
	run->end.usage.read_bytes = UNKNOWN;
	run->end.usage.written_bytes = UNKNOWN;
	run_id_make(run->id);
	return run;
}

int run_program(struct arena *arena, const struct options *options)
{
	struct run *run = run_new(arena, options);
	struct error *err = arena_alloc(arena, sizeof(*err));

	if (prepare(run, err) != 0 || start(run, err) != 0)
		fail(run, err);
	else
		supervise(run);
	/* with nobody left in the sandbox, pid 1 can die while the end is written down */
	if (!run->alone)
		settle(run);
	write_down_end(run);
	if (run->alone)
		settle(run);
	release(run);
	announce(run);
	if (run->store_is_open) {
		store_prune_when_due(&run->store);
		store_close(&run->store);
	}
	return run->end.exit_status;
}
