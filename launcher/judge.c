// SPDX-License-Identifier: Apache-2.0
#include "judge.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "judge_look.h"
#include "judge_memo.h"
#include "judge_parts.h"

/*
 * In the order in which the kernel checks, so that the errno is the one that comes:
 * a name that is not there, then a move between mounts, then a mount that is read-only,
 * then a mount point. What the host would refuse as well is left alone.
 */

bool judge_is_given(const struct file_entry *entry)
{
	const unsigned giving =
		KIND(PATH_EXEC) | KIND(PATH_READ) | KIND(PATH_WRITE) | KIND(PATH_DEVICE);

	return entry != NULL && ((entry->kinds & giving) != 0 || entry->up != NULL);
}

static bool same_name(const char *a, const char *b)
{
	return strcmp(strrchr(a, '/'), strrchr(b, '/')) == 0;
}

bool judge_refuse(struct judge_found *found, enum judge_reason reason, int errnum,
		  const char *object, const char *permit)
{
	PATH_ROOM(plain);

	found->reason = reason;
	found->errnum = errnum;
	/* with ".." in it: as it was resolved, where that is known */
	snprintf(found->object, sizeof(found->object), "%s",
		 look_plain(object, plain)                      ? plain
		 : *permit != '\0' && same_name(object, permit) ? permit
								: object);
	snprintf(found->permit, sizeof(found->permit), "%s", permit);
	return true;
}

/* As it was asked for, so that links on the way are made too; unless it has ".." in it. */
static const char *line_path(const char *path, const char *resolved, char room[PATH_MAX])
{
	return look_plain(path, room) ? room : resolved;
}

/* A hidden name: by the profile, or because it must be. */
bool judge_hidden(struct judge *judge, const char *path, const struct file_entry *entry, int errnum,
		  struct judge_found *found)
{
	const struct path_fact *fact = entry->fact;

	if (fact->rule != NULL)
		return judge_refuse(found, REASON_HIDDEN, errnum, path, fact->rule->path);
	if (path_is_below(judge->store, entry->path))
		return judge_refuse(found, REASON_HIDDEN_STORE, errnum, path, "");
	return judge_refuse(found,
			    S_ISSOCK(fact->mode) ? REASON_HIDDEN_SOCKET : REASON_HIDDEN_SECRET,
			    errnum, path, "");
}

static int mode_of(enum judge_want want)
{
	switch (want) {
	case WANT_READ:
		return R_OK;
	case WANT_ENTER:
	case WANT_EXECUTE:
		return X_OK;
	case WANT_WRITE:
	case WANT_CREATE:
	case WANT_CONNECT:
	case WANT_CHANGE:
		return W_OK;
	case WANT_LOOK:
	case WANT_NEW:
	case WANT_REMOVE:
	case WANT_RENAME:
	case WANT_LINK:
	case WANT_MAX:
		break;
	}
	return F_OK;
}

static bool is_below_any(const char *path, const char *const *folders)
{
	for (; *folders != NULL; folders++)
		if (path_is_below(path, *folders))
			return true;
	return false;
}

/* What every sandbox has of its own, under names that the host has too. */
static bool is_private(const struct judge *judge, const char *path)
{
	/* and where programs ask about a machine that is not theirs: they go on without */
	static const char *const folders[] = {
		"/proc", "/dev/pts", "/dev/shm", "/dev/fd", "/sys/fs/cgroup", "/sys/kernel", NULL};

	return is_below_any(path, folders) ||
	       (judge->private_home && path_is_below(path, "/home/sandbox"));
}

/* It is not in the sandbox's tree and would be, were it listed. */
static bool is_unlisted(const struct judge *judge, const char *path, const char *resolved)
{
	PATH_ROOM(plain);

	if (is_private(judge, path) || is_private(judge, resolved))
		return false;
	if (!judge_is_given(look_entry(judge, resolved)))
		return true;
	/* listed under its other name only: the link that leads there is missing */
	return look_plain(path, plain) && strcmp(plain, resolved) != 0 &&
	       !judge_is_given(look_entry(judge, plain));
}

static bool judge_missing(struct judge *judge, const struct judge_question *question, int errnum,
			  struct judge_found *found)
{
	PATH_ROOM(resolved);
	PATH_ROOM(room);
	const char *path = question->path;
	int mode = mode_of(question->want);
	struct stat st;

	if (look_host(judge, path, question->no_follow, resolved, &st) != 0)
		return false;
	bool may = look_may(judge, resolved, &st, mode);
	const struct file_entry *entry = look_entry(judge, resolved);
	if (entry != NULL && (entry->kinds & KIND(PATH_HIDE)) != 0)
		return (may || judge->by_mode) && judge_hidden(judge, path, entry, EACCES, found);
	if (errnum != ENOENT || !is_unlisted(judge, path, resolved))
		return false;
	const char *line = line_path(path, resolved, room);
	if (S_ISSOCK(st.st_mode))
		return may && judge_refuse(found, REASON_SOCKET, ENOENT, path, line);
	if (path_is_below(resolved, "/dev"))
		return may && (S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode)) &&
		       judge_refuse(found, REASON_DEVICE, ENOENT, path, line);
	if (!may && !judge->by_mode)
		return false;
	return judge_refuse(found, may ? REASON_NOT_LISTED : REASON_OTHER_USER, ENOENT, path, line);
}

/* A folder that would have to be there, or writable, for something to be made in it. */
bool judge_missing_folder(struct judge *judge, const char *object, const char *folder,
			  struct judge_found *found)
{
	PATH_ROOM(resolved);
	PATH_ROOM(room);
	struct stat st;

	if (look_host(judge, folder, false, resolved, &st) != 0 || !S_ISDIR(st.st_mode) ||
	    !is_unlisted(judge, folder, resolved) || !look_may(judge, resolved, &st, W_OK | X_OK))
		return false;
	return judge_refuse(found, REASON_NOT_LISTED_FOLDER, ENOENT, object,
			    line_path(folder, resolved, room));
}

bool judge_read_only_folder(struct judge *judge, const char *object, int folder_fd,
			    struct judge_found *found)
{
	static const char *const kernels[] = {"/proc", "/sys", "/dev", NULL};
	PATH_ROOM(inside);
	PATH_ROOM(resolved);
	struct stat st;

	if (!look_read_only(folder_fd) || !look_path_of(folder_fd, inside) ||
	    is_below_any(inside, kernels))
		return false;
	if (look_host(judge, inside, false, resolved, &st) != 0 || !S_ISDIR(st.st_mode) ||
	    !look_may(judge, resolved, &st, W_OK | X_OK))
		return false;
	const struct file_entry *entry = look_entry(judge, inside);
	if (strcmp(inside, "/") == 0)
		return judge_refuse(found, REASON_ROOT_FOLDER, EROFS, object, "");
	return judge_by_entry(entry, object, inside, REASON_READ_ONLY_FOLDER, EROFS, found);
}

/* What makes a mount read-only: a protected name, or that it is not listed for writing. */
bool judge_by_entry(const struct file_entry *entry, const char *object, const char *line,
		    enum judge_reason reason, int errnum, struct judge_found *found)
{
	if (entry != NULL && (entry->kinds & KIND(PATH_PROTECT)) != 0)
		return judge_refuse(found, REASON_PROTECTED, errnum, object,
				    entry->fact->rule != NULL ? entry->fact->rule->path : "");
	/* it is listed, so it is the file system itself that is read-only */
	if (entry != NULL && (entry->kinds & KIND(PATH_WRITE)) != 0)
		return false;
	return judge_refuse(found, reason, errnum, object, line);
}

/* A file that is there, in a mount that cannot be written to. */
static bool judge_read_only(struct judge *judge, const struct judge_question *question, int fd,
			    struct judge_found *found)
{
	PATH_ROOM(inside);
	PATH_ROOM(resolved);
	PATH_ROOM(room);
	bool changes = question->want == WANT_CHANGE;
	struct stat st;
	int errnum = EROFS;

	if (!look_read_only(fd) || !look_path_of(fd, inside) ||
	    look_host(judge, inside, true, resolved, &st) != 0 ||
	    (!S_ISREG(st.st_mode) && !changes))
		return false;
	if (changes && !question->truncates && !judge->by_mode && st.st_uid != judge->uid)
		return false;
	if ((!changes || question->truncates) && !look_may(judge, resolved, &st, W_OK))
		return false;
	/* to write, the file's mode is looked at before the mount; to cut or change it, after */
	const struct file_entry *entry = look_entry(judge, inside);
	bool owned = entry != NULL && entry->up != NULL && (entry->kinds & KIND(PATH_PROTECT)) != 0;
	if (!changes && !question->truncates && judge->by_mode && !owned &&
	    !look_mode_allows(judge, &st, W_OK))
		errnum = EACCES;
	return judge_by_entry(entry, question->path, line_path(question->path, inside, room),
			      REASON_READ_ONLY, errnum, found);
}

/* It is there; does the tree let it be used so? */
static bool judge_there(struct judge *judge, const struct judge_question *question, int fd,
			struct judge_found *found)
{
	if (look_is_cover(judge, fd))
		return judge_missing(judge, question, EACCES, found);
	switch (question->want) {
	case WANT_WRITE:
	case WANT_CREATE:
	case WANT_CHANGE:
		return judge_read_only(judge, question, fd, found);
	case WANT_EXECUTE:
		return judge_execute(judge, question->path, fd, found, 0);
	case WANT_LOOK:
	case WANT_READ:
	case WANT_ENTER:
	case WANT_CONNECT:
	case WANT_NEW:
	case WANT_REMOVE:
	case WANT_RENAME:
	case WANT_LINK:
	case WANT_MAX:
		break;
	}
	return false;
}

/* Something is made under a name that is not there. */
bool judge_make(struct judge *judge, const struct judge_question *question,
		struct judge_found *found)
{
	PATH_ROOM(parent);

	if (!look_parent(question->path, parent) || judge_memo_has_folder(judge, parent))
		return false;
	int fd = look_inside(judge, parent, false);
	if (fd < 0) {
		int errnum = errno;

		if (question->want == WANT_CREATE && judge_missing(judge, question, errnum, found))
			return true;
		return errnum == ENOENT &&
		       judge_missing_folder(judge, question->path, parent, found);
	}
	bool read_only = look_read_only(fd);
	bool refused = read_only && judge_read_only_folder(judge, question->path, fd, found);
	close(fd);
	if (!read_only)
		judge_memo_add_folder(judge, parent);
	return refused;
}

bool judge_target(struct judge *judge, const struct judge_question *question,
		  struct judge_found *found)
{
	if (question->is_found)
		return judge_there(judge, question, question->found_fd, found);
	int fd = look_inside(judge, question->path, question->no_follow);
	if (fd >= 0) {
		bool refused =
			question->want != WANT_NEW && judge_there(judge, question, fd, found);

		close(fd);
		return refused;
	}
	if (errno != ENOENT && errno != EACCES)
		return false;
	if (question->want == WANT_CREATE || question->want == WANT_NEW)
		return judge_make(judge, question, found);
	return judge_missing(judge, question, errno, found);
}

static bool judge_wanted(struct judge *judge, const struct judge_question *question,
			 struct judge_found *found)
{
	switch (question->want) {
	case WANT_REMOVE:
		return judge_remove(judge, question->path, found);
	case WANT_RENAME:
		judge_memo_forget(judge);
		return judge_rename(judge, question, found);
	case WANT_LINK:
		judge_memo_forget(judge);
		return judge_link(judge, question, found);
	case WANT_NEW:
		judge_memo_forget(judge);
		break;
	case WANT_LOOK:
	case WANT_READ:
	case WANT_ENTER:
	case WANT_WRITE:
	case WANT_CREATE:
	case WANT_CHANGE:
	case WANT_EXECUTE:
	case WANT_CONNECT:
	case WANT_MAX:
		break;
	}
	return judge_target(judge, question, found);
}

bool judge(struct judge *judge, const struct judge_question *question,
	   struct judge_found *ret_found)
{
	if (judge->root_fd < 0 || judge_memo_has(judge, question) ||
	    look_is_slow(judge, question->path) ||
	    (question->other != NULL && look_is_slow(judge, question->other)))
		return false;
	if (judge_wanted(judge, question, ret_found))
		return true;
	judge_memo_add(judge, question);
	return false;
}
