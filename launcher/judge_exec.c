// SPDX-License-Identifier: Apache-2.0
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "arena.h"
#include "judge_look.h"
#include "judge_memo.h"
#include "judge_parts.h"

/*
 * The kernel opens a script's interpreter and a program's loader itself, so no
 * call is seen for them: "No such file or directory" then means one of these.
 */

/* SCRIPT_MAX: what the kernel reads of a script's first line (BINPRM_BUF_SIZE). */
enum { DEPTH_MAX = 4, SCRIPT_MAX = 256, START_MAX = 1024, HEADERS_MAX = 64 };
/* SETTLED_S: a later change shows in the time, whatever clock the file system takes it from. */
enum { KNOWN_MAX = 16, KNOWN_PATH = 64, SETTLED_S = 2 };

/* What files that have been as they are for a while need, found by their status alone: the same
 * loader is asked about with every program. */
struct judge_known {
	struct known_file {
		dev_t device;
		ino_t inode;
		off_t size;
		struct timespec changed;
		char interpreter[KNOWN_PATH]; /* empty: none */
	} files[KNOWN_MAX];
	size_t next;
};

static bool judge_noexec(struct judge *judge, const char *path, int fd, struct judge_found *found)
{
	PATH_ROOM(inside);
	PATH_ROOM(plain);

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

/* The start of a file, as far as it was read. */
struct file_start {
	union {
		char text[START_MAX];
		Elf64_Ehdr header;
	};
	size_t len;
};

/* From what was read already where it is in there. */
static bool read_at(int fd, const struct file_start *start, uint64_t offset, void *buf, size_t size)
{
	if (offset <= start->len && size <= start->len - offset) {
		memcpy(buf, start->text + offset, size);
		return true;
	}
	return pread(fd, buf, size, (off_t)offset) == (ssize_t)size;
}

static bool read_interpreter(int fd, const struct file_start *start, const Elf64_Phdr *part,
			     char *ret_path)
{
	size_t size = part->p_filesz;

	if (size < 2 || size >= PATH_MAX || !read_at(fd, start, part->p_offset, ret_path, size))
		return false;
	ret_path[size - 1] = '\0';
	return ret_path[0] == '/';
}

static bool elf64_interpreter(int fd, const struct file_start *start, char *ret_path)
{
	const Elf64_Ehdr *header = &start->header;
	Elf64_Phdr part;

	for (size_t i = 0; i < header->e_phnum && i < HEADERS_MAX; i++) {
		if (!read_at(fd, start, header->e_phoff + i * header->e_phentsize, &part,
			     sizeof(part)))
			return false;
		if (part.p_type == PT_INTERP)
			return read_interpreter(fd, start, &part, ret_path);
	}
	return false;
}

/* -1: it could not be read; otherwise whether something else is opened with it. */
static int find_interpreter(int fd, char ret_path[PATH_MAX])
{
	struct file_start start __attribute__((uninitialized));
	char link[40];
	int found = 0;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	/* never waits: not for the holder of a lease (fcntl(2)), who may be the program */
	int file = open(link, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (file < 0)
		return -1;
	ssize_t len = pread(file, start.text, START_MAX, 0);
	start.len = len > 0 ? (size_t)len : 0;
	if (len < 0)
		found = -1;
	else if (start.len < SELFMAG || memcmp(start.text, ELFMAG, SELFMAG) != 0)
		found = script_interpreter(
			start.text, start.len < SCRIPT_MAX ? start.len : SCRIPT_MAX, ret_path);
	else if (start.len >= sizeof(start.header) && start.header.e_ident[EI_CLASS] == ELFCLASS64)
		found = elf64_interpreter(file, &start, ret_path);
	close(file);
	return found;
}

bool judge_interpreter_of(int fd, char ret_path[PATH_MAX])
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && find_interpreter(fd, ret_path) > 0;
}

static bool is_known(const struct known_file *file, const struct stat *st)
{
	return file->inode == st->st_ino && file->device == st->st_dev &&
	       file->size == st->st_size && file->changed.tv_sec == st->st_ctim.tv_sec &&
	       file->changed.tv_nsec == st->st_ctim.tv_nsec;
}

static void keep_known(struct judge *judge, const struct stat *st, const char *interpreter)
{
	struct judge_known *known = judge->known;
	struct timespec now;

	clock_gettime(CLOCK_REALTIME_COARSE, &now);
	if (st->st_ctim.tv_sec + SETTLED_S >= now.tv_sec || strlen(interpreter) >= KNOWN_PATH)
		return;
	if (known == NULL)
		known = judge->known = arena_alloc(judge->arena, sizeof(*known));
	struct known_file *file = &known->files[known->next++ % KNOWN_MAX];
	*file = (struct known_file){.device = st->st_dev,
				    .inode = st->st_ino,
				    .size = st->st_size,
				    .changed = st->st_ctim};
	strcpy(file->interpreter, interpreter);
}

/* The same from memory. The status was taken before the file is read. */
static bool interpreter_of(struct judge *judge, int fd, const struct stat *st,
			   char ret_path[PATH_MAX])
{
	for (size_t i = 0; judge->known != NULL && i < KNOWN_MAX; i++) {
		const struct known_file *file = &judge->known->files[i];

		if (is_known(file, st)) {
			strcpy(ret_path, file->interpreter);
			return ret_path[0] != '\0';
		}
	}
	int found = find_interpreter(fd, ret_path);
	if (found >= 0)
		keep_known(judge, st, found > 0 ? ret_path : "");
	return found > 0;
}

static bool judge_interpreter(struct judge *judge, const char *path, struct judge_found *found,
			      int depth)
{
	PATH_ROOM(resolved);
	PATH_ROOM(plain);
	const struct judge_question key = {.want = WANT_MAX, .path = path, .no_follow = true};
	struct stat st;

	/* the loader of the program before, nearly always; of folders no_follow is false */
	if (judge_memo_has(judge, &key))
		return false;
	int fd = look_inside(judge, path, false);
	if (fd >= 0) {
		bool refused = judge_execute(judge, path, fd, found, depth + 1);

		/* what the program may write can need something else at once */
		if (!refused && look_read_only(fd))
			judge_memo_add(judge, &key);
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
	PATH_ROOM(interpreter);
	struct stat st;

	/* without the bits the host refuses it too */
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || (st.st_mode & 0111) == 0 ||
	    depth == DEPTH_MAX)
		return false;
	if (look_noexec(fd))
		return judge_noexec(judge, path, fd, found);
	return interpreter_of(judge, fd, &st, interpreter) &&
	       judge_interpreter(judge, interpreter, found, depth);
}
