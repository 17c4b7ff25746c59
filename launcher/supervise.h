// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_SUPERVISE_H
#define SBOX_SUPERVISE_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

#include "run.h"

/* What the supervisor's loop waits for, in the order in which it is served. */
enum source {
	SOURCE_CONTROL,
	SOURCE_FAULT,
	SOURCE_INIT,
	SOURCE_SIGNAL,
	SOURCE_WALL,
	SOURCE_LOOK, /* from here to IN_FROM: only while something lives in the sandbox */
	SOURCE_GRACE,
	SOURCE_LATE,
	SOURCE_GATE,
	SOURCE_VISITOR,
	SOURCE_OVERDUE,
	SOURCE_IN_FROM,
	SOURCE_IN_TO,
	SOURCE_OUT_FROM,
	SOURCE_OUT_TO,
	SOURCE_ERR_FROM,
	SOURCE_ERR_TO,
	SOURCE_KEYS_FROM, /* of a terminal that is not stdin, not stdout and not stderr */
	SOURCE_KEYS_TO,
	SOURCE_SCREEN_FROM,
	SOURCE_SCREEN_TO,
	SOURCE_MAX
};

struct loop {
	struct run *run;
	int epoll_fd, signal_fd, wall_fd, grace_fd, look_fd, late_fd, mounts_fd, overdue_fd;
	int listener_fd; /* beside epoll; -1: none, or it is left alone for a while */
	struct watch {
		int fd;
		uint32_t events;
	} watches[SOURCE_MAX];
	size_t mount_count; /* lines of the sandbox's mountinfo when it was ready */
	bool mounts_watched;
	bool stopping;     /* a signal was sent, the grace runs */
	bool program_gone; /* its end was reported, or pid 1 is dead */
	bool dying;        /* waiting for pid 1 to be gone */
	bool init_gone;
	bool hashed; /* all of the program is read */
	bool give_up_wait, give_up_output;
	uint64_t peak_rss;
	uint64_t init_user_ns, init_sys_ns; /* pid 1's own, as it reported it */
};

int loop_open(struct loop *loop, struct run *run);
void loop_close(struct loop *loop);
void loop_watch(struct loop *loop, enum source source, int fd, uint32_t events);

/* Once, after so many nanoseconds; 0: never. */
void loop_timer(int fd, uint64_t ns);
void loop_unwatch(struct loop *loop, enum source source);

/* supervise.c */
void loop_turn(struct loop *loop);
void loop_order(const struct run *run, enum message_kind kind, int status);
/* A signal to sbox, or the terminal's hangup, ends the run. */
void loop_cancel(struct loop *loop, int sig);

/* supervise_listener.c: waits as poll(2) does, and answers the calls that come meanwhile. */
enum { LOOP_EPOLL, LOOP_LISTENER, LOOP_MOUNTS, LOOP_FDS };
int listener_poll(struct loop *loop, struct pollfd fds[LOOP_FDS], int timeout);
/* The time is over for which answers were put off. */
void listener_late(struct loop *loop);

/* supervise_streams.c: what to wait for (and how many milliseconds at most before the next
 * streams_pump(); -1: for events alone), and moving it. */
int streams_watch(struct loop *loop);
void streams_pump(struct run *run);
/* What the program has said to its terminal is shown, as far as that takes no time. */
void streams_settle(struct run *run);
void streams_stop_input(struct run *run);
/* What the pipes hold is passed on; a reader who does not read is waited for until the
 * wall clock or a signal ends that. */
void streams_flush(struct loop *loop);

/* supervise_terminal.c: the caller's job control and the program's. */
void terminal_arrived(struct loop *loop, int master_fd);
/* The program was executed. */
void terminal_begin(struct loop *loop);
void terminal_stopped(struct loop *loop, int sig);
/* True: nothing of the signal is for the program. */
bool terminal_signalled(struct loop *loop, int sig);
void terminal_after_pump(struct loop *loop);

/* supervise_messages.c: everything that is waiting on the control socket and the fault pipe. */
void loop_control(struct loop *loop);
void loop_fault(struct loop *loop);
/* Pid 1's usage at its death: that of everything in the sandbox. */
struct rusage;
void loop_count_all(struct loop *loop, const struct rusage *usage);

/* supervise_network.c: calls are held for want of a network; what the visitor and, until they
 * go on, the gate have to tell (true: they do); and nothing came of it in time. */
void network_wanted(struct loop *loop);
void network_visited(struct loop *loop);
bool network_told(struct loop *loop);
void network_overdue(struct loop *loop);

/* supervise_mounts.c: nobody inside can unmount, but the host detaches a mount
 * from every namespace when it replaces or removes the name under it. */
void mounts_watch(struct loop *loop);
void mounts_changed(struct loop *loop);

#endif
