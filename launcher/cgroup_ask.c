// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cgroup_internal.h"

/*
 * The systemd manager of the caller can give a group of its own to a process
 * of the caller's: a scope with Delegate=yes. This process is moved into it; the
 * run's group is then made below. Talking to the manager is a helper's business
 * (sbox-cgroup.c); whether it was of use is read from /proc afterwards.
 */

enum { HELPER_MS = 2500, ANSWER_MAX = 512 };

const char *cgroup_manager(struct arena *arena, bool root)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	const char *path = "/run/systemd/private";

	if (!root && runtime != NULL && runtime[0] == '/')
		path = arena_printf(arena, "%s/systemd/private", runtime);
	else if (!root)
		path = arena_printf(arena, "/run/user/%u/systemd/private", geteuid());
	return access(path, F_OK) == 0 ? path : NULL;
}

static pid_t start(const char *helper, const char *manager, const char *unit, int out)
{
	posix_spawn_file_actions_t actions;
	char pid_text[24];
	char *const argv[] = {(char *)"sbox-cgroup", (char *)manager, (char *)unit, pid_text, NULL};
	char *const envp[] = {NULL};
	pid_t pid = -1;

	snprintf(pid_text, sizeof(pid_text), "%d", (int)getpid());
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
	posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	int rc = posix_spawn(&pid, helper, &actions, NULL, argv, envp);
	posix_spawn_file_actions_destroy(&actions);
	errno = rc;
	return rc == 0 ? pid : -1;
}

static int left_ms(const struct timespec *begun)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	int64_t passed = (now.tv_sec - begun->tv_sec) * (int64_t)1000 +
			 (now.tv_nsec - begun->tv_nsec) / 1000000;
	return passed < HELPER_MS ? (int)(HELPER_MS - passed) : 0;
}

/* The helper's line, until it closes its end; false when it takes too long. */
static bool read_answer(int fd, char answer[ANSWER_MAX])
{
	struct pollfd ready = {.fd = fd, .events = POLLIN};
	struct timespec begun;
	size_t len = 0;
	ssize_t got = 1;

	clock_gettime(CLOCK_MONOTONIC, &begun);
	while (got > 0 && len < ANSWER_MAX - 1) {
		if (poll(&ready, 1, left_ms(&begun)) <= 0)
			return false;
		got = read(fd, answer + len, ANSWER_MAX - 1 - len);
		len += got > 0 ? (size_t)got : 0;
	}
	answer[strcspn(answer, "\n")] = '\0';
	return true;
}

/* NULL, or why there is no group. */
static const char *ask(struct arena *arena, const char *helper, const char *manager)
{
	char answer[ANSWER_MAX] = "";
	struct timespec now;
	int pipes[2], status = 0;

	clock_gettime(CLOCK_BOOTTIME, &now);
	const char *unit = arena_printf(arena, "run-sbox-%d-%lld.scope", (int)getpid(),
					now.tv_sec * 1000000000LL + now.tv_nsec);
	if (pipe2(pipes, O_CLOEXEC) != 0)
		return strerror(errno);
	pid_t pid = start(helper, manager, unit, pipes[1]);
	int errnum = errno;
	close(pipes[1]);
	bool in_time = pid > 0 && read_answer(pipes[0], answer);
	close(pipes[0]);
	if (pid < 0)
		return arena_printf(arena, "cannot execute %s: %s", helper, strerror(errnum));
	if (!in_time)
		kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (!in_time)
		return "it did not answer in time";
	if (answer[0] != '\0')
		return arena_strdup(arena, answer);
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? NULL : "sbox-cgroup failed";
}

void cgroup_ask(struct arena *arena, const char *helper, const char *manager,
		struct cgroup_host *host)
{
	const char *before = host->why_not != NULL ? host->why_not : "no memory controller";
	const char *why = "sbox-cgroup is not where it belongs (libexec/sbox next to bin)";
	struct cgroup_host after;

	host->may_ask = false;
	if (helper != NULL)
		why = ask(arena, helper, manager);
	if (why == NULL) {
		cgroup_probe(arena, &after);
		if (after.version == CGROUP_V2 && after.has_memory) {
			*host = after;
			return;
		}
		why = after.why_not != NULL ? after.why_not : "its group has no memory controller";
	}
	host->why_not = arena_printf(arena, "%s; systemd was asked for a group of its own: %s",
				     before, why);
}
