// SPDX-License-Identifier: Apache-2.0
#include "passwd.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char *read_all(struct arena *arena, const char *path)
{
	struct stat st;
	size_t len = 0;
	ssize_t got;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return NULL;
	size_t size = fstat(fd, &st) == 0 && st.st_size > 0 ? (size_t)st.st_size : 0;
	char *text = arena_alloc(arena, size + 1);
	while (len < size && (got = read(fd, text + len, size - len)) > 0)
		len += (size_t)got;
	close(fd);
	return text;
}

/* name:password:uid:gid:... (passwd(5)); false for a line of another form. */
static bool parse_line(char *line, struct passwd_entry *entry)
{
	char *fields[4], *end;

	for (int i = 0; i < 4; i++) {
		fields[i] = strsep(&line, ":");
		if (line == NULL)
			return false;
	}
	entry->name = fields[0];
	entry->uid = (uid_t)strtoul(fields[2], &end, 10);
	if (end == fields[2] || *end != '\0')
		return false;
	entry->gid = (gid_t)strtoul(fields[3], &end, 10);
	return end != fields[3] && *end == '\0';
}

static bool find(struct arena *arena, const char *name, uid_t uid, struct passwd_entry *ret_entry)
{
	char *rest = read_all(arena, "/etc/passwd"), *line;

	while (rest != NULL && (line = strsep(&rest, "\n")) != NULL)
		if (parse_line(line, ret_entry) &&
		    (name != NULL ? strcmp(ret_entry->name, name) == 0 : ret_entry->uid == uid))
			return true;
	return false;
}

bool passwd_by_name(struct arena *arena, const char *name, struct passwd_entry *ret_entry)
{
	return find(arena, name, 0, ret_entry);
}

bool passwd_by_uid(struct arena *arena, uid_t uid, struct passwd_entry *ret_entry)
{
	return find(arena, NULL, uid, ret_entry);
}
