// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_TERMINAL_H
#define SBOX_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <termios.h>

#include "error.h"
#include "relay.h"
#include "step.h"

/*
 * The program's own terminal. Where one of sbox's standard streams is the caller's
 * terminal, the program gets a pty in its place; the caller's is never in the sandbox.
 * Typed bytes and output are relayed, and nothing in them means anything to sbox.
 *
 * While the program has the foreground the caller's terminal is raw: every key is the
 * program's, a Ctrl-C too, of which the program's terminal makes a signal. Whenever it is
 * not (stopped, in the background, ended) the caller's terminal is as it was.
 *
 *   sole     nobody else of the caller's job uses the terminal: the program begins in
 *            the foreground
 *   shared   stdin or stdout is a pipe ("sbox x | less"): the program begins in the
 *            background of its terminal, and is given the foreground when it asks for
 *            it, by reading or by changing modes (SIGTTIN, SIGTTOU stop it then)
 */
struct terminal {
	bool is_on;     /* the program gets one */
	bool stream[3]; /* which of stdin, stdout, stderr it is */
	bool shared, begins_in_front;
	bool has_begun;       /* the program runs */
	bool foreground;      /* the program has it, and the caller's is raw */
	bool asked_from_here; /* a stop was asked for by a signal to sbox, not by a key */
	int fd;               /* the caller's: one of 0, 1, 2 */
	int master_fd;        /* -1 until init has sent it */
	struct terminal_setup setup;
	struct termios saved, raw; /* of the caller's, while it is raw */
	/* Relays for what is no standard stream: /dev/tty inside. Closed when not needed. */
	struct relay own_keys, own_screen;
	struct relay *keys, *screen;
	pid_t guard_pid;
	int guard_fd;
	struct record_size *sizes; /* changes of it */
	size_t size_count;
};

/* One change of size is one entry; a window that is dragged makes many. */
enum { TERMINAL_SIZES_MAX = 512 };

struct run;

/* terminal.c */

/* Which streams are a terminal. Only looks. */
void terminal_find(struct run *run);
/* Whether the program gets one, with a profile; tells arm. */
void terminal_decide(struct run *run);
/* The master end has come: relays begin. */
int terminal_open(struct run *run, int master_fd, struct error *err);
/* Whether the caller's job has its terminal, or nobody's job control is about it. */
bool terminal_is_ours(const struct terminal *terminal);
/* Makes the caller's terminal raw and lets keys through; -1: it is not to be had. */
int terminal_take(struct run *run, struct error *err);
/* As it was, when it is still as we made it; keys are the caller's again. */
void terminal_give_back(struct terminal *terminal);
/* The program's gets the size of the caller's, and with it a SIGWINCH when that is new. */
void terminal_resize(struct run *run);
/* Nobody reads keys any more: they are the caller's again, output stays as it is. */
void terminal_release_keys(struct terminal *terminal);
/* Gives back for good. */
void terminal_close(struct terminal *terminal);
/* Pure: modes of a terminal that passes everything through. Shared: output is left as it
 * is, which others in the pipeline rely on. */
void terminal_make_raw(struct termios *modes, bool shared);
/* Pure: whether the modes are those that we made. */
bool terminal_same_modes(const struct termios *one, const struct termios *other);

/* terminal_guard.c: a process that puts the terminal back should sbox be killed. */
int terminal_guard_start(struct terminal *terminal, struct error *err);
void terminal_guard_tell(const struct terminal *terminal);
void terminal_guard_end(struct terminal *terminal);

#endif
