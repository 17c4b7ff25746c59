// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "child.h"
#include "run.h"
#include "sys.h"

/* Pipes as the supervisor holds them and as the sandbox does. */
struct pipes {
	int stdio[3][2]; /* [0] read end, [1] write end */
	int fault[2], go[2], control[2];
};

enum { NEEDED_FILES = 64 };

static int make_pipes(struct pipes *pipes)
{
	for (int i = 0; i < 3; i++)
		if (pipe2(pipes->stdio[i], O_CLOEXEC) != 0)
			return -1;
	if (pipe2(pipes->fault, O_CLOEXEC) != 0 || pipe2(pipes->go, O_CLOEXEC) != 0)
		return -1;
	return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pipes->control);
}

/* Only our own descriptions become non-blocking: the program's ends stay as programs expect. */
static int make_nonblocking(const struct pipes *pipes)
{
	const int ours[] = {pipes->stdio[0][1], pipes->stdio[1][0], pipes->stdio[2][0],
			    pipes->fault[0], pipes->control[0]};

	for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
		if (fcntl(ours[i], F_SETFL, O_NONBLOCK) != 0)
			return -1;
	return 0;
}

static void add_program_steps(struct run *run, const struct pipes *pipes)
{
	struct steps *steps = &run->arm.steps;
	struct step *step = steps_add(steps, STEP_STDIO);

	step->value[0] = (uint64_t)pipes->stdio[0][0];
	step->value[1] = (uint64_t)pipes->stdio[1][1];
	step->value[2] = (uint64_t)pipes->stdio[2][1];
	if (run->plan.attach_first)
		steps_add(steps, STEP_WAIT_ATTACH);
	steps_sort(steps);
}

/* Everything that argv and environ point to lies in one piece on the stack. */
static void find_arguments(struct child *child, char *const *argv)
{
	char *start = argv[0], *end = start;

	for (char *const *at = argv; *at != NULL; at++)
		if (*at == end)
			end += strlen(*at) + 1;
	for (char **at = environ; at != NULL && *at != NULL; at++)
		if (*at == end)
			end += strlen(*at) + 1;
	child->wipe_start = start;
	child->wipe_len = start != NULL ? (size_t)(end - start) : 0;
}

/* In the new process: the supervisor's ends go first, so that its death is seen. */
static void enter_child(struct run *run, const struct pipes *pipes, struct child *child)
	__attribute__((noreturn));

static void enter_child(struct run *run, const struct pipes *pipes, struct child *child)
{
	const int theirs[] = {pipes->stdio[0][1], pipes->stdio[1][0], pipes->stdio[2][0],
			      pipes->fault[0],    pipes->go[1],       pipes->control[0]};

	for (size_t i = 0; i < sizeof(theirs) / sizeof(theirs[0]); i++)
		close(theirs[i]);
	child->steps = run->arm.steps.items;
	child->count = run->arm.steps.count;
	child->fault_fd = pipes->fault[1];
	child->control_fd = pipes->control[1];
	child->go_fd = pipes->go[0];
	init_main(child);
}

static void keep_ours(struct run *run, const struct pipes *pipes)
{
	const int theirs[] = {pipes->stdio[0][0], pipes->stdio[1][1], pipes->stdio[2][1],
			      pipes->fault[1],    pipes->go[0],       pipes->control[1]};

	for (size_t i = 0; i < sizeof(theirs) / sizeof(theirs[0]); i++)
		close(theirs[i]);
	run->fault_fd = pipes->fault[0];
	run->go_fd = pipes->go[1];
	run->control_fd = pipes->control[0];
	for (size_t i = 0; i < run->arm.idmap_count; i++)
		close(run->arm.idmaps[i].fd);
	run->arm.idmap_count = 0;
}

/* Stdin is hashed while it is short, and kept on request or when it is the program text. */
static uint64_t stdin_limit(const struct run *run)
{
	uint64_t limit = run->stdin_is_script ? 256 << 10 : 64 << 10;
	uint64_t wanted = run->profile.audit.capture_bytes;

	return run->profile.audit.keep_stdin == STDIN_KEEP && wanted > limit ? wanted : limit;
}

/* Replay wants to know when what was said, when there is something to replay. */
static void start_timing(struct run *run)
{
	struct capture *const captures[] = {&run->in.capture, &run->out.capture, &run->err.capture};

	if (run->profile.audit.capture_bytes == 0)
		return;
	timing_start(&run->timing);
	for (unsigned int i = run->profile.audit.keep_stdin == STDIN_KEEP ? 0 : 1; i < 3; i++) {
		captures[i]->timing = &run->timing;
		captures[i]->stream = i;
	}
}

static int start_relays(struct run *run, const struct pipes *pipes, struct error *err)
{
	uint64_t keep = run->profile.audit.capture_bytes;
	bool discard = run->options->json;

	if (relay_init(&run->in, STDIN_FILENO, pipes->stdio[0][1], false, stdin_limit(run), err) !=
	    0)
		return -1;
	run->in.count_delivered = true;
	if (discard && keep < (1 << 20))
		keep = 1 << 20; /* the object carries the text itself */
	if (relay_init(&run->out, pipes->stdio[1][0], discard ? -1 : STDOUT_FILENO, discard, keep,
		       err) != 0)
		return -1;
	if (relay_init(&run->err, pipes->stdio[2][0], discard ? -1 : STDERR_FILENO, discard, keep,
		       err) != 0)
		return -1;
	relay_widen(run->out.from_fd);
	relay_widen(run->err.from_fd);
	start_timing(run);
	run->relaying = true;
	return 0;
}

static void explain_clone(const struct run *run, struct error *err)
{
	int saved = errno;

	error_sys(err, "cannot make the namespaces");
	if (saved == EPERM && !run->host.root)
		error_set(
			err, ERROR_MISSING,
			"user namespaces are refused to this caller (EPERM): on Ubuntu see "
			"kernel.apparmor_restrict_unprivileged_userns, in a container its seccomp "
			"profile");
	else if (saved == ENOSPC || saved == EUSERS)
		error_set(err, ERROR_MISSING,
			  "no more namespaces may be made here (user.max_user_namespaces and its "
			  "neighbours in /proc/sys/user)");
	err->errnum = saved;
}

int spawn_init(struct run *run, char *const *original_argv, struct error *err)
{
	struct pipes pipes;
	struct child child = {.root_fd = -1, .proc_fd = -1, .own_proc_fd = -1, .ruleset_fd = -1};
	struct clone_args args = {.flags = CLONE_PIDFD | run->plan.namespaces,
				  .pidfd = (uint64_t)(uintptr_t)&run->init_pidfd,
				  .exit_signal = SIGCHLD};

	if (run->host.hard_open_files < NEEDED_FILES + run->arm.steps.slots)
		return error_set(err, ERROR_SYSTEM,
				 "the limit of open files is %llu, sbox needs %u (ulimit -n)",
				 (unsigned long long)run->host.hard_open_files,
				 NEEDED_FILES + run->arm.steps.slots);
	if (make_pipes(&pipes) != 0 || make_nonblocking(&pipes) != 0)
		return error_sys(err, "cannot make pipes");
	add_program_steps(run, &pipes);
	child.slots = arena_alloc(run->arena, (run->arm.steps.slots + 1) * sizeof(int));
	find_arguments(&child, original_argv);
	if (run->has_cgroup && run->cgroup.version == CGROUP_V2) {
		args.flags |= CLONE_INTO_CGROUP;
		args.cgroup = (uint64_t)run->cgroup.dir_fd;
	}
	long pid = sys_clone3(&args);
	if (pid == 0)
		enter_child(run, &pipes, &child);
	if (pid < 0)
		explain_clone(run, err);
	run->init_pid = (pid_t)pid;
	keep_ours(run, &pipes);
	/* from here on nobody of the same uid can look into the supervisor */
	prctl(PR_SET_DUMPABLE, 0);
	if (pid < 0)
		return -1;
	return start_relays(run, &pipes, err);
}

void spawn_go(struct run *run)
{
	/* a sandbox that is dead already shows by itself */
	ssize_t done = write(run->go_fd, "g", 1);

	(void)done;
}
