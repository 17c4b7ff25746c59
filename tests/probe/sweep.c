// SPDX-License-Identifier: Apache-2.0
/*
 * sweep MILLISECONDS NR...: makes each system call with zeros as arguments in a process of its
 * own, and prints "NR ERRNO", "NR works", "NR ended" or, when it takes longer, "NR waits".
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void attempt(long number, int answer)
{
	pid_t self = getpid();

	errno = 0;
	long result = syscall(number, 0, 0, 0, 0, 0, 0);
	int error = result == -1 ? errno : 0;

	/* some of them make a second process, which has nothing to say */
	if (getpid() == self && write(answer, &error, sizeof(error)) < 0)
		_exit(1);
	_exit(0);
}

static void report(long number, int answer, int wait_ms)
{
	struct pollfd told = {.fd = answer, .events = POLLIN};
	int error;

	if (poll(&told, 1, wait_ms) <= 0)
		printf("%ld waits\n", number);
	else if (read(answer, &error, sizeof(error)) != sizeof(error))
		printf("%ld ended\n", number);
	else
		printf("%ld %s\n", number, error == 0 ? "works" : strerrorname_np(error));
	fflush(stdout);
}

int main(int argc, char **argv)
{
	for (int i = 2; i < argc; i++) {
		long number = (long)strtoull(argv[i], NULL, 0);
		int ends[2];

		if (pipe(ends) != 0)
			return 2;
		pid_t child = fork();
		if (child < 0)
			return 2;
		if (child == 0) {
			setpgid(0, 0);
			/* out of the way of calls on descriptor 0 to 3 */
			attempt(number, dup2(ends[1], 100));
		}
		setpgid(child, child);
		close(ends[1]);
		report(number, ends[0], atoi(argv[1]));
		close(ends[0]);
		kill(-child, SIGKILL);
		kill(child, SIGKILL);
		waitpid(child, NULL, __WALL);
	}
	return 0;
}
