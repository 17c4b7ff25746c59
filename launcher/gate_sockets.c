// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "child.h"
#include "gate.h"
#include "network_setup.h"
#include "run.h"

/* Sockets go from init or a visitor, where they are made, to the gate, where they are used. */

enum { ANSWER_MS = 10000 };

struct sockets_batch {
	struct gate_sockets message;
	int fds[GATE_BATCH_SOCKETS];
};

static int flush(struct run *run, struct sockets_batch *batch)
{
	_Alignas(struct cmsghdr) char space[CMSG_SPACE(sizeof(batch->fds))] = {0};
	struct iovec part = {.iov_base = &batch->message, .iov_len = sizeof(batch->message)};
	struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = space};
	size_t size = batch->message.count * sizeof(int);

	if (batch->message.count == 0)
		return 0;
	batch->message.head = (struct gate_head){GATE_SOCKETS, sizeof(batch->message)};
	header.msg_controllen = CMSG_SPACE(size);
	struct cmsghdr *rights = CMSG_FIRSTHDR(&header);
	rights->cmsg_level = SOL_SOCKET;
	rights->cmsg_type = SCM_RIGHTS;
	rights->cmsg_len = CMSG_LEN(size);
	memcpy(CMSG_DATA(rights), batch->fds, size);
	ssize_t sent = sendmsg(run->gate.fd, &header, MSG_NOSIGNAL);
	int saved = errno;
	for (size_t i = 0; i < batch->message.count; i++)
		close(batch->fds[i]);
	batch->message.count = 0;
	errno = saved;
	return sent < 0 ? -1 : 0;
}

static int add(struct run *run, struct sockets_batch *batch, unsigned kind, uint16_t port, int fd)
{
	batch->message.sockets[batch->message.count].kind = (uint16_t)kind;
	batch->message.sockets[batch->message.count].port = port;
	batch->fds[batch->message.count++] = fd;
	return batch->message.count == GATE_BATCH_SOCKETS ? flush(run, batch) : 0;
}

/* Which they are tells `made`; a bit alone may stand for many of a kind. */
static int pass_on(struct run *run, const struct message *message, const int *fds, size_t count)
{
	const struct network_setup *setup = run->arm.network_setup;
	struct sockets_batch batch = {0};
	size_t next = 0;

	for (size_t i = 0; i < setup->socket_count; i++) {
		if ((message->made & 1U << i) == 0)
			continue;
		for (unsigned n = 0; n < setup->sockets[i].copies && next < count; n++)
			if (add(run, &batch, setup->sockets[i].kind, 0, fds[next++]) != 0)
				return -1;
	}
	return flush(run, &batch);
}

static int pass_published(struct run *run)
{
	struct gate *gate = &run->gate;
	struct sockets_batch batch = {0};
	size_t count = gate->published_count;

	gate->published_count = 0;
	for (size_t i = 0; i < count; i++)
		if (add(run, &batch, GATE_PUBLISHED, gate->published_port[i], gate->published[i]) !=
		    0)
			return -1;
	return flush(run, &batch);
}

/* Everything that serves is there: the gate begins. */
static int say_start(struct run *run)
{
	const struct gate_head begin = {GATE_START, sizeof(begin)};

	if (pass_published(run) != 0 ||
	    send(run->gate.fd, &begin, sizeof(begin), MSG_NOSIGNAL) != (ssize_t)sizeof(begin))
		return -1;
	return 0;
}

/* False: none came. */
static bool receive(int fd, struct message *message, int *fds, size_t *ret_count)
{
	_Alignas(struct cmsghdr) char space[CMSG_SPACE(MESSAGE_FDS_MAX * sizeof(int))];
	struct iovec part = {.iov_base = message, .iov_len = sizeof(*message)};
	struct msghdr header = {.msg_iov = &part,
				.msg_iovlen = 1,
				.msg_control = space,
				.msg_controllen = sizeof(space)};

	*ret_count = 0;
	if (recvmsg(fd, &header, MSG_CMSG_CLOEXEC | MSG_DONTWAIT) != (ssize_t)sizeof(*message))
		return false;
	const struct cmsghdr *rights = CMSG_FIRSTHDR(&header);
	if (rights != NULL) {
		*ret_count = (rights->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		memcpy(fds, CMSG_DATA(rights), *ret_count * sizeof(int));
	}
	return true;
}

static int explain_visit(const struct message *message, struct error *err)
{
	return error_set(err, ERROR_SYSTEM, "set-up step %s failed (call %u): %s%s",
			 step_names[STEP_GATE], message->made, strerror(message->status),
			 message->made == FAILED_FILTER ? "; " NETWORK_SETUP_NEEDS : "");
}

int gate_take_sockets(struct run *run, int fd, struct error *err)
{
	struct message message;
	int fds[MESSAGE_FDS_MAX];
	size_t count;
	bool came = receive(fd, &message, fds, &count);

	if (came && message.kind == MESSAGE_GATE_FAILED)
		return explain_visit(&message, err);
	if (came && message.kind == MESSAGE_NETWORK && count == 1) {
		run->gate.network_fd = fds[0];
		return 1;
	}
	if (!came || message.kind != MESSAGE_GATE)
		return error_set(err, ERROR_SYSTEM,
				 "the sockets of the sandbox's network did not arrive");
	if (pass_on(run, &message, fds, count) != 0 || (message.last != 0 && say_start(run) != 0))
		return gate_not_told(run, err);
	return message.last != 0;
}

/* Set-up failed before the sockets came; 0: it only tells how far it is. */
static int explain_fault(struct run *run, struct error *err)
{
	if (read(run->fault_fd, &run->fault, sizeof(run->fault)) != (ssize_t)sizeof(run->fault))
		return error_set(err, ERROR_SYSTEM, "pid 1 of the sandbox died in set-up");
	if (run->fault.errnum == 0)
		return 0;
	/* then it is looked into, and said in the plan's words */
	run->spawn_refused = !run->host.looked;
	return error_set(err, ERROR_MISSING, "set-up step %s failed: %s", step_names[run->fault.id],
			 strerror(run->fault.errnum));
}

int gate_hand_over(struct run *run, struct error *err)
{
	int state = 0;

	if (run->gate.fd < 0 && !run->plan.late_network)
		return 0;
	while (state == 0) {
		struct pollfd told[] = {{.fd = run->control_fd, .events = POLLIN},
					{.fd = run->fault_fd, .events = POLLIN}};

		if (poll(told, 2, ANSWER_MS) <= 0)
			return error_set(err, ERROR_SYSTEM,
					 "the sandbox's network was not set up in time");
		/* first: of one that is dead both are at their end */
		bool fault = (told[1].revents & POLLIN) != 0;
		state = fault ? explain_fault(run, err)
			      : gate_take_sockets(run, run->control_fd, err);
		if (state < 0)
			return -1;
	}
	return 0;
}

int gate_explain(const struct gate *gate, struct error *err)
{
	return error_set(err, ERROR_SYSTEM, "sbox-gate did not start: %s",
			 gate->failure[0] != '\0' ? gate->failure : "it ended at once");
}

int gate_not_told(struct run *run, struct error *err)
{
	if (errno != EPIPE && errno != ECONNRESET)
		return error_sys(err, "sbox-gate does not take what it is told");
	/* it is gone, and may have said why */
	gate_read(run);
	return gate_explain(&run->gate, err);
}

int gate_wait_ready(struct run *run, struct error *err)
{
	struct gate *gate = &run->gate;
	struct pollfd told = {.fd = gate->fd, .events = POLLIN};

	if (gate->pid == 0)
		return 0;
	while (!gate->ready) {
		if (poll(&told, 1, ANSWER_MS) <= 0)
			return error_set(err, ERROR_SYSTEM, "sbox-gate was not ready in time");
		if (!gate_read(run) && !gate->ready)
			return gate_explain(gate, err);
	}
	return 0;
}
