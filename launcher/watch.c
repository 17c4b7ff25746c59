// SPDX-License-Identifier: Apache-2.0
#include "watch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "judge_look.h"
#include "judge_parts.h"
#include "sys.h"

enum { TABLE = 2 * WATCH_USES_MAX, BUFFER = 1 << 16, LINKS_MAX = 40, DEPTH_MAX = 4 };

struct watch {
	int fd;
	struct arena *arena;
	uint64_t *table; /* hashes of what was written; 0: free */
	size_t count, bytes, used;
	uint64_t dropped;
	off_t most_files;
	char buffer[BUFFER];
	/* one use while it is looked at: too much for a stack */
	char plain[PATH_MAX], real[PATH_MAX], at[PATH_MAX], rest[PATH_MAX], target[PATH_MAX],
		next[2 * PATH_MAX];
};

const char watch_letters[WANT_MAX + 1] = {
	[WANT_LOOK] = 'l',   [WANT_READ] = 'r',   [WANT_ENTER] = 'e',   [WANT_WRITE] = 'w',
	[WANT_CREATE] = 'c', [WANT_NEW] = 'n',    [WANT_REMOVE] = 'd',  [WANT_RENAME] = 'd',
	[WANT_LINK] = 'r',   [WANT_CHANGE] = 'm', [WANT_EXECUTE] = 'x', [WANT_CONNECT] = 'u',
	[WANT_MAX] = '\0',
};

struct watch *watch_make(struct arena *arena, int fd)
{
	struct watch *watch = arena_alloc(arena, sizeof(*watch));

	watch->fd = fd;
	watch->arena = arena;
	watch->table = arena_alloc(arena, TABLE * sizeof(*watch->table));
	return watch;
}

/* ---- writing ---- */

/* A full disk, or a reader that is gone: the end is then missing, and the reader knows. */
static void flush(struct watch *watch)
{
	const char *at = watch->buffer;

	while (watch->used > 0 && watch->fd >= 0) {
		ssize_t done = write(watch->fd, at, watch->used);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0) {
			watch->fd = -1;
			break;
		}
		at += done;
		watch->used -= (size_t)done;
	}
	watch->used = 0;
}

static void put(struct watch *watch, const char *bytes, size_t size)
{
	if (size > BUFFER - watch->used)
		flush(watch);
	memcpy(watch->buffer + watch->used, bytes, size);
	watch->used += size;
	watch->bytes += size;
}

static void put_text(struct watch *watch, const char *text)
{
	put(watch, text, strlen(text) + 1);
}

static void put_start(struct watch *watch, char what, char type)
{
	const char start[2] = {what, type};

	put(watch, start, sizeof(start));
}

static void put_end(struct watch *watch)
{
	put(watch, "", 1);
}

static uint64_t hash_of(char what, char type, const char *text)
{
	uint64_t hash = 0xcbf29ce484222325ULL ^ (uint64_t)(unsigned char)what << 8 ^
			(uint64_t)(unsigned char)type;

	for (; *text != '\0'; text++)
		hash = (hash ^ (unsigned char)*text) * 0x100000001b3ULL;
	return hash != 0 ? hash : 1;
}

/* True once for each; a false "seen" by equal hashes costs a use in 2^47 at most. */
static bool is_seen(const struct watch *watch, uint64_t hash)
{
	size_t at = hash % TABLE;

	for (; watch->table[at] != 0; at = (at + 1) % TABLE)
		if (watch->table[at] == hash)
			return true;
	return false;
}

static bool take(struct watch *watch, uint64_t hash)
{
	size_t at = hash % TABLE;

	if (is_seen(watch, hash))
		return false;
	if (watch->count >= WATCH_USES_MAX || watch->bytes >= WATCH_TEXT_MAX) {
		watch->dropped++;
		return false;
	}
	while (watch->table[at] != 0)
		at = (at + 1) % TABLE;
	watch->table[at] = hash;
	watch->count++;
	return true;
}

void watch_word(struct watch *watch, char what, const char *text)
{
	if (!take(watch, hash_of(what, '-', text)))
		return;
	put_start(watch, what, '-');
	put_text(watch, text);
	put_end(watch);
}

/* ---- where a path leads ---- */

static char type_of(mode_t mode)
{
	return S_ISREG(mode)                    ? 'f'
	       : S_ISDIR(mode)                  ? 'd'
	       : S_ISLNK(mode)                  ? 'l'
	       : S_ISSOCK(mode)                 ? 's'
	       : S_ISCHR(mode) || S_ISBLK(mode) ? 'c'
						: 'o';
}

/* The text of a link at the end of a path whose folders are known to have none; -1: no link. */
static ssize_t link_at(const struct judge *judge, const char *path, char target[PATH_MAX])
{
	int fd = look_inside(judge, path, true);

	if (fd < 0)
		return -1;
	ssize_t len = readlinkat(fd, "", target, PATH_MAX - 1);
	close(fd);
	if (len >= 0)
		target[len] = '\0';
	return len;
}

static void up(char *path)
{
	char *slash = strrchr(path, '/');

	if (slash != NULL)
		*slash = '\0';
}

/* "watch->at", which has no link in it, grows by the next name of "watch->rest". */
static bool step(struct watch *watch)
{
	char *rest = watch->rest + strspn(watch->rest, "/");
	size_t len = strcspn(rest, "/"), at = strlen(watch->at);

	if (len == 2 && memcmp(rest, "..", 2) == 0) {
		up(watch->at);
	} else if (len > 0 && !(len == 1 && *rest == '.')) {
		if (at + len + 2 > PATH_MAX)
			return false;
		watch->at[at] = '/';
		memcpy(watch->at + at + 1, rest, len);
		watch->at[at + 1 + len] = '\0';
	}
	memmove(watch->rest, rest + len, strlen(rest + len) + 1);
	return true;
}

/*
 * Writes what a path is called after each link on its way: a tree that shows only some
 * folders has to have all of those places. Links below /proc lead where only the task itself
 * can look.
 */
static void put_hops(struct watch *watch, const struct judge *judge, const char *path,
		     bool no_follow)
{
	watch->at[0] = '\0';
	snprintf(watch->rest, sizeof(watch->rest), "%s", path);
	for (int links = 0; watch->rest[strspn(watch->rest, "/")] != '\0';) {
		if (!step(watch) || path_is_below(watch->at, "/proc"))
			return;
		bool last = watch->rest[strspn(watch->rest, "/")] == '\0';
		if ((last && no_follow) || watch->at[0] == '\0' ||
		    link_at(judge, watch->at, watch->target) < 0)
			continue;
		if (++links > LINKS_MAX)
			return;
		/* the link's own place, unless it is what was asked for */
		snprintf(watch->next, sizeof(watch->next), "%s%s", watch->at, watch->rest);
		if (strcmp(watch->next, watch->plain) != 0 && strlen(watch->next) < PATH_MAX)
			put_text(watch,
				 strstr(watch->rest, "/..") == NULL ? watch->next : watch->at);
		snprintf(watch->next, sizeof(watch->next), "%s%s", watch->target, watch->rest);
		if (strlen(watch->next) >= PATH_MAX)
			return;
		strcpy(watch->rest, watch->next);
		if (watch->target[0] == '/')
			watch->at[0] = '\0';
		else
			up(watch->at);
	}
}

/* Where something is made: the folder is what can be looked at. */
static bool real_parent(struct watch *watch, const struct judge *judge, const char *path)
{
	char parent[PATH_MAX];

	if (!look_parent(path, parent))
		return false;
	int fd = look_inside(judge, parent, false);
	bool known = fd >= 0 && look_path_of(fd, watch->real);
	if (fd >= 0)
		close(fd);
	if (!known)
		return false;
	size_t len = strcmp(watch->real, "/") == 0 ? 0 : strlen(watch->real);
	return snprintf(watch->real + len, PATH_MAX - len, "%s", strrchr(path, '/')) <
	       (int)(PATH_MAX - len);
}

/* ---- uses ---- */

static void watch_interpreter(struct watch *watch, struct judge *judge, int fd, int depth);

static void use(struct watch *watch, struct judge *judge, char what, const char *path,
		bool no_follow, int depth)
{
	struct stat st;
	char type = '-';

	/* of the sandbox's own, in every run */
	if (path_is_below(path, "/proc") || is_seen(watch, hash_of(what, 'y', path)))
		return;
	int fd = look_inside(judge, path, no_follow);
	if (fd >= 0 && fstat(fd, &st) == 0)
		type = type_of(st.st_mode);
	bool there = type != '-' && look_path_of(fd, watch->real);
	/* one that was not there is looked at again: it may be meanwhile */
	if (there || !is_seen(watch, hash_of(what, 'n', path))) {
		if (take(watch, hash_of(what, there ? 'y' : 'n', path)) &&
		    (there || real_parent(watch, judge, path))) {
			if (!look_plain(path, watch->plain))
				snprintf(watch->plain, sizeof(watch->plain), "%s", watch->real);
			put_start(watch, what, there ? type : '-');
			put_text(watch, watch->plain);
			if (strcmp(watch->plain, watch->real) != 0) {
				put_hops(watch, judge, path, no_follow || !there);
				put_text(watch, watch->real);
			}
			put_end(watch);
			if (there && what == 'x' && depth < DEPTH_MAX)
				watch_interpreter(watch, judge, fd, depth + 1);
		}
	}
	if (fd >= 0)
		close(fd);
}

static void watch_interpreter(struct watch *watch, struct judge *judge, int fd, int depth)
{
	char interpreter[PATH_MAX];

	if (judge_interpreter_of(fd, interpreter))
		use(watch, judge, 'x', interpreter, false, depth);
}

void watch_use(struct watch *watch, struct judge *judge, const struct judge_question *question)
{
	if (judge == NULL || judge->root_fd < 0)
		return;
	use(watch, judge, watch_letters[question->want], question->path,
	    question->no_follow || question->want == WANT_NEW, 0);
	if (question->other != NULL)
		use(watch, judge, watch_letters[WANT_NEW], question->other, true, 0);
}

void watch_place(struct watch *watch, struct judge *judge, char what, const char *path)
{
	if (judge != NULL && judge->root_fd >= 0)
		use(watch, judge, what, path, false, 0);
}

void watch_files(struct watch *watch, pid_t pid)
{
	char path[64];
	struct stat st;

	/* 6.2: the size is the number of descriptors; 0 before */
	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	if (stat(path, &st) == 0 && st.st_size > watch->most_files)
		watch->most_files = st.st_size;
}

void watch_finish(struct watch *watch)
{
	char text[64];

	snprintf(text, sizeof(text), "%llu %lld", (unsigned long long)watch->dropped,
		 (long long)watch->most_files);
	put_start(watch, WATCH_END, '-');
	put_text(watch, text);
	put_end(watch);
	flush(watch);
}
