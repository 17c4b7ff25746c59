// SPDX-License-Identifier: Apache-2.0
#include "sample.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sys.h"

static struct sampler sampler;
static struct sample sample;
static const uint64_t ms = 1000000;

/* --- a fake /proc: numbers as wanted ------------------------------------ */

static char base[64];

static void setup(void)
{
	strcpy(base, "/tmp/sbox-test-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(base));
	ck_assert_int_eq(sampler_init(&sampler, open(base, O_RDONLY | O_DIRECTORY), 0), 0);
	sampler.fd_budget = 0; /* an open file of a plain folder outlives its removal */
}

static void teardown(void)
{
	char command[128];

	sampler_free(&sampler);
	snprintf(command, sizeof(command), "rm -rf '%s'", base);
	ck_assert_int_eq(system(command), 0);
}

static void put(int pid, const char *name, const char *text)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%d", base, pid);
	mkdir(path, 0755);
	snprintf(path, sizeof(path), "%s/%d/%s", base, pid, name);
	FILE *file = fopen(path, "w");
	ck_assert_ptr_nonnull(file);
	fputs(text, file);
	fclose(file);
}

static void process(int pid, const char *name, int own, int waited, int threads, int start)
{
	char text[512];

	snprintf(text, sizeof(text),
		 "%d (%s) S 1 1 1 0 -1 4194560 100 200 0 0 %d %d %d %d 20 0 %d 0 %d 1000 25 "
		 "18446744073709551615 0 0 0\n",
		 pid, name, own / 2, own - own / 2, waited, 0, threads, start);
	put(pid, "stat", text);
	put(pid, "statm", "1000 25 5 1 0 90 0\n");
}

static void gone(int pid)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf '%s/%d'", base, pid);
	ck_assert_int_eq(system(command), 0);
}

static uint64_t cpu_ms(void)
{
	sampler_walk(&sampler, &sample);
	return sample.cpu_ns / ms;
}

START_TEST(sums)
{
	uint64_t page = sysconf(_SC_PAGESIZE);

	process(1, "init", 500, 30, 1, 1);
	process(2, "a) R 1 (b", 10, 4, 3, 10);
	ck_assert_uint_eq(cpu_ms(),
			  440); /* own 100, waited 40, reaped by init 300; not init's own */
	ck_assert_uint_eq(sample.processes, 1);
	ck_assert_uint_eq(sample.tasks, 3);
	ck_assert_uint_eq(sample.rss_bytes, 25 * page);
	ck_assert_uint_eq(sample.private_bytes, 20 * page);
	ck_assert_uint_eq(sample.read_bytes, UINT64_MAX);
	put(2, "statm", "9 4 6\n"); /* shared above resident: read at two moments */
	ck_assert_uint_eq(cpu_ms(), 440);
	ck_assert_uint_eq(sample.private_bytes, 0);
}
END_TEST

/* One process at a time: a plain folder does not list in order, as /proc does. */
START_TEST(own_time_of_the_gone_stays)
{
	process(1, "init", 0, 0, 1, 1);
	process(5, "a", 10, 0, 1, 10);
	ck_assert_uint_eq(cpu_ms(), 100);
	gone(5); /* reaped by nobody: waited times do not show it */
	ck_assert_uint_eq(cpu_ms(), 100);
	process(7, "b", 3, 0, 1, 20);
	ck_assert_uint_eq(cpu_ms(), 130);
	process(7, "b", 4, 0, 1, 20);
	ck_assert_uint_eq(cpu_ms(), 140);
	process(7, "c", 2, 0, 1, 99); /* the number again, another process */
	ck_assert_uint_eq(cpu_ms(), 160);
	gone(7);
	process(3, "d", 1, 0, 1, 200);
	ck_assert_uint_eq(cpu_ms(), 170);
	process(1, "init", 0, 100, 1, 1); /* the other bound takes over */
	ck_assert_uint_eq(cpu_ms(), 1010);
	process(1, "init", 0, 0, 1, 1);
	ck_assert_uint_eq(cpu_ms(), 1010); /* never back */
}
END_TEST

START_TEST(unreadable_is_not_gone)
{
	char path[128];

	process(5, "a", 10, 0, 1, 10);
	ck_assert_uint_eq(cpu_ms(), 100);
	snprintf(path, sizeof(path), "%s/5/stat", base);
	unlink(path);
	ck_assert_int_eq(symlink("/", path), 0); /* ELOOP: neither there nor gone */
	ck_assert_uint_eq(cpu_ms(), 100);
	unlink(path);
	process(5, "a", 12, 0, 1, 10);
	ck_assert_uint_eq(cpu_ms(), 120);
}
END_TEST

START_TEST(broken_lines)
{
	static const char *const texts[] = {
		"", "7", "7 (x", "7 (x)", "7 (x) ", "7 (x) R", "7 (x) R 1 2 3 4", "7 (x) R a b c"};

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		put(7, "stat", texts[i]);
		ck_assert_uint_eq(cpu_ms(), 0);
		ck_assert_uint_eq(sample.processes, 0);
	}
}
END_TEST

START_TEST(pss_and_io)
{
	uint64_t read_bytes, written_bytes;

	sampler_io(&sampler, &read_bytes, &written_bytes);
	ck_assert_uint_eq(read_bytes, UINT64_MAX);
	put(2, "smaps_rollup", "00-ff ---p 00000000 00:00 0 [rollup]\nRss: 9 kB\nPss:  7 kB\n");
	put(3, "smaps_rollup", "Pss: 5 kB\nPss_Dirty: 900 kB\n");
	put(2, "io", "rchar: 9\nwchar: 8\nread_bytes: 4096\nwrite_bytes: 512\n");
	put(3, "io", "read_bytes: 1\nwrite_bytes: 2\ncancelled_write_bytes: 9\n");
	ck_assert_uint_eq(sampler_pss(&sampler), 12 * 1024);
	sampler_io(&sampler, &read_bytes, &written_bytes);
	ck_assert_uint_eq(read_bytes, 4097);
	ck_assert_uint_eq(written_bytes, 514);
}
END_TEST

/* --- a real pid namespace ------------------------------------------------ */

static void burn(unsigned milliseconds)
{
	struct timespec used;

	do {
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	} while (used.tv_sec * 1000 + used.tv_nsec / 1000000 < milliseconds);
}

static void send_fd(int socket_fd, int fd)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {0};
	struct iovec part = {.iov_base = (void *)"f", .iov_len = 1};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};

	if (fd >= 0) {
		message.msg_control = control;
		message.msg_controllen = sizeof(control);
		struct cmsghdr *head = CMSG_FIRSTHDR(&message);
		head->cmsg_level = SOL_SOCKET;
		head->cmsg_type = SCM_RIGHTS;
		head->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(head), &fd, sizeof(fd));
	}
	sendmsg(socket_fd, &message, 0);
}

static int receive_fd(int socket_fd)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))];
	char byte;
	struct iovec part = {.iov_base = &byte, .iov_len = 1};
	struct msghdr message = {.msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = control,
				 .msg_controllen = sizeof(control)};
	int fd = -1;

	if (recvmsg(socket_fd, &message, 0) == 1 && CMSG_FIRSTHDR(&message) != NULL)
		memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(fd));
	return fd;
}

static pid_t init_pid;

/* Starts `tree` as what init runs, gives the /proc of its namespace or -1. */
static int namespace(void (*tree)(void))
{
	int ends[2];
	int flags = CLONE_NEWPID | CLONE_NEWNS | (geteuid() == 0 ? 0 : CLONE_NEWUSER);

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
	init_pid = syscall(SYS_clone, flags | SIGCHLD, NULL, NULL, NULL, NULL);
	if (init_pid < 0)
		return -1;
	if (init_pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		int fs = sys_fsopen("proc", 0);
		int rc = sys_fsconfig(fs, 6 /* FSCONFIG_CMD_CREATE */, NULL, NULL, 0);
		send_fd(ends[1], rc < 0 ? -1 : sys_fsmount(fs, 0, 0));
		tree();
		for (;;)
			wait(NULL) < 0 ? pause() : 0;
	}
	close(ends[1]);
	return receive_fd(ends[0]);
}

static bool in_namespace(const char *test, void (*tree)(void))
{
	int proc_fd = namespace(tree);

	if (proc_fd < 0) {
		printf("skip: %s: no pid namespace with a /proc of its own\n", test);
		return false;
	}
	sampler_free(&sampler);
	ck_assert_int_eq(sampler_init(&sampler, proc_fd, 0), 0);
	return true;
}

static void end(void)
{
	kill(init_pid, SIGKILL);
	waitpid(init_pid, NULL, 0);
}

static void twenty(void)
{
	for (int i = 0; i < 20; i++) {
		if (fork() == 0) {
			size_t size = 4 << 20;
			char *at = mmap(NULL, size, PROT_READ | PROT_WRITE,
					MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

			memset(at, 1, size);
			for (;;)
				pause();
		}
	}
}

START_TEST(real_memory_and_speed)
{
	enum { TIMES = 200 };
	struct timespec from, to;
	uint64_t pss = 0, want = 20 * (4 << 20);
	double best = 1e9;

	if (!in_namespace("real_memory_and_speed", twenty))
		return;
	for (int i = 0; i < 500 && pss < want; i++) {
		usleep(10000);
		pss = sampler_pss(&sampler);
	}
	sampler_walk(&sampler, &sample);
	ck_assert_uint_eq(sample.processes, 20);
	ck_assert_uint_eq(sample.tasks, 20);
	ck_assert_uint_ge(sample.private_bytes, want);
	ck_assert_uint_lt(sample.private_bytes, want * 2);
	printf("# rss %ju private %ju pss %ju\n", (uintmax_t)sample.rss_bytes,
	       (uintmax_t)sample.private_bytes, (uintmax_t)pss);
	/* statm comes from counters that each CPU keeps a part of: near, not exact */
	ck_assert_uint_ge(pss, want);
	ck_assert(pss == UINT64_MAX || pss <= sample.rss_bytes + 20 * (512 << 10));
	for (int i = 0; i < TIMES; i++) {
		clock_gettime(CLOCK_MONOTONIC, &from);
		sampler_walk(&sampler, &sample);
		clock_gettime(CLOCK_MONOTONIC, &to);
		double us = (to.tv_sec - from.tv_sec) * 1e6 + (to.tv_nsec - from.tv_nsec) / 1e3;
		best = us < best ? us : best;
	}
	printf("# walk of 21 processes: %.0f us at best; pss %s\n", best,
	       pss == UINT64_MAX ? "cannot be read" : "read");
	int kept = sampler.fd_budget;
	ck_assert_int_lt(kept, 100);
	end();
	sampler_walk(&sampler, &sample); /* an ended namespace lists nothing */
	ck_assert_uint_eq(sample.processes, 0);
	ck_assert_int_eq(sampler.fd_budget, kept + 40);
}
END_TEST

/* 300 ms by a process that stays, 200 by one whose parent waits, 200 by one nobody waits for. */
static void burners(void)
{
	if (fork() == 0) {
		burn(300);
		for (;;)
			pause();
	}
	if (fork() == 0) {
		if (fork() == 0) {
			burn(200);
			_exit(0);
		}
		wait(NULL);
		for (;;)
			pause();
	}
	if (fork() == 0) {
		signal(SIGCHLD, SIG_IGN);
		if (fork() == 0) {
			burn(200);
			_exit(0);
		}
		for (;;)
			pause();
	}
}

START_TEST(real_cpu)
{
	uint64_t seen = 0;

	if (!in_namespace("real_cpu", burners))
		return;
	for (int i = 0, still = 0; i < 1500 && still < 20; i++) {
		sampler_walk(&sampler, &sample);
		ck_assert_uint_ge(sample.cpu_ns, seen);
		still = sample.processes == 3 && sample.cpu_ns == seen ? still + 1 : 0;
		seen = sample.cpu_ns;
		usleep(10000);
	}
	end();
	/* 700 ms; at most what ran between the last look and an end is missed */
	ck_assert_uint_ge(seen, 600 * ms);
	ck_assert_uint_le(seen, 760 * ms);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sample");
	TCase *tcase = tcase_create("sample");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 30);
	tcase_add_test(tcase, sums);
	tcase_add_test(tcase, own_time_of_the_gone_stays);
	tcase_add_test(tcase, unreadable_is_not_gone);
	tcase_add_test(tcase, broken_lines);
	tcase_add_test(tcase, pss_and_io);
	tcase_add_test(tcase, real_memory_and_speed);
	tcase_add_test(tcase, real_cpu);
	suite_add_tcase(suite, tcase);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
