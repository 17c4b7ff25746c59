// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "confine.h"
#include "run.h"
#include "supervise.h"
#include "sys.h"

/*
 * The supervisor's one loop. It sleeps until a stream can move, a process
 * reports or ends, a timer fires or a signal comes; nothing blocks. After the program's end
 * everything in the sandbox is killed by the kernel (pid 1 is gone); what the pipes hold then is
 * passed on, and an end of file that a survivor could hold back is never waited for.
 */

enum { EVENTS = 16, UNKILLABLE_WAIT_MS = 5000, NANO = 1000000000 };

void loop_watch(struct loop *loop, enum source source, int fd, uint32_t events)
{
	struct watch *now = &loop->watches[source];
	struct epoll_event event = {.events = events, .data = {.u32 = source}};

	if (fd == now->fd && events == now->events)
		return;
	/* EPOLLERR and EPOLLHUP cannot be masked: an end that waits for nothing is taken out */
	if (now->fd >= 0 && now->events != 0 && (fd != now->fd || events == 0))
		epoll_ctl(loop->epoll_fd, EPOLL_CTL_DEL, now->fd, NULL);
	if (fd >= 0 && events != 0) {
		int op = fd == now->fd && now->events != 0 ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;

		if (epoll_ctl(loop->epoll_fd, op, fd, &event) != 0) {
			loop->run->end.message = "cannot watch one of its own descriptors (out of "
						 "memory, or fs.epoll.max_user_watches)";
			outcome_kill(loop->run, END_SBOX_ERROR, NULL);
		}
	}
	now->fd = fd;
	now->events = fd >= 0 ? events : 0;
}

void loop_unwatch(struct loop *loop, enum source source)
{
	loop_watch(loop, source, loop->watches[source].fd, 0);
	loop->watches[source].fd = -1;
}

void loop_order(const struct run *run, enum message_kind kind, int status)
{
	const struct message message = {.kind = kind, .status = status};

	if (run->control_fd >= 0)
		send(run->control_fd, &message, sizeof(message), MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* SIGTERM now, SIGKILL to pid 1 after the grace. */
static void stop_gently(struct loop *loop, int sig)
{
	loop_order(loop->run, MESSAGE_SIGNAL, sig);
	/* a stopped program does not see the signal before it goes on */
	loop_order(loop->run, MESSAGE_SIGNAL, SIGCONT);
	uint64_t grace = loop->run->profile.time.grace_ms;
	loop_timer(loop->grace_fd, grace > 0 ? grace * 1000000 : 1);
	loop->stopping = true;
}

static void on_wall(struct loop *loop)
{
	loop_unwatch(loop, SOURCE_WALL);
	if (loop->program_gone) {
		/* only a reader who does not read keeps the run open */
		loop->give_up_output = true;
		return;
	}
	outcome_end(loop->run, END_TIMEOUT, 0, "time.wall");
	stop_gently(loop, SIGTERM);
}

static void on_grace(struct loop *loop)
{
	loop_unwatch(loop, SOURCE_GRACE);
	if (loop->dying)
		loop->give_up_wait = true;
	else
		limits_kill(loop->run);
}

static void on_look(struct loop *loop)
{
	uint64_t count;
	struct run *run = loop->run;

	if (read(loop->look_fd, &count, sizeof(count)) < 0 && errno != EAGAIN)
		return;
	bool cpu_before = run->ended;
	uint64_t next = limits_look(run);
	if (run->ended && !cpu_before && run->end.kind == END_CPU && !loop->stopping)
		stop_gently(loop, SIGTERM);
	loop_timer(loop->look_fd, next);
}

void loop_cancel(struct loop *loop, int sig)
{
	if (loop->program_gone) {
		loop->give_up_output = true;
	} else if (loop->stopping) {
		/* asked twice: no more grace */
		limits_kill(loop->run);
	} else {
		outcome_end(loop->run, END_CANCELLED, sig, NULL);
		stop_gently(loop, sig);
	}
}

static void on_signal(struct loop *loop)
{
	struct signalfd_siginfo info;

	while (read(loop->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		int sig = (int)info.ssi_signo;

		if (sig != SIGINT && sig != SIGTERM && sig != SIGHUP && sig != SIGQUIT) {
			if (!terminal_signalled(loop, sig))
				loop_order(loop->run, MESSAGE_SIGNAL, sig);
			continue;
		}
		loop_cancel(loop, sig);
	}
}

/* Its sockets went with it: what the program is connected to is reset, nothing opens. */
static void on_gate(struct loop *loop)
{
	if (loop->run->notify.network_waits && !network_told(loop))
		return;
	if (gate_read(loop->run))
		return;
	loop_unwatch(loop, SOURCE_GATE);
	if (!loop->run->gate.done && !loop->run->options->quiet)
		fputs("sbox: sbox-gate died: this run has no network any more\n", stderr);
}

/* Pid 1 is dead, and with it everything in its pid namespace. */
static void on_dead(struct loop *loop)
{
	struct run *run = loop->run;
	struct rusage usage;

	loop_control(loop);
	loop_fault(loop);
	if (wait4(run->init_pid, NULL, WNOHANG, &usage) != run->init_pid)
		return;
	run->init_pid = -1;
	loop_count_all(loop, &usage);
	loop_unwatch(loop, SOURCE_INIT);
	loop->init_gone = true;
	loop->program_gone = true;
}

static void handle(struct loop *loop, enum source source)
{
	switch (source) {
	case SOURCE_INIT:
		on_dead(loop);
		break;
	case SOURCE_SIGNAL:
		on_signal(loop);
		break;
	case SOURCE_WALL:
		on_wall(loop);
		break;
	case SOURCE_GRACE:
		on_grace(loop);
		break;
	case SOURCE_LOOK:
		on_look(loop);
		break;
	case SOURCE_LATE:
		listener_late(loop);
		break;
	case SOURCE_FAULT:
		loop_fault(loop);
		break;
	case SOURCE_CONTROL:
		loop_control(loop);
		break;
	case SOURCE_GATE:
		on_gate(loop);
		break;
	case SOURCE_VISITOR:
		network_visited(loop);
		break;
	case SOURCE_OVERDUE:
		network_overdue(loop);
		break;
	case SOURCE_IN_FROM:
	case SOURCE_IN_TO:
	case SOURCE_OUT_FROM:
	case SOURCE_OUT_TO:
	case SOURCE_ERR_FROM:
	case SOURCE_ERR_TO:
	case SOURCE_KEYS_FROM:
	case SOURCE_KEYS_TO:
	case SOURCE_SCREEN_FROM:
	case SOURCE_SCREEN_TO:
		break; /* pumped once a turn, see loop_turn() */
	case SOURCE_MAX:
		break;
	}
}

/* Between two events that wait there is time for a piece of the hash. */
void loop_turn(struct loop *loop)
{
	struct epoll_event events[EVENTS] __attribute__((uninitialized));
	int wait = streams_watch(loop);
	bool streams = wait >= 0, hashes = loop->run->hashing != NULL && !loop->hashed;
	struct pollfd fds[LOOP_FDS];
	int ready = listener_poll(loop, fds, hashes ? 0 : wait), count = 0;

	if (ready == 0 && hashes)
		loop->hashed = !script_hash_more(loop->run);
	if (ready > 0 && fds[LOOP_MOUNTS].revents != 0)
		mounts_changed(loop);
	if (ready > 0 && fds[LOOP_EPOLL].revents != 0)
		count = epoll_wait(loop->epoll_fd, events, EVENTS, 0);

	for (int i = 0; i < count; i++) {
		enum source source = (enum source)events[i].data.u32;

		streams |= source >= SOURCE_IN_FROM;
		handle(loop, source);
	}
	if (streams)
		streams_pump(loop->run);
	if (loop->run->terminal.is_on)
		terminal_after_pump(loop);
}

/* The program is gone or killed: nothing is read for it any more, and pid 1 gets its bound. */
static void begin_dying(struct loop *loop)
{
	loop->dying = true;
	streams_stop_input(loop->run);
	loop_unwatch(loop, SOURCE_GRACE);
	loop_watch(loop, SOURCE_GRACE, loop->grace_fd, EPOLLIN);
	loop_timer(loop->grace_fd, (uint64_t)UNKILLABLE_WAIT_MS * 1000000);
	/* an exit that was reported ends the sandbox also when pid 1 lingers */
	place_kill(loop->run);
}

static void live(struct loop *loop)
{
	while (!loop->init_gone && !loop->give_up_wait &&
	       !(loop->program_gone && loop->run->alone)) {
		loop_turn(loop);
		if (loop->run->ready && !loop->mounts_watched)
			mounts_watch(loop);
		if ((loop->program_gone || loop->run->killed) && !loop->dying)
			begin_dying(loop);
	}
	if (!loop->init_gone && !loop->run->alone)
		loop->run->end.leftover = "a process of the sandbox cannot be killed "
					  "(uninterruptible sleep)";
}

static void watch_all(struct loop *loop)
{
	const struct run *run = loop->run;

	loop_watch(loop, SOURCE_INIT, run->init_pidfd, EPOLLIN);
	loop_watch(loop, SOURCE_CONTROL, run->control_fd, EPOLLIN);
	loop_watch(loop, SOURCE_FAULT, run->fault_fd, EPOLLIN);
	loop_watch(loop, SOURCE_GATE, run->gate.fd, EPOLLIN);
	loop_watch(loop, SOURCE_SIGNAL, loop->signal_fd, EPOLLIN);
	loop_watch(loop, SOURCE_WALL, loop->wall_fd, EPOLLIN);
	loop_watch(loop, SOURCE_GRACE, loop->grace_fd, EPOLLIN);
	loop_watch(loop, SOURCE_LOOK, loop->look_fd, EPOLLIN);
	loop_watch(loop, SOURCE_LATE, loop->late_fd, EPOLLIN);
}

/*
 * Whoever lets go of them last takes the sandbox's file systems down, which takes longer than
 * all else that sbox has left to do: so pid 1 does it, beside the record of the end.
 */
static void let_go(struct run *run)
{
	int *const fds[] = {&run->notify.proc_fd, &run->sandbox_root_fd, &run->gate.network_fd};

	if (run->sampling)
		sampler_free(&run->sampler);
	run->sampling = false;
	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++) {
		if (*fds[i] >= 0)
			close(*fds[i]);
		*fds[i] = -1;
	}
	run->judge.root_fd = -1;
}

/* Usage is what the kernel told at the end and the looks saw on the way, whichever is more. */
static void finish_usage(struct loop *loop)
{
	struct record_usage *usage = &loop->run->end.usage;

	usage->wall_ns = clock_ns() - loop->run->start_ns;
	limits_finish(loop->run);
	if (usage->peak_memory_bytes == UNKNOWN || usage->peak_memory_bytes < loop->peak_rss)
		usage->peak_memory_bytes = loop->peak_rss;
}

/* What comes next is the program's doing, in part. */
static bool confine(struct run *run)
{
	struct error err;

	if (confine_supervisor(run, &err) == 0)
		return true;
	run->end.message = arena_strdup(run->arena, err.text);
	outcome_kill(run, END_SBOX_ERROR, NULL);
	return false;
}

void supervise(struct run *run)
{
	struct loop loop;

	run->start_ns = clock_ns();
	run->cpu_before_ns = own_cpu_ns();
	if (loop_open(&loop, run) != 0) {
		outcome_kill(run, END_SBOX_ERROR, NULL);
		waitpid(run->init_pid, NULL, 0);
		return;
	}
	watch_all(&loop);
	loop_timer(loop.wall_fd, run->profile.time.wall_ms * 1000000);
	loop_timer(loop.look_fd, limits_first_look(run));
	/* a visitor and the gate come of it yet: see network_told() */
	if (run->plan.late_network || confine(run))
		spawn_go(run);
	live(&loop);
	limits_look_at_scratch(run);
	let_go(run);
	finish_usage(&loop);
	if (run->watch != NULL)
		watch_finish(run->watch);
	outcome_exited(run);
	streams_flush(&loop);
	terminal_close(&run->terminal);
	loop_close(&loop);
}
