// SPDX-License-Identifier: Apache-2.0
#include "store_internal.h"

#include <errno.h>
#include <sys/file.h>
#include <time.h>

unsigned int store_lock_wait_ms = 10000;

uint64_t store_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

int store_lock(struct store *store, struct error *err)
{
	struct timespec pause = {.tv_nsec = 50000};
	uint64_t deadline = 0;

	/* polled, since a blocking flock() has no time limit */
	while (flock(store->lock_fd, LOCK_EX | LOCK_NB) < 0) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return store_fail(err, "audit store %s/lock: cannot lock", store->dir);
		deadline = deadline == 0 ? now_ms() + store_lock_wait_ms : deadline;
		if (now_ms() >= deadline)
			return error_set(err, ERROR_AUDIT,
					 "audit store %s/lock: another process has held it for %u "
					 "seconds: lslocks(8) names it, end it",
					 store->dir, store_lock_wait_ms / 1000);
		nanosleep(&pause, NULL);
		if (pause.tv_nsec < 3000000)
			pause.tv_nsec *= 2;
	}
	return 0;
}

void store_unlock(struct store *store)
{
	flock(store->lock_fd, LOCK_UN);
}
