// SPDX-License-Identifier: Apache-2.0
/*
 * Which path the argument of a call means, as seen from the root of the sandbox. This runs
 * for each file that a program opens, between two switches that have emptied the caches: no more
 * memory is touched than the path takes.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "notify_private.h"

/* PIECE: few paths are longer, and what is read beyond their end costs time too. */
enum { PAGE = 4096, PIECE = 256 };

/* Never across a page, since the next one may not be there. */
int notify_read_string(pid_t pid, uint64_t address, char *buf, size_t size)
{
	size_t len = 0;

	while (len < size) {
		size_t page = PAGE - (address + len) % PAGE, room = page < PIECE ? page : PIECE;
		struct iovec local = {buf + len, room < size - len ? room : size - len};
		struct iovec remote = {(void *)(uintptr_t)(address + len), local.iov_len};
		ssize_t got = process_vm_readv(pid, &local, 1, &remote, 1, 0);

		if (got <= 0)
			return -1;
		if (memchr(buf + len, '\0', (size_t)got) != NULL)
			return 0;
		len += (size_t)got;
	}
	buf[size - 1] = '\0';
	return 1;
}

ssize_t notify_read_some(pid_t pid, uint64_t address, void *buf, size_t size)
{
	size_t page = PAGE - address % PAGE, first = page < size ? page : size;
	struct iovec local = {buf, size};
	struct iovec remote[] = {{(void *)(uintptr_t)address, first},
				 {(void *)(uintptr_t)(address + first), size - first}};

	return process_vm_readv(pid, &local, 1, remote, size > first ? 2 : 1, 0);
}

int notify_read_bytes(pid_t pid, uint64_t address, void *buf, size_t size)
{
	struct iovec local = {buf, size}, remote = {(void *)(uintptr_t)address, size};

	return process_vm_readv(pid, &local, 1, &remote, 1, 0) == (ssize_t)size ? 0 : -1;
}

int notify_read_link(pid_t pid, const char *what, char ret_path[PATH_MAX])
{
	char link[64];

	snprintf(link, sizeof(link), "/proc/%d/%s", (int)pid, what);
	ssize_t len = readlink(link, ret_path, PATH_MAX - 1);
	if (len <= 0 || ret_path[0] != '/')
		return -1;
	ret_path[len] = '\0';
	/* gone from the tree: the path tells nothing */
	return strstr(ret_path, " (deleted)") != NULL || strncmp(ret_path, "(unreach", 8) == 0 ? -1
											       : 0;
}

/* Writes `text` behind the first `len` bytes. */
static int append(char path[PATH_MAX], size_t len, const char *text)
{
	size_t more = strlen(text) + 1;

	if (len + more > PATH_MAX)
		return -1;
	memcpy(path + len, text, more);
	return 0;
}

/* "/proc/self/fd/3", "/dev/stdin" and the like mean what the task's own /proc says. */
static int own_link(pid_t pid, char path[PATH_MAX])
{
	static const struct {
		const char *prefix, *what;
		bool numbered;
	} rows[] = {{"/proc/self/fd/", "fd/", true},
		    {"/proc/thread-self/fd/", "fd/", true},
		    {"/dev/fd/", "fd/", true},
		    {"/proc/self/cwd", "cwd", false},
		    {"/proc/thread-self/cwd", "cwd", false},
		    {"/proc/self/exe", "exe", false},
		    {"/proc/self/root", "root", false},
		    {"/dev/stdin", "fd/0", false},
		    {"/dev/stdout", "fd/1", false},
		    {"/dev/stderr", "fd/2", false}};
	char what[32], rest[PATH_MAX] __attribute__((uninitialized));

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		size_t len = strlen(rows[i].prefix);

		if (strncmp(path, rows[i].prefix, len) != 0)
			continue;
		size_t digits = rows[i].numbered ? strspn(path + len, "0123456789") : 0;
		if ((rows[i].numbered && (digits == 0 || digits > 9)) ||
		    (path[len + digits] != '/' && path[len + digits] != '\0'))
			continue;
		snprintf(what, sizeof(what), "%s%.*s", rows[i].what, (int)digits, path + len);
		memcpy(rest, path + len + digits, strlen(path + len + digits) + 1);
		return notify_read_link(pid, what, path) != 0 ? -1
							      : append(path, strlen(path), rest);
	}
	return 0;
}

static int resolve_own(pid_t pid, char path[PATH_MAX])
{
	bool may_be = strncmp(path, "/proc/", 6) == 0 || strncmp(path, "/dev/", 5) == 0;

	return may_be ? own_link(pid, path) : 0;
}

static int read_folder(pid_t pid, int dir_fd, char ret_path[PATH_MAX])
{
	char what[32] = "cwd";

	if (dir_fd != AT_FDCWD)
		snprintf(what, sizeof(what), "fd/%d", dir_fd);
	return notify_read_link(pid, what, ret_path);
}

int notify_find_path(pid_t pid, int dir_fd, const char *name, char ret_path[PATH_MAX])
{
	if (name[0] == '/')
		return append(ret_path, 0, name) != 0 ? -1 : resolve_own(pid, ret_path);
	if (read_folder(pid, dir_fd, ret_path) != 0)
		return -1;
	size_t len = strlen(ret_path);
	if (name[0] == '\0')
		return 0;
	ret_path[len] = '/';
	return append(ret_path, len + 1, name);
}

bool notify_by_descriptor(const struct seccomp_data *data)
{
	return data->nr == SYS_execveat && (data->args[4] & AT_EMPTY_PATH) != 0;
}

int notify_read_path(const struct seccomp_notif *request, int8_t dir, int8_t at,
		     char ret_path[PATH_MAX])
{
	pid_t pid = (pid_t)request->pid;
	char name[PATH_MAX] __attribute__((uninitialized));

	if (notify_read_string(pid, request->data.args[at], ret_path, PATH_MAX) != 0 ||
	    (ret_path[0] == '\0' && !notify_by_descriptor(&request->data)))
		return -1;
	if (ret_path[0] == '/')
		return resolve_own(pid, ret_path);
	memcpy(name, ret_path, strlen(ret_path) + 1);
	int dir_fd = dir == NOTIFY_NO_ARG ? AT_FDCWD : (int)request->data.args[dir];
	return notify_find_path(pid, dir_fd, name, ret_path);
}
