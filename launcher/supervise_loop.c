// SPDX-License-Identifier: Apache-2.0
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "supervise.h"

enum { NS_A_SECOND = 1000000000 };

/* Signals that are passed on to the program; without a terminal SIGTSTP and the like act
 * on sbox itself. */
static void forwarded(sigset_t *set)
{
	static const int signals[] = {SIGINT,  SIGTERM, SIGHUP,   SIGQUIT,
				      SIGUSR1, SIGUSR2, SIGWINCH, SIGCONT};

	sigemptyset(set);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaddset(set, signals[i]);
}

static int new_timer(void)
{
	return timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
}

int loop_open(struct loop *loop, struct run *run)
{
	sigset_t signals;

	memset(loop, 0, sizeof(*loop));
	loop->run = run;
	loop->mounts_fd = loop->overdue_fd = loop->listener_fd = -1;
	for (int i = 0; i < SOURCE_MAX; i++)
		loop->watches[i].fd = -1;
	forwarded(&signals);
	if (run->terminal.is_on) {
		sigaddset(&signals, SIGTSTP);
		sigprocmask(SIG_BLOCK, &signals, NULL);
	}
	loop->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	loop->signal_fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
	loop->wall_fd = new_timer();
	loop->grace_fd = new_timer();
	loop->look_fd = new_timer();
	loop->late_fd = new_timer();
	if (loop->epoll_fd >= 0 && loop->signal_fd >= 0 && loop->wall_fd >= 0 &&
	    loop->grace_fd >= 0 && loop->look_fd >= 0 && loop->late_fd >= 0)
		return 0;
	loop_close(loop);
	return -1;
}

void loop_close(struct loop *loop)
{
	const int fds[] = {loop->epoll_fd, loop->signal_fd, loop->wall_fd,   loop->grace_fd,
			   loop->look_fd,  loop->late_fd,   loop->mounts_fd, loop->overdue_fd};

	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

void loop_timer(int fd, uint64_t ns)
{
	struct itimerspec when = {.it_value = {.tv_sec = (time_t)(ns / NS_A_SECOND),
					       .tv_nsec = (long)(ns % NS_A_SECOND)}};

	timerfd_settime(fd, 0, &when, NULL);
}
