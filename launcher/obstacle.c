// SPDX-License-Identifier: Apache-2.0
#include "obstacle.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const struct obstacle_text obstacle_texts[OBSTACLE_MAX] = {
#define OBSTACLE(id, name, cause, way_out) [OBSTACLE_##id] = {name, cause, way_out},
	OBSTACLE_LIST(OBSTACLE)
#undef OBSTACLE
};

static int open_below(const char *root, const char *path)
{
	char whole[PATH_MAX];

	snprintf(whole, sizeof(whole), "%s%s", root, path);
	return open(whole, O_RDONLY | O_CLOEXEC);
}

bool obstacle_read(const char *root, const char *path, char *buf, size_t size)
{
	int fd = open_below(root, path);
	size_t len = 0;
	ssize_t got = 0;

	if (fd < 0)
		return false;
	while (len < size - 1 && (got = read(fd, buf + len, size - 1 - len)) > 0)
		len += (size_t)got;
	close(fd);
	buf[len] = '\0';
	return got >= 0;
}

/* On the way of every start: one read, and none after it for the end of file. */
long obstacle_number(const char *root, const char *path)
{
	char text[32], *end;
	int fd = open_below(root, path);
	ssize_t len = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	text[len > 0 ? len : 0] = '\0';
	long number = strtol(text, &end, 10);
	return end == text ? -1 : number;
}

/* WSL 1 is "4.4.0-19041-Microsoft"; WSL 2 is a real kernel, "5.15.…-microsoft-standard-WSL2". */
static bool is_wsl1(const char *root)
{
	char release[256];

	return obstacle_read(root, "/proc/sys/kernel/osrelease", release, sizeof(release)) &&
	       strstr(release, "-Microsoft") != NULL;
}

/*
 * QUIRK(apparmor): Ubuntu, from 23.10 on. The restriction falls on "unconfined" and on the
 * profile to which 24.04 moves such a program when it makes a user namespace; a profile of
 * one's own with "userns,", also one with flags=(unconfined), reads "NAME (unconfined)".
 */
static bool is_restricted_by_apparmor(const char *root)
{
	char label[256];

	if (obstacle_number(root, "/proc/sys/kernel/apparmor_restrict_unprivileged_userns") != 1)
		return false;
	return !obstacle_read(root, "/proc/self/attr/apparmor/current", label, sizeof(label)) ||
	       strcmp(label, "unconfined\n") == 0 || strcmp(label, "unconfined") == 0 ||
	       strncmp(label, "unprivileged_userns", 19) == 0;
}

/* Every process sees its own root mounted at "/", but not in a chroot, unless that is itself a
 * mount point. */
static bool is_chroot(const char *root)
{
	char text[65536];

	if (!obstacle_read(root, "/proc/self/mountinfo", text, sizeof(text)) || text[0] == '\0')
		return false;
	for (char *line = text; line != NULL && *line != '\0';) {
		char *next = strchr(line, '\n');

		if (next != NULL)
			*next++ = '\0';
		char point[8] = "";
		if (sscanf(line, "%*s %*s %*s %*s %7s", point) == 1 && strcmp(point, "/") == 0)
			return false;
		line = next;
	}
	return true;
}

/* Without one, only a chroot is left of the kernel's own reasons (create_user_ns()). */
static bool has_security_module(const char *root)
{
	char text[8];

	return obstacle_read(root, "/sys/fs/selinux/enforce", text, sizeof(text)) ||
	       (obstacle_read(root, "/sys/module/apparmor/parameters/enabled", text,
			      sizeof(text)) &&
		text[0] == 'Y');
}

static bool is_filtered(const char *root)
{
	char status[8192];
	const char *line = NULL;

	if (obstacle_read(root, "/proc/self/status", status, sizeof(status)))
		line = strstr(status, "\nSeccomp:\t");
	return line != NULL && strtol(line + 10, NULL, 10) == 2;
}

static enum obstacle refused_clone(const char *root, int errnum, bool is_root)
{
	if (obstacle_number(root, "/proc/sys/user/max_user_namespaces") == 0)
		return OBSTACLE_MAX_USER_NAMESPACES;
	if (errnum == ENOSPC || errnum == EUSERS)
		return OBSTACLE_NAMESPACE_LIMIT;
	if (errnum == EAGAIN)
		return OBSTACLE_TASK_LIMIT;
	if (!is_root && obstacle_number(root, "/proc/sys/kernel/unprivileged_userns_clone") == 0)
		return OBSTACLE_USERNS_CLONE;
	if (is_chroot(root))
		return OBSTACLE_CHROOT;
	/* Docker's filter answers clone3 with ENOSYS */
	if (is_filtered(root) && (errnum == EPERM || errnum == ENOSYS || errnum == EACCES))
		return OBSTACLE_FILTER;
	if (is_restricted_by_apparmor(root))
		return OBSTACLE_APPARMOR;
	return has_security_module(root) ? OBSTACLE_SECURITY_MODULE : OBSTACLE_CHROOT;
}

enum obstacle obstacle_find(const char *root, enum obstacle_at at, int errnum, bool is_root)
{
	if (is_wsl1(root))
		return OBSTACLE_WSL1;
	if (at == AT_CLONE)
		return refused_clone(root, errnum, is_root);
	if (!is_root && is_restricted_by_apparmor(root))
		return OBSTACLE_APPARMOR;
	if (at == AT_PROC && errnum == EPERM)
		return OBSTACLE_COVERED_PROC;
	if (is_filtered(root))
		return OBSTACLE_FILTER;
	return OBSTACLE_SECURITY_MODULE;
}

char *obstacle_sentence(struct arena *arena, enum obstacle obstacle)
{
	return arena_printf(arena, "%s (%s)", obstacle_texts[obstacle].cause,
			    obstacle_texts[obstacle].way_out);
}
