// SPDX-License-Identifier: Apache-2.0
#include "store_internal.h"

#include <limits.h>
#include <string.h>
#include <sys/stat.h>

/*
 * Who may rename in a folder above the store could put another store in its place: others,
 * unless the folder is sticky, and the folder's owner. The way up is that of the kernel, by
 * "..", so that a link on the caller's path does not matter.
 */

/* What the kernel shows for a user that a user namespace does not know. */
enum { OVERFLOW_UID = 65534 };

static const char *ancestor_fault(const struct stat *st, uid_t owner)
{
	if ((st->st_mode & S_IWOTH) && !(st->st_mode & S_ISVTX))
		return "everybody can write to";
	if (st->st_uid != owner && st->st_uid != 0 && st->st_uid != OVERFLOW_UID)
		return "somebody else owns";
	return NULL;
}

int store_check_ancestors(int dir_fd, const char *dir, uid_t owner, struct error *err)
{
	char path[PATH_MAX] = "..";
	struct stat st, below = {0};

	for (size_t len = 2; len + 3 < sizeof(path); len += 3) {
		if (fstatat(dir_fd, path, &st, 0) < 0)
			return store_fail(err, "audit store %s: cannot look at its parent", dir);
		if (st.st_ino == below.st_ino && st.st_dev == below.st_dev)
			return 0; /* the root is its own parent */
		const char *fault = ancestor_fault(&st, owner);
		if (fault != NULL)
			return error_set(
				err, ERROR_AUDIT,
				"audit store %s: refused: %s a folder that it is in (%s/%s): "
				"%s, or name another store",
				dir, fault, dir, path,
				st.st_mode & S_IWOTH ? "chmod o-w" : "chown it");
		below = st;
		memcpy(path + len, "/..", 4);
	}
	return 0;
}
