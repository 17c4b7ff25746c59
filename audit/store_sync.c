// SPDX-License-Identifier: Apache-2.0
#include "store_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * One fdatasync for many. A writer has written its line and let the store's lock go. Who
 * gets the lock of the file `sync` looks there how far the log is on disk; when that is
 * not as far as its own line, it syncs all that is in the log by now, for those who wait
 * too. The file says "INODE BYTES" of the log that it speaks of.
 *
 * How far it came is taken from the head file, which moves only when a record is whole:
 * the log's size could count a record that fails and is cut off again.
 */
enum { SYNC_SIZE = 42 };

static bool is_on_disk(const struct store *store, ino_t inode, uint64_t bytes)
{
	unsigned long long synced_inode, synced_bytes;
	char text[SYNC_SIZE + 1];

	if (pread(store->sync_fd, text, SYNC_SIZE, 0) != SYNC_SIZE)
		return false;
	text[SYNC_SIZE] = '\0';
	return sscanf(text, "%20llu %20llu\n", &synced_inode, &synced_bytes) == 2 &&
	       synced_inode == inode && synced_bytes >= bytes;
}

static int sync_for_all(const struct store *store, const struct store_tail *tail, ino_t inode)
{
	char text[SYNC_SIZE + 1];
	struct store_tail head;
	struct error ignored;
	uint64_t bytes = tail->bytes;

	/* read without the store's lock: a half-written head does not pass its check */
	if (store_head_read(store, &head, &ignored) > 0 && head.first == tail->first &&
	    head.bytes > bytes)
		bytes = head.bytes;
	if (fdatasync(store->log_fd) < 0)
		return -1;
	snprintf(text, sizeof(text), "%20llu %20llu\n", (unsigned long long)inode,
		 (unsigned long long)bytes);
	(void)!pwrite(store->sync_fd, text, SYNC_SIZE, 0);
	return 0;
}

int store_sync_shared(struct store *store, const struct store_tail *tail, struct error *err)
{
	struct stat st;

	if (store->sync_fd < 0)
		store->sync_fd = store_file_open(store->dir_fd, store->dir, "sync",
						 O_RDWR | O_CREAT, store->owner, NULL, err);
	if (store->sync_fd < 0 || store_lock_file(store, store->sync_fd, "sync", err) < 0)
		return -1;
	int rc = fstat(store->log_fd, &st);
	if (rc == 0 && !is_on_disk(store, st.st_ino, tail->bytes))
		rc = sync_for_all(store, tail, st.st_ino);
	if (rc < 0)
		store_fail(err, "audit store %s/log.jsonl: cannot sync a record", store->dir);
	flock(store->sync_fd, LOCK_UN);
	return rc;
}

void store_sync_reset(const struct store *store)
{
	unlinkat(store->dir_fd, "sync", 0);
}
