// SPDX-License-Identifier: Apache-2.0
#include "notify.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>

#include "filter.h"
#include "notify_private.h"
#include "sys.h"

/* 80,000 refused calls a second, counted in pieces of 50 ms: no answer is later than that. */
enum { WINDOW_NS = 50000000, WINDOW_CALLS = 4000 };

/* 6.6: the answer wakes the task on this processor; 8 instead of 60 µs a call. */
#ifndef SECCOMP_IOCTL_NOTIF_SET_FLAGS
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS      SECCOMP_IOW(4, __u64)
#define SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP (1UL << 0)
#endif

static size_t at_least(size_t size, size_t least)
{
	return size > least ? size : least;
}

void notify_start(struct notify *notify)
{
	struct seccomp_notif_sizes sizes = {0};

	/* A newer kernel writes and reads more than the headers know of. */
	(void)sys_seccomp(SECCOMP_GET_NOTIF_SIZES, 0, &sizes);
	notify->request_size = at_least(sizes.seccomp_notif, sizeof(*notify->request));
	notify->response_size = at_least(sizes.seccomp_notif_resp, sizeof(*notify->response));
	notify->request = arena_alloc(notify->arena, notify->request_size);
	notify->response = arena_alloc(notify->arena, notify->response_size);
	if (notify->fd >= 0)
		(void)ioctl(notify->fd, SECCOMP_IOCTL_NOTIF_SET_FLAGS,
			    SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP);
}

bool notify_is_valid(const struct notify *notify, uint64_t id)
{
	return ioctl(notify->fd, SECCOMP_IOCTL_NOTIF_ID_VALID, &id) == 0;
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000ULL + (uint64_t)now.tv_nsec;
}

/* Nanoseconds to wait until the next refused call may be answered; 0: none. The clock is only
 * read when a window is full. */
static int64_t lateness(struct notify *notify)
{
	if (notify->window_count < WINDOW_CALLS)
		return 0;
	uint64_t now = now_ns(), end = notify->window_start_ns + WINDOW_NS;

	if (now < end)
		return (int64_t)(end - now);
	notify->window_start_ns = now;
	notify->window_count = 0;
	return 0;
}

/* False: it could not be answered, and waits. */
static bool send_response(struct notify *notify)
{
	int rc;

	do
		rc = ioctl(notify->fd, SECCOMP_IOCTL_NOTIF_SEND, notify->response);
	while (rc < 0 && errno == EINTR);
	/* ENOENT: the task was killed, or a signal interrupted its call. */
	return rc == 0 || errno == ENOENT;
}

/* Nothing was decided by what the call says: the filter allows it, and it only told that it comes.
 */
static void go_on(struct notify *notify, uint64_t id)
{
	memset(notify->response, 0, notify->response_size);
	notify->response->id = id;
	notify->response->flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
}

static bool wants_network(const struct notify *notify)
{
	const struct seccomp_data *data = &notify->request->data;
	const uint64_t args[6] = {data->args[0], data->args[1], data->args[2],
				  data->args[3], data->args[4], data->args[5]};

	return filter_wants_network(notify->policy, data->arch, data->nr, args);
}

static bool answer(struct notify *notify)
{
	const struct seccomp_notif *request = notify->request;
	const struct seccomp_data *data = &request->data;
	struct seccomp_notif_resp *response = notify->response;

	const uint64_t args[6] = {data->args[0], data->args[1], data->args[2],
				  data->args[3], data->args[4], data->args[5]};

	memset(response, 0, notify->response_size);
	response->id = request->id;
	if (notify_is_exec(data)) {
		notify_first_exec(notify);
		if (notify->record_execs)
			notify_exec(notify, request);
		else
			notify_path(notify, request);
		response->flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
	} else if (filter_is_question(notify->policy, data->arch, data->nr, args)) {
		notify_path(notify, request);
		response->flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
	} else {
		int errnum = filter_refusal_errno(data->arch, data->nr, args);

		notify->refused_total++;
		notify->window_count++;
		if (notify->record_denials)
			notify_denial(notify, request, errnum);
		response->error = -errnum;
	}
	return send_response(notify);
}

int64_t notify_handle(struct notify *notify, short seen)
{
	int64_t late = lateness(notify);

	if (late > 0)
		return late;
	if ((seen & (POLLHUP | POLLERR | POLLNVAL)) != 0)
		return -1;
	/*
	 * QUIRK(notify-recv): RECV blocks even on an O_NONBLOCK descriptor (6.18), so it
	 * comes after a poll only. What poll saw may be withdrawn before RECV: then RECV
	 * fails with ENOENT and does not block, since each request is counted once.
	 */
	if ((seen & POLLIN) == 0 || notify->held_count == NOTIFY_HELD_MAX)
		return 0;
	/* 5.5: EINVAL unless it is all zeros. */
	memset(notify->request, 0, notify->request_size);
	if (ioctl(notify->fd, SECCOMP_IOCTL_NOTIF_RECV, notify->request) < 0)
		return errno == ENOENT || errno == EINTR ? 0 : -1;
	bool sent = true;
	if (!wants_network(notify)) {
		/* closed, the listener refuses what waits, and whatever comes */
		sent = answer(notify);
	} else if (notify->network_waits) {
		notify->held[notify->held_count++] = notify->request->id;
	} else {
		go_on(notify, notify->request->id);
		sent = send_response(notify);
	}
	return sent ? lateness(notify) : -1;
}

void notify_let_go(struct notify *notify)
{
	for (size_t i = 0; i < notify->held_count; i++) {
		go_on(notify, notify->held[i]);
		/* who waited may be dead; a listener that is gone shows when it is read */
		(void)send_response(notify);
	}
	notify->held_count = 0;
	notify->network_waits = false;
}
