// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "keys.h"
#include "obstacle.h"
#include "run.h"
#include "sys.h"

/* How a run ended, in the record's words and in one sentence for the caller. */

void outcome_end(struct run *run, enum end_kind kind, int code, const char *decided_by)
{
	if (run->ended)
		return;
	run->ended = true;
	run->end.kind = kind;
	run->end.code = code;
	run->end.decided_by = decided_by;
}

void outcome_kill(struct run *run, enum end_kind kind, const char *decided_by)
{
	outcome_end(run, kind, 0, decided_by);
	limits_kill(run);
}

/* What init may do in namespaces of its own, and was not allowed to: the machine's doing. */
static bool is_refusal(const struct fault *fault)
{
	switch (fault->id) {
	case STEP_NAMESPACES:
	case STEP_INNER_USER:
		if (fault->errnum == ENOSPC || fault->errnum == EUSERS)
			return true;
		break;
	case STEP_ID_MAPS:
	case STEP_PRIVATE_MOUNTS:
	case STEP_NEW_ROOT:
	case STEP_SHOW_ROOT:
	case STEP_PROC:
	case STEP_DEVPTS:
	case STEP_LOOPBACK:
	case STEP_PIVOT:
		break;
	default:
		return false;
	}
	return fault->errnum == EPERM || fault->errnum == EACCES;
}

static enum obstacle find_obstacle(const struct run *run)
{
	const struct fault *fault = &run->fault;
	enum obstacle_at at = fault->id == STEP_PROC                               ? AT_PROC
			      : fault->errnum == ENOSPC || fault->errnum == EUSERS ? AT_CLONE
			      : fault->id == STEP_INNER_USER                       ? AT_CLONE
										   : AT_MOUNT;

	return obstacle_find("", at, fault->errnum, run->host.root);
}

/* What the step that failed was about: a path, or nothing. */
static const char *subject(const struct fault *fault, const struct step *step)
{
	size_t rule = fault->detail / RULESET_CALLS;

	if (step == NULL || fault->id == STEP_ID_MAPS || fault->id == STEP_INNER_USER)
		return "";
	if (fault->id == STEP_RULESET)
		return fault->detail > 1 && rule < step->rule_count && step->rules[rule].path
			       ? step->rules[rule].path
			       : "";
	if (step->source != NULL && step->id != STEP_SHOW_ROOT)
		return step->source;
	return step->path != NULL ? step->path : "";
}

/* In place, root's program opens what is listed as the user that it is. */
static bool is_out_of_reach(const struct run *run)
{
	return run->fault.id == STEP_RULESET && run->fault.errnum == EACCES && !run->plan.tree;
}

static void not_executed(struct run *run, int errnum)
{
	const char *hint = "";

	if (errnum == ENOENT)
		hint = " (the interpreter named in its first line, or its loader, does not exist "
		       "or is not visible inside)";
	else if (errnum == ENOEXEC)
		/* a shell would take it for a script of its own, as execvp(3) does */
		hint = " (neither a program of this machine nor a script that begins with #!; "
		       "name its interpreter: sbox sh FILE)";
	outcome_end(run, errnum == ENOENT ? END_NOT_FOUND : END_NOT_EXECUTABLE, errnum, NULL);
	run->end.message = arena_printf(run->arena, "cannot execute %s: %s%s", run->arm.program,
					strerror(errnum), hint);
}

/* Set-up failed: a step said so, or the new process died on the way. */
void outcome_fault(struct run *run)
{
	const struct fault *fault = &run->fault;
	const char *name = fault->id < STEP_MAX ? step_names[fault->id] : "?";
	const struct step *step =
		fault->index < run->arm.steps.count ? &run->arm.steps.items[fault->index] : NULL;
	const char *what = subject(fault, step);
	unsigned call = fault->id == STEP_RULESET ? fault->detail % RULESET_CALLS : fault->detail;

	if (fault->id == STEP_EXEC) {
		not_executed(run, fault->errnum);
		return;
	}
	bool refused = is_refusal(fault);
	outcome_end(run, refused ? END_DENIED_START : END_SBOX_ERROR, fault->errnum, NULL);
	run->end.message =
		arena_printf(run->arena, "set-up step %s%s%s failed (call %u): %s", name,
			     what[0] != '\0' ? " " : "", what, call, strerror(fault->errnum));
	if (is_out_of_reach(run))
		run->end.message =
			arena_printf(run->arena,
				     "%s; a folder above it is closed to uid %u, the program's "
				     "user: chmod o+x that folder, or [privilege] user = its owner",
				     run->end.message, run->arm.identity.outer_uid);
	if (refused)
		run->end.message = arena_printf(run->arena, "%s; %s", run->end.message,
						obstacle_sentence(run->arena, find_obstacle(run)));
}

static void died_by_signal(struct run *run, int sig)
{
	uint64_t cpu_ms = run->profile.time.cpu_ms;

	run->end.core_dumped = WCOREDUMP(run->wait_status);
	if (cpu_ms != 0 &&
	    (sig == SIGXCPU || (sig == SIGKILL && run->end.usage.user_ns + run->end.usage.sys_ns >=
							  cpu_ms * 1000000)))
		outcome_end(run, END_CPU, 0, "time.cpu");
	outcome_end(run, END_SIGNALED, sig,
		    sig == SIGXFSZ && run->profile.file.max_file_bytes != 0 ? "file.max_file"
									    : NULL);
}

void outcome_exited(struct run *run)
{
	if (run->ended)
		return;
	if (run->fault.errnum != 0) {
		outcome_fault(run);
	} else if (run->wait_status < 0) {
		outcome_end(run, run->ready ? END_BOUNDARY_LOST : END_SBOX_ERROR, 0, NULL);
		run->end.message = run->ready ? "pid 1 of the sandbox died during the run"
					      : "the new process died during set-up";
	} else if (WIFEXITED(run->wait_status)) {
		outcome_end(run, END_EXITED, WEXITSTATUS(run->wait_status), NULL);
	} else {
		died_by_signal(run, WTERMSIG(run->wait_status));
	}
}

/* "agent.ini:31 [process] memory = 2G", for the sentence. */
static const char *line_of(struct run *run, const char *decided_by)
{
	const char *dot = strchr(decided_by, '.');
	const char *section = arena_strndup(run->arena, decided_by, (size_t)(dot - decided_by));
	const struct key *key = key_find(section, dot + 1);

	if (key == NULL)
		return decided_by;
	return arena_printf(run->arena, "[%s] %s, %s", section, dot + 1,
			    profile_origin(run->arena, &run->profile, key_id(key)));
}

static const char *sentence(struct run *run)
{
	const struct profile *profile = &run->profile;
	struct arena *arena = run->arena;

	switch (run->end.kind) {
	case END_SIGNALED:
		return arena_printf(arena, "the program was killed by signal %d (%s)",
				    run->end.code, strsignal(run->end.code));
	case END_TIMEOUT:
		return arena_printf(arena, "stopped after %s by the clock",
				    plan_duration(arena, profile->time.wall_ms));
	case END_CPU:
		return arena_printf(arena, "stopped after %s of processor time",
				    plan_duration(arena, profile->time.cpu_ms));
	case END_MEMORY:
		return arena_printf(arena, "killed: more than %s of memory",
				    plan_size(arena, profile->process.memory_bytes));
	case END_OUTPUT:
		return arena_printf(arena, "killed: more than %s of output",
				    plan_size(arena, profile->process.output_bytes));
	case END_DISK:
		return arena_printf(arena, "killed: written files grew by more than %s",
				    plan_size(arena, run->growth_limit));
	case END_BOUNDARY_LOST:
		return "killed: a hidden or protected name was replaced from outside during the "
		       "run";
	case END_CANCELLED:
		return arena_printf(arena, "stopped by signal %d (%s)", run->end.code,
				    strsignal(run->end.code));
	case END_PROCESSES:
		return "killed: more tasks than allowed";
	case END_EXITED:
	case END_DENIED_START:
	case END_SBOX_ERROR:
	case END_NOT_EXECUTABLE:
	case END_NOT_FOUND:
	case END_KIND_MAX:
		break;
	}
	return NULL;
}

/* Twice the limit, as the profile would write it. */
static const char *permit_line(struct run *run, const char *key, const char *value)
{
	const char *dot = strchr(key, '.');

	return arena_printf(run->arena, "[%.*s] %s = %s", (int)(dot - key), key, dot + 1, value);
}

static void deny(struct run *run, enum boundary boundary, const char *key, int errnum,
		 const char *value)
{
	const struct record_denial denial = {.boundary = boundary,
					     .op = strchr(key, '.') + 1,
					     .count = 1,
					     .errnum = errnum,
					     .permit = permit_line(run, key, value)};

	if (run->profile.audit.denials != DENIALS_OFF)
		denials_add(&run->denials, &denial);
}

/* A limit that was reached is a refusal like any other. */
static void deny_limits(struct run *run)
{
	const struct profile *profile = &run->profile;
	const struct {
		enum end_kind kind;
		enum boundary boundary;
		const char *key, *twice;
	} limits[] = {
		{END_TIMEOUT, BOUNDARY_TIME, "time.wall",
		 plan_duration(run->arena, profile->time.wall_ms * 2)},
		{END_CPU, BOUNDARY_TIME, "time.cpu",
		 plan_duration(run->arena, profile->time.cpu_ms * 2)},
		{END_MEMORY, BOUNDARY_PROCESS, "process.memory",
		 plan_size(run->arena, profile->process.memory_bytes * 2)},
		{END_OUTPUT, BOUNDARY_PROCESS, "process.output",
		 plan_size(run->arena, profile->process.output_bytes * 2)},
		{END_DISK, BOUNDARY_FILE, run->growth_key,
		 plan_size(run->arena, run->growth_limit * 2)},
	};
	uint64_t tasks = profile->process.processes;

	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
		if (run->end.kind == limits[i].kind)
			deny(run, limits[i].boundary, limits[i].key, 0, limits[i].twice);
	if (tasks != 0 && (run->tasks_refused || (run->end.usage.peak_tasks != UNKNOWN &&
						  run->end.usage.peak_tasks >= tasks)))
		deny(run, BOUNDARY_PROCESS, "process.processes", EAGAIN,
		     arena_printf(run->arena, "%llu", (unsigned long long)tasks * 2));
	if (run->scratch_full && profile->file.scratch_bytes != 0)
		deny(run, BOUNDARY_FILE, "file.scratch", ENOSPC,
		     plan_size(run->arena, profile->file.scratch_bytes * 2));
	if (run->end.kind == END_SIGNALED && run->end.code == SIGXFSZ &&
	    profile->file.max_file_bytes != 0)
		deny(run, BOUNDARY_FILE, "file.max_file", EFBIG,
		     plan_size(run->arena, profile->file.max_file_bytes * 2));
}

void outcome_describe(struct run *run)
{
	deny_limits(run);
	run->end.exit_status = end_exit_status(run->end.kind, run->end.code);
	if (run->end.message == NULL)
		run->end.message = sentence(run);
	if (run->end.message != NULL && run->end.decided_by != NULL)
		run->end.message = arena_printf(run->arena, "%s (%s)", run->end.message,
						line_of(run, run->end.decided_by));
}

bool outcome_did_not_run(enum end_kind kind)
{
	return kind == END_DENIED_START || kind == END_SBOX_ERROR || kind == END_NOT_EXECUTABLE ||
	       kind == END_NOT_FOUND;
}
