// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "child.h"
#include "sys.h"

/*
 * The mount tree. Sources are opened by path once, before anything is mounted,
 * compared with what the parent saw, and attached by descriptor. Inside the
 * new root every path is opened below its descriptor, without links.
 */

#define NO_LINKS (RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS)

/* In place of a path that turned out to be something else than planned. */
enum { CHANGED = ESTALE };

static int open_inside(const struct child *child, const char *path)
{
	return sys_openat2(child->root_fd, path[0] != '\0' ? path : ".",
			   O_PATH | O_NOFOLLOW | O_CLOEXEC, NO_LINKS);
}

static int is_expected(int fd, const struct step *step)
{
	struct stat st;

	if (fstat(fd, &st) != 0)
		return -1;
	bool same =
		step->value[1] == 0 || (st.st_dev == step->value[0] && st.st_ino == step->value[1]);
	if (step->id == STEP_DEVICE)
		same = S_ISCHR(st.st_mode) && st.st_rdev == step->flags;
	if (!same)
		errno = CHANGED;
	return same ? 0 : -1;
}

/* Clones what fd stands for, restricts the clone and maps its owner. */
static int clone_restricted(struct child *child, int fd, const struct step *step)
{
	struct mount_attr attr = {.attr_set = step->value[2], .attr_clr = step->value[3]};
	int tree = sys_open_tree(
		fd, "", AT_EMPTY_PATH | AT_RECURSIVE | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);

	if (tree < 0)
		return -1;
	if (step->idmap >= 0) {
		attr.attr_set |= MOUNT_ATTR_IDMAP;
		/* one that does not come is no descriptor either: EINVAL */
		attr.userns_fd = (uint64_t)child_idmap(child, step->idmap);
	}
	/* a private folder's flags are not for what the profile mounts below it */
	unsigned below = step->id == STEP_SELF_BIND && step->flags == 1 ? 0 : AT_RECURSIVE;
	if (sys_mount_setattr(tree, "", AT_EMPTY_PATH | below, &attr) != 0) {
		int saved = errno;

		close(tree);
		errno = saved;
		return -1;
	}
	return tree;
}

/* The switch that keeps INNER_USER from working. To look costs 90 us the first time, which are
 * left over here while the supervisor reads the profile. */
static bool user_namespaces_are_off(int proc_fd)
{
	char text[4];
	int fd = openat(proc_fd, "sys/user/max_user_namespaces", O_RDONLY | O_CLOEXEC);
	ssize_t len = fd >= 0 ? read(fd, text, sizeof(text)) : 0;

	if (fd >= 0)
		close(fd);
	return len == 2 && text[0] == '0';
}

int child_private_mounts(struct child *child, const struct step *step)
{
	child->proc_fd = child_open_proc();
	if (child->proc_fd < 0)
		return 1;
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
		return 2;
	/* as the kernel would say it later */
	errno = ENOSPC;
	return step->flags == 1 && user_namespaces_are_off(child->proc_fd) ? 3 : 0;
}

int child_source(struct child *child, const struct step *step)
{
	int fd = sys_openat2(AT_FDCWD, step->source, O_PATH | O_NOFOLLOW | O_CLOEXEC,
			     RESOLVE_NO_SYMLINKS);

	if (fd < 0)
		return 1;
	if (is_expected(fd, step) != 0)
		return 2;
	child->slots[step->slot] = clone_restricted(child, fd, step);
	close(fd);
	return child->slots[step->slot] < 0 ? 3 : 0;
}

static int set_text(int context, const char *key, const char *value)
{
	return sys_fsconfig(context, FSCONFIG_SET_STRING, key, value, 0);
}

/* Its size is the profile's: see SHOW_ROOT. */
int child_new_root(struct child *child, const struct step *step)
{
	int fs = sys_fsopen("tmpfs", FSOPEN_CLOEXEC);

	(void)step;
	/* the caller's is for the program: see SESSION */
	umask(0);
	if (fs < 0)
		return 1;
	if (set_text(fs, "mode", "0755") != 0 ||
	    sys_fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) != 0)
		return 2;
	child->context_fd = fs;
	/* a walk through one of its links would leave the kernel's fast path to note the time */
	child->root_fd = sys_fsmount(fs, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOATIME);
	if (child->root_fd < 0)
		return 3;
	/* what COVER puts over hidden names: nobody can read or change it */
	int fd = openat(child->root_fd, ".hidden", O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return 4;
	close(fd);
	if (mkdirat(child->root_fd, ".hidden.d", 0) != 0)
		return 5;
	child->hidden_file_fd = open_inside(child, ".hidden");
	child->hidden_folder_fd = open_inside(child, ".hidden.d");
	return child->hidden_file_fd < 0 || child->hidden_folder_fd < 0 ? 6 : 0;
}

int child_skeleton(struct child *child, const struct step *step)
{
	const struct skeleton *skeleton = step->skeleton;

	for (const char *const *at = skeleton->folders; *at != NULL; at++)
		if (mkdirat(child->root_fd, *at, 0755) != 0)
			return 1;
	for (const char *const *at = skeleton->files; *at != NULL; at++)
		if (mknodat(child->root_fd, *at, S_IFREG | 0444, 0) != 0)
			return 2;
	for (const char *const(*at)[2] = skeleton->links; (*at)[0] != NULL; at++)
		if (symlinkat((*at)[1], child->root_fd, (*at)[0]) != 0)
			return 3;
	return 0;
}

/* A mount's context can be used again, to change what was made with it. */
int child_show_root(struct child *child, const struct step *step)
{
	if (set_text(child->context_fd, "size", step->text) != 0 ||
	    set_text(child->context_fd, "nr_inodes", step->source) != 0)
		return 1;
	if (sys_fsconfig(child->context_fd, FSCONFIG_CMD_RECONFIGURE, NULL, NULL, 0) != 0)
		return 2;
	close(child->context_fd);
	if (sys_move_mount(child->root_fd, "", AT_FDCWD, step->path, MOVE_MOUNT_F_EMPTY_PATH) != 0)
		return 3;
	/* without a pid namespace of its own it has no /proc of its own */
	if (child->own_proc_fd >= 0 && sys_move_mount(child->own_proc_fd, "", child->root_fd,
						      "proc", MOVE_MOUNT_F_EMPTY_PATH) != 0)
		return 4;
	if (sys_move_mount(child->devpts_fd, "", child->root_fd, "dev/pts",
			   MOVE_MOUNT_F_EMPTY_PATH) != 0)
		return 5;
	close(child->devpts_fd);
	return 0;
}

/* With an empty umask (see NEW_ROOT) the mode is as asked for. */
int child_directory(struct child *child, const struct step *step)
{
	if (mkdirat(child->root_fd, step->path, (mode_t)step->value[0]) != 0)
		return errno == EEXIST ? 0 : 1;
	if (step->value[1] == 0 && step->value[2] == 0)
		return 0;
	return fchownat(child->root_fd, step->path, (uid_t)step->value[1], (gid_t)step->value[2],
			AT_SYMLINK_NOFOLLOW) != 0
		       ? 2
		       : 0;
}

int child_link(struct child *child, const struct step *step)
{
	return symlinkat(step->text, child->root_fd, step->path) != 0 && errno != EEXIST ? 1 : 0;
}

int child_content(struct child *child, const struct step *step)
{
	/* a mount point for a file: one call is enough */
	if (step->text[0] == '\0')
		return mknodat(child->root_fd, step->path, S_IFREG | (mode_t)step->value[0], 0) !=
					       0 &&
				       errno != EEXIST
			       ? 1
			       : 0;
	int fd = openat(child->root_fd, step->path,
			O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC,
			(mode_t)step->value[0]);
	size_t len = strlen(step->text);

	if (fd < 0)
		return errno == EEXIST ? 0 : 1;
	ssize_t done = len > 0 ? write(fd, step->text, len) : 0;
	if (done != (ssize_t)len) {
		errno = done >= 0 ? ENOSPC : errno;
		return 2;
	}
	close(fd);
	return 0;
}

int child_proc(struct child *child, const struct step *step)
{
	int fs = sys_fsopen("proc", FSOPEN_CLOEXEC);

	(void)step;
	if (fs < 0)
		return 1;
	/* EPERM here: the host's own /proc has covered parts ("mount too revealing") */
	if (sys_fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) != 0)
		return 2;
	child->own_proc_fd = sys_fsmount(fs, FSMOUNT_CLOEXEC,
					 MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV |
						 MOUNT_ATTR_NOEXEC);
	close(fs);
	return child->own_proc_fd < 0 ? 3 : 0;
}

int child_devpts(struct child *child, const struct step *step)
{
	int fs = sys_fsopen("devpts", FSOPEN_CLOEXEC);

	(void)step;
	if (fs < 0)
		return 1;
	if (set_text(fs, "ptmxmode", "0666") != 0 || set_text(fs, "mode", "0620") != 0 ||
	    sys_fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) != 0)
		return 2;
	child->devpts_fd = sys_fsmount(fs, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC);
	close(fs);
	return child->devpts_fd < 0 ? 3 : 0;
}

/*
 * Attaches a detached mount to a place in the new root, which may lie in a tree
 * of the host's: opened without links, so that nobody outside can redirect it.
 */
static int attach(int tree, int target)
{
	int failed = sys_move_mount(tree, "", target, "",
				    MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH);

	close(target);
	close(tree);
	return failed;
}

/* The mount point is in the skeleton, which is nobody's but ours. The descriptor
 * stays for the Landlock rule. */
int child_attach(struct child *child, const struct step *step)
{
	return sys_move_mount(child->slots[step->slot], "", child->root_fd, step->path,
			      MOVE_MOUNT_F_EMPTY_PATH) != 0
		       ? 1
		       : 0;
}

int child_self_bind(struct child *child, const struct step *step)
{
	int fd = open_inside(child, step->path);

	if (fd < 0)
		return 1;
	if (is_expected(fd, step) != 0)
		return 2;
	int tree = clone_restricted(child, fd, step);
	if (tree < 0)
		return 3;
	return attach(tree, fd) != 0 ? 4 : 0;
}

int child_cover(struct child *child, const struct step *step)
{
	const struct step plain = {.idmap = -1,
				   .value = {[2] = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID |
						   MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC}};
	struct stat st;
	int fd = open_inside(child, step->path);

	if (fd < 0)
		return step->flags == 1 && errno == ENOENT ? 0 : 1;
	if (fstat(fd, &st) != 0)
		return 2;
	int tree = clone_restricted(
		child, S_ISDIR(st.st_mode) ? child->hidden_folder_fd : child->hidden_file_fd,
		&plain);
	if (tree < 0)
		return 3;
	return attach(tree, fd) != 0 ? 4 : 0;
}

int child_pivot(struct child *child, const struct step *step)
{
	(void)step;
	if (fchdir(child->root_fd) != 0)
		return 1;
	if (sys_pivot_root(".", ".") != 0)
		return 2;
	/* the old root lies over the new one now, at the same place */
	if (umount2(".", MNT_DETACH) != 0)
		return 3;
	return chdir("/") != 0 ? 4 : 0;
}

int child_read_only_root(struct child *child, const struct step *step)
{
	struct mount_attr attr = {.attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NODEV};

	(void)step;
	/* their mounts stay: a mount keeps its root alive */
	if (unlinkat(child->root_fd, ".hidden", 0) != 0)
		return 1;
	if (unlinkat(child->root_fd, ".hidden.d", AT_REMOVEDIR) != 0)
		return 2;
	return sys_mount_setattr(child->root_fd, "", AT_EMPTY_PATH, &attr) != 0 ? 3 : 0;
}
