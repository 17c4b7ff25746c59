// SPDX-License-Identifier: Apache-2.0
/*
 * bomb fork|vfork|thread|zombie N SECONDS: a bounded bomb. All processes fork
 * (or start threads) until N exist or one attempt is refused many times, stay
 * for SECONDS and end. Prints "made N refused R ERRNO".
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct shared {
	atomic_long tried, made, refused;
	atomic_int error;
};

static struct shared *shared;
static long most;
static unsigned int seconds;

static void refused(int error)
{
	atomic_fetch_add(&shared->refused, 1);
	atomic_store(&shared->error, error);
}

/* Every child goes on forking, as a bomb does. */
static void fork_all(void)
{
	while (atomic_load(&shared->refused) < 1000) {
		pid_t child;

		if (atomic_fetch_add(&shared->tried, 1) >= most) {
			atomic_fetch_sub(&shared->tried, 1);
			return;
		}
		child = fork();
		if (child == 0)
			alarm(seconds);
		else if (child > 0)
			atomic_fetch_add(&shared->made, 1);
		else
			refused(errno);
	}
}

static void *stay(void *unused)
{
	sleep(seconds);
	return unused;
}

static void thread_all(void)
{
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 65536);
	while (shared->made < most && shared->refused < 100) {
		int error = pthread_create(&thread, &attr, stay, NULL);

		if (error != 0)
			refused(error);
		else
			shared->made++;
	}
}

/* Children that end at once and are never waited for. */
static void zombie_all(void)
{
	while (shared->made < most && shared->refused < 100) {
		pid_t child = fork();

		if (child == 0)
			_exit(0);
		if (child < 0)
			refused(errno);
		else
			shared->made++;
	}
}

int main(int argc, char **argv)
{
	pid_t first = getpid();

	if (argc != 4)
		return 99;
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	most = atol(argv[2]);
	seconds = (unsigned int)atoi(argv[3]);
	alarm(seconds + 5);
	if (strcmp(argv[1], "thread") == 0)
		thread_all();
	else if (strcmp(argv[1], "zombie") == 0)
		zombie_all();
	else
		fork_all();
	if (getpid() != first) {
		sleep(seconds);
		_exit(0);
	}
	/* the others are still at it */
	for (int i = 0; i < 2000 && shared->tried > shared->made + shared->refused; i++)
		usleep(1000);
	/* what lasts is seen by whoever looks now and then */
	if (shared->refused == 0 && strcmp(argv[1], "zombie") != 0)
		sleep(seconds);
	printf("made %ld refused %ld %s\n", (long)shared->made, (long)shared->refused,
	       shared->error != 0 ? strerrorname_np(shared->error) : "-");
	return 0;
}
