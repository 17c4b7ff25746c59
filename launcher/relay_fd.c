// SPDX-License-Identifier: Apache-2.0
/*
 * How one descriptor is read and written without ever blocking.
 *
 * O_NONBLOCK belongs to the open file description, which the caller shares with
 * its shell and whatever else writes to the same terminal or pipe: set there, it
 * breaks them ("cat: write error: Resource temporarily unavailable"). So:
 *
 *   regular files, /dev/null  never block in the sense of poll
 *   sockets                   MSG_DONTWAIT, a flag of the call
 *   pipes and terminals, sink a second description of the same object, opened
 *                             through /proc/self/fd, with O_NONBLOCK
 *   pipes, source of a flow   the same (relay_flow.c)
 *   pipes, otherwise          RWF_NOWAIT, a flag of the call (6.4)
 *   what is left              poll, then at most PIPE_BUF bytes: a pipe that polls
 *                             writable has room for them, unless another writer
 *                             takes it first
 *
 * What is left over: a terminal that belongs to somebody else, is not the
 * controlling one and is stopped by its reader can still block a write.
 */
#include "relay.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <unistd.h>

/* The only sure way to know: character devices without a poll operation exist. */
static bool epoll_takes(int fd)
{
	struct epoll_event event = {.events = EPOLLIN};
	int epoll_fd = epoll_create1(EPOLL_CLOEXEC);

	if (epoll_fd < 0)
		return true;
	bool refused = epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0 && errno == EPERM;
	close(epoll_fd);
	return !refused;
}

static enum relay_way way_of(int fd, const struct stat *st, bool *ret_pollable)
{
	*ret_pollable = true;
	switch (st->st_mode & S_IFMT) {
	case S_IFREG:
	case S_IFDIR:
	case S_IFBLK:
		*ret_pollable = false;
		return RELAY_DIRECT;
	case S_IFSOCK:
		return RELAY_SOCKET;
	case S_IFIFO:
		return RELAY_NOWAIT;
	default:
		if (S_ISCHR(st->st_mode) && st->st_rdev == makedev(1, 3))
			*ret_pollable = false;
		else
			*ret_pollable = epoll_takes(fd);
		return *ret_pollable ? RELAY_POLLED : RELAY_DIRECT;
	}
}

static bool open_for(int fd, int unwanted_mode, struct stat *ret_st)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags >= 0 && ((flags & O_ACCMODE) == unwanted_mode || (flags & O_PATH) != 0)) {
		errno = EBADF;
		return false;
	}
	return flags >= 0 && fstat(fd, ret_st) == 0;
}

int relay_look_at_source(struct relay *relay)
{
	struct stat st;

	if (!open_for(relay->from_fd, O_WRONLY, &st))
		return -1;
	relay->from_pipe = S_ISFIFO(st.st_mode);
	relay->from_way = way_of(relay->from_fd, &st, &relay->from_pollable);
	return 0;
}

/* The controlling terminal can be opened by whoever runs on it, also after su. */
static int open_controlling(int fd)
{
	unsigned wanted, got;

	if (ioctl(fd, TIOCGDEV, &wanted) < 0)
		return -1;
	int tty = open("/dev/tty", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (tty >= 0 && (ioctl(tty, TIOCGDEV, &got) < 0 || got != wanted)) {
		close(tty);
		tty = -1;
	}
	return tty;
}

static int open_again(int fd, const struct stat *st)
{
	char path[32];

	/* QUIRK(ptmx): opening a pty's master end again makes another pty; all versions. */
	if (S_ISCHR(st->st_mode) && st->st_rdev == makedev(5, 2))
		return -1;
	if (!S_ISCHR(st->st_mode) && !S_ISFIFO(st->st_mode))
		return -1;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	int own = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (own < 0 && S_ISCHR(st->st_mode))
		own = open_controlling(fd);
	return own;
}

int relay_look_at_sink(struct relay *relay)
{
	struct stat st;

	if (!open_for(relay->to_fd, O_RDONLY, &st))
		return -1;
	relay->to_pipe = S_ISFIFO(st.st_mode);
	relay->to_way = way_of(relay->to_fd, &st, &relay->to_pollable);
	if (relay->to_way != RELAY_NOWAIT && relay->to_way != RELAY_POLLED)
		return 0;
	int own = open_again(relay->to_fd, &st);
	if (own < 0)
		return 0;
	if (relay->to_fd > STDERR_FILENO)
		close(relay->to_fd);
	relay->to_fd = own;
	relay->to_way = RELAY_DIRECT;
	relay->to_nonblocking = true;
	return 0;
}

bool relay_unblock_source(struct relay *relay)
{
	char path[32];

	if (relay->from_way != RELAY_NOWAIT && relay->from_way != RELAY_POLLED)
		return relay->from_way == RELAY_DIRECT;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", relay->from_fd);
	int own = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (own < 0)
		return false;
	if (relay->from_fd > STDERR_FILENO)
		close(relay->from_fd);
	relay->from_fd = own;
	relay->from_way = RELAY_DIRECT;
	return true;
}

static bool is_ready(int fd, short events)
{
	struct pollfd wait = {.fd = fd, .events = events};

	if (poll(&wait, 1, 0) == 1)
		return true;
	errno = EAGAIN;
	return false;
}

/* Other than 6.4 and later: "not supported" or, before 4.14, "invalid argument". */
static bool has_no_nowait(ssize_t result)
{
	return result < 0 && (errno == EOPNOTSUPP || errno == EINVAL || errno == ENOSYS);
}

ssize_t relay_read(struct relay *relay, void *data, size_t len)
{
	int fd = relay->from_fd;

	if (relay->from_way == RELAY_DIRECT)
		return read(fd, data, len);
	if (relay->from_way == RELAY_SOCKET)
		return recv(fd, data, len, MSG_DONTWAIT);
	if (relay->from_way == RELAY_NOWAIT) {
		struct iovec part = {.iov_base = data, .iov_len = len};
		ssize_t got = preadv2(fd, &part, 1, -1, RWF_NOWAIT);

		if (!has_no_nowait(got))
			return got;
		relay->from_way = RELAY_POLLED;
	}
	return is_ready(fd, POLLIN) ? read(fd, data, len) : -1;
}

ssize_t relay_write(struct relay *relay, const void *data, size_t len)
{
	int fd = relay->to_fd;

	if (relay->to_way == RELAY_DIRECT)
		return write(fd, data, len);
	if (relay->to_way == RELAY_SOCKET)
		return send(fd, data, len, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (relay->to_way == RELAY_NOWAIT) {
		struct iovec part = {.iov_base = (void *)data, .iov_len = len};
		ssize_t put = pwritev2(fd, &part, 1, -1, RWF_NOWAIT);

		if (!has_no_nowait(put))
			return put;
		relay->to_way = RELAY_POLLED;
	}
	return is_ready(fd, POLLOUT) ? write(fd, data, len < PIPE_BUF ? len : PIPE_BUF) : -1;
}
