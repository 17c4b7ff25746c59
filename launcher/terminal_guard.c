// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run.h"
#include "sys.h"
#include "terminal.h"

/*
 * A killed sbox cannot put the caller's terminal back. The guard can: a process
 * that holds nothing but the terminal and the reading end of a pipe. End of file
 * there means that sbox is gone, however that came. It is started when a terminal
 * is made raw for the first time, and in a session of its own: no key, no shell and no
 * signal to sbox's group reaches it.
 *
 * It only undoes what sbox did. A terminal that is not in the mode that sbox gave it
 * belongs to somebody else by now, such as the shell that was told of sbox's end.
 */

struct modes {
	struct termios saved, raw;
};

static void guard(int terminal_fd, int pipe_fd) __attribute__((noreturn));

static void guard(int terminal_fd, int pipe_fd)
{
	struct modes modes;
	struct termios now;
	bool told = false;
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	setsid();
	if (dup2(terminal_fd, 0) != 0 || dup2(pipe_fd, 1) != 1 || sys_close_range(2, ~0U, 0) != 0)
		_exit(125);
	while (read(1, &modes, sizeof(modes)) == (ssize_t)sizeof(modes))
		told = true;
	if (told && tcgetattr(0, &now) == 0 && terminal_same_modes(&now, &modes.raw))
		tcsetattr(0, TCSANOW, &modes.saved);
	_exit(0);
}

/* Until it has its own session, whoever kills sbox's group kills the guard as well. Then it closes
 * all that it does not need, the only other end of this pipe too. */
static void wait_for_session(const int ends[2])
{
	char byte;

	close(ends[1]);
	while (read(ends[0], &byte, 1) < 0 && errno == EINTR)
		;
	close(ends[0]);
}

int terminal_guard_start(struct terminal *terminal, struct error *err)
{
	int ends[2], ready[2];

	if (pipe2(ends, O_CLOEXEC) != 0)
		return error_sys(err, "cannot make a pipe");
	if (pipe2(ready, O_CLOEXEC) != 0) {
		close(ends[0]);
		close(ends[1]);
		return error_sys(err, "cannot make a pipe");
	}
	pid_t pid = fork();
	if (pid == 0) {
		close(ends[1]);
		guard(terminal->fd, ends[0]);
	}
	wait_for_session(ready);
	close(ends[0]);
	if (pid < 0) {
		close(ends[1]);
		return error_sys(err, "cannot start the process that puts the terminal back");
	}
	terminal->guard_pid = pid;
	terminal->guard_fd = ends[1];
	return 0;
}

void terminal_guard_tell(const struct terminal *terminal)
{
	const struct modes modes = {.saved = terminal->saved, .raw = terminal->raw};
	/* shorter than PIPE_BUF, and it reads at once; a dead guard shows at the end */
	ssize_t done = write(terminal->guard_fd, &modes, sizeof(modes));

	(void)done;
}

void terminal_guard_end(struct terminal *terminal)
{
	if (terminal->guard_pid <= 0)
		return;
	close(terminal->guard_fd);
	waitpid(terminal->guard_pid, NULL, 0);
	terminal->guard_pid = 0;
	terminal->guard_fd = -1;
}
