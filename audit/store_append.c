// SPDX-License-Identifier: Apache-2.0
#include "store_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

enum {
	PRUNE_EVERY = 256,               /* how often a run looks whether the store is too large */
	ROOM = 256 * 1024,               /* blocks for the log, got at once, */
	ROOM_ON_DISK = 64 * 1024 * 1024, /* where so much is free */
};

/* A record that only has to fill blocks is on disk sooner than one that needs new ones. Where
 * that cannot be had it is written all the same. */
static void make_room(struct store *store, uint64_t bytes, size_t len)
{
	struct statfs disk;

	if (bytes + len <= store->log_room || fstatfs(store->log_fd, &disk) < 0 ||
	    (uint64_t)disk.f_bavail * (uint64_t)disk.f_bsize < ROOM_ON_DISK)
		return;
	(void)!fallocate(store->log_fd, FALLOC_FL_KEEP_SIZE, (off_t)bytes, (off_t)(len + ROOM));
}

static int write_once(int fd, const char *line, size_t len, bool durable)
{
	if (store_write_all(fd, line, len) < 0)
		return -1;
	return durable ? fdatasync(fd) : 0;
}

/* All of the line, or nothing of it. */
static int line_write(struct store *store, const struct store_tail *tail, const char *line,
		      size_t len, bool durable, struct error *err)
{
	make_room(store, tail->bytes, len);
	for (;;) {
		if (write_once(store->log_fd, line, len, durable) == 0)
			return 0;
		int saved = errno;

		/* should this fail too, then the next append finds a torn tail and repairs it */
		if (ftruncate(store->log_fd, (off_t)tail->bytes) == 0 &&
		    (saved == ENOSPC || saved == EDQUOT) && store_reserve_release(store))
			continue;
		errno = saved;
		return store_fail(err, "audit store %s/log.jsonl: cannot write a record",
				  store->dir);
	}
}

int store_line_append(struct store *store, struct store_tail *tail, const char *body, bool durable,
		      struct error *err)
{
	struct store_tail next = *tail;
	size_t len;

	if (tail->seq >= STORE_SEQ_MAX || tail->key.sealed >= STORE_SEQ_MAX)
		return error_set(
			err, ERROR_AUDIT,
			"audit store %s/log.jsonl: its last record has the last number that "
			"there is: move the log and head away",
			store->dir);
	char *line = store_line_make(tail, body, &len);
	int rc = line_write(store, tail, line, len, durable, err);

	store_tail_advance(&next, line, len);
	if (rc == 0 && next.key.every > 0) {
		/* the old key has to be gone before anybody acts on the record */
		rc = store_key_write(store, &next.key, err);
		if (rc < 0)
			(void)!ftruncate(store->log_fd, (off_t)tail->bytes);
	}
	if (rc == 0) {
		store_head_write(store, &next);
		*tail = next;
	}
	free(line);
	return rc;
}

/* Why the log has to go on in a new file, or NULL. */
static const char *rotation_reason(const struct store *store, const struct store_tail *tail)
{
	const struct store_policy *policy = &store->policy;
	struct timespec now;

	if (tail->seq == 0 || tail->bytes == 0)
		return NULL;
	if (policy->segment_bytes > 0 && tail->bytes >= policy->segment_bytes)
		return "size";
	if (policy->segment_ms == 0)
		return NULL;
	clock_gettime(CLOCK_REALTIME_COARSE, &now);
	if ((uint64_t)now.tv_sec >= tail->since &&
	    (uint64_t)now.tv_sec - tail->since >= policy->segment_ms / 1000)
		return "age";
	return NULL;
}

static int append_locked(struct store *store, struct store_tail *tail, const char *body,
			 bool durable, struct error *err)
{
	struct error ignored;

	if (store_tail_find(store, tail, err) < 0)
		return -1;
	const char *reason = rotation_reason(store, tail);
	if (reason != NULL)
		store_rotate(store, tail, reason, &ignored); /* else the next one tries again */
	return store_line_append(store, tail, body, durable, err);
}

int store_append(struct store *store, const char *body, enum store_sync sync, struct error *err)
{
	struct store_tail tail;

	/* an impossible state: the renderer makes neither */
	if (body[0] != '{' || body[1] != '"' || strchr(body, '\n') != NULL)
		abort();
	if (store_lock(store, err) < 0)
		return -1;
	/* while one syncs in the critical section, all others wait: only one that is alone does */
	if (sync == STORE_SYNC_EACH && (store->has_waited || store_sync_is_shared(store)))
		sync = STORE_SYNC_GROUP;
	int rc = append_locked(store, &tail, body, sync == STORE_SYNC_EACH, err);
	store_unlock(store);
	if (rc == 0 && sync == STORE_SYNC_GROUP)
		rc = store_sync(store, &tail, err);
	explicit_bzero(&tail.key, sizeof(tail.key));
	if (rc < 0)
		return -1;
	store->last_seq = tail.seq;
	memcpy(store->last_hash, tail.hash, sizeof(tail.hash));
	store->is_prune_due |= tail.seq % PRUNE_EVERY == 0;
	if (store->policy.has_anchor)
		store_anchor(store);
	return 0;
}
