// SPDX-License-Identifier: Apache-2.0
/*
 * writers STORE WRITERS RUNS SYNC KILLS SEED [SEGMENT]: so many processes, each with so many runs
 * one after the other, ask of the store what the launcher asks of it, without the run: open, sweep,
 * mark, reserve, start, end. Now and then one of them gets SIGKILL, wherever it is, and another
 * process goes on in its place.
 *
 * What each one was told is noted in memory that they share, and printed at the end, one line a
 * run: its id, what was acknowledged (0: nothing, 1: its start, 2: its end), the end's kind and
 * status. A run that was acknowledged and is not in the log is a lost one.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "record.h"
#include "store.h"

enum { ROOM_FOR_END = 256 * 1024, SWEEP_EVERY = 16, LONG_EVERY = 40, LONG_BYTES = 200000 };

struct noted {
	char run[27];
	unsigned char state;
	int kind, code;
};

struct shared {
	_Atomic unsigned int used;
	_Atomic unsigned int done[1024]; /* runs of each writer that have their end */
	struct noted run[];
};

static struct shared *shared;
static const char *dir;
static enum store_sync how;
static unsigned int runs;
static uint64_t segment_bytes = 16 << 20;

static void must(int rc, const struct error *err)
{
	if (rc == 0)
		return;
	fprintf(stderr, "%s\n", err->text);
	exit(1);
}

static char *start_body(struct arena *arena, const struct noted *noted, unsigned int *dice)
{
	size_t len = rand_r(dice) % LONG_EVERY == 0 ? (size_t)rand_r(dice) % LONG_BYTES : 40;
	char *word = arena_alloc(arena, len + 1);

	/* what a line must not be broken by */
	for (size_t i = 0; i < len; i++)
		word[i] = "ab\n\"\\\033\xff{}"[rand_r(dice) % 9];
	const char *argv[] = {"job", word, NULL};
	struct run_start start = {
		.run = noted->run,
		.time_ns = 1790000000000000000u,
		.who = {.host = "here", .login_uid = UNKNOWN, .sbox_pid = getpid()},
		.argv = argv,
		.argc = 2,
		.cwd = "/",
		.inside_cwd = "/",
		.profile_name = "agent",
		.environment = (const char *const[]){"PATH", NULL}};
	return render_start(arena, &start);
}

static char *end_body(struct arena *arena, const struct noted *noted)
{
	struct run_end end = {.run = noted->run,
			      .time_ns = 1790000001000000000u,
			      .kind = (enum end_kind)noted->kind,
			      .code = noted->code,
			      .exit_status =
				      end_exit_status((enum end_kind)noted->kind, noted->code),
			      .usage = {.wall_ns = 1000000000, .read_bytes = UNKNOWN}};

	return render_end(arena, &end);
}

static void one_run(struct noted *noted, unsigned int number, unsigned int *dice)
{
	struct arena arena = {0};
	struct store store;
	struct error err;
	int fd;

	must(store_open(&store, dir, geteuid(), &err), &err);
	store.policy.segment_bytes = segment_bytes;
	if (number % SWEEP_EVERY == 0)
		must(store_run_sweep(&store, NULL, NULL, &err), &err);
	run_id_make(noted->run);
	must(store_run_begin(&store, noted->run, &fd, &err), &err);
	must(store_reserve(&store, ROOM_FOR_END, &err), &err);
	must(store_append(&store, start_body(&arena, noted, dice), how, &err), &err);
	noted->state = 1;
	noted->kind = rand_r(dice) % END_KIND_MAX;
	noted->code = noted->kind == END_EXITED ? rand_r(dice) % 256 : 9;
	must(store_append(&store, end_body(&arena, noted), how, &err), &err);
	noted->state = 2;
	store_run_finish(&store, noted->run, fd);
	store_close(&store);
	arena_free(&arena);
}

static pid_t begin_writer(unsigned int writer, unsigned int seed)
{
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	for (unsigned int dice = seed; shared->done[writer] < runs; shared->done[writer]++)
		one_run(&shared->run[shared->used++], shared->done[writer], &dice);
	_exit(0);
}

/* Somebody dies every few milliseconds until so many have; all others come to their end. */
static void keep_going(pid_t *pid, unsigned int writers, unsigned int kills, unsigned int seed)
{
	unsigned int left = writers, dice = seed;

	while (left > 0) {
		int status, flags = kills > 0 ? WNOHANG : 0;
		pid_t ended = waitpid(-1, &status, flags);
		unsigned int writer = 0;

		if (ended <= 0) {
			usleep((unsigned int)rand_r(&dice) % 20000);
			writer = (unsigned int)rand_r(&dice) % writers;
			if (pid[writer] > 0 && kills > 0 && kill(pid[writer], SIGKILL) == 0)
				kills--;
			continue;
		}
		while (pid[writer] != ended)
			writer++;
		pid[writer] = 0;
		if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
			pid[writer] = begin_writer(writer, seed += 7919);
		else if (status != 0)
			exit(1);
		else
			left--;
	}
}

int main(int argc, char **argv)
{
	if (argc != 7 && argc != 8)
		return 2;
	if (argc == 8)
		segment_bytes = (uint64_t)atoll(argv[7]);
	unsigned int writers = (unsigned int)atoi(argv[2]), kills = (unsigned int)atoi(argv[5]);
	unsigned int seed = (unsigned int)atoi(argv[6]);
	pid_t pid[1024];
	struct store store;
	struct error err;

	dir = argv[1];
	runs = (unsigned int)atoi(argv[3]);
	how = strcmp(argv[4], "group") == 0  ? STORE_SYNC_GROUP
	      : strcmp(argv[4], "none") == 0 ? STORE_SYNC_NONE
					     : STORE_SYNC_EACH;
	size_t room = (size_t)writers * runs + kills;
	shared = mmap(NULL, sizeof(*shared) + room * sizeof(*shared->run), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED || writers > 1024)
		return 2;
	for (unsigned int i = 0; i < writers; i++)
		pid[i] = begin_writer(i, seed + i);
	keep_going(pid, writers, kills, seed);
	/* marks of those that were killed go as they do at any start */
	must(store_open(&store, dir, geteuid(), &err), &err);
	must(store_run_sweep(&store, NULL, NULL, &err), &err);
	store_close(&store);
	for (unsigned int i = 0; i < shared->used; i++)
		printf("%s %d %s %d\n", shared->run[i].run, shared->run[i].state,
		       end_kind_names[shared->run[i].kind], shared->run[i].code);
	return 0;
}
