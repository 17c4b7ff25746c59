// SPDX-License-Identifier: Apache-2.0
/*
 * What is measured from inside a sandbox: the program times its own work, so that the start is not
 * in it, and says NAME NANOSECONDS, a line each, on its standard output.
 *
 *   inside loops FOLDER       every loop; FOLDER holds the files of `inside files FOLDER`
 *   inside files FOLDER       makes them
 *   inside work COMMAND...    one run of a command whose output nobody sees; and its processor time
 *   inside bytes COUNT        writes them, each line with its number; `fast`: one block over and
 * over inside count              reads to the end; how many, and the time from the first to the end
 *   inside processes COUNT    that many children at once
 *   inside spawn JOBS COUNT COMMAND...   from outside: COUNT runs, JOBS at once, each one's time
 */
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Of the pieces of one loop the shortest counts: the others met somebody else's work. */
enum { PIECES = 25, BLOCK = 64 * 1024, MEMORY = 4 << 20, HUGE_PAGE = 2 << 20, JOBS_MAX = 1024 };

extern char **environ;
static char path_1[PATH_MAX], path_4[PATH_MAX], path_8[PATH_MAX];
static unsigned char *memory;
static volatile uint64_t sink;

static void must(bool good, const char *what)
{
	if (good)
		return;
	perror(what);
	exit(1);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void do_cpu(int count)
{
	uint64_t x = 88172645463325252ULL;

	for (int i = 0; i < count; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
	}
	sink = x;
}

/* Every page is touched anew: faults are a part of what a program does with memory. */
static void do_memory(int count)
{
	for (int i = 0; i < count; i++) {
		madvise(memory, MEMORY, MADV_DONTNEED);
		memset(memory, i, MEMORY / 2);
		memcpy(memory + MEMORY / 2, memory, MEMORY / 2);
	}
}

static void do_getpid(int count)
{
	while (count-- > 0)
		syscall(SYS_getpid);
}

static int ends[2], zero_fd, null_fd;

static void do_pipe(int count)
{
	char byte[64] = {0};

	while (count-- > 0)
		must(write(ends[1], byte, sizeof(byte)) == sizeof(byte) &&
			     read(ends[0], byte, sizeof(byte)) == sizeof(byte),
		     "pipe");
}

static void do_zero(int count)
{
	char bytes[4096];

	while (count-- > 0)
		must(read(zero_fd, bytes, sizeof(bytes)) == sizeof(bytes), "/dev/zero");
}

static void do_null(int count)
{
	static const char bytes[4096];

	while (count-- > 0)
		must(write(null_fd, bytes, sizeof(bytes)) == sizeof(bytes), "/dev/null");
}

static void open_all(const char *path, int count)
{
	while (count-- > 0) {
		int fd = open(path, O_RDONLY | O_CLOEXEC);

		must(fd >= 0, path);
		close(fd);
	}
}

static void stat_all(const char *path, int count)
{
	struct stat st;

	while (count-- > 0)
		must(stat(path, &st) == 0, path);
}

static void do_open_1(int count)
{
	open_all(path_1, count);
}

static void do_open_4(int count)
{
	open_all(path_4, count);
}

static void do_open_8(int count)
{
	open_all(path_8, count);
}

static void do_stat_1(int count)
{
	stat_all(path_1, count);
}

static void do_stat_4(int count)
{
	stat_all(path_4, count);
}

static void do_stat_8(int count)
{
	stat_all(path_8, count);
}

static int run_quietly(char *const argv[])
{
	posix_spawn_file_actions_t actions;
	int status;
	pid_t pid;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
	int rc = posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	must(rc == 0 && waitpid(pid, &status, 0) == pid, argv[0]);
	return status;
}

static void do_exec(int count)
{
	static char program[] = "/bin/true";
	char *const argv[] = {program, NULL};
	int status;

	while (count-- > 0) {
		pid_t pid = fork();

		if (pid == 0) {
			execv(program, argv);
			_exit(127);
		}
		must(waitpid(pid, &status, 0) == pid && status == 0, program);
	}
}

static const struct loop {
	const char *name;
	void (*run)(int count);
	int count; /* about half a millisecond; more is not often had undisturbed */
} loops[] = {
	{"cpu", do_cpu, 300000},          {"memory", do_memory, 1},
	{"getpid", do_getpid, 4000},      {"pipe", do_pipe, 800},
	{"/dev/zero", do_zero, 2500},     {"/dev/null", do_null, 3500},
	{"open, 1 deep", do_open_1, 300}, {"open, 4 deep", do_open_4, 250},
	{"open, 8 deep", do_open_8, 200}, {"stat, 1 deep", do_stat_1, 600},
	{"stat, 4 deep", do_stat_4, 500}, {"stat, 8 deep", do_stat_8, 400},
	{"fork, exec, wait", do_exec, 1},
};

static void name_files(const char *folder, bool make)
{
	char *const paths[] = {path_1, path_4, path_8};
	const int depths[] = {1, 4, 8};

	for (int i = 0; i < 3; i++) {
		int at = snprintf(paths[i], PATH_MAX, "%s", folder);

		for (int depth = 1; depth < depths[i]; depth++) {
			at += snprintf(paths[i] + at, (size_t)(PATH_MAX - at), "/d%d", depth);
			if (make)
				mkdir(paths[i], 0755);
		}
		snprintf(paths[i] + at, (size_t)(PATH_MAX - at), "/file");
		if (make)
			close(open(paths[i], O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
	}
}

static void run_loops(const char *folder)
{
	name_files(folder, false);
	/* Aligned, or chance would say how many huge pages it is made of. */
	memory = aligned_alloc(HUGE_PAGE, MEMORY);
	zero_fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	null_fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	must(memory != NULL && zero_fd >= 0 && null_fd >= 0 && pipe2(ends, O_CLOEXEC) == 0,
	     "what the loops need");
	for (size_t i = 0; i < sizeof(loops) / sizeof(loops[0]); i++) {
		uint64_t least = UINT64_MAX;

		for (int piece = 0; piece <= PIECES; piece++) {
			uint64_t begun = now_ns();

			loops[i].run(loops[i].count);
			uint64_t spent = now_ns() - begun;
			if (piece > 0 && spent < least)
				least = spent;
		}
		printf("%s\t%.4f\n", loops[i].name, (double)least / loops[i].count);
	}
}

static void run_work(char *const argv[])
{
	struct rusage usage;
	uint64_t begun = now_ns();
	int status = run_quietly(argv);
	uint64_t spent = now_ns() - begun;

	must(status == 0 && getrusage(RUSAGE_CHILDREN, &usage) == 0, argv[0]);
	time_t seconds = usage.ru_utime.tv_sec + usage.ru_stime.tv_sec;
	suseconds_t us = usage.ru_utime.tv_usec + usage.ru_stime.tv_usec;
	printf("work\t%ju\ncpu\t%.0f\n", (uintmax_t)spent,
	       (double)seconds * 1e9 + (double)us * 1e3);
}

/* Lines of 16 bytes, numbered, so that what was kept of them can be checked. */
static void write_bytes(uint64_t count)
{
	static char block[BLOCK];
	uint64_t line = 0;

	while (count > 0) {
		size_t len = count < BLOCK ? count : BLOCK, at = 0;

		for (size_t i = 0; i < BLOCK; i += 16) {
			char text[17];

			snprintf(text, sizeof(text), "%015ju\n", (uintmax_t)line++);
			memcpy(block + i, text, 16);
		}
		while (at < len) {
			ssize_t put = write(1, block + at, len - at);

			must(put > 0, "write");
			at += (size_t)put;
		}
		count -= len;
	}
}

/* One block over and over: as fast as the reader takes it. */
static void write_fast(uint64_t count)
{
	static char block[BLOCK];

	memset(block, 'x', BLOCK);
	while (count > 0) {
		ssize_t put = write(1, block, count < BLOCK ? count : BLOCK);

		must(put > 0, "write");
		count -= (uint64_t)put;
	}
}

static void count_bytes(void)
{
	static char block[BLOCK];
	uint64_t bytes = 0, begun = 0;
	ssize_t got;

	while ((got = read(0, block, BLOCK)) > 0) {
		if (begun == 0)
			begun = now_ns();
		bytes += (uint64_t)got;
	}
	printf("%ju\t%ju\n", (uintmax_t)bytes, (uintmax_t)(now_ns() - begun));
}

static void run_processes(int count)
{
	int hold[2];

	must(pipe(hold) == 0, "pipe");
	for (int i = 0; i < count; i++) {
		pid_t pid = fork();
		char byte;

		must(pid >= 0, "fork");
		if (pid == 0) {
			close(hold[1]);
			_exit(read(hold[0], &byte, 1) == 0 ? 0 : 1);
		}
	}
	close(hold[1]);
	while (wait(NULL) > 0)
		;
}

static void run_spawn(int jobs, int count, char *const argv[])
{
	static struct {
		pid_t pid;
		uint64_t begun;
	} running[JOBS_MAX];
	uint64_t begun = now_ns();
	int left = count, status;

	must(jobs > 0 && jobs <= JOBS_MAX, "jobs");
	posix_spawn_file_actions_t actions;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
	for (int done = 0; done < count;) {
		for (int i = 0; i < jobs && left > 0; i++) {
			if (running[i].pid != 0)
				continue;
			running[i].begun = now_ns();
			must(posix_spawnp(&running[i].pid, argv[0], &actions, NULL, argv,
					  environ) == 0,
			     argv[0]);
			left--;
		}
		pid_t pid = wait(&status);
		must(pid > 0, "wait");
		for (int i = 0; i < jobs; i++) {
			if (running[i].pid != pid)
				continue;
			printf("%s\t%ju\n", status == 0 ? "run" : "failed",
			       (uintmax_t)(now_ns() - running[i].begun));
			running[i].pid = 0;
			done++;
		}
	}
	printf("all\t%ju\n", (uintmax_t)(now_ns() - begun));
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	const char *first = argc > 2 ? argv[2] : "";

	/* A session is a group to the scheduler (autogroup), and inside it is a new one. */
	setsid();
	if (strcmp(what, "count") == 0)
		count_bytes();
	else if (strcmp(what, "loops") == 0)
		run_loops(first);
	else if (strcmp(what, "files") == 0)
		name_files(first, true);
	else if (strcmp(what, "work") == 0 && argc > 2)
		run_work(argv + 2);
	else if (strcmp(what, "bytes") == 0)
		write_bytes(strtoull(first, NULL, 10));
	else if (strcmp(what, "fast") == 0)
		write_fast(strtoull(first, NULL, 10));
	else if (strcmp(what, "processes") == 0)
		run_processes(atoi(first));
	else if (strcmp(what, "spawn") == 0 && argc > 4)
		run_spawn(atoi(first), atoi(argv[3]), argv + 4);
	else
		return 2;
	return 0;
}
