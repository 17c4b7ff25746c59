// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "judge_look.h"
#include "judge_memo.h"
#include "judge_parts.h"

/* Names that go away, move, or get a second one: see judge.c. */

/* A mount point of ours can be neither removed nor renamed. */
static bool judge_mount_point(struct judge *judge, const char *object, int fd,
			      struct judge_found *found)
{
	PATH_ROOM(inside);

	if (!look_path_of(fd, inside))
		return false;
	const struct file_entry *entry = look_entry(judge, inside);
	if (entry == NULL || strcmp(entry->path, inside) != 0)
		return false;
	if ((entry->kinds & KIND(PATH_HIDE)) != 0)
		return judge_hidden(judge, object, entry, EBUSY, found);
	if ((entry->kinds & KIND(PATH_PROTECT)) != 0)
		return judge_refuse(found, REASON_PROTECTED, EBUSY, object,
				    entry->fact->rule != NULL ? entry->fact->rule->path : "");
	if (!judge_is_given(entry))
		return false;
	return judge_refuse(found, entry->pin ? REASON_PINNED : REASON_MOUNT_POINT, EBUSY, object,
			    "");
}

/* By its last part alone, which no link stands for here: most names need no look. */
static bool may_be_mount_point(const struct judge *judge, const char *path)
{
	const char *name = strrchr(path, '/') + 1;

	if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return true;
	for (size_t i = 0; i < judge->entries->count; i++)
		if (strcmp(strrchr(judge->entries->items[i].path, '/') + 1, name) == 0)
			return true;
	return false;
}

/* A name that goes away: its folder must be writable, and it must not be a mount point. */
static bool judge_name(struct judge *judge, const char *path, int parent_fd,
		       struct judge_found *found)
{
	PATH_ROOM(resolved);
	PATH_ROOM(parent);
	struct stat st;
	bool read_only = look_read_only(parent_fd);

	if (!read_only && !may_be_mount_point(judge, path)) {
		if (look_parent(path, parent))
			judge_memo_add_folder(judge, parent);
		return false;
	}
	int fd = look_inside(judge, path, true);
	if (fd >= 0) {
		bool refused = read_only ? judge_read_only_folder(judge, path, parent_fd, found)
					 : judge_mount_point(judge, path, fd, found);

		close(fd);
		return refused;
	}
	/* a name of the host's that has no place in a folder that every sandbox has of its own */
	return errno == ENOENT && read_only && look_host(judge, path, true, resolved, &st) == 0 &&
	       look_parent(path, parent) && judge_missing_folder(judge, path, parent, found);
}

static int open_parent(const struct judge *judge, const char *path)
{
	PATH_ROOM(parent);

	if (!look_parent(path, parent))
		return errno = EINVAL, -1;
	return look_inside(judge, parent, false);
}

bool judge_remove(struct judge *judge, const char *path, struct judge_found *found)
{
	PATH_ROOM(parent);
	PATH_ROOM(resolved);
	struct stat st;

	if (look_parent(path, parent) && judge_memo_has_folder(judge, parent) &&
	    !may_be_mount_point(judge, path))
		return false;
	int fd = open_parent(judge, path);
	if (fd < 0)
		return errno == ENOENT && look_parent(path, parent) &&
		       look_host(judge, path, true, resolved, &st) == 0 &&
		       judge_missing_folder(judge, path, parent, found);
	bool refused = judge_name(judge, path, fd, found);
	close(fd);
	return refused;
}

/* Between two mounts nothing moves, although on the host both are one file system. */
static bool judge_across(struct judge *judge, const char *from, const char *to, uint64_t from_mount,
			 uint64_t to_mount, struct judge_found *found)
{
	PATH_ROOM(resolved);
	PATH_ROOM(parent);
	struct stat old, new;

	if (from_mount == 0 || to_mount == 0 || from_mount == to_mount)
		return false;
	return look_host(judge, from, true, resolved, &old) == 0 && look_parent(to, parent) &&
	       look_host(judge, parent, false, resolved, &new) == 0 &&
	       old.st_dev == new.st_dev &&judge_refuse(found, REASON_ACROSS, EXDEV, from, "");
}

bool judge_rename(struct judge *judge, const struct judge_question *question,
		  struct judge_found *found)
{
	const struct judge_question target = {WANT_NEW, .path = question->other, .no_follow = true};
	int from = open_parent(judge, question->path);
	int to = open_parent(judge, question->other);
	bool refused;

	if (from < 0)
		refused = judge_remove(judge, question->path, found);
	else if (to < 0)
		refused = judge_make(judge, &target, found);
	else if (look_mount(from) != look_mount(to))
		refused = judge_across(judge, question->path, question->other, look_mount(from),
				       look_mount(to), found);
	else
		refused = judge_name(judge, question->path, from, found) ||
			  judge_name(judge, question->other, to, found);
	if (from >= 0)
		close(from);
	if (to >= 0)
		close(to);
	return refused;
}

bool judge_link(struct judge *judge, const struct judge_question *question,
		struct judge_found *found)
{
	const struct judge_question source = {WANT_LOOK, .path = question->path,
					      .no_follow = question->no_follow};
	const struct judge_question target = {WANT_NEW, .path = question->other, .no_follow = true};
	int from = look_inside(judge, question->path, question->no_follow);

	if (from < 0)
		return judge_target(judge, &source, found);
	int to = open_parent(judge, question->other);
	bool refused = judge_target(judge, &target, found);
	if (!refused && to >= 0 && !look_read_only(to))
		refused = judge_across(judge, question->path, question->other, look_mount(from),
				       look_mount(to), found);
	close(from);
	if (to >= 0)
		close(to);
	return refused;
}
