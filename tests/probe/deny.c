// SPDX-License-Identifier: Apache-2.0
/*
 * deny flood N            N refused calls
 * deny paths N PREFIX     N opens of PREFIX0, PREFIX1, ...
 * deny signals N PATH     N opens of PATH while a timer fires: how many gave what errno
 * deny race SECONDS A B   a thread swaps the path between A and B while others open it, and
 *                         processes that do the same end in the middle: how many opens worked
 *
 * Prints one line of results.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { OPENERS = 3, CHILDREN = 20 };

static char path[4096];
static const char *names[2];
static atomic_int stop;
static atomic_long opened, refused, strange;

static void flood(long count)
{
	long wrong = 0;

	for (long i = 0; i < count; i++)
		wrong += syscall(SYS_keyctl, i, 0, 0, 0, 0) != -1 || errno != EPERM;
	printf("wrong %ld\n", wrong);
}

static void open_paths(long count, const char *prefix)
{
	char name[4096];
	long wrong = 0;

	for (long i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "%s%ld", prefix, i);
		wrong += open(name, O_WRONLY | O_CREAT, 0600) != -1;
	}
	printf("wrong %ld\n", wrong);
}

static atomic_long fired;

static void on_alarm(int sig)
{
	(void)sig;
	fired++;
}

static void with_signals(long count, const char *name)
{
	struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
	struct itimerval every = {{0, 300}, {0, 300}};
	long ok = 0, missing = 0, other = 0;

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
	for (long i = 0; i < count; i++) {
		int fd = open(name, O_RDWR);

		ok += fd >= 0;
		missing += fd < 0 && errno == ENOENT;
		other += fd < 0 && errno != ENOENT;
		if (fd >= 0)
			close(fd);
	}
	memset(&every, 0, sizeof(every));
	setitimer(ITIMER_REAL, &every, NULL);
	printf("ok %ld missing %ld other %ld%s\n", ok, missing, other, fired > 0 ? " fired" : "");
}

static void *swap(void *unused)
{
	for (int i = 0; !stop; i++)
		memcpy(path, names[i % 2], strlen(names[i % 2]) + 1);
	return unused;
}

static void *open_it(void *unused)
{
	while (!stop) {
		int fd = open(path, O_RDWR | O_CREAT, 0600);

		if (fd >= 0) {
			opened++;
			close(fd);
		} else if (errno == ENOENT || errno == EROFS) {
			refused++;
		} else {
			strange++;
		}
	}
	return unused;
}

static void race(long seconds)
{
	pthread_t threads[OPENERS + 1];

	memcpy(path, names[0], strlen(names[0]) + 1);
	pthread_create(&threads[0], NULL, swap, NULL);
	for (int i = 1; i <= OPENERS; i++)
		pthread_create(&threads[i], NULL, open_it, NULL);
	for (int i = 0; i < CHILDREN; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			alarm(30);
			open_it(NULL);
			_exit(0);
		}
		usleep((useconds_t)(seconds * 1000000 / CHILDREN));
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	stop = 1;
	for (int i = 0; i <= OPENERS; i++)
		pthread_join(threads[i], NULL);
	printf("opened %d refused %d strange %ld\n", opened > 0, refused > 0, strange);
}

int main(int argc, char **argv)
{
	if (argc >= 3 && strcmp(argv[1], "flood") == 0)
		flood(atol(argv[2]));
	else if (argc >= 4 && strcmp(argv[1], "paths") == 0)
		open_paths(atol(argv[2]), argv[3]);
	else if (argc >= 4 && strcmp(argv[1], "signals") == 0)
		with_signals(atol(argv[2]), argv[3]);
	else if (argc >= 5 && strcmp(argv[1], "race") == 0) {
		names[0] = argv[3];
		names[1] = argv[4];
		race(atol(argv[2]));
	} else
		return 2;
	return 0;
}
