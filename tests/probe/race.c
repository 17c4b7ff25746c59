// SPDX-License-Identifier: Apache-2.0
/*
 * race PATH OTHER TIMES: executes a path that a thread changes to and fro meanwhile. Whoever looks
 * at the memory of the caller and lets the call go on is deceived now and then.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATH_SIZE = 4096 };

static char path[PATH_SIZE];
static const char *names[2];
static atomic_int over;

static void *change(void *nothing)
{
	for (unsigned i = 0; !over; i++)
		memcpy(path, names[i % 2], strlen(names[i % 2]) + 1);
	return nothing;
}

/* As after vfork, so that the thread goes on changing what this one names. */
static int execute(void *nothing)
{
	char *const argv[] = {path, NULL}, *const envp[] = {NULL};

	(void)nothing;
	execve(path, argv, envp);
	_exit(126);
}

int main(int argc, char **argv)
{
	static char stack[256 * 1024];
	pthread_t thread;
	int status;

	if (argc != 4)
		return 2;
	names[0] = argv[1];
	names[1] = argv[2];
	if (pthread_create(&thread, NULL, change, NULL) != 0)
		return 2;
	for (int i = 0; i < atoi(argv[3]); i++) {
		pid_t child = clone(execute, stack + sizeof(stack), CLONE_VM | SIGCHLD, NULL);

		if (child < 0 || waitpid(child, &status, 0) < 0)
			return 2;
	}
	over = 1;
	puts("done");
	return 0;
}
