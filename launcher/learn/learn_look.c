// SPDX-License-Identifier: Apache-2.0
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file_entries.h"
#include "learn.h"

/*
 * Where credentials lie, in what a learning run shows of the caller's own: each is hidden. A
 * folder that could not be looked through is hidden as a whole: nobody knows what is in it.
 */

enum { NAMES_MAX = 600000, DEPTH_MAX = 24, HIDDEN_MAX = 2000, IN_A_FOLDER = 100 };

struct looking {
	struct learn *learn;
	size_t names;
	dev_t device;
};

static void hide(struct looking *looking, struct string_list *list, const char *path)
{
	*ARENA_PUSH(looking->learn->arena, list->items, list->count) = path;
}

static bool is_allowed(const struct learn *learn, const char *path)
{
	for (size_t i = 0; i < learn->wishes.secret.count; i++)
		if (path_is_below(path, learn->wishes.secret.items[i]))
			return true;
	return false;
}

/* An allowed one lies below it: then it is gone into, and all else in it is hidden. */
static bool has_allowed(const struct learn *learn, const char *path)
{
	for (size_t i = 0; i < learn->wishes.secret.count; i++)
		if (path_is_below(learn->wishes.secret.items[i], path))
			return true;
	return false;
}

/* What was asked for lies in it. */
static bool is_needed(const struct learn *learn, const char *path)
{
	const struct string_list *const lists[] = {&learn->wishes.read, &learn->wishes.write};

	for (size_t l = 0; l < 2; l++)
		for (size_t i = 0; i < lists[l]->count; i++)
			if (path_is_below(lists[l]->items[i], path))
				return true;
	return has_allowed(learn, path) ||
	       (learn->context.cwd != NULL && path_is_below(learn->context.cwd, path));
}

/* secret: it lies in a folder of credentials. */
static void look_into(struct looking *looking, int fd, const char *path, int depth, bool secret);

static void look_at(struct looking *looking, int dir_fd, const char *path, bool folder, int depth,
		    bool secret)
{
	struct learn *learn = looking->learn;
	const char *name = strrchr(path, '/') + 1;

	if (is_allowed(learn, path))
		return;
	secret = secret || learn_is_secret_name(path) || (!folder && learn_holds_key(dir_fd, name));
	if (secret && !(folder && has_allowed(learn, path))) {
		hide(looking, &learn->hidden, path);
		return;
	}
	if (!folder)
		return;
	size_t hidden = learn->hidden.count, unseen = learn->unseen.count;
	int fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0)
		look_into(looking, fd, path, depth + 1, secret);
	else if (errno != EACCES && errno != ENOENT)
		hide(looking, &learn->unseen, path);
	if (learn->hidden.count - hidden + learn->unseen.count - unseen <= IN_A_FOLDER ||
	    is_needed(learn, path))
		return;
	/* keys by the hundred, as tests of programs have them: not shown at all */
	learn->hidden.count = hidden;
	learn->unseen.count = unseen;
	hide(looking, &learn->unseen, path);
}

static unsigned char type_of(int dir_fd, const struct dirent *entry)
{
	struct stat st;

	if (entry->d_type != DT_UNKNOWN)
		return entry->d_type;
	if (fstatat(dir_fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return DT_UNKNOWN;
	return (unsigned char)IFTODT(st.st_mode);
}

/* Closes fd. Other file systems (a network's) are not gone into, and so not shown. */
static void look_into(struct looking *looking, int fd, const char *path, int depth, bool secret)
{
	struct learn *learn = looking->learn;
	const struct dirent *entry;
	struct stat st;
	DIR *dir = NULL;

	if (depth > DEPTH_MAX || looking->names > NAMES_MAX || fstat(fd, &st) != 0 ||
	    st.st_dev != looking->device || (dir = fdopendir(fd)) == NULL) {
		close(fd);
		hide(looking, &learn->unseen, path);
		return;
	}
	while ((entry = readdir(dir)) != NULL) {
		const char *name = entry->d_name;

		if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
			continue;
		if (looking->names++ > NAMES_MAX) {
			hide(looking, &learn->unseen, path);
			break;
		}
		unsigned char type = type_of(dirfd(dir), entry);
		/* a link shows what it leads to, and that is looked at itself */
		if (type == DT_DIR || type == DT_REG)
			look_at(looking, dirfd(dir),
				arena_printf(learn->arena, "%s/%s", path, name), type == DT_DIR,
				depth, secret);
	}
	closedir(dir);
}

static int look_below(struct learn *learn, const char *root, struct error *err)
{
	struct looking looking = {.learn = learn};
	struct stat st;
	int fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	/* a file, or nothing */
	if (fd < 0 || fstat(fd, &st) != 0)
		return 0;
	looking.device = st.st_dev;
	look_into(&looking, fd, root, 0, learn_is_secret(root) && !is_allowed(learn, root));
	if (learn->hidden.count + learn->unseen.count <= HIDDEN_MAX)
		return 0;
	return error_set(err, ERROR_MISSING,
			 "%s has more than %d places with credentials, too many to hide: start "
			 "from a folder with less in it",
			 root, HIDDEN_MAX);
}

static bool is_below_another(const struct string_list *roots, const char *path)
{
	for (size_t i = 0; i < roots->count; i++)
		if (path_is_below(path, roots->items[i]))
			return true;
	return false;
}

int learn_look(struct learn *learn, struct error *err)
{
	const struct wishes *wishes = &learn->wishes;
	const struct string_list named = {
		(const char *[]){learn->context.home, learn->context.cwd, "/etc"}, 3};
	const struct string_list *const lists[] = {&named, &wishes->read, &wishes->write};
	struct string_list roots = {0};

	for (size_t l = 0; l < 3; l++)
		for (size_t i = 0; i < lists[l]->count; i++) {
			const char *root = lists[l]->items[i];

			if (root == NULL || strcmp(root, "/") == 0 ||
			    is_below_another(&roots, root))
				continue;
			if (look_below(learn, root, err) != 0)
				return -1;
			*ARENA_PUSH(learn->arena, roots.items, roots.count) = root;
		}
	return 0;
}
