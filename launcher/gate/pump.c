// SPDX-License-Identifier: Apache-2.0
#include "pump.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	CHUNK = 1024 * 1024,
	TURN = 4 * CHUNK,
	COPY = 65536,
	PIPES_KEPT = 32,
	/* The kernel gives a user 64 MiB of pipes; the first ones may be large. */
	LARGE_PIPES = 16,
	LARGE = 512 * 1024,
};

struct pump_pipe {
	struct pump_pipe *next;
	int in, out;
};

/* Empty ones. */
static struct pump_pipe *spare;
static unsigned spare_count, large_count;

static struct pump_pipe *get_pipe(void)
{
	struct pump_pipe *one = spare;
	int ends[2];

	if (one != NULL) {
		spare = one->next;
		spare_count--;
		return one;
	}
	one = malloc(sizeof(*one));
	if (one == NULL)
		return NULL;
	if (pipe2(ends, O_NONBLOCK | O_CLOEXEC) != 0) {
		free(one);
		return NULL;
	}
	one->out = ends[0];
	one->in = ends[1];
	if (large_count < LARGE_PIPES && fcntl(one->in, F_SETPIPE_SZ, LARGE) >= 0)
		large_count++;
	return one;
}

static void close_pipe(struct pump_pipe *one)
{
	close(one->in);
	close(one->out);
	free(one);
}

static void put_pipe(struct pump_flow *flow)
{
	struct pump_pipe *one = flow->pipe;

	flow->pipe = NULL;
	if (one == NULL)
		return;
	if (spare_count == PIPES_KEPT) {
		close_pipe(one);
		return;
	}
	one->next = spare;
	spare = one;
	spare_count++;
}

void pump_drop(struct pump_flow *flow)
{
	if (flow->pipe != NULL && flow->held > 0)
		close_pipe(flow->pipe);
	else
		put_pipe(flow);
	flow->pipe = NULL;
	flow->held = 0;
}

/* One step of something that did not go: PUMP_WAIT when it only has to wait. */
static enum pump_end failed(bool *ready, enum pump_end broken)
{
	if (errno == EINTR)
		return PUMP_AGAIN;
	if (errno != EAGAIN)
		return broken;
	*ready = false;
	return PUMP_WAIT;
}

static enum pump_end push(struct pump_flow *flow, struct pump_side *to)
{
	ssize_t moved = splice(flow->pipe->out, NULL, to->watch.fd, NULL, flow->held,
			       SPLICE_F_MOVE | SPLICE_F_NONBLOCK);

	if (moved < 0)
		return failed(&to->writable, PUMP_WRITE);
	flow->held -= (size_t)moved;
	flow->bytes += (uint64_t)moved;
	return PUMP_AGAIN;
}

static enum pump_end pull(struct pump_flow *flow, struct pump_side *from, uint64_t *limit)
{
	size_t most = *limit < CHUNK ? (size_t)*limit : CHUNK;
	ssize_t moved = splice(from->watch.fd, NULL, flow->pipe->in, NULL, most,
			       SPLICE_F_MOVE | SPLICE_F_NONBLOCK);

	if (moved < 0)
		return failed(&from->readable, PUMP_READ);
	if (moved == 0)
		from->eof = true;
	flow->held = (size_t)moved;
	*limit -= (uint64_t)moved;
	return PUMP_AGAIN;
}

/* Looks at the bytes, sends what finds room, and takes that away: nothing has to be kept. */
static enum pump_end copy(struct pump_flow *flow, struct pump_side *from, struct pump_side *to,
			  uint64_t *limit)
{
	static char buffer[COPY];
	size_t most = *limit < COPY ? (size_t)*limit : COPY;
	ssize_t seen = recv(from->watch.fd, buffer, most, MSG_PEEK | MSG_DONTWAIT);

	if (seen < 0)
		return failed(&from->readable, PUMP_READ);
	if (seen == 0) {
		from->eof = true;
		return PUMP_AGAIN;
	}
	ssize_t sent = send(to->watch.fd, buffer, (size_t)seen, MSG_NOSIGNAL | MSG_DONTWAIT);
	if (sent < 0)
		return failed(&to->writable, PUMP_WRITE);
	if (recv(from->watch.fd, NULL, (size_t)sent, MSG_TRUNC | MSG_DONTWAIT) != sent)
		return PUMP_READ;
	flow->bytes += (uint64_t)sent;
	*limit -= (uint64_t)sent;
	return PUMP_AGAIN;
}

static enum pump_end step(struct pump_flow *flow, struct pump_side *from, struct pump_side *to,
			  uint64_t *limit)
{
	if (flow->held > 0)
		return to->writable ? push(flow, to) : PUMP_WAIT;
	/* Nothing is taken that cannot be given away. */
	if (from->eof || !from->readable || !to->writable || *limit == 0)
		return PUMP_WAIT;
	if (flow->pipe == NULL && !from->urgent)
		flow->pipe = get_pipe();
	if (flow->pipe == NULL || from->urgent)
		return copy(flow, from, to, limit);
	return pull(flow, from, limit);
}

enum pump_end pump(struct pump_flow *flow, struct pump_side *from, struct pump_side *to,
		   uint64_t *limit)
{
	uint64_t stop = flow->bytes + TURN;
	enum pump_end end;

	do
		end = step(flow, from, to, limit);
	while (end == PUMP_AGAIN && flow->bytes < stop);
	int errnum = errno;
	if (flow->held == 0)
		put_pipe(flow);
	if (from->eof && flow->held == 0 && !to->shut && (end == PUMP_WAIT || end == PUMP_AGAIN)) {
		to->shut = true;
		shutdown(to->watch.fd, SHUT_WR);
	}
	errno = errnum;
	return end;
}

int pump_watch(struct pump_side *side, int fd, void (*ready)(struct watch *, uint32_t))
{
	side->watch = (struct watch){.ready = ready, .fd = fd};
	return loop_watch(&side->watch, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLPRI | EPOLLET);
}

bool pump_note(struct pump_side *side, uint32_t events)
{
	if (events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR))
		side->readable = true;
	if (events & (EPOLLOUT | EPOLLHUP | EPOLLERR))
		side->writable = true;
	if (events & (EPOLLRDHUP | EPOLLHUP))
		side->hung = true;
	if (events & EPOLLPRI)
		side->urgent = true;
	return (events & EPOLLERR) != 0;
}
