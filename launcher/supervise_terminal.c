// SPDX-License-Identifier: Apache-2.0
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "supervise.h"

/*
 * Job control, both ways. Inside, the program is in a group of its own, in the
 * session of init: it can be stopped, and init tells. Outside, sbox is a job
 * like any other: when the program stops, sbox gives the terminal back and stops
 * itself, with its whole group as a key would have done it; when it goes on, so does
 * the program.
 *
 * A supervisor that is stopped watches no limit. So everything in the sandbox is
 * stopped first, and a watch is kept that nothing in it goes on by itself (a timer that
 * sends SIGCONT does that) and that the clock's limit is seen: then sbox goes on as well.
 */

enum {
	WATCH_FIRST_NS = 100000000,
	WATCH_MOST_NS = 2000000000,
	WATCH_CPU_NS = 50000000, /* the clock of processes has ticks of 10 ms */
};

static uint64_t tree_cpu_ns(struct sampler *sampler)
{
	struct sample sample = {0};

	if (sampler != NULL)
		sampler_walk(sampler, &sample);
	return sample.cpu_ns;
}

static void sleep_ns(uint64_t ns)
{
	const struct timespec time = {.tv_sec = (time_t)(ns / 1000000000),
				      .tv_nsec = (long)(ns % 1000000000)};

	nanosleep(&time, NULL);
}

static void keep_watch(const struct run *run, pid_t sbox) __attribute__((noreturn));

static void keep_watch(const struct run *run, pid_t sbox)
{
	/* the run may lie in memory that sbox sees too: what it will look at is left alone */
	struct sampler copy = run->sampler, *sampler = run->sampling ? &copy : NULL;
	uint64_t wall = run->profile.time.wall_ms * 1000000, pause = WATCH_FIRST_NS;
	uint64_t end = wall != 0 ? run->start_ns + wall : UINT64_MAX, used = tree_cpu_ns(sampler);

	/* it must not outlive sbox: it holds all that sbox does */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != sbox)
		_exit(0);
	setsid();
	while (clock_ns() < end && tree_cpu_ns(sampler) < used + WATCH_CPU_NS) {
		uint64_t left = end - clock_ns();

		sleep_ns(pause < left ? pause : left);
		pause = pause * 2 < WATCH_MOST_NS ? pause * 2 : WATCH_MOST_NS;
	}
	kill(sbox, SIGCONT);
	_exit(0);
}

/* With every signal blocked, so that what stops sbox's group does not stop the watch. */
static pid_t start_watch(const struct run *run)
{
	sigset_t all, before;
	pid_t sbox = getpid();

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	pid_t watch = fork();
	if (watch == 0)
		keep_watch(run, sbox);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return watch;
}

static void end_watch(pid_t watch)
{
	kill(watch, SIGKILL);
	waitpid(watch, NULL, 0);
}

/* Stops here, until somebody lets us go on. False: not stopped, since no shell is there
 * that could (an orphaned group, setpgid(2)). */
static bool stop_here(int sig, bool whole_group)
{
	sigset_t stop, go_on, before;
	const struct timespec now = {0};

	/* making a stop pending discards every SIGCONT that was there before */
	kill(whole_group ? 0 : getpid(), sig);
	sigemptyset(&stop);
	sigaddset(&stop, sig);
	sigprocmask(SIG_UNBLOCK, &stop, &before);
	sigprocmask(SIG_SETMASK, &before, NULL);
	sigemptyset(&go_on);
	sigaddset(&go_on, SIGCONT);
	return sigtimedwait(&go_on, NULL, &now) == SIGCONT;
}

static bool wants_terminal(int sig)
{
	return sig == SIGTTIN || sig == SIGTTOU;
}

static void lose(struct run *run, const struct error *err)
{
	run->end.message = arena_strdup(run->arena, err->text);
	outcome_kill(run, END_SBOX_ERROR, NULL);
}

/* The program gets the terminal if sbox has it; what was shown has to be drawn again. */
static bool go_on(struct loop *loop, bool front)
{
	struct run *run = loop->run;
	struct terminal *terminal = &run->terminal;
	struct error err;
	bool ours = terminal_is_ours(terminal);

	if (!ours || !front) {
		terminal_give_back(terminal);
		loop_order(run, MESSAGE_FOREGROUND, 0);
	} else if (terminal_take(run, &err) != 0) {
		lose(run, &err);
	} else {
		loop_order(run, MESSAGE_FOREGROUND, 1);
	}
	return ours;
}

static void suspend(struct loop *loop, int sig)
{
	struct run *run = loop->run;
	struct terminal *terminal = &run->terminal;
	bool front = terminal->foreground || !terminal->shared || wants_terminal(sig);
	/* SIGSTOP is sent to one process, the others are a terminal's to a group */
	bool whole_group = sig != SIGSTOP && !terminal->asked_from_here;

	terminal->asked_from_here = false;
	/* what the program said before comes before the shell's prompt */
	streams_settle(run);
	terminal_give_back(terminal);
	loop_order(run, MESSAGE_EVERYBODY, SIGSTOP);
	pid_t watch = start_watch(run);
	if (watch < 0) {
		outcome_kill(run, END_SBOX_ERROR, NULL);
		return;
	}
	/* not by SIGSTOP, which stops also where nobody could let us go on */
	bool stopped = stop_here(sig == SIGSTOP ? SIGTSTP : sig, whole_group);
	end_watch(watch);
	bool ours = go_on(loop, front);
	loop_order(run, MESSAGE_EVERYBODY, SIGCONT);
	if (!stopped && !ours && wants_terminal(sig))
		/* outside it would get EIO; inside it would ask for ever */
		loop_cancel(loop, SIGHUP);
}

void terminal_arrived(struct loop *loop, int master_fd)
{
	struct run *run = loop->run;
	struct error err;

	if (terminal_open(run, master_fd, &err) != 0)
		lose(run, &err);
}

/* Not before: a key that stops it in the middle of its set-up would leave init waiting. */
void terminal_begin(struct loop *loop)
{
	struct terminal *terminal = &loop->run->terminal;

	if (terminal->has_begun || terminal->master_fd < 0)
		return;
	terminal->has_begun = true;
	/* The program may have written long before pid 1 told that it was executed; whoever answers
	 * what is shown finds the terminal raw. */
	terminal->screen->paused = false;
	if (terminal->begins_in_front && !loop->program_gone)
		go_on(loop, true);
}

void terminal_stopped(struct loop *loop, int sig)
{
	const struct terminal *terminal = &loop->run->terminal;

	if (terminal->master_fd < 0 || loop->stopping || loop->program_gone)
		return;
	/* it was executed, whether the pipe has told of that yet or not */
	terminal_begin(loop);
	if (wants_terminal(sig) && !terminal->foreground && terminal_is_ours(terminal)) {
		go_on(loop, true);
		loop_order(loop->run, MESSAGE_SIGNAL, SIGCONT);
	} else {
		suspend(loop, sig);
	}
}

bool terminal_signalled(struct loop *loop, int sig)
{
	struct run *run = loop->run;
	struct terminal *terminal = &run->terminal;

	if (!terminal->is_on)
		return false;
	if (sig == SIGWINCH) {
		terminal_resize(run);
		return true;
	}
	if (sig == SIGTSTP) {
		/* the program first: it may want to leave the screen in order, or to refuse */
		terminal->asked_from_here = true;
		if (loop->program_gone)
			stop_here(sig, false);
		else
			loop_order(run, MESSAGE_SIGNAL, sig);
		return true;
	}
	if (sig == SIGCONT && terminal->has_begun && !loop->program_gone) {
		terminal->asked_from_here = false;
		go_on(loop, terminal->foreground || !terminal->shared);
	}
	return false;
}

void terminal_after_pump(struct loop *loop)
{
	const struct terminal *terminal = &loop->run->terminal;

	if (terminal->master_fd < 0 || loop->program_gone || loop->stopping)
		return;
	if (terminal->keys->source_eof || terminal->screen->sink_gone)
		loop_cancel(loop, SIGHUP); /* the caller's terminal is gone */
	else if (terminal->foreground && terminal->keys->paused)
		go_on(loop, true); /* job control has given it to somebody else */
}
