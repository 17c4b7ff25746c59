// SPDX-License-Identifier: Apache-2.0
#include "terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "run.h"

static bool is_pipe(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode));
}

static bool same_device(int one, int other)
{
	struct stat a, b;

	return fstat(one, &a) == 0 && fstat(other, &b) == 0 && a.st_rdev == b.st_rdev &&
	       a.st_dev == b.st_dev;
}

void terminal_find(struct run *run)
{
	struct terminal *terminal = &run->terminal;

	terminal->fd = terminal->master_fd = terminal->guard_fd = -1;
	relay_none(&terminal->own_keys);
	relay_none(&terminal->own_screen);
	terminal->keys = &terminal->own_keys;
	terminal->screen = &terminal->own_screen;
	for (int fd = 0; fd < 3; fd++) {
		if (!isatty(fd))
			continue;
		/* a second terminal stays a pipe inside: one program has one */
		terminal->stream[fd] = terminal->fd < 0 || same_device(terminal->fd, fd);
		if (terminal->fd < 0)
			terminal->fd = fd;
	}
}

bool terminal_is_ours(const struct terminal *terminal)
{
	pid_t group = tcgetpgrp(terminal->fd);

	/* of another session, or none: whoever gave it to us does no job control with us */
	return group < 0 ? errno == ENOTTY : group == getpgrp();
}

void terminal_decide(struct run *run)
{
	struct terminal *terminal = &run->terminal;

	if (terminal->fd < 0 || run->profile.process.tty == TTY_NO || run->options->json ||
	    run->plan.keeper || tcgetattr(terminal->fd, &terminal->setup.modes) != 0) {
		memset(terminal->stream, 0, sizeof(terminal->stream));
		return;
	}
	terminal->is_on = true;
	ioctl(terminal->fd, TIOCGWINSZ, &terminal->setup.size);
	terminal->shared = is_pipe(STDIN_FILENO) || is_pipe(STDOUT_FILENO);
	terminal->begins_in_front = !terminal->shared && terminal_is_ours(terminal);
	run->arm.terminal = &terminal->setup;
	run->arm.foreground = terminal->begins_in_front;
}

/* ---- modes ---- */

void terminal_make_raw(struct termios *modes, bool shared)
{
	modes->c_iflag &= ~(tcflag_t)(IGNBRK | BRKINT | PARMRK | ISTRIP | INLCR | IGNCR | ICRNL |
				      IXON | IXOFF | IXANY | INPCK | IUCLC | IMAXBEL);
	if (!shared)
		modes->c_oflag &= ~(tcflag_t)OPOST;
	modes->c_lflag &= ~(tcflag_t)(ECHO | ECHONL | ICANON | ISIG | IEXTEN);
	modes->c_cflag = (modes->c_cflag & ~(tcflag_t)(CSIZE | PARENB)) | CS8;
	modes->c_cc[VMIN] = 1;
	modes->c_cc[VTIME] = 0;
}

bool terminal_same_modes(const struct termios *one, const struct termios *other)
{
	return one->c_iflag == other->c_iflag && one->c_oflag == other->c_oflag &&
	       one->c_lflag == other->c_lflag && one->c_cc[VMIN] == other->c_cc[VMIN] &&
	       one->c_cc[VTIME] == other->c_cc[VTIME];
}

static void set_modes(const struct terminal *terminal, const struct termios *modes)
{
	sigset_t stop, before;

	/* also when the foreground was taken from us a moment ago */
	sigemptyset(&stop);
	sigaddset(&stop, SIGTTOU);
	sigprocmask(SIG_BLOCK, &stop, &before);
	tcsetattr(terminal->fd, TCSANOW, modes);
	sigprocmask(SIG_SETMASK, &before, NULL);
}

void terminal_resize(struct run *run)
{
	struct terminal *terminal = &run->terminal;
	struct winsize size, *known = &terminal->setup.size;

	if (terminal->master_fd < 0 || ioctl(terminal->fd, TIOCGWINSZ, &size) != 0 ||
	    memcmp(&size, known, sizeof(size)) == 0)
		return;
	*known = size;
	ioctl(terminal->master_fd, TIOCSWINSZ, &size);
	if (terminal->size_count < TERMINAL_SIZES_MAX) {
		struct record_size *entry =
			ARENA_PUSH(run->arena, terminal->sizes, terminal->size_count);

		entry->at_us = (clock_ns() - run->start_ns) / 1000;
		entry->rows = size.ws_row;
		entry->columns = size.ws_col;
	}
}

/* ---- streams ---- */

/* For reading and writing, without O_NONBLOCK on what the caller shares with others. */
static int open_again(int fd)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	int own = open(path, O_RDWR | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (own >= 0)
		return own;
	/* somebody else's, as after su: whoever runs on it may open it by this name */
	own = open("/dev/tty", O_RDWR | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	unsigned wanted, got;
	if (own >= 0 && ioctl(fd, TIOCGDEV, &wanted) == 0 && ioctl(own, TIOCGDEV, &got) == 0 &&
	    wanted == got)
		return own;
	if (own >= 0)
		close(own);
	return fcntl(fd, F_DUPFD_CLOEXEC, 3);
}

static int copy_of(int fd, struct error *err)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);

	return copy < 0 ? error_sys(err, "cannot use the terminal") : copy;
}

static void time_stream(struct run *run, struct capture *capture, unsigned stream)
{
	if (run->profile.audit.capture_bytes == 0)
		return;
	capture->timing = &run->timing;
	capture->stream = stream;
}

/* All that is written to the terminal is stdout's where stdout is one, else stderr's. */
static int open_screen(struct run *run, struct error *err)
{
	struct terminal *terminal = &run->terminal;
	unsigned stream = terminal->stream[1] ? 1 : 2;
	bool standard = terminal->stream[stream];
	uint64_t keep = standard ? run->profile.audit.capture_bytes : 0;
	int to_fd = standard ? (int)stream : open_again(terminal->fd);
	int from_fd = copy_of(terminal->master_fd, err);

	if (from_fd < 0)
		return -1;
	terminal->screen = !standard ? &terminal->own_screen : stream == 1 ? &run->out : &run->err;
	if (relay_init(terminal->screen, from_fd, to_fd, false, keep, err) != 0)
		return -1;
	relay_narrow(terminal->screen);
	terminal->screen->paused = true;
	if (standard)
		time_stream(run, &terminal->screen->capture, stream);
	else
		terminal->screen->into = &run->err.capture;
	return 0;
}

/* What is typed is counted; kept, or hashed, only when the profile says so: it may be secret. */
static int open_keys(struct run *run, struct error *err)
{
	struct terminal *terminal = &run->terminal;
	bool standard = terminal->stream[0];
	bool keeps = standard && run->profile.audit.keep_stdin == STDIN_KEEP;
	/* its own description, so that a read never waits for what another reader took */
	int from_fd = open_again(terminal->fd);
	int to_fd = copy_of(terminal->master_fd, err);

	if (to_fd < 0)
		return -1;
	terminal->keys = standard ? &run->in : &terminal->own_keys;
	if (relay_init(terminal->keys, from_fd, to_fd, false,
		       keeps ? run->profile.audit.capture_bytes : 0, err) != 0)
		return -1;
	relay_narrow(terminal->keys);
	terminal->keys->count_delivered = true;
	terminal->keys->from_terminal = terminal->keys->paused = true;
	if (keeps)
		time_stream(run, &terminal->keys->capture, 0);
	return 0;
}

int terminal_open(struct run *run, int master_fd, struct error *err)
{
	run->terminal.master_fd = master_fd;
	return open_screen(run, err) != 0 || open_keys(run, err) != 0 ? -1 : 0;
}

/*
 * What sbox found when it began in the background were the modes of whoever had the
 * foreground, a shell's line editor for one. The program's own are those that the
 * terminal is first handed over with, unless the program has set others meanwhile.
 */
static void hand_over_modes(struct terminal *terminal, const struct termios *first)
{
	struct termios inside;

	if (tcgetattr(terminal->master_fd, &inside) == 0 &&
	    terminal_same_modes(&inside, &terminal->setup.modes))
		tcsetattr(terminal->master_fd, TCSANOW, first);
}

int terminal_take(struct run *run, struct error *err)
{
	struct terminal *terminal = &run->terminal;
	bool first = terminal->guard_pid == 0;
	struct termios now;

	if (first && terminal_guard_start(terminal, err) != 0)
		return -1;
	if (tcgetattr(terminal->fd, &now) != 0)
		return error_sys(err, "cannot read the terminal's modes");
	if (first && !terminal->begins_in_front)
		hand_over_modes(terminal, &now);
	if (!terminal->foreground || !terminal_same_modes(&now, &terminal->raw)) {
		terminal->saved = terminal->raw = now;
		terminal_make_raw(&terminal->raw, terminal->shared);
		terminal_guard_tell(terminal);
		set_modes(terminal, &terminal->raw);
	}
	terminal->foreground = true;
	terminal->keys->paused = false;
	terminal_resize(run);
	return 0;
}

void terminal_give_back(struct terminal *terminal)
{
	struct termios now;

	if (!terminal->foreground)
		return;
	terminal->foreground = false;
	terminal->keys->paused = true;
	if (tcgetattr(terminal->fd, &now) == 0 && terminal_same_modes(&now, &terminal->raw))
		set_modes(terminal, &terminal->saved);
}

void terminal_release_keys(struct terminal *terminal)
{
	tcflag_t output = terminal->raw.c_oflag;

	if (!terminal->foreground)
		return;
	terminal->raw = terminal->saved;
	terminal->raw.c_oflag = output;
	terminal_guard_tell(terminal);
	set_modes(terminal, &terminal->raw);
}

void terminal_close(struct terminal *terminal)
{
	terminal_give_back(terminal);
	terminal_guard_end(terminal);
	if (terminal->master_fd >= 0)
		close(terminal->master_fd);
	terminal->master_fd = -1;
}
