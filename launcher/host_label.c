// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host.h"
#include "obstacle.h"

/*
 * Whether the AppArmor profile that [privilege] apparmor names can be entered, found by entering it
 * in a process of its own: which profiles are loaded is for root to read, and whether the caller's
 * own profile lets it change to another is nowhere to be read at all.
 */

enum { LABEL_SIZE = 512 };

/* "name (mode)", or "" when it cannot be read. */
static void read_label(pid_t pid, char label[LABEL_SIZE])
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/attr/apparmor/current", (int)pid);
	if (!obstacle_read("", path, label, LABEL_SIZE))
		label[0] = '\0';
	label[strcspn(label, "\n")] = '\0';
}

static bool ends_with(const char *text, const char *end)
{
	size_t len = strlen(text), end_len = strlen(end);

	return len >= end_len && strcmp(text + len - end_len, end) == 0;
}

/* In the new process: says what came of it, and waits until it has been looked at. */
static void enter(const char *command, int answer_fd, int wait_fd)
{
	int fd = open("/proc/thread-self/attr/apparmor/current", O_WRONLY | O_CLOEXEC);
	int errnum = fd < 0 || write(fd, command, strlen(command)) < 0 ? errno : 0;
	char byte;

	if (write(answer_fd, &errnum, sizeof(errnum)) == (ssize_t)sizeof(errnum) &&
	    read(wait_fd, &byte, 1) < 0)
		_exit(1);
	_exit(0);
}

static void try_it(struct arena *arena, const char *command, struct label_fact *fact)
{
	int answer[2], wait_for[2], status;
	char label[LABEL_SIZE] = "";

	fact->errnum = EIO;
	if (pipe2(answer, O_CLOEXEC) != 0)
		return;
	if (pipe2(wait_for, O_CLOEXEC) != 0) {
		close(answer[0]);
		close(answer[1]);
		return;
	}
	pid_t pid = fork();
	if (pid == 0) {
		/* else it would wait for itself */
		close(wait_for[1]);
		enter(command, answer[1], wait_for[0]);
	}
	close(answer[1]);
	if (pid > 0 &&
	    read(answer[0], &fact->errnum, sizeof(fact->errnum)) == (ssize_t)sizeof(fact->errnum))
		read_label(pid, label);
	close(answer[0]);
	close(wait_for[0]);
	close(wait_for[1]);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (fact->errnum == 0)
		fact->entered = arena_strdup(arena, label);
}

void host_look_label(struct arena *arena, const struct profile *profile, struct host *host)
{
	const char *name = profile->privilege.apparmor;
	struct label_fact *fact = &host->label;
	char own[LABEL_SIZE];

	if (name[0] == '\0' || !host->apparmor || fact->tried)
		return;
	fact->tried = true;
	read_label(getpid(), own);
	fact->own = arena_strdup(arena, own);
	/*
	 * QUIRK(apparmor-nnp): under no_new_privs a confined program may only add to what confines
	 * it (aa_label_is_unconfined_subset, in 6.1 and 6.12); an unconfined one enters
	 * anything. tests/vm/apparmor.py
	 */
	fact->stacked = strcmp(own, "unconfined") != 0 && !ends_with(own, " (unconfined)");
	try_it(arena, arena_printf(arena, "%s %s", fact->stacked ? "stack" : "changeprofile", name),
	       fact);
}
