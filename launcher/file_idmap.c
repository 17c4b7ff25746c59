// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "boundary_file.h"
#include "identity.h"

/*
 * An idmapped mount takes its mapping from a user namespace. One is made by a
 * short-lived process, whose maps the parent writes: the path's owner appears
 * as the outer uid, ids 1 to 65535 as themselves and root's as an id that nobody
 * has (files of an id without a mapping can be neither renamed nor removed:
 * EOVERFLOW).
 */

enum { STACK_SIZE = 16384, LAST_ID = 65535, NOBODYS_ID = LEASE_FIRST - 1 };

/* Dies with its parent; one that is dead already shows as another parent. */
static __attribute__((noreturn)) int wait_to_be_killed(void *parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (getppid() == *(pid_t *)parent)
		pause();
	_exit(0);
}

static int add_range(char *text, size_t size, int len, unsigned first, unsigned last)
{
	if (first > last)
		return len;
	return len + snprintf(text + len, size - (size_t)len, "%u %u %u\n", first, first,
			      last - first + 1);
}

/* "owner outer 1", then everything of 1..65535 that is neither. */
static void format_map(char *text, size_t size, unsigned owner, unsigned outer)
{
	unsigned low = owner < outer ? owner : outer, high = owner < outer ? outer : owner;
	int len = snprintf(text, size, "%u %u 1\n", owner, outer);
	unsigned next = 1;

	if (owner != 0)
		len += snprintf(text + len, size - (size_t)len, "0 %u 1\n", NOBODYS_ID);
	if (low >= 1 && low <= LAST_ID) {
		len = add_range(text, size, len, next, low - 1);
		next = low + 1;
	}
	if (high >= next && high <= LAST_ID) {
		len = add_range(text, size, len, next, high - 1);
		next = high + 1;
	}
	add_range(text, size, len, next, LAST_ID);
}

static int write_map(pid_t pid, const char *name, unsigned owner, unsigned outer)
{
	char path[64], text[256];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	format_map(text, sizeof(text), owner, outer);
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	ssize_t len = write(fd, text, strlen(text));
	close(fd);
	return len == (ssize_t)strlen(text) ? 0 : -1;
}

static int open_namespace(const struct arm *arm, pid_t pid, uid_t uid, gid_t gid)
{
	char path[64];

	if (write_map(pid, "uid_map", uid, arm->identity.outer_uid) != 0 ||
	    write_map(pid, "gid_map", gid, arm->identity.outer_gid) != 0)
		return -1;
	snprintf(path, sizeof(path), "/proc/%d/ns/user", (int)pid);
	return open(path, O_RDONLY | O_CLOEXEC);
}

static int open_one(const struct arm *arm, uid_t uid, gid_t gid, struct error *err)
{
	static _Alignas(16) char stack[STACK_SIZE];
	pid_t self = getpid();
	pid_t pid = clone(wait_to_be_killed, stack + sizeof(stack),
			  CLONE_VM | CLONE_NEWUSER | SIGCHLD, &self);

	if (pid < 0)
		return error_sys(err, "cannot make a user namespace for an idmapped mount");
	int fd = open_namespace(arm, pid, uid, gid);
	int saved = errno;
	if (kill(pid, SIGKILL) != 0) {
		/* not waited for, or that would be for ever: it dies with sbox */
		saved = errno;
		close(fd);
		errno = saved;
		return error_sys(err, "cannot end the holder of a user namespace");
	}
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	errno = saved;
	if (fd < 0)
		return error_sys(err, "cannot map uid %u to %u for an idmapped mount", uid,
				 arm->identity.outer_uid);
	return fd;
}

int idmap_number(struct arm *arm, uid_t uid, gid_t gid, struct error *err)
{
	const size_t room = sizeof(arm->idmaps) / sizeof(arm->idmaps[0]);

	for (size_t i = 0; i < arm->idmap_count; i++)
		if (arm->idmaps[i].uid == uid && arm->idmaps[i].gid == gid)
			return (int)i;
	if (arm->idmap_count == room)
		return error_set(err, ERROR_PROFILE,
				 "[file] write: paths of more than %zu different owners", room);
	arm->idmaps[arm->idmap_count].uid = uid;
	arm->idmaps[arm->idmap_count].gid = gid;
	arm->idmaps[arm->idmap_count].fd = -1;
	return (int)arm->idmap_count++;
}

int idmaps_open(struct arm *arm, struct error *err)
{
	for (size_t i = 0; i < arm->idmap_count; i++) {
		arm->idmaps[i].fd = open_one(arm, arm->idmaps[i].uid, arm->idmaps[i].gid, err);
		if (arm->idmaps[i].fd < 0)
			return -1;
	}
	return 0;
}

void idmaps_close(struct arm *arm)
{
	for (size_t i = 0; i < arm->idmap_count; i++)
		if (arm->idmaps[i].fd >= 0)
			close(arm->idmaps[i].fd);
	arm->idmap_count = 0;
}
