// SPDX-License-Identifier: Apache-2.0
/*
 * Who sets a network up while the program runs: what it is like while it does, and how it ends. It
 * is caught at the end of its work, where it waits for room to send its sockets.
 */
#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"
#include "network_setup.h"

enum { PATIENCE_MS = 20000, PIECE_MS = 5, ASLEEP = 40 };

static struct arena arena;
static struct step step;
static int network_fd, user_fd, ends[2];
static pid_t visitor;

/* A network namespace that nobody is in; an ordinary caller's has a user namespace for an owner. */
static void make_namespace(void)
{
	int ready[2], status;
	char path[64];

	ck_assert_int_eq(pipe(ready), 0);
	pid_t pid = fork();
	if (pid == 0) {
		int rc = unshare(CLONE_NEWNET | (geteuid() == 0 ? 0 : CLONE_NEWUSER));

		if (write(ready[1], rc == 0 ? "y" : "n", 1) != 1)
			_exit(1);
		pause();
	}
	ck_assert_int_eq((int)read(ready[0], path, 1), 1);
	ck_assert_msg(path[0] == 'y', "no namespace can be made");
	snprintf(path, sizeof(path), "/proc/%d/ns/net", pid);
	network_fd = open(path, O_RDONLY | O_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/%d/ns/user", pid);
	user_fd = geteuid() == 0 ? -1 : open(path, O_RDONLY | O_CLOEXEC);
	ck_assert_int_ge(network_fd, 0);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
}

static void prepare(void)
{
	static const struct port_range any = {443, 443};

	/* what a broken one does where it was started, it does not do to the machine */
	if (geteuid() == 0)
		ck_assert_int_eq(unshare(CLONE_NEWNET), 0);
	make_namespace();
	step = (struct step){.id = STEP_GATE,
			     .network = network_setup_make(&arena, &any, 1, false)};
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
}

static void finish(void)
{
	/* it is in no group of the test's, so nobody else ends it */
	if (visitor > 0 && kill(visitor, SIGKILL) == 0)
		waitpid(visitor, NULL, 0);
	arena_free(&arena);
}

/* No message more: the next sender waits. */
static void fill(int fd)
{
	static const char junk[4096];

	while (send(fd, junk, sizeof(junk), MSG_DONTWAIT) > 0 ||
	       send(fd, junk, 1, MSG_DONTWAIT) > 0)
		;
	ck_assert_int_eq(errno, EAGAIN);
}

static pid_t start(int network, pid_t supervisor)
{
	const struct visit visit = {.control_fd = ends[1],
				    .network_fd = network,
				    .user_fd = user_fd,
				    .supervisor = supervisor,
				    .step = &step};
	pid_t pid = fork();

	if (pid == 0)
		child_visit(&visit);
	return pid;
}

/* The field's text in /proc/PID/status, or "". */
static const char *status_of(pid_t pid, const char *field)
{
	static char text[8192];
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	FILE *file = fopen(path, "r");
	if (file == NULL)
		return "";
	size_t length = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[length] = '\0';
	char *found = strstr(text, field);
	if (found == NULL)
		return "";
	found += strlen(field);
	found += strspn(found, ":\t");
	found[strcspn(found, "\n")] = '\0';
	return found;
}

static size_t link_of(pid_t pid, const char *name, char *target, size_t size)
{
	char path[512];

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	ssize_t length = readlink(path, target, size - 1);
	target[length > 0 ? length : 0] = '\0';
	return length > 0 ? (size_t)length : 0;
}

/* How many of its descriptors are sockets; fails for one that is none of its business. */
static int count_sockets(pid_t pid)
{
	char path[64], name[300], target[PATH_MAX];
	int sockets = 0;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	DIR *folder = opendir(path);
	ck_assert_ptr_nonnull(folder);
	for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(name, sizeof(name), "fd/%s", entry->d_name);
		link_of(pid, name, target, sizeof(target));
		bool is_socket = strncmp(target, "socket:", 7) == 0;

		sockets += is_socket;
		ck_assert_msg(is_socket || strncmp(target, "net:", 4) == 0 ||
				      strncmp(target, "user:", 5) == 0 ||
				      strcmp(target, "/proc") == 0,
			      "it holds %s", target);
	}
	closedir(folder);
	return sockets;
}

/* It sleeps and goes on sleeping. */
static void wait_until_it_sends(pid_t pid)
{
	int asleep = 0;

	for (int waited = 0; waited < PATIENCE_MS && asleep < ASLEEP; waited += PIECE_MS) {
		asleep = status_of(pid, "State")[0] == 'S' ? asleep + 1 : 0;
		poll(NULL, 0, PIECE_MS);
	}
	ck_assert_msg(asleep == ASLEEP, "it does not come to its end: %s", status_of(pid, "State"));
}

static void expect_owner_of(pid_t pid, const char *what)
{
	struct stat st;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, what);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_uint_eq(st.st_uid, 0); /* not its own uid: it cannot be looked into */
}

START_TEST(holds_nothing_and_cannot_be_reached)
{
	const char *none = "0000000000000000";
	char here[64], there[64];
	sigset_t all;

	prepare();
	ck_assert_int_ge(open("/", O_RDONLY), 0); /* also without O_CLOEXEC: none of its business */
	signal(SIGUSR1, SIG_IGN);
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	fill(ends[1]);
	visitor = start(network_fd, getpid());
	wait_until_it_sends(visitor);
	ck_assert_str_eq(status_of(visitor, "SigBlk"), none);
	/* but those that libc keeps for itself, which hygiene() resets and a sanitizer may not */
	ck_assert_uint_eq(strtoull(status_of(visitor, "SigIgn"), NULL, 16) & ~(3ULL << 31), 0);
	ck_assert_str_eq(status_of(visitor, "SigCgt"), none);
	ck_assert_int_eq(getpgid(visitor), visitor);
	expect_owner_of(visitor, "status");
	if (geteuid() == 0) {
		ck_assert_int_gt(count_sockets(visitor), 3);
		link_of(getpid(), "ns/net", here, sizeof(here));
		ck_assert_uint_gt(link_of(visitor, "ns/net", there, sizeof(there)), 0);
		ck_assert_str_ne(here, there);
		link_of(getpid(), "ns/pid", here, sizeof(here));
		link_of(visitor, "ns/pid", there, sizeof(there));
		ck_assert_str_eq(here, there);
	}
}
END_TEST

START_TEST(sends_its_sockets_and_leaves)
{
	struct message message = {0};
	int status;

	prepare();
	visitor = start(network_fd, getpid());
	ck_assert_int_eq((int)recv(ends[0], &message, sizeof(message), 0), (int)sizeof(message));
	ck_assert_uint_eq(message.kind, MESSAGE_GATE);
	ck_assert_uint_eq(message.last, 1);
	ck_assert_uint_ne(message.made, 0);
	ck_assert_int_eq(waitpid(visitor, &status, 0), visitor);
	ck_assert_int_eq(status, 0);
	visitor = 0;
}
END_TEST

START_TEST(says_what_failed)
{
	struct message message = {0};
	int status;

	prepare();
	visitor = start(open("/dev/null", O_RDONLY | O_CLOEXEC), getpid());
	ck_assert_int_eq((int)recv(ends[0], &message, sizeof(message), 0), (int)sizeof(message));
	ck_assert_uint_eq(message.kind, MESSAGE_GATE_FAILED);
	ck_assert_uint_eq(message.made, FAILED_NAMESPACE);
	ck_assert_int_eq(message.status, EINVAL);
	ck_assert_int_eq(waitpid(visitor, &status, 0), visitor);
	visitor = 0;
}
END_TEST

/* In the middle of its work, and when the supervisor was gone before it began. */
START_TEST(dies_with_its_supervisor)
{
	int told[2], status = 0;
	pid_t pid;

	prepare();
	fill(ends[1]);
	ck_assert_int_eq(pipe(told), 0);
	ck_assert_int_eq(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	pid_t supervisor = fork();
	if (supervisor == 0) {
		pid = start(network_fd, _i == 0 ? getpid() : 1);
		if (write(told[1], &pid, sizeof(pid)) != (ssize_t)sizeof(pid))
			_exit(1);
		pause();
	}
	ck_assert_int_eq((int)read(told[0], &pid, sizeof(pid)), (int)sizeof(pid));
	if (_i == 0)
		wait_until_it_sends(pid);
	kill(supervisor, SIGKILL);
	ck_assert_int_eq(waitpid(supervisor, NULL, 0), supervisor);
	visitor = pid;
	for (int waited = 0; waited < PATIENCE_MS / 4 && visitor > 0; waited += PIECE_MS) {
		if (waitpid(pid, &status, WNOHANG) == pid)
			visitor = 0;
		poll(NULL, 0, PIECE_MS);
	}
	ck_assert_msg(visitor == 0, "it outlives its supervisor");
	if (_i == 0)
		ck_assert_int_eq(WTERMSIG(status), SIGKILL);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("visit");
	TCase *cases = tcase_create("visit");

	tcase_set_timeout(cases, 60);
	tcase_add_checked_fixture(cases, NULL, finish);
	tcase_add_test(cases, holds_nothing_and_cannot_be_reached);
	tcase_add_test(cases, sends_its_sockets_and_leaves);
	tcase_add_test(cases, says_what_failed);
	tcase_add_loop_test(cases, dies_with_its_supervisor, 0, 2);
	suite_add_tcase(suite, cases);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
