// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <stdbool.h>
#include <linux/securebits.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "child.h"
#include "sys.h"

/*
 * writes = discard: an overlay whose upper layer is a sized tmpfs. Lower, upper
 * and work folders lie under plain names in a folder that is unmounted again
 * once the overlay stands, so that no byte of a path needs escaping and
 * nobody inside can reach the layers.
 */

static const char stage[] = "/tmp/.overlay"; /* below where NEW_ROOT is built */

static void put_number(char *out, uint64_t number)
{
	char digits[24];
	int len = 0;

	do
		digits[len++] = (char)('0' + number % 10);
	while ((number /= 10) != 0);
	while (len > 0)
		*out++ = digits[--len];
	*out = '\0';
}

/* The tmpfs for all throw-away layers of the run, mounted on the stage. */
static int make_stage(const struct child *child, uint64_t size)
{
	char text[24];
	int fs = sys_fsopen("tmpfs", FSOPEN_CLOEXEC);

	if (fs < 0 || mkdirat(child->root_fd, ".overlay", 0700) != 0)
		return -1;
	put_number(text, size);
	if (size != 0 && sys_fsconfig(fs, FSCONFIG_SET_STRING, "size", text, 0) != 0)
		return -1;
	/* folders and links of the layer take inodes, files of a page or more as well */
	put_number(text, size != 0 ? size / 4096 + 1024 : 1 << 20);
	if (sys_fsconfig(fs, FSCONFIG_SET_STRING, "nr_inodes", text, 0) != 0 ||
	    sys_fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) != 0)
		return -1;
	int mount_fd = sys_fsmount(fs, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
	close(fs);
	if (mount_fd < 0)
		return -1;
	int failed = sys_move_mount(mount_fd, "", AT_FDCWD, stage, MOVE_MOUNT_F_EMPTY_PATH);
	close(mount_fd);
	return failed;
}

/* One folder a layer; the merged root takes the upper folder's owner and mode. */
static int enter_layers(const struct step *step)
{
	static const char *const names[] = {"l", "u", "w"};
	char number[24];

	put_number(number, step->flags);
	if (mkdir(number, 0700) != 0 ||
	    chown(number, (uid_t)step->value[1], (gid_t)step->value[2]) != 0 || chdir(number) != 0)
		return -1;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (mkdir(names[i], 0700) != 0 ||
		    chown(names[i], (uid_t)step->value[1], (gid_t)step->value[2]) != 0)
			return -1;
	}
	return chmod("u", (mode_t)step->value[0]);
}

static int make_overlay(bool user_xattr)
{
	int fs = sys_fsopen("overlay", FSOPEN_CLOEXEC);

	if (fs < 0)
		return -1;
	if (sys_fsconfig(fs, FSCONFIG_SET_STRING, "lowerdir", "l", 0) != 0 ||
	    sys_fsconfig(fs, FSCONFIG_SET_STRING, "upperdir", "u", 0) != 0 ||
	    sys_fsconfig(fs, FSCONFIG_SET_STRING, "workdir", "w", 0) != 0)
		return -1;
	/* trusted.* attributes need the initial user namespace (overlayfs.rst, 5.11) */
	if (user_xattr && sys_fsconfig(fs, FSCONFIG_SET_FLAG, "userxattr", NULL, 0) != 0)
		return -1;
	if (sys_fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) != 0)
		return -1;
	int mount_fd = sys_fsmount(fs, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
	close(fs);
	return mount_fd;
}

/*
 * QUIRK(overlay-creds): overlayfs works with the credentials of whoever
 * mounted it; mounted by uid 0, files of the leased uid cannot be copied up and
 * the overlay is read-only without a word. So the mount is made as that uid
 * with capabilities kept.
 */
static int make_overlay_as(uid_t uid)
{
	if (uid == geteuid())
		return make_overlay(true);
	if (prctl(PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP) != 0 ||
	    setresuid((uid_t)-1, uid, 0) != 0)
		return -1;
	int fd = make_overlay(false);
	int saved = errno;
	if (setresuid((uid_t)-1, 0, 0) != 0 || prctl(PR_SET_SECUREBITS, 0) != 0)
		return -1;
	/* a change of uid clears it; the id maps are still to be written */
	prctl(PR_SET_DUMPABLE, 1);
	errno = saved;
	return fd;
}

int child_overlay(struct child *child, const struct step *step)
{
	if (step->flags == 0 && make_stage(child, step->value[3]) != 0)
		return 1;
	if (chdir(stage) != 0 || enter_layers(step) != 0)
		return 2;
	if (sys_move_mount(child->slots[step->slot], "", AT_FDCWD, "l", MOVE_MOUNT_F_EMPTY_PATH) !=
	    0)
		return 3;
	close(child->slots[step->slot]);
	int overlay = make_overlay_as((uid_t)step->value[1]);
	if (overlay < 0)
		return 4;
	/* the place may lie in a tree of the host's */
	int target = sys_openat2(child->root_fd, step->path, O_PATH | O_NOFOLLOW | O_CLOEXEC,
				 RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS);
	if (target < 0 || sys_move_mount(overlay, "", target, "",
					 MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) != 0)
		return 5;
	close(target);
	close(overlay);
	return chdir("/") != 0 ? 6 : 0;
}

int child_overlays_done(struct child *child, const struct step *step)
{
	(void)step;
	if (umount2(stage, MNT_DETACH) != 0)
		return 1;
	return unlinkat(child->root_fd, ".overlay", AT_REMOVEDIR) != 0 ? 2 : 0;
}
