// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_CHILD_FIXTURE_H
#define SBOX_CHILD_FIXTURE_H

/*
 * The new process with a list of steps made by hand: init_main() in a forked
 * process, this test as its supervisor. With IN_NAMESPACE it is root of a user
 * and mount namespace of its own first, so that the same steps can be taken by
 * root and by an ordinary user, and nothing is done to the machine.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))
#define ROWS(table)  ((int)COUNT(table))

enum { IN_NAMESPACE = 1, NO_GO = 2, PATIENCE_MS = 20000, NO_NAMESPACE_STATUS = 77, STEPS = 24 };

static char base[] = "/tmp/sbox-child-XXXXXX"; /* of all tests; removed at the end */
static char marker[64];                        /* made by the program, if it ever runs */
static struct step list[STEPS];
static size_t list_count;
static int slots[8];
static char secret[] = "SECRET=of-the-caller";

/* What it does before its handover comes; no handover: it knows all from its start. */
enum { SHARED_SIZE = 64 * 1024 };
static struct handover *handover;
static struct step early[2];
static size_t early_count;

static pid_t init_pid;
static int fault_fd, control_fd, go_fd;

/* ---- lists ---- */

static inline struct step *put(enum step_id id)
{
	ck_assert_uint_lt(list_count, STEPS);
	struct step *step = &list[list_count++];

	*step = (struct step){.id = id, .idmap = -1, .path = "", .text = "", .source = ""};
	return step;
}

/* Init's list ends. It takes a filter for itself then, which needs no_new_privs. */
static inline void put_fork(void)
{
	put(STEP_NO_NEW_PRIVS);
	put(STEP_FORK);
}

/* Ends the list: /bin/sh makes the marker, then does what `script` says. */
static inline void put_program(const char *script)
{
	static char text[256], *argv[] = {(char *)"sh", (char *)"-c", text, NULL};
	static char *envp[] = {(char *)"PATH=/usr/bin:/bin", NULL};
	struct step *exec = put(STEP_EXEC);

	snprintf(text, sizeof(text), ": > %s; %s", marker, script);
	exec->path = "/bin/sh";
	exec->argv = argv;
	exec->envp = envp;
}

static inline bool program_ran(void)
{
	return access(marker, F_OK) == 0;
}

/* ---- the process ---- */

static inline void write_all(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		_exit(NO_NAMESPACE_STATUS);
	close(fd);
}

static inline void enter_namespace(void)
{
	char uid_map[32], gid_map[32];

	snprintf(uid_map, sizeof(uid_map), "0 %u 1", geteuid());
	snprintf(gid_map, sizeof(gid_map), "0 %u 1", getegid());
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0)
		_exit(NO_NAMESPACE_STATUS);
	write_all("/proc/self/setgroups", "deny");
	write_all("/proc/self/uid_map", uid_map);
	write_all("/proc/self/gid_map", gid_map);
}

static inline void start(unsigned flags)
{
	int fault[2], go[2], control[2];

	ck_assert_int_eq(pipe2(fault, O_CLOEXEC), 0);
	ck_assert_int_eq(pipe2(go, O_CLOEXEC), 0);
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, control), 0);
	if ((flags & NO_GO) == 0)
		ck_assert_int_eq(write(go[1], "gg", 2), 2);
	fflush(stdout);
	init_pid = fork();
	ck_assert_int_ge(init_pid, 0);
	if (init_pid == 0) {
		struct child child = {.lock_fd = -1,
				      .children_fd = -1,
				      .alive_fd = -1,
				      .steps = list,
				      .count = list_count,
				      .slots = slots,
				      .fault_fd = fault[1],
				      .control_fd = control[1],
				      .go_fd = go[0],
				      .root_fd = -1,
				      .terminal_fd = -1,
				      .proc_fd = -1,
				      .own_proc_fd = -1,
				      .devpts_fd = -1,
				      .context_fd = -1,
				      .hidden_file_fd = -1,
				      .hidden_folder_fd = -1,
				      .ruleset_fd = -1,
				      .umask = 022,
				      .wipe_start = secret,
				      .wipe_len = sizeof(secret) - 1};

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(fault[0]);
		close(go[1]);
		close(control[0]);
		if ((flags & IN_NAMESPACE) != 0)
			enter_namespace();
		if (handover != NULL) {
			child.steps = early;
			child.count = early_count;
			child.handover = handover;
			child.shared = handover;
			child.shared_size = SHARED_SIZE;
			init_start(&child);
		}
		init_main(&child);
	}
	close(fault[1]);
	close(go[0]);
	close(control[1]);
	fault_fd = fault[0];
	go_fd = go[1];
	control_fd = control[0];
}

static inline bool wait_for(int fd)
{
	struct pollfd ready = {.fd = fd, .events = POLLIN};
	/* as Check's own limits: for machines that are slow or busy */
	const char *factor = getenv("CK_TIMEOUT_MULTIPLIER");

	return poll(&ready, 1, PATIENCE_MS * (factor != NULL ? atoi(factor) : 1)) > 0;
}

/* The next thing on the fault pipe; false: end of file. */
static inline bool take_fault(struct fault *ret_fault)
{
	ck_assert_msg(wait_for(fault_fd), "nothing on the fault pipe");
	ssize_t len = read(fault_fd, ret_fault, sizeof(*ret_fault));

	ck_assert_msg(len == 0 || len == (ssize_t)sizeof(*ret_fault), "%zd bytes of a fault", len);
	return len != 0;
}

static inline bool take_message(struct message *ret_message, int *ret_fds, size_t *ret_count)
{
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(4 * sizeof(int))];
	} rights;
	struct iovec part = {ret_message, sizeof(*ret_message)};
	struct msghdr header = {.msg_iov = &part,
				.msg_iovlen = 1,
				.msg_control = &rights,
				.msg_controllen = sizeof(rights)};

	ck_assert_msg(wait_for(control_fd), "nothing on the control socket");
	ssize_t len = recvmsg(control_fd, &header, MSG_CMSG_CLOEXEC);
	if (len <= 0)
		return false;
	ck_assert_int_eq(len, (ssize_t)sizeof(*ret_message));
	const struct cmsghdr *first = CMSG_FIRSTHDR(&header);
	size_t bytes = first != NULL ? first->cmsg_len - CMSG_LEN(0) : 0;
	if (ret_fds != NULL && bytes > 0)
		memcpy(ret_fds, CMSG_DATA(first), bytes);
	if (ret_count != NULL)
		*ret_count = bytes / sizeof(int);
	return true;
}

static inline struct message take_exit(void)
{
	struct message message;

	ck_assert(take_message(&message, NULL, NULL));
	ck_assert_uint_eq(message.kind, MESSAGE_EXITED);
	return message;
}

/* Init's wait status; it has to end by itself. */
static inline int end_of_init(void)
{
	int status = 0;

	for (int waited = 0; waited < PATIENCE_MS; waited += 2) {
		if (waitpid(init_pid, &status, WNOHANG) == init_pid) {
			init_pid = -1;
			return status;
		}
		usleep(2000);
	}
	kill(init_pid, SIGKILL);
	ck_abort_msg("init does not end");
	return -1;
}

/* A sanitizer's own calls are not on the list that init's filter has, when it exits. */
static inline bool exited_with(int status, int wanted)
{
#ifdef __SANITIZE_ADDRESS__
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS)
		return true;
#endif
	return WIFEXITED(status) && WEXITSTATUS(status) == wanted;
}

static inline bool can_make_namespaces(void)
{
	static int known = -1;

	if (known >= 0)
		return known == 1;
	fflush(stdout);
	pid_t pid = fork();
	int status = 0;

	if (pid == 0) {
		enter_namespace();
		_exit(0);
	}
	waitpid(pid, &status, 0);
	known = status == 0;
	if (!known)
		puts("skipped: child: no user namespaces here");
	return known == 1;
}

/* ---- the suite ---- */

static inline void setup(void)
{
	list_count = early_count = 0;
	handover = NULL;
	unlink(marker);
	signal(SIGPIPE, SIG_IGN);
}

static inline void teardown(void)
{
	if (init_pid > 0)
		kill(init_pid, SIGKILL);
}

static inline int run_suite(const char *name, void (*add)(TCase *tcase))
{
	Suite *suite = suite_create(name);
	TCase *tcase = tcase_create(name);
	SRunner *runner = srunner_create(suite);

	if (mkdtemp(base) == NULL || chmod(base, 0777) != 0)
		return EXIT_FAILURE;
	snprintf(marker, sizeof(marker), "%s/marker", base);
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 30);
	suite_add_tcase(suite, tcase);
	add(tcase);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	unlink(marker);
	rmdir(base);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

#endif
