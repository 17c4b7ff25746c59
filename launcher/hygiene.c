// SPDX-License-Identifier: Apache-2.0
#include "hygiene.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { STACK_BYTES = 1 << 20 };

/* open() gives the lowest free number, so the holes are filled in order. */
static int fill_standard_fds(void)
{
	for (int fd = 0; fd < 3; fd++) {
		if (fcntl(fd, F_GETFD) >= 0)
			continue;
		if (open("/dev/null", O_RDWR | O_NOCTTY) != fd)
			return -1;
	}
	return 0;
}

/* As the kernel has it. libc's sigaction(2) refuses 32 and 33, which it keeps for its
 * threads; a caller can leave them ignored all the same. */
struct kernel_sigaction {
	void (*handler)(int);
	unsigned long flags;
	void (*restorer)(void);
	uint64_t mask;
};

static void reset_signal(int sig)
{
	const struct kernel_sigaction standard = {.handler = SIG_DFL};
	struct kernel_sigaction now;

	if (syscall(SYS_rt_sigaction, sig, NULL, &now, sizeof(now.mask)) == 0 &&
	    now.handler != SIG_DFL)
		syscall(SYS_rt_sigaction, sig, &standard, NULL, sizeof(now.mask));
}

static int reset_signals(void)
{
	static const int blocked[] = {SIGINT,   SIGTERM, SIGHUP,  SIGQUIT, SIGUSR1, SIGUSR2,
				      SIGWINCH, SIGCONT, SIGPIPE, SIGXFSZ, SIGTTIN};
	sigset_t set;

	for (int sig = 1; sig < NSIG; sig++)
		reset_signal(sig);
	sigemptyset(&set);
	for (unsigned i = 0; i < sizeof(blocked) / sizeof(blocked[0]); i++)
		sigaddset(&set, blocked[i]);
	return sigprocmask(SIG_SETMASK, &set, NULL);
}

/* Raises a soft limit that is below `wanted` as far as the hard one lets it; returns the old one.
 */
static uint64_t raise_limit(__rlimit_resource_t resource, rlim_t wanted)
{
	struct rlimit limit;

	if (getrlimit(resource, &limit) != 0)
		return RLIM_INFINITY;
	rlim_t before = limit.rlim_cur;
	if (before < wanted && before < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
		setrlimit(resource, &limit);
	}
	return before;
}

static void give_up(int number)
{
	static const char text[] = "sbox: gives up: out of memory, or a fault of its own\n";
	ssize_t written = write(STDERR_FILENO, text, sizeof(text) - 1);

	(void)number;
	(void)written;
	_exit(125);
}

int hygiene(uint64_t *ret_file_bytes)
{
	if (fill_standard_fds() != 0 || reset_signals() != 0)
		return -1;
	signal(SIGABRT, give_up);
	raise_limit(RLIMIT_NOFILE, RLIM_INFINITY);
	raise_limit(RLIMIT_STACK, STACK_BYTES);
	*ret_file_bytes = raise_limit(RLIMIT_FSIZE, RLIM_INFINITY);
	return 0;
}
