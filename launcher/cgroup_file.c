// SPDX-License-Identifier: Apache-2.0
#include "cgroup_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int open_file(const char *group, const char *file, int flags)
{
	char path[PATH_MAX];
	int len = snprintf(path, sizeof(path), "%s/%s", group, file);

	if (len < 0 || (size_t)len >= sizeof(path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	return open(path, flags | O_CLOEXEC | O_NOFOLLOW);
}

int cgroup_write(const char *group, const char *file, const char *text)
{
	int fd = open_file(group, file, O_WRONLY);

	if (fd < 0)
		return -1;
	ssize_t done = write(fd, text, strlen(text));
	int saved = errno;
	close(fd);
	errno = saved;
	return done < 0 ? -1 : 0;
}

int cgroup_write_number(const char *group, const char *file, uint64_t number)
{
	char text[24];

	snprintf(text, sizeof(text), "%ju", (uintmax_t)number);
	return cgroup_write(group, file, text);
}

int cgroup_open(const char *group, const char *file)
{
	return open_file(group, file, O_RDONLY);
}

/* Control files are made when they are read: one pread from the start is a fresh look. */
static bool read_all(int fd, char *buf, size_t size)
{
	ssize_t len = fd < 0 ? -1 : pread(fd, buf, size - 1, 0);

	buf[len > 0 ? len : 0] = '\0';
	return len >= 0;
}

bool cgroup_read_text(const char *group, const char *file, char *buf, size_t size)
{
	int fd = cgroup_open(group, file);
	bool ok = read_all(fd, buf, size);

	if (fd >= 0)
		close(fd);
	return ok;
}

bool cgroup_has_word(const char *text, const char *word)
{
	size_t len = strlen(word);

	for (const char *at = text; (at = strstr(at, word)) != NULL; at += len) {
		bool starts = at == text || strchr(" \n", at[-1]) != NULL;

		if (starts && strchr(" \n", at[len]) != NULL) /* also the final NUL */
			return true;
	}
	return false;
}

static uint64_t to_number(const char *text)
{
	char *end;

	if (*text < '0' || *text > '9')
		return UINT64_MAX;
	uint64_t number = strtoull(text, &end, 10);
	return *end == '\n' || *end == '\0' ? number : UINT64_MAX;
}

uint64_t cgroup_number(int fd)
{
	char buf[64];

	return read_all(fd, buf, sizeof(buf)) ? to_number(buf) : UINT64_MAX;
}

uint64_t cgroup_keyed(int fd, const char *key)
{
	char buf[1024];
	size_t len = strlen(key);

	if (!read_all(fd, buf, sizeof(buf)))
		return UINT64_MAX;
	for (const char *line = buf; line != NULL && *line != '\0';) {
		if (strncmp(line, key, len) == 0 && line[len] == ' ')
			return to_number(line + len + 1);
		line = strchr(line, '\n');
		line = line == NULL ? NULL : line + 1;
	}
	return UINT64_MAX;
}

struct cgroup_quota cgroup_quota(uint64_t cpus_milli)
{
	enum { CPUS_MILLI_MAX = 100 * 1000 * 1000 }; /* more than any machine: no overflow */
	struct cgroup_quota quota = {.period_us = 100000};

	if (cpus_milli > CPUS_MILLI_MAX)
		cpus_milli = CPUS_MILLI_MAX;
	if (cpus_milli < 10)
		quota.period_us = 1000000;
	quota.quota_us = cpus_milli * (quota.period_us / 1000);
	return quota;
}
