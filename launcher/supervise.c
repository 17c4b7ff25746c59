// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run.h"
#include "supervise.h"
#include "sys.h"

/*
 * The supervisor's one loop. It sleeps in epoll until a stream can move, a
 * process reports or ends, a timer fires or a signal comes; nothing in it
 * blocks. After the program's end everything in the sandbox is killed by the
 * kernel (pid 1 is gone); what the pipes hold then is passed on, and an end of file
 * that a survivor could hold back is never waited for.
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
		bool change = fd == now->fd && now->events != 0;

		epoll_ctl(loop->epoll_fd, change ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &event);
	}
	now->fd = fd;
	now->events = fd >= 0 ? events : 0;
}

void loop_unwatch(struct loop *loop, enum source source)
{
	loop_watch(loop, source, loop->watches[source].fd, 0);
	loop->watches[source].fd = -1;
}

/* True when one of its ends is ready without epoll's word (regular files). */
static bool watch_relay(struct loop *loop, struct relay *relay, enum source from, enum source to)
{
	uint32_t from_events = relay_from_events(relay), to_events = relay_to_events(relay);

	loop_watch(loop, from, relay->from_fd, relay->from_pollable ? from_events : 0);
	loop_watch(loop, to, relay->to_fd, relay->to_pollable ? to_events : 0);
	return (from_events != 0 && !relay->from_pollable) ||
	       (to_events != 0 && !relay->to_pollable);
}

static uint64_t output_quota(const struct run *run)
{
	uint64_t limit = run->profile.process.output_bytes;
	uint64_t used = run->out.capture.bytes + run->err.capture.bytes;

	if (limit == 0)
		return UINT64_MAX;
	/* one byte beyond the limit tells that there is more */
	return used > limit ? 0 : limit - used + 1;
}

static void pump_output(struct run *run, struct relay *relay)
{
	uint64_t limit = run->profile.process.output_bytes;

	relay_pump(relay, output_quota(run));
	if (limit != 0 && run->out.capture.bytes + run->err.capture.bytes > limit)
		outcome_kill(run, END_OUTPUT, "process.output");
}

static bool watch_streams(struct loop *loop)
{
	struct run *run = loop->run;
	bool ready = watch_relay(loop, &run->in, SOURCE_IN_FROM, SOURCE_IN_TO);

	ready |= watch_relay(loop, &run->out, SOURCE_OUT_FROM, SOURCE_OUT_TO);
	return watch_relay(loop, &run->err, SOURCE_ERR_FROM, SOURCE_ERR_TO) || ready;
}

static void send_signal(const struct run *run, int sig)
{
	const struct message message = {.kind = MESSAGE_SIGNAL, .status = sig};

	if (run->control_fd >= 0)
		send(run->control_fd, &message, sizeof(message), MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* SIGTERM now, SIGKILL to pid 1 after the grace. */
static void stop_gently(struct loop *loop, int sig)
{
	send_signal(loop->run, sig);
	/* a stopped program does not see the signal before it goes on */
	send_signal(loop->run, SIGCONT);
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

static void on_signal(struct loop *loop)
{
	struct signalfd_siginfo info;

	while (read(loop->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		int sig = (int)info.ssi_signo;

		if (sig != SIGINT && sig != SIGTERM && sig != SIGHUP && sig != SIGQUIT) {
			send_signal(loop->run, sig);
			continue;
		}
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
}

static void on_listener(struct loop *loop)
{
	struct run *run = loop->run;
	int64_t wait = notify_handle(&run->notify);

	if (wait < 0) {
		loop_unwatch(loop, SOURCE_LISTENER);
		close(run->notify.fd);
		run->notify.fd = -1;
	} else if (wait > 0) {
		loop_unwatch(loop, SOURCE_LISTENER);
		loop_timer(loop->late_fd, (uint64_t)wait);
	}
}

static void on_late(struct loop *loop)
{
	uint64_t count;

	if (read(loop->late_fd, &count, sizeof(count)) < 0)
		return;
	if (loop->run->notify.fd >= 0)
		loop_watch(loop, SOURCE_LISTENER, loop->run->notify.fd, EPOLLIN);
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
		on_late(loop);
		break;
	case SOURCE_FAULT:
		loop_fault(loop);
		break;
	case SOURCE_CONTROL:
		loop_control(loop);
		break;
	case SOURCE_LISTENER:
		on_listener(loop);
		break;
	case SOURCE_MOUNTS:
		mounts_changed(loop);
		break;
	case SOURCE_IN_FROM:
	case SOURCE_IN_TO:
	case SOURCE_OUT_FROM:
	case SOURCE_OUT_TO:
	case SOURCE_ERR_FROM:
	case SOURCE_ERR_TO:
		break; /* pumped once a turn, see turn() */
	case SOURCE_MAX:
		break;
	}
}

static void pump_all(struct run *run)
{
	relay_pump(&run->in, UINT64_MAX);
	pump_output(run, &run->out);
	pump_output(run, &run->err);
}

static void turn(struct loop *loop, int timeout_ms)
{
	struct epoll_event events[EVENTS];
	int count = epoll_wait(loop->epoll_fd, events, EVENTS, timeout_ms);
	bool streams = timeout_ms == 0;

	for (int i = 0; i < count; i++) {
		enum source source = (enum source)events[i].data.u32;

		streams |= source >= SOURCE_IN_FROM;
		handle(loop, source);
	}
	if (streams)
		pump_all(loop->run);
}

static void stop_input(struct relay *relay)
{
	if (relay->to_fd > STDERR_FILENO)
		close(relay->to_fd);
	relay->from_fd = relay->to_fd = -1;
	relay->source_eof = relay->sink_gone = true;
	relay->start = relay->len = 0;
}

/* The program is gone: nothing is read for it any more, and pid 1 gets its bound. */
static void begin_dying(struct loop *loop)
{
	loop->dying = true;
	stop_input(&loop->run->in);
	loop_unwatch(loop, SOURCE_GRACE);
	loop_watch(loop, SOURCE_GRACE, loop->grace_fd, EPOLLIN);
	loop_timer(loop->grace_fd, (uint64_t)UNKILLABLE_WAIT_MS * 1000000);
	/* an exit that was reported ends the sandbox also when pid 1 lingers */
	sys_pidfd_send_signal(loop->run->init_pidfd, SIGKILL);
}

static void live(struct loop *loop)
{
	while (!loop->init_gone && !loop->give_up_wait &&
	       !(loop->program_gone && loop->run->alone)) {
		bool busy = watch_streams(loop);

		turn(loop, busy ? 0 : -1);
		if (loop->run->ready && !loop->mounts_watched)
			mounts_watch(loop);
		if (loop->program_gone && !loop->dying)
			begin_dying(loop);
	}
	if (!loop->init_gone && !loop->run->alone)
		loop->run->end.leftover = "a process of the sandbox cannot be killed "
					  "(uninterruptible sleep)";
}

/* With a wall clock the reader's time is bounded by what is left of it, or the grace. */
static void bound_flush(struct loop *loop)
{
	const struct profile *profile = &loop->run->profile;
	uint64_t now = clock_ns(), grace = profile->time.grace_ms * 1000000 + 1;

	if (profile->time.wall_ms == 0)
		return;
	uint64_t end = loop->run->start_ns + profile->time.wall_ms * 1000000;
	loop_unwatch(loop, SOURCE_WALL);
	loop_timer(loop->wall_fd, end > now + grace ? end - now : grace);
	loop_watch(loop, SOURCE_WALL, loop->wall_fd, EPOLLIN);
}

/* What the pipes hold is passed on; a reader who does not read is waited for
 * until the wall clock or a signal ends that. */
static void flush(struct loop *loop)
{
	struct run *run = loop->run;

	relay_drain(&run->out, output_quota(run));
	pump_output(run, &run->out);
	relay_drain(&run->err, output_quota(run));
	pump_output(run, &run->err);
	if (relay_done(&run->out) && relay_done(&run->err))
		return;
	for (enum source source = SOURCE_LOOK; source < SOURCE_IN_FROM; source++)
		loop_unwatch(loop, source);
	bound_flush(loop);
	while (!loop->give_up_output && !(relay_done(&run->out) && relay_done(&run->err))) {
		bool busy = watch_streams(loop);

		turn(loop, busy ? 0 : -1);
	}
}

static void watch_all(struct loop *loop)
{
	const struct run *run = loop->run;

	loop_watch(loop, SOURCE_INIT, run->init_pidfd, EPOLLIN);
	loop_watch(loop, SOURCE_CONTROL, run->control_fd, EPOLLIN);
	loop_watch(loop, SOURCE_FAULT, run->fault_fd, EPOLLIN);
	loop_watch(loop, SOURCE_SIGNAL, loop->signal_fd, EPOLLIN);
	loop_watch(loop, SOURCE_WALL, loop->wall_fd, EPOLLIN);
	loop_watch(loop, SOURCE_GRACE, loop->grace_fd, EPOLLIN);
	loop_watch(loop, SOURCE_LOOK, loop->look_fd, EPOLLIN);
	loop_watch(loop, SOURCE_LATE, loop->late_fd, EPOLLIN);
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
	spawn_go(run);
	live(&loop);
	finish_usage(&loop);
	outcome_exited(run);
	flush(&loop);
	loop_close(&loop);
}
