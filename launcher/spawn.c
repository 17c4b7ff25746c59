// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"
#include "identity.h"
#include "obstacle.h"
#include "run.h"
#include "sys.h"

/* Pipes as the supervisor holds them and as the sandbox does. */
struct pipes {
	int stdio[3][2]; /* [0] read end, [1] write end */
	int fault[2], go[2], control[2];
};

struct spawn {
	struct pipes pipes;
	uint64_t namespaces; /* that it was born into */
	struct steps first;  /* what it does before the handover */
	int *slots;          /* that these steps fill */
	struct handover handover;
};

/* It ends a wait for nothing; on a machine that has more to do it takes seconds. */
enum { NEEDED_FILES = 64, EARLY_WAIT_MS = 30000, STUCK_MS = 5000 /* later than by this */ };

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

static void add_program_steps(struct run *run)
{
	struct steps *steps = &run->arm.steps;

	steps_add(steps, STEP_STDIO);
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
static void enter_child(struct run *run, struct child *child) __attribute__((noreturn));

static void enter_child(struct run *run, struct child *child)
{
	struct spawn *spawn = run->spawn;
	const struct pipes *pipes = &spawn->pipes;
	const int theirs[] = {pipes->stdio[0][1], pipes->stdio[1][0], pipes->stdio[2][0],
			      pipes->fault[0],    pipes->go[1],       pipes->control[0]};

	for (size_t i = 0; i < sizeof(theirs) / sizeof(theirs[0]); i++)
		close(theirs[i]);
	child->steps = spawn->first.items;
	child->count = spawn->first.count;
	child->slots = spawn->slots;
	child->handover = &spawn->handover;
	child->shared = run->arena->shared;
	child->shared_size = run->arena->shared_size;
	child->fault_fd = pipes->fault[1];
	child->control_fd = pipes->control[1];
	child->go_fd = pipes->go[0];
	child->lock_fd = run->plan.keeper ? run->run_lock_fd : -1;
	child->children_fd = child->alive_fd = -1;
	init_start(child);
}

static void keep_ours(struct run *run)
{
	const struct pipes *pipes = &run->spawn->pipes;
	const int theirs[] = {pipes->stdio[0][0], pipes->stdio[1][1], pipes->stdio[2][1],
			      pipes->fault[1],    pipes->go[0],       pipes->control[1]};

	for (size_t i = 0; i < sizeof(theirs) / sizeof(theirs[0]); i++)
		close(theirs[i]);
	run->fault_fd = pipes->fault[0];
	run->go_fd = pipes->go[1];
	run->control_fd = pipes->control[0];
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
	const bool *is_terminal = run->terminal.stream; /* then see terminal_open() */

	/* what is typed is a session, and may be secret */
	run->stdin_is_script &= !is_terminal[0];
	for (int i = 0; i < 3; i++)
		if (is_terminal[i])
			close(pipes->stdio[i][i == 0]);
	relay_none(&run->in);
	relay_none(&run->out);
	relay_none(&run->err);
	if (!is_terminal[0] && relay_init(&run->in, STDIN_FILENO, pipes->stdio[0][1], false,
					  stdin_limit(run), err) != 0)
		return -1;
	run->in.count_delivered = true;
	run->in.capture.whole_or_none =
		!run->stdin_is_script && run->profile.audit.keep_stdin != STDIN_KEEP;
	if (discard && keep < (1 << 20))
		keep = 1 << 20; /* the object carries the text itself */
	if (!is_terminal[1] && relay_init(&run->out, pipes->stdio[1][0],
					  discard ? -1 : STDOUT_FILENO, discard, keep, err) != 0)
		return -1;
	if (!is_terminal[2] && relay_init(&run->err, pipes->stdio[2][0],
					  discard ? -1 : STDERR_FILENO, discard, keep, err) != 0)
		return -1;
	run->in.flow.program_end = 1;
	run->out.flow.program_end = run->err.flow.program_end = 0;
	start_timing(run);
	run->relaying = true;
	return 0;
}

static void explain_clone(const struct run *run, struct error *err)
{
	int saved = errno;

	error_sys(err, "cannot make the namespaces");
	if (saved == EPERM || saved == ENOSPC || saved == EUSERS || saved == ENOSYS) {
		enum obstacle obstacle = obstacle_find("", AT_CLONE, saved, run->host.root);

		error_set(err, ERROR_MISSING, "cannot make the namespaces (%s): %s",
			  strerror(saved), obstacle_sentence(run->arena, obstacle));
	}
	err->errnum = saved;
}

/* QUIRK(clone3): containers' seccomp filters answer it with ENOSYS, so that libc uses clone,
 * whose flags they can see. The third argument is the pidfd on every architecture. */
static long new_process(struct clone_args *args)
{
	long pid = sys_clone3(args);

	if (pid < 0 && errno == ENOSYS && (args->flags & CLONE_INTO_CGROUP) == 0)
		pid = syscall(SYS_clone, args->flags | SIGCHLD, 0, args->pidfd, 0, 0);
	return pid;
}

/* The pipes are made. What it finds in memory is what is there now; in the shared part of
 * the arena, what is there when it looks. */
static int clone_init(struct run *run, uint64_t namespaces, struct error *err)
{
	struct child child = {.umask = run->caller_umask,
			      .root_fd = -1,
			      .proc_fd = -1,
			      .own_proc_fd = -1,
			      .devpts_fd = -1,
			      .context_fd = -1,
			      .ruleset_fd = -1,
			      .terminal_fd = -1};
	struct clone_args args = {.flags = CLONE_PIDFD | namespaces,
				  .pidfd = (uint64_t)(uintptr_t)&run->init_pidfd,
				  .exit_signal = SIGCHLD};

	find_arguments(&child, run->options->original);
	run->spawn->namespaces = namespaces;
	if (run->has_cgroup && run->cgroup.version == CGROUP_V2) {
		args.flags |= CLONE_INTO_CGROUP;
		args.cgroup = (uint64_t)run->cgroup.dir_fd;
	}
	long pid = new_process(&args);
	if (pid == 0)
		enter_child(run, &child);
	run->spawn_refused = pid < 0;
	if (pid < 0)
		explain_clone(run, err);
	run->init_pid = (pid_t)pid;
	keep_ours(run);
	return pid < 0 ? -1 : 0;
}

/* A relay lets go of an end that is of no use any more: its number may be somebody else's. */
static void forget_streams(const struct run *run)
{
	const int relayed[3] = {run->in.to_fd, run->out.from_fd, run->err.from_fd};

	for (int i = 0; i < 3; i++) {
		int fd = run->relaying ? relayed[i] : run->spawn->pipes.stdio[i][i == 0];

		if (fd >= 0)
			close(fd);
	}
}

/* It waits for its handover: nothing was done that its death does not undo. */
void spawn_forget(struct run *run)
{
	int *const fds[] = {&run->fault_fd, &run->go_fd, &run->control_fd, &run->init_pidfd};

	if (run->spawn == NULL)
		return;
	if (run->init_pid > 0) {
		sys_pidfd_send_signal(run->init_pidfd, SIGKILL);
		waitpid(run->init_pid, NULL, 0);
	}
	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++) {
		if (*fds[i] >= 0)
			close(*fds[i]);
		*fds[i] = -1;
	}
	forget_streams(run);
	run->init_pid = 0;
	run->spawn = NULL;
}

void spawn_early(struct run *run)
{
	struct error ignored;
	uint64_t namespaces;

	if (!arena_is_shared(run->arena))
		return;
	run->spawn = arena_alloc(run->arena, sizeof(*run->spawn));
	arm_guess(run->arena, &run->spawn->first, &namespaces);
	run->spawn->slots = arena_alloc(run->arena, run->spawn->first.slots * sizeof(int));
	if (make_pipes(&run->spawn->pipes) != 0)
		run->spawn = NULL; /* too few descriptors: said when they are needed */
	else if (clone_init(run, namespaces, &ignored) != 0)
		spawn_forget(run);
}

/* Its namespaces, its first steps and its memory are those that it would have now. */
static bool early_fits(const struct run *run)
{
	const struct spawn *spawn = run->spawn;

	return spawn != NULL && arena_is_shared(run->arena) &&
	       spawn->namespaces == (run->plan.namespaces & BIRTH_NAMESPACES) &&
	       !(run->has_cgroup && run->cgroup.version == CGROUP_V2) &&
	       steps_begin_with(&run->arm.steps, &spawn->first) > 0;
}

static void fill_handover(struct run *run)
{
	const struct steps *steps = &run->arm.steps;
	const struct pipes *pipes = &run->spawn->pipes;
	struct handover *handover = &run->spawn->handover;

	for (size_t i = 0; i < steps->count; i++)
		for (int fd = 0; steps->items[i].id == STEP_STDIO && fd < 3; fd++)
			steps->items[i].value[fd] = run->terminal.stream[fd]
							    ? STDIO_TERMINAL
							    : (uint64_t)pipes->stdio[fd][fd > 0];
	handover->steps = steps->items;
	handover->count = steps->count;
	handover->from = run->spawn->first.count;
	handover->first_slots = run->spawn->first.slots;
	handover->slots = arena_alloc(run->arena, (steps->slots + 1) * sizeof(int));
	handover->idmap_count = run->arm.idmap_count;
	if (run->profile.time.wall_ms != 0)
		handover->patience_ms =
			run->profile.time.wall_ms + run->profile.time.grace_ms + STUCK_MS;
}

/* Init asks for them when it comes to the first mount that needs one. */
static int send_idmaps(struct run *run, struct error *err)
{
	const struct message message = {.kind = MESSAGE_IDMAPS};
	struct arm *arm = &run->arm;
	int fds[IDMAPS_MAX];

	if (arm->idmap_count == 0)
		return 0;
	if (idmaps_open(arm, err) != 0)
		return -1;
	for (size_t i = 0; i < arm->idmap_count; i++)
		fds[i] = arm->idmaps[i].fd;
	/* EPIPE: it is dead already, and has said why */
	if (child_send(run->control_fd, &message, fds, arm->idmap_count) != 0 && errno != EPIPE)
		return error_sys(err, "cannot hand over the user namespaces of idmapped mounts");
	return 0;
}

/* A process that knows all from its start: for what one that was made earlier cannot be. */
static int clone_late(struct run *run, struct error *err)
{
	if (run_look_before_late(run, err) != 0)
		return -1;
	spawn_forget(run);
	run->spawn = arena_alloc(run->arena, sizeof(*run->spawn));
	if (make_pipes(&run->spawn->pipes) != 0)
		return error_sys(err, "cannot make pipes");
	fill_handover(run);
	return clone_init(run, run->plan.namespaces & BIRTH_NAMESPACES, err);
}

int spawn_init(struct run *run, struct error *err)
{
	unsigned slots = run->arm.steps.slots;

	if (run->host.hard_open_files < NEEDED_FILES + slots)
		return error_set(err, ERROR_SYSTEM,
				 "the limit of open files is %llu, sbox needs %u (ulimit -n)",
				 (unsigned long long)run->host.hard_open_files,
				 NEEDED_FILES + slots);
	add_program_steps(run);
	if (early_fits(run))
		fill_handover(run);
	else if (clone_late(run, err) != 0)
		return -1;
	if (make_nonblocking(&run->spawn->pipes) != 0)
		return error_sys(err, "cannot set up pipes");
	for (int i = 0; i < 3; i++)
		identity_give(&run->arm.identity, run->spawn->pipes.stdio[i][i == 0]);
	spawn_go(run);
	int rc = send_idmaps(run, err);
	idmaps_close(&run->arm);
	/* from here on nobody of the same uid can look into the supervisor */
	prctl(PR_SET_DUMPABLE, 0);
	return rc == 0 ? start_relays(run, &run->spawn->pipes, err) : -1;
}

int spawn_check(struct run *run, struct error *err)
{
	struct pollfd told = {.fd = run->fault_fd, .events = POLLIN};

	/* nearly always it was said long ago */
	if (run->spawn->first.count == 0 || poll(&told, 1, EARLY_WAIT_MS) <= 0 ||
	    read(run->fault_fd, &run->fault, sizeof(run->fault)) != (ssize_t)sizeof(run->fault) ||
	    run->fault.errnum == 0)
		return 0;
	/* what comes later is what the end will tell of */
	if (run->fault.id >= STEP_SOURCE || run->host.looked)
		return 0;
	run->spawn_refused = true;
	return error_set(err, ERROR_MISSING, "set-up step %s failed: %s", step_names[run->fault.id],
			 strerror(run->fault.errnum));
}

void spawn_go(struct run *run)
{
	/* a sandbox that is dead already shows by itself */
	(void)!write(run->go_fd, "g", 1);
}
