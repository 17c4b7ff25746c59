// SPDX-License-Identifier: Apache-2.0
#include "store_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Room is held by files reserve/0, 1, 2 … of really allocated blocks. Each run
 * holds one of them by a flock, and leaves it full for the next run: allocating
 * and freeing for each would cost a fifth of a millisecond. When an append meets
 * a full disk, the run gives its blocks back and writes again: see line_write().
 * Another process that fills the disk at that very moment can still be faster.
 */

enum {
	SLACK = 16 * 1024, /* the file system may need blocks of its own */
	FILES_MAX = 10000,
};

/* The first file that no other run holds, held. */
static int hold_free_file(const struct store *store, struct error *err)
{
	char where[4096], name[16];
	int fd = -1;
	int folder_fd = store_folder_open(store, "reserve", true, err);

	if (folder_fd < 0)
		return -1;
	snprintf(where, sizeof(where), "%s/reserve", store->dir);
	for (int number = 0; fd < 0 && number < FILES_MAX; number++) {
		snprintf(name, sizeof(name), "%d", number);
		fd = store_file_open(folder_fd, where, name, O_RDWR | O_CREAT, store->owner, NULL,
				     err);
		if (fd < 0)
			break;
		if (flock(fd, LOCK_EX | LOCK_NB) == 0)
			break;
		close(fd);
		fd = -1;
		error_set(err, ERROR_AUDIT, "audit store %s: %d runs at once", where, number + 1);
	}
	close(folder_fd);
	return fd;
}

static int fill(int fd, off_t bytes)
{
	struct stat st;

	if (fstat(fd, &st) == 0 && (off_t)st.st_blocks * 512 >= bytes)
		return 0;
	errno = posix_fallocate(fd, 0, bytes);
	return errno == 0 ? 0 : -1;
}

int store_reserve(struct store *store, size_t bytes, struct error *err)
{
	if (store->reserve_fd >= 0)
		close(store->reserve_fd);
	store->reserve_fd = hold_free_file(store, err);
	if (store->reserve_fd < 0)
		return -1;
	if (fill(store->reserve_fd, (off_t)(bytes + SLACK)) == 0)
		return 0;
	store_fail(err, "audit store %s: cannot reserve %zu bytes for the record", store->dir,
		   bytes + SLACK);
	store_reserve_release(store);
	return -1;
}

bool store_reserve_release(struct store *store)
{
	if (store->reserve_fd < 0)
		return false;
	(void)!ftruncate(store->reserve_fd, 0);
	close(store->reserve_fd);
	store->reserve_fd = -1;
	return true;
}
