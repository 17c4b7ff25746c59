// SPDX-License-Identifier: Apache-2.0
#include "store_internal.h"

#include <errno.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
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

static void ignore(int number)
{
	(void)number;
}

/* Moves on with each record. */
static uint64_t progress(const struct store *store)
{
	struct stat st;

	if (fstat(store->head_fd, &st) < 0)
		return 0;
	return (uint64_t)st.st_mtim.tv_sec * 1000000000 + (uint64_t)st.st_mtim.tv_nsec;
}

/* Until it is ours, or the time is over. A log that grows is busy: only one that stands still
 * for all of the time is held by somebody who does not let go. */
static int lock_or_give_up(const struct store *store)
{
	uint64_t deadline = now_ms() + store_lock_wait_ms, seen = progress(store);

	while (flock(store->lock_fd, LOCK_EX) < 0) {
		uint64_t now = progress(store);

		if (errno != EINTR || (now == seen && now_ms() >= deadline))
			return -1;
		if (now != seen)
			deadline = now_ms() + store_lock_wait_ms;
		seen = now;
	}
	return 0;
}

/*
 * flock() has no time limit, and to poll costs writers that meet more than their records do. So a
 * timer interrupts it, again and again, lest the one signal come before the call, but seldom: who
 * is interrupted has to queue again. It is a timer and a signal of its own: an alarm(2) that the
 * caller set stays as it is.
 */
static int wait_for_lock(const struct store *store)
{
	unsigned int tick_ms = store_lock_wait_ms / 10 + 1;
	const struct timespec tick = {.tv_sec = tick_ms / 1000,
				      .tv_nsec = (long)(tick_ms % 1000) * 1000000};
	const struct itimerspec every = {.it_value = tick, .it_interval = tick};
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN};
	struct sigaction action = {.sa_handler = ignore}, old_action;
	sigset_t own, old_mask;
	timer_t timer;

	if (timer_create(CLOCK_MONOTONIC, &event, &timer) < 0)
		return -1;
	sigemptyset(&own);
	sigaddset(&own, SIGRTMIN);
	sigaction(SIGRTMIN, &action, &old_action);
	sigprocmask(SIG_UNBLOCK, &own, &old_mask);
	timer_settime(timer, 0, &every, NULL);
	int rc = lock_or_give_up(store), saved = errno;
	timer_delete(timer);
	sigprocmask(SIG_SETMASK, &old_mask, NULL);
	sigaction(SIGRTMIN, &old_action, NULL);
	errno = saved;
	return rc;
}

int store_lock(struct store *store, struct error *err)
{
	store->has_waited = flock(store->lock_fd, LOCK_EX | LOCK_NB) < 0;
	if (!store->has_waited)
		return 0;
	if (errno == EWOULDBLOCK && wait_for_lock(store) == 0)
		return 0;
	if (errno != EINTR)
		return store_fail(err, "audit store %s/lock: cannot lock", store->dir);
	return error_set(err, ERROR_AUDIT,
			 "audit store %s/lock: another process has held it for %u seconds: "
			 "lslocks(8) names it, end it",
			 store->dir, store_lock_wait_ms / 1000);
}

void store_unlock(struct store *store)
{
	flock(store->lock_fd, LOCK_UN);
}
