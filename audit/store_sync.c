// SPDX-License-Identifier: Apache-2.0
#include "store_internal.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/*
 * One fdatasync() serves all who have written before it. Whoever gets the leader's lock (the head
 * file's, which nothing else takes) syncs for everybody and marks in the lock file how far; the
 * others sleep, and find that their record is among them. The mark is never ahead of the disk:
 * it is written after the sync, and forgotten when a log is recovered or begun anew.
 *
 * A writer alone makes six system calls more than the sync itself, and maps nothing.
 */

struct mark {
	uint64_t synced;  /* up to this record all is on disk, */
	uint64_t doubted; /* but up to this one a sync has failed: each has to hear of it itself */
	uint64_t check;   /* over both: readers meet a mark that is being written */
};

struct shared {
	struct mark mark;
	_Atomic uint64_t wanted;     /* the last record that somebody sleeps for */
	_Atomic uint32_t generation; /* what they sleep on */
};

enum {
	NAP_MS = 100,  /* a leader that was killed wakes nobody */
	NAPS_MAX = 10, /* one that is stopped holds nobody up for longer */
};

static uint64_t check_of(const struct mark *mark)
{
	return ~(mark->synced * 3 + mark->doubted);
}

static struct mark mark_read(const struct store *store)
{
	struct mark mark;

	if (pread(store->lock_fd, &mark, sizeof(mark), 0) != sizeof(mark) ||
	    mark.check != check_of(&mark))
		return (struct mark){0};
	return mark;
}

static void mark_write(const struct store *store, struct mark *mark)
{
	mark->check = check_of(mark);
	(void)!pwrite(store->lock_fd, mark, sizeof(*mark), 0);
}

void store_sync_forget(const struct store *store)
{
	struct shared none = {0};

	none.mark.check = check_of(&none.mark);
	(void)!pwrite(store->lock_fd, &none, sizeof(none), 0);
}

/* Stays until the store is closed. NULL: it cannot be had. */
static struct shared *map(struct store *store)
{
	uint32_t generation;

	if (store->shared != NULL)
		return store->shared;
	/* beyond the end of the file, a mapping would be a trap */
	ssize_t len = pread(store->lock_fd, &generation, sizeof(generation),
			    offsetof(struct shared, generation));
	void *mapped = len != sizeof(generation)
			       ? MAP_FAILED
			       : mmap(NULL, sizeof(struct shared), PROT_READ | PROT_WRITE,
				      MAP_SHARED, store->lock_fd, 0);

	store->shared = mapped == MAP_FAILED ? NULL : mapped;
	return store->shared;
}

void store_sync_close(struct store *store)
{
	if (store->shared != NULL)
		munmap(store->shared, sizeof(struct shared));
	store->shared = NULL;
}

/* The last record that is written. In another file of the log: only our own is known to be. */
static uint64_t last_written(const struct store *store, const struct store_tail *own)
{
	struct store_tail head;
	struct error ignored;

	if (store_head_read(store, &head, &ignored) > 0 && head.first == own->first &&
	    head.seq > own->seq)
		return head.seq;
	return own->seq;
}

/* For those who sleep for a record behind `before`: theirs is on disk, or one of them leads. */
static void wake(struct store *store, uint64_t before)
{
	uint64_t wanted;
	struct shared *shared;

	if (pread(store->lock_fd, &wanted, sizeof(wanted), offsetof(struct shared, wanted)) !=
		    sizeof(wanted) ||
	    wanted <= before || (shared = map(store)) == NULL)
		return;
	atomic_fetch_add(&shared->generation, 1);
	syscall(SYS_futex, &shared->generation, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

bool store_sync_is_shared(const struct store *store)
{
	if (flock(store->head_fd, LOCK_EX | LOCK_NB) < 0)
		return true;
	flock(store->head_fd, LOCK_UN);
	return false;
}

/* The leader's lock is held, and let go. */
static int lead(struct store *store, const struct store_tail *own, struct mark *mark)
{
	uint64_t before = mark->synced, last = last_written(store, own);
	int rc = fdatasync(store->log_fd), saved = errno;

	if (rc == 0)
		mark->synced = last;
	else
		mark->doubted = last_written(store, own);
	mark_write(store, mark);
	flock(store->head_fd, LOCK_UN);
	wake(store, before);
	errno = saved;
	return rc;
}

enum state { LEADS, SYNCED, MUST_SYNC, WAITS };

static enum state look(const struct store *store, const struct store_tail *own, struct mark *ret)
{
	bool leads = flock(store->head_fd, LOCK_EX | LOCK_NB) == 0;

	*ret = mark_read(store);
	if (own->seq > ret->synced)
		return leads ? LEADS : WAITS;
	if (leads)
		flock(store->head_fd, LOCK_UN);
	return own->seq > ret->doubted ? SYNCED : MUST_SYNC;
}

static enum state follow(struct store *store, const struct store_tail *own, struct mark *ret)
{
	const struct timespec nap = {.tv_nsec = NAP_MS * 1000000};
	struct shared *shared = map(store);
	enum state state = WAITS;

	if (shared == NULL)
		return MUST_SYNC;
	for (int naps = 0; naps < NAPS_MAX; naps++) {
		uint64_t wanted = atomic_load(&shared->wanted);
		uint32_t generation = atomic_load(&shared->generation);

		/* before the look: who leads then will see it, and wake us */
		while (wanted < own->seq &&
		       !atomic_compare_exchange_weak(&shared->wanted, &wanted, own->seq))
			;
		state = look(store, own, ret);
		if (state != WAITS)
			break;
		syscall(SYS_futex, &shared->generation, FUTEX_WAIT, generation, &nap, NULL, 0);
	}
	return state == WAITS ? MUST_SYNC : state;
}

int store_sync(struct store *store, const struct store_tail *own, struct error *err)
{
	struct mark mark;
	enum state state = look(store, own, &mark);
	int rc = 0;

	if (state == WAITS)
		state = follow(store, own, &mark);
	if (state == LEADS)
		rc = lead(store, own, &mark);
	else if (state == MUST_SYNC)
		rc = fdatasync(store->log_fd);
	if (rc == 0)
		return 0;
	return store_fail(err, "audit store %s/log.jsonl: cannot sync a record", store->dir);
}
