// SPDX-License-Identifier: Apache-2.0
#include "store_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

/* Readers see all of the bytes under the name, or no such name. */
static int keep_in(struct store *store, int folder_fd, const char *where, const char *name,
		   const void *data, size_t len, struct error *err)
{
	char temporary[32];
	uint64_t random;

	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		return store_fail(err, "audit store: no random number");
	snprintf(temporary, sizeof(temporary), ".new-%016llx", (unsigned long long)random);
	int fd = store_file_open(folder_fd, where, temporary, O_WRONLY | O_CREAT | O_EXCL,
				 store->owner, NULL, err);
	if (fd < 0)
		return -1;
	int rc = store_write_all(fd, data, len);
	if (rc == 0)
		rc = renameat(folder_fd, temporary, folder_fd, name);
	if (rc < 0) {
		store_fail(err, "audit store %s/%s: cannot write", where, name);
		unlinkat(folder_fd, temporary, 0);
	}
	close(fd);
	return rc;
}

bool store_is_kept(struct store *store, const char *dir, const char *name)
{
	struct error ignored;
	int folder_fd = store_folder_open(store, dir, false, &ignored);

	if (folder_fd < 0)
		return false;
	bool is_there = faccessat(folder_fd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
	close(folder_fd);
	return is_there;
}

int store_keep(struct store *store, const char *dir, const char *name, const void *data, size_t len,
	       struct error *err)
{
	char where[4096];

	if (store_check_name(dir, err) < 0 || store_check_name(name, err) < 0)
		return -1;
	int folder_fd = store_folder_open(store, dir, true, err);
	if (folder_fd < 0)
		return -1;
	snprintf(where, sizeof(where), "%s/%s", store->dir, dir);
	struct error absent;
	int fd = store_file_open(folder_fd, where, name, O_RDONLY, store->owner, NULL, &absent);
	int rc = 0;
	if (fd >= 0) {
		/* kept once; store_prune() goes by when it was needed last */
		(void)!futimens(fd, NULL);
		close(fd);
	} else if (absent.errnum == ENOENT) {
		rc = keep_in(store, folder_fd, where, name, data, len, err);
	} else {
		*err = absent;
		rc = -1;
	}
	close(folder_fd);
	return rc;
}
