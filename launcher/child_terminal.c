// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "child.h"

/*
 * The program's terminal is made inside, by the user that the program is: so it
 * is the program's own, has a name in the sandbox's /dev/pts, and is in no other
 * tree. The other end goes to the supervisor and nowhere else.
 *
 * Init leads the session and keeps the terminal, to say which group is in the
 * foreground; the supervisor cannot, it is of another session (tiocspgrp()).
 */

static int send_master(const struct child *child, int master)
{
	const struct message message = {.kind = MESSAGE_TERMINAL};

	return child_send(child->control_fd, &message, &master, 1);
}

int child_terminal(struct child *child, const struct step *step)
{
	int unlocked = 0;
	int master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);

	if (master < 0)
		return 1;
	if (ioctl(master, TIOCSPTLCK, &unlocked) != 0)
		return 2;
	/* not by its name: that would be another instance's, if one was mounted over it */
	int terminal = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (terminal < 0)
		return 3;
	if (tcsetattr(terminal, TCSANOW, &step->terminal->modes) != 0)
		return 4;
	if (ioctl(terminal, TIOCSWINSZ, &step->terminal->size) != 0)
		return 5;
	if (setsid() < 0)
		return 6;
	if (ioctl(terminal, TIOCSCTTY, 0) != 0)
		return 7;
	if (send_master(child, master) != 0)
		return 8;
	close(master);
	child->terminal_fd = terminal;
	child->own_group = getpid();
	return 0;
}

/* Init has SIGTTOU blocked: from the background too it may say who is in the foreground. */
void child_foreground(struct child *child, pid_t program, bool give)
{
	pid_t now = tcgetpgrp(child->terminal_fd);

	if (!give) {
		if (now != child->own_group && tcsetpgrp(child->terminal_fd, child->own_group) == 0)
			child->last_group = now;
		return;
	}
	if (now == child->own_group) {
		now = child->last_group > 1 ? child->last_group : program;
		/* a group that is gone by now cannot have it */
		if (tcsetpgrp(child->terminal_fd, now) != 0) {
			now = program;
			tcsetpgrp(child->terminal_fd, now);
		}
	}
	/* what was shown may be gone: to be drawn again */
	if (now > 1)
		kill(-now, SIGWINCH);
}
