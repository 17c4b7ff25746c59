// SPDX-License-Identifier: Apache-2.0
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "judge_look.h"
#include "judge_parts.h"

/*
 * The kernel opens a script's interpreter and a program's loader itself, so no
 * call is seen for them: "No such file or directory" then means one of these.
 */

enum { DEPTH_MAX = 4, START_MAX = 256, HEADERS_MAX = 64 };

static bool judge_noexec(struct judge *judge, const char *path, int fd, struct judge_found *found)
{
	char inside[PATH_MAX], plain[PATH_MAX];

	if (!look_path_of(fd, inside))
		return false;
	const struct file_entry *entry = look_entry(judge, inside);
	if (entry == NULL) {
		bool scratch =
			path_is_below(inside, "/tmp") || path_is_below(inside, "/home/sandbox");

		return scratch && judge_refuse(found, REASON_SCRATCH_NOEXEC, EACCES, path, "");
	}
	if ((entry->kinds & KIND(PATH_NOEXEC)) != 0 && entry->fact->rule != NULL)
		return judge_refuse(found, REASON_NOEXEC, EACCES, path, entry->fact->rule->path);
	if ((entry->kinds & (KIND(PATH_EXEC) | KIND(PATH_WRITE))) != 0)
		return false;
	return judge_refuse(found, REASON_NOT_EXEC, EACCES, path,
			    look_plain(path, plain) ? plain : inside);
}

/* "#! /usr/bin/python3 -E": the kernel takes what stands up to the first blank. */
static bool script_interpreter(const char *start, size_t len, char *ret_path)
{
	if (len < 3 || start[0] != '#' || start[1] != '!')
		return false;
	size_t from = 2 + strspn(start + 2, " \t");
	size_t size = strcspn(start + from, " \t\n");

	/* longer than what the kernel reads: it refuses the file by itself */
	if (size == 0 || from + size >= len || start[from] != '/')
		return false;
	snprintf(ret_path, PATH_MAX, "%.*s", (int)size, start + from);
	return true;
}

static bool read_interpreter(int fd, uint64_t offset, uint64_t size, char *ret_path)
{
	if (size < 2 || size >= PATH_MAX ||
	    pread(fd, ret_path, size, (off_t)offset) != (ssize_t)size)
		return false;
	ret_path[size - 1] = '\0';
	return ret_path[0] == '/';
}

static bool elf64_interpreter(int fd, const Elf64_Ehdr *header, char *ret_path)
{
	Elf64_Phdr part;

	for (size_t i = 0; i < header->e_phnum && i < HEADERS_MAX; i++) {
		off_t at = (off_t)(header->e_phoff + i * header->e_phentsize);

		if (pread(fd, &part, sizeof(part), at) != (ssize_t)sizeof(part))
			return false;
		if (part.p_type == PT_INTERP)
			return read_interpreter(fd, part.p_offset, part.p_filesz, ret_path);
	}
	return false;
}

bool judge_interpreter_of(int fd, char ret_path[PATH_MAX])
{
	char link[40];
	union {
		char text[START_MAX + 1];
		Elf64_Ehdr header;
	} start = {.text = ""};
	struct stat st;

	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		return false;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	/* never waits: not for the holder of a lease (fcntl(2)), who may be the program */
	int file = open(link, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (file < 0)
		return false;
	ssize_t len = pread(file, start.text, START_MAX, 0);
	bool found = false;
	if (len > 0 && memcmp(start.text, ELFMAG, SELFMAG) != 0)
		found = script_interpreter(start.text, (size_t)len, ret_path);
	else if (len >= (ssize_t)sizeof(start.header) &&
		 start.header.e_ident[EI_CLASS] == ELFCLASS64)
		found = elf64_interpreter(file, &start.header, ret_path);
	close(file);
	return found;
}

static bool judge_interpreter(struct judge *judge, const char *path, struct judge_found *found,
			      int depth)
{
	char resolved[PATH_MAX], plain[PATH_MAX];
	struct stat st;
	int fd = look_inside(judge, path, false);

	if (fd >= 0) {
		bool refused = judge_execute(judge, path, fd, found, depth + 1);

		close(fd);
		return refused;
	}
	if (errno != ENOENT || look_host(judge, path, false, resolved, &st) != 0 ||
	    !look_may(judge, resolved, &st, X_OK))
		return false;
	return judge_refuse(found, REASON_INTERPRETER, ENOENT, path,
			    look_plain(path, plain) ? plain : resolved);
}

bool judge_execute(struct judge *judge, const char *path, int fd, struct judge_found *found,
		   int depth)
{
	char interpreter[PATH_MAX];
	struct stat st;

	/* without the bits the host refuses it too */
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || (st.st_mode & 0111) == 0 ||
	    depth == DEPTH_MAX)
		return false;
	if (look_noexec(fd))
		return judge_noexec(judge, path, fd, found);
	return judge_interpreter_of(fd, interpreter) &&
	       judge_interpreter(judge, interpreter, found, depth);
}
