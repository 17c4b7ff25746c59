// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gate.h"
#include "identity.h"
#include "run.h"

/* What the gate tells while it serves, and its end. Nothing of it is believed beyond its sizes. */

enum {
	DRAIN_MS = 1000, /* for what the program sent last and did not see arrive */
	DONE_MS = 2000,  /* for its last words */
};

/* A message is what it says it is only if it has that size. */
#define IS(message, size, kind)                                                                    \
	((size) == sizeof(struct kind) && ((const struct gate_head *)(message))->size == (size))

static void take_name(struct gate *gate, const struct gate_name *name)
{
	if (name->index >= GATE_NAMES_KEPT)
		return;
	gate->names[name->index] = *name;
	gate->names[name->index].name[RULE_NAME_BYTES - 1] = '\0';
	if (name->index >= gate->name_count)
		gate->name_count = name->index + 1;
}

static void take_connection(struct gate *gate, const struct gate_connection *told)
{
	size_t i = gate->connection_count;

	while (i > 0 && gate->connections[i - 1].id != told->id)
		i--;
	if (i == 0 && gate->connection_count == GATE_CONNECTIONS_KEPT) {
		gate->connections_dropped += told->why != GATE_OPEN;
		return;
	}
	struct gate_connection *kept = &gate->connections[i > 0 ? i - 1 : gate->connection_count++];
	*kept = *told;
	kept->name[RULE_NAME_BYTES - 1] = kept->server_name[RULE_NAME_BYTES - 1] = '\0';
}

static void take_tally(struct gate *gate, const struct gate_tally *tally)
{
	/* its last is for all that found no room there; ours for all that found none here */
	size_t i = tally->index < GATE_TALLIES_KEPT ? tally->index : GATE_TALLIES_KEPT - 1;

	gate->tallies[i] = *tally;
	gate->tallies[i].name[RULE_NAME_BYTES - 1] = '\0';
	if (i >= gate->tally_count)
		gate->tally_count = i + 1;
}

static void take_attempt(struct gate *gate, const struct gate_attempt *attempt)
{
	if (attempt->index >= GATE_ATTEMPTS_KEPT)
		return;
	gate->attempts[attempt->index] = *attempt;
	gate->attempts[attempt->index].name[RULE_NAME_BYTES - 1] = '\0';
	if (attempt->index >= gate->attempt_count)
		gate->attempt_count = attempt->index + 1;
}

static void take(struct gate *gate, const void *message, size_t size)
{
	const struct gate_head *head = message;

	if (size < sizeof(*head))
		return;
	switch ((enum gate_type)head->type) {
	case GATE_READY:
		gate->ready = true;
		break;
	case GATE_FAILED:
		if (IS(message, size, gate_failed)) {
			const struct gate_failed *failed = message;

			memcpy(gate->failure, failed->text, sizeof(gate->failure));
			gate->failure[sizeof(gate->failure) - 1] = '\0';
		}
		break;
	case GATE_NAME:
		if (IS(message, size, gate_name))
			take_name(gate, message);
		break;
	case GATE_CONNECTION:
		if (IS(message, size, gate_connection))
			take_connection(gate, message);
		break;
	case GATE_TALLY:
		if (IS(message, size, gate_tally))
			take_tally(gate, message);
		break;
	case GATE_ATTEMPT:
		if (IS(message, size, gate_attempt))
			take_attempt(gate, message);
		break;
	case GATE_TOTALS:
		if (IS(message, size, gate_totals))
			memcpy(&gate->totals, message, sizeof(gate->totals));
		break;
	case GATE_DONE:
		gate->done = true;
		break;
	case GATE_SETUP:
	case GATE_RULES:
	case GATE_PINS:
	case GATE_SOCKETS:
	case GATE_START:
	case GATE_END:
	case GATE_DRAIN:
		break;
	}
}

static void gone(struct gate *gate)
{
	close(gate->fd);
	gate->fd = -1;
}

bool gate_read(struct run *run)
{
	_Alignas(uint64_t) char message[GATE_MESSAGE_BYTES];
	struct gate *gate = &run->gate;

	while (gate->fd >= 0) {
		ssize_t length = recv(gate->fd, message, sizeof(message), MSG_DONTWAIT);

		if (length > 0)
			take(gate, message, (size_t)length);
		else if (length < 0 && errno == EINTR)
			continue;
		else if (length < 0 && errno == EAGAIN)
			return true;
		else
			gone(gate);
	}
	return false;
}

/* Reads until the gate is done, or so much time is over. */
static void read_to_the_end(struct run *run, int ms)
{
	uint64_t end = clock_ns() + (uint64_t)ms * 1000000;
	struct pollfd told = {.events = POLLIN};

	while (gate_read(run) && !run->gate.done) {
		uint64_t now = clock_ns();

		told.fd = run->gate.fd;
		if (now >= end || poll(&told, 1, (int)((end - now) / 1000000) + 1) < 0)
			return;
	}
}

/* Where the kernel would deliver it after the program's own end, so does the gate, for a while.
 * Only the gate knows what is on its way: it may not have accepted the connection yet. */
static void say_end(struct run *run)
{
	const struct gate_drain drain = {{GATE_DRAIN, sizeof(drain)}, DRAIN_MS};
	const struct gate_head end = {GATE_END, sizeof(end)};
	bool drains = run->end.kind == END_EXITED || run->end.kind == END_SIGNALED;
	const void *message = drains ? (const void *)&drain : &end;
	size_t size = drains ? sizeof(drain) : sizeof(end);

	if (send(run->gate.fd, message, size, MSG_NOSIGNAL) == (ssize_t)size)
		read_to_the_end(run, DONE_MS + (drains ? DRAIN_MS : 0));
}

void gate_end(struct run *run)
{
	struct gate *gate = &run->gate;

	gate_visit_end(run);
	if (gate->fd >= 0 && gate->ready)
		say_end(run);
	if (gate->pid > 0) {
		/* it is done, or it will not be; an end that was not in order shows in the record
		 */
		if (!gate->done)
			kill(gate->pid, SIGKILL);
		while (waitpid(gate->pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	gate->pid = 0;
	if (gate->fd >= 0)
		gone(gate);
	for (size_t i = 0; i < gate->published_count; i++)
		close(gate->published[i]);
	gate->published_count = 0;
	identity_unlease(gate->uid, gate->lease_fd);
	gate->lease_fd = -1;
}
