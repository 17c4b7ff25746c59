// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file_entries.h"
#include "host.h"

/*
 * What is hidden whatever the profile says: the audit store, and UNIX sockets
 * that somebody on the host listens on. A pathname socket is reached through the
 * file tree, so it would cross a network namespace of the sandbox's own (Landlock can
 * refuse that from ABI 9 on).
 */

enum { SOCKETS_MAX = 256, FIRST_READ = 16 * 1024, TEXT_MAX = 4 << 20 };

static bool is_listed(const struct host *host, const char *path)
{
	static const enum path_kind given[] = {PATH_EXEC, PATH_READ, PATH_WRITE};

	for (size_t k = 0; k < sizeof(given) / sizeof(given[0]); k++)
		for (size_t i = 0; i < host->paths[given[k]].count; i++)
			if (path_is_below(path, host->paths[given[k]].items[i].path))
				return true;
	return false;
}

void host_hide(struct arena *arena, struct host *host, const char *path)
{
	struct path_facts *facts = &host->paths[PATH_HIDE];
	struct path_fact fact;

	if (host_resolve(arena, host, path, &fact) == 0 && is_listed(host, fact.path))
		*ARENA_PUSH(arena, facts->items, facts->count) = fact;
}

/* The last field of a line of /proc/net/unix is the path as it was bound. */
static void hide_socket(struct arena *arena, struct host *host, const char *line, size_t len)
{
	const char *path = memchr(line, '/', len);
	struct stat st;

	if (path == NULL || path == line || path[-1] != ' ')
		return;
	const char *copy = arena_strndup(arena, path, (size_t)(line + len - path));
	if (is_listed(host, copy) && lstat(copy, &st) == 0 && S_ISSOCK(st.st_mode))
		host_hide(arena, host, copy);
}

void host_hide_sockets(struct arena *arena, struct host *host)
{
	/* read once when it is short, as it usually is */
	static char buffer[FIRST_READ];
	char *text = buffer;
	size_t len = 0, before = host->paths[PATH_HIDE].count;
	ssize_t got;
	int fd = open("/proc/net/unix", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	while ((got = read(fd, text + len, (text == buffer ? FIRST_READ : TEXT_MAX) - len)) > 0) {
		len += (size_t)got;
		if (len == FIRST_READ)
			text = arena_grow(arena, buffer, len, TEXT_MAX);
	}
	close(fd);
	for (const char *at = text, *end; at < text + len; at = end + 1) {
		end = memchr(at, '\n', (size_t)(text + len - at));
		if (end == NULL || host->paths[PATH_HIDE].count - before >= SOCKETS_MAX)
			break;
		hide_socket(arena, host, at, (size_t)(end - at));
	}
}
