// SPDX-License-Identifier: Apache-2.0
/*
 * spin cpu|threads|children|churn|deaf|refused SECONDS: burns processor time
 * for at most SECONDS of wall time, then prints "done N cpu S": rounds made, and its own processor
 * time.
 *
 * threads, children: four of them. churn: a new child every 100 ms, never
 * waited for. deaf: ignores all signals it can. refused: keyctl in a loop.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double until;

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void burn(double end)
{
	for (volatile long i = 0; now() < end; i++)
		for (volatile int j = 0; j < 1000; j++)
			;
}

static void *burn_all(void *unused)
{
	burn(until);
	return unused;
}

static void spin_threads(void)
{
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, burn_all, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
}

static void spin_children(void)
{
	for (int i = 0; i < 4; i++)
		if (fork() == 0) {
			burn(until);
			_exit(0);
		}
	while (wait(NULL) > 0)
		;
}

static void spin_churn(void)
{
	while (now() < until) {
		if (fork() == 0) {
			burn(now() + 0.1);
			_exit(0);
		}
		usleep(100000);
	}
}

static void spin_deaf(void)
{
	for (int i = 1; i < 65; i++)
		signal(i, SIG_IGN);
	burn(until);
}

static long spin_refused(void)
{
	long rounds = 0;

	for (; now() < until; rounds++)
		syscall(SYS_keyctl, 0, 0, 0, 0, 0);
	return rounds;
}

int main(int argc, char **argv)
{
	long rounds = 0;
	struct timespec used;

	if (argc != 3)
		return 99;
	until = now() + atof(argv[2]);
	if (strcmp(argv[1], "threads") == 0)
		spin_threads();
	else if (strcmp(argv[1], "children") == 0)
		spin_children();
	else if (strcmp(argv[1], "churn") == 0)
		spin_churn();
	else if (strcmp(argv[1], "deaf") == 0)
		spin_deaf();
	else if (strcmp(argv[1], "refused") == 0)
		rounds = spin_refused();
	else
		burn(until);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	printf("done %ld cpu %ld.%09ld\n", rounds, (long)used.tv_sec, used.tv_nsec);
	return 0;
}
