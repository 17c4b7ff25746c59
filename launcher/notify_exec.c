// SPDX-License-Identifier: Apache-2.0
/*
 * What was executed: path and arguments, read from the memory of the task that
 * waits. Another thread may rewrite them before the kernel reads them again, so
 * this explains and decides nothing: every exec is continued.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "filter.h"
#include "notify_private.h"
#include "redact.h"
#include "sys.h"
#include "watch.h"

static const char cut_mark[] = "…";

/* One exec while it is looked at; path and arguments one after another in `text`. */
struct exec_seen {
	pid_t pid;
	int root_fd;             /* of the sandbox's tree; -1: there is none */
	int fd;                  /* of the program in it; -1: it was not looked for there */
	int dir_fd;              /* the task's, or AT_FDCWD */
	bool by_descriptor;      /* execveat with AT_EMPTY_PATH */
	char name[PATH_MAX];     /* as given */
	char path[2 * PATH_MAX]; /* absolute, as seen inside */
	char text[EXEC_TEXT_MAX];
	size_t used;
	size_t offsets[EXEC_ARGV_MAX + 1]; /* of the arguments */
	size_t argc;
	bool full;
};

bool notify_is_exec(const struct seccomp_data *data)
{
	return filter_is_native(data->arch) && (data->nr == SYS_execve || data->nr == SYS_execveat);
}

static int open_task(pid_t pid, const char *what, int flags)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, what);
	return open(path, flags | O_CLOEXEC);
}

static ssize_t read_task_link(pid_t pid, const char *what, char *buf, size_t size)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, what);
	ssize_t length = readlink(path, buf, size - 1);
	buf[length > 0 ? length : 0] = '\0';
	return length;
}

/* Bytes of text that end on a whole UTF-8 character, at most `room`. */
static size_t whole_characters(const char *text, size_t room)
{
	size_t length = room;

	while (length > 0 && room - length < 4 && ((unsigned char)text[length] & 0xc0) == 0x80)
		length--;
	return room - length < 4 ? length : room;
}

/* Room for a mark of its own is left behind every text. */
static void add_text(struct exec_seen *seen, const char *text, size_t length, size_t limit)
{
	size_t room = limit - seen->used - 2 * sizeof(cut_mark);

	seen->full = length > room;
	if (seen->full)
		length = whole_characters(text, room);
	memcpy(seen->text + seen->used, text, length);
	seen->used += length;
	if (seen->full) {
		memcpy(seen->text + seen->used, cut_mark, sizeof(cut_mark) - 1);
		seen->used += sizeof(cut_mark) - 1;
	}
	seen->text[seen->used++] = '\0';
}

static void add_argument(struct exec_seen *seen, const char *text, size_t length)
{
	seen->offsets[seen->argc++] = seen->used;
	add_text(seen, text, length, sizeof(seen->text));
}

/* In place of all further arguments. */
static void add_mark(struct exec_seen *seen)
{
	seen->offsets[seen->argc++] = seen->used;
	memcpy(seen->text + seen->used, cut_mark, sizeof(cut_mark));
	seen->used += sizeof(cut_mark);
	seen->full = true;
}

static void add_redacted(struct exec_seen *seen, const struct string_list *redact, const char *arg,
			 const char *previous)
{
	char blanked[EXEC_TEXT_MAX + sizeof(REDACTED)] __attribute__((uninitialized));
	size_t keep = redact != NULL ? redact_keep(redact, arg, previous) : SIZE_MAX;

	if (keep == SIZE_MAX) {
		add_argument(seen, arg, strlen(arg));
		return;
	}
	int length = snprintf(blanked, sizeof(blanked), "%.*s%s", (int)keep, arg, REDACTED);
	add_argument(seen, blanked, (size_t)length);
}

static void read_arguments(struct exec_seen *seen, const struct string_list *redact, uint64_t argv)
{
	uint64_t pointers[EXEC_ARGV_MAX + 1] = {0};
	char buffers[2][EXEC_TEXT_MAX] __attribute__((uninitialized));
	const char *previous = NULL;

	if (notify_read_some(seen->pid, argv, pointers, sizeof(pointers)) < 0)
		return;
	for (size_t i = 0; pointers[i] != 0 && !seen->full; i++) {
		char *arg = buffers[i % 2];

		if (i == EXEC_ARGV_MAX || sizeof(seen->text) - seen->used <= 2 * sizeof(cut_mark)) {
			add_mark(seen);
			return;
		}
		if (notify_read_string(seen->pid, pointers[i], arg, sizeof(buffers[0])) < 0)
			return;
		add_redacted(seen, redact, arg, previous);
		previous = arg;
	}
}

/* The path as seen inside, by text: what "." and descriptors stand for comes from /proc. */
static int find_path(struct exec_seen *seen)
{
	char what[32] = "cwd", base[PATH_MAX] __attribute__((uninitialized));
	const char *name = seen->name;

	/* an absolute one is as given; ".//x" is none */
	while (name[0] == '.' && name[1] == '/')
		name += 2 + strspn(name + 2, "/");
	if (name[0] == '/') {
		snprintf(seen->path, sizeof(seen->path), "%s", name);
		return 0;
	}
	if (seen->dir_fd != AT_FDCWD)
		snprintf(what, sizeof(what), "fd/%d", seen->dir_fd);
	if (read_task_link(seen->pid, what, base, sizeof(base)) < 0)
		return -1;
	snprintf(seen->path, sizeof(seen->path), "%s%s%s", base, name[0] != '\0' ? "/" : "", name);
	return 0;
}

static bool is_program(int fd)
{
	struct stat status;
	struct statfs system;

	if (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode) || (status.st_mode & 0111) == 0)
		return false;
	return fstatfs(fd, &system) < 0 || (system.f_flags & ST_NOEXEC) == 0;
}

/* Whether `folder` surely has no such name. A link that did not resolve leaves it open. */
static bool has_no_name(int folder_fd, const char *name)
{
	char one[NAME_MAX + 1];
	struct stat status;

	snprintf(one, sizeof(one), "%.*s", (int)strcspn(name, "/"), name);
	if (fstatat(folder_fd, one, &status, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT || errno == ENOTDIR;
	return !S_ISLNK(status.st_mode);
}

/*
 * The path did not resolve. True when it is known to be absent: the deepest
 * folder on the way is there and has no such name. A link that leads where only
 * the task itself can look (/proc/self), or a folder that is gone, leaves it open:
 * then the exec is written down, since it may have worked.
 */
static bool is_absent(int root_fd, const char *path)
{
	char parent[2 * PATH_MAX];
	char *slash;

	if (path[0] != '/' || strstr(path, " (deleted)") != NULL)
		return false;
	snprintf(parent, sizeof(parent), "%s", path);
	while ((slash = strrchr(parent, '/')) != NULL) {
		*slash = '\0';
		int folder_fd = sys_openat2(root_fd, slash == parent ? "/" : parent,
					    O_PATH | O_DIRECTORY | O_CLOEXEC, RESOLVE_IN_ROOT);
		if (folder_fd < 0)
			continue;
		bool absent = has_no_name(folder_fd, path + (slash - parent) + 1);
		close(folder_fd);
		return absent;
	}
	return false;
}

/* By what is found in the sandbox's tree, else in the task's; what cannot be told counts as there.
 */
static bool is_path_there(struct exec_seen *seen)
{
	bool own = seen->root_fd < 0;
	int root_fd = own ? open_task(seen->pid, "root", O_PATH | O_DIRECTORY) : seen->root_fd;
	bool there;

	if (root_fd < 0)
		return true;
	int fd = sys_openat2(root_fd, seen->path, O_PATH | O_CLOEXEC, RESOLVE_IN_ROOT);
	if (fd >= 0)
		there = is_program(fd);
	else
		there = (errno != ENOENT && errno != ENOTDIR) || !is_absent(root_fd, seen->path);
	if (own) {
		close(root_fd);
		if (fd >= 0)
			close(fd);
	} else {
		seen->fd = fd;
	}
	return there;
}

static bool is_descriptor_there(pid_t pid, int number)
{
	char what[32];

	snprintf(what, sizeof(what), "fd/%d", number);
	int fd = open_task(pid, what, O_PATH);
	if (fd < 0)
		return errno != ENOENT;
	bool there = is_program(fd);
	close(fd);
	return there;
}

/* Shells try each folder of PATH: only what is there was executed. */
static bool is_there(struct exec_seen *seen)
{
	return seen->by_descriptor ? is_descriptor_there(seen->pid, seen->dir_fd)
				   : is_path_there(seen);
}

/* False: there is no such program, or the pointers lead nowhere. */
static bool look(struct notify *notify, const struct seccomp_data *data, struct exec_seen *seen)
{
	static const char unreadable[] = "(memory not readable)";
	bool at = data->nr == SYS_execveat;

	seen->dir_fd = at ? (int)data->args[0] : AT_FDCWD;
	seen->by_descriptor = notify_by_descriptor(data);
	int cut = notify_read_string(seen->pid, data->args[at ? 1 : 0], seen->name,
				     sizeof(seen->name));
	if (cut < 0 && errno == EPERM) {
		/* Yama scope 3, or a program file that the user may not read. */
		add_text(seen, unreadable, sizeof(unreadable) - 1, sizeof(seen->text));
		return true;
	}
	if (cut != 0)
		return false;
	seen->by_descriptor = seen->by_descriptor && seen->name[0] == '\0';
	if (seen->name[0] == '\0' && !seen->by_descriptor)
		return false;
	if (find_path(seen) < 0 || !is_there(seen))
		return false;
	/* A long path leaves a quarter to the arguments. */
	add_text(seen, seen->path, strlen(seen->path), sizeof(seen->text) / 4 * 3);
	seen->full = false;
	read_arguments(seen, notify->redact, data->args[at ? 2 : 1]);
	return true;
}

static bool same_exec(const struct record_exec *exec, const struct exec_seen *seen)
{
	size_t i = 0;

	if (strcmp(exec->path, seen->text) != 0)
		return false;
	for (; i < seen->argc && exec->argv[i] != NULL; i++)
		if (strcmp(exec->argv[i], seen->text + seen->offsets[i]) != 0)
			return false;
	return i == seen->argc && exec->argv[i] == NULL;
}

static void add_exec(struct notify *notify, const struct exec_seen *seen, uint64_t hash)
{
	const char **argv = arena_alloc(notify->arena, (seen->argc + 1) * sizeof(*argv));
	char *text = arena_alloc(notify->arena, seen->used);

	memcpy(text, seen->text, seen->used);
	for (size_t i = 0; i < seen->argc; i++)
		argv[i] = text + seen->offsets[i];
	notify->exec_hashes[notify->exec_count] = hash;
	notify->execs[notify->exec_count++] = (struct record_exec){
		.path = text,
		.argv = argv,
		.pid = seen->pid != 0 ? notify_inner_pid(seen->pid) : 0,
		.count = 1,
	};
}

static void count_exec(struct notify *notify, const struct exec_seen *seen)
{
	uint64_t hash = notify_hash(NOTIFY_HASH_START, seen->text, seen->used);

	notify->execs_total++;
	for (size_t i = 0; i < notify->exec_count; i++)
		if (notify->exec_hashes[i] == hash && same_exec(&notify->execs[i], seen)) {
			notify->execs[i].count++;
			return;
		}
	if (notify->exec_count < EXECS_MAX)
		add_exec(notify, seen, hash);
}

void notify_first_exec(struct notify *notify)
{
	const char *const *argv = notify->first_argv;
	struct exec_seen seen __attribute__((uninitialized));

	if (notify->first_path != NULL && notify->watch != NULL)
		watch_use(
			notify->watch, notify->judge,
			&(struct judge_question){.want = WANT_EXECUTE, .path = notify->first_path});

	if (notify->first_path == NULL || !notify->record_execs)
		return;
	seen.pid = 0;
	seen.used = seen.argc = 0;
	seen.full = false;
	add_text(&seen, notify->first_path, strlen(notify->first_path), sizeof(seen.text) / 4 * 3);
	seen.full = false;
	for (size_t i = 0; argv[i] != NULL && !seen.full; i++) {
		if (i == EXEC_ARGV_MAX || sizeof(seen.text) - seen.used <= 2 * sizeof(cut_mark)) {
			add_mark(&seen);
			break;
		}
		add_redacted(&seen, notify->redact, argv[i], i > 0 ? argv[i - 1] : NULL);
	}
	notify->first_path = NULL;
	count_exec(notify, &seen);
	/* nothing else can run before it */
	if (notify->exec_count > 0)
		notify->execs[notify->exec_count - 1].pid =
			notify->first_pid != 0 ? notify->first_pid : 2;
}

void notify_exec(struct notify *notify, const struct seccomp_notif *request)
{
	struct exec_seen seen __attribute__((uninitialized));

	seen.pid = (pid_t)request->pid;
	seen.used = seen.argc = 0;
	seen.full = false;
	seen.fd = -1;
	/* no program has another: chroot(2) and pivot_root(2) need a capability */
	seen.root_fd = notify->judge != NULL ? notify->judge->root_fd : -1;
	bool there = look(notify, &request->data, &seen);
	if (there && notify_is_valid(notify, request->id))
		count_exec(notify, &seen);
	if (seen.fd >= 0 && notify->watch == NULL)
		notify_found(notify, request, seen.path, seen.fd);
	else
		notify_path(notify, request);
	if (seen.fd >= 0)
		close(seen.fd);
}
