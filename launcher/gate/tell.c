// SPDX-License-Identifier: Apache-2.0
#include "tell.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "address.h"
#include "loop.h"
#include "names.h"

enum { QUEUE = 256, LAST_WAIT_MS = 2000 };

struct gate_totals totals;

static int control = -1;

/* Connections that found the socket full. */
static struct gate_connection queue[QUEUE];
static size_t queue_first, queue_count;

static struct gate_name names[GATE_NAMES_TOLD];
static struct gate_attempt attempts[GATE_ATTEMPTS_TOLD];
static struct gate_tally tallies[GATE_TALLIES_TOLD];
static size_t name_count, attempt_count, tally_count;
static bool names_dirty[GATE_NAMES_TOLD], attempts_dirty[GATE_ATTEMPTS_TOLD],
	tallies_dirty[GATE_TALLIES_TOLD];
static bool dirty;
static uint64_t told_singly, next_id = 1;
static struct timer flush;

static bool send_message(const void *message, size_t size)
{
	ssize_t sent;

	do
		sent = send(control, message, size, MSG_NOSIGNAL | MSG_DONTWAIT);
	while (sent < 0 && errno == EINTR);
	return sent == (ssize_t)size;
}

static bool send_queue(void)
{
	while (queue_count > 0) {
		if (!send_message(&queue[queue_first], sizeof(queue[0])))
			return false;
		queue_first = (queue_first + 1) % QUEUE;
		queue_count--;
	}
	return true;
}

/* Rows of a table that changed since they were told. */
static bool send_rows(const void *rows, size_t size, size_t count, bool *rows_dirty)
{
	for (size_t i = 0; i < count; i++) {
		if (!rows_dirty[i])
			continue;
		if (!send_message((const char *)rows + i * size, size))
			return false;
		rows_dirty[i] = false;
	}
	return true;
}

static bool send_totals(void)
{
	names_count(&totals.wildcard_names, &totals.wildcard_bytes);
	totals.head = (struct gate_head){GATE_TOTALS, sizeof(totals)};
	return send_message(&totals, sizeof(totals));
}

static bool send_all(void)
{
	if (!send_queue() || !send_rows(names, sizeof(names[0]), name_count, names_dirty) ||
	    !send_rows(attempts, sizeof(attempts[0]), attempt_count, attempts_dirty) ||
	    !send_rows(tallies, sizeof(tallies[0]), tally_count, tallies_dirty) || !send_totals())
		return false;
	dirty = false;
	return true;
}

static void on_flush(struct timer *timer)
{
	/* Full: again after the time, and when there is room. */
	if (!send_all())
		loop_timer(timer, TIMER_FLUSH, on_flush);
}

static void changed(void)
{
	if (!dirty)
		loop_timer(&flush, TIMER_FLUSH, on_flush);
	dirty = true;
}

void tell_start(int fd)
{
	control = fd;
}

void tell_more(void)
{
	if (queue_count > 0)
		send_queue();
}

void tell_end(void)
{
	const struct gate_head done = {GATE_DONE, sizeof(done)};
	struct pollfd poll_fd = {.fd = control, .events = POLLOUT};
	uint64_t until = clock_us() / 1000 + LAST_WAIT_MS;
	bool all = false;

	while (!(all = all || send_all()) || !send_message(&done, sizeof(done))) {
		uint64_t now = clock_us() / 1000;

		if (now >= until || (errno != EAGAIN && errno != ENOBUFS) ||
		    poll(&poll_fd, 1, (int)(until - now)) <= 0)
			return;
	}
}

void tell_show(const char *text, size_t len, char ret_shown[RULE_NAME_BYTES])
{
	size_t used = 0;

	for (size_t i = 0; i < len && used + 5 < RULE_NAME_BYTES; i++) {
		unsigned char byte = (unsigned char)text[i];

		used += (size_t)snprintf(ret_shown + used, RULE_NAME_BYTES - used,
					 byte > ' ' && byte < 0x7f ? "%c" : "\\%03u", byte);
	}
	ret_shown[used] = '\0';
}

static uint32_t number_of(const struct rule *rule)
{
	return rule != NULL ? rule->number : 0;
}

void tell_name(const char *shown, enum gate_verdict verdict, const struct rule *rule,
	       uint16_t question)
{
	char text[RULE_NAME_BYTES];
	size_t i = 0;

	totals.names++;
	totals.names_refused += verdict != GATE_ANSWERED && verdict != GATE_NO_SUCH_NAME;
	tell_show(shown, strlen(shown), text);
	while (i < name_count && strcmp(names[i].name, text) != 0)
		i++;
	changed();
	if (i == GATE_NAMES_TOLD) {
		totals.names_untold++;
		return;
	}
	struct gate_name *name = &names[i];
	if (i == name_count) {
		name_count++;
		name->head = (struct gate_head){GATE_NAME, sizeof(*name)};
		name->index = (uint32_t)i;
		name->first_ms = clock_unix_ms();
		memcpy(name->name, text, sizeof(text));
	}
	name->count++;
	name->verdict = (uint8_t)verdict;
	name->rule = number_of(rule);
	name->question = question;
	names_dirty[i] = true;
}

static bool same_address(const struct gate_address *one, const struct gate_address *other)
{
	return one->port == other->port && address_equal(&one->ip, &other->ip);
}

void tell_attempt(uint8_t protocol, const struct gate_address *address, const char *name)
{
	size_t i = 0;

	while (i < attempt_count &&
	       (attempts[i].protocol != protocol || !same_address(&attempts[i].address, address)))
		i++;
	totals.attempts++;
	changed();
	if (i >= GATE_ATTEMPTS_TOLD - 1) {
		i = GATE_ATTEMPTS_TOLD - 1; /* all others */
		attempt_count = GATE_ATTEMPTS_TOLD;
	}
	struct gate_attempt *attempt = &attempts[i];
	if (attempt->count == 0) {
		attempt->head = (struct gate_head){GATE_ATTEMPT, sizeof(*attempt)};
		attempt->index = (uint32_t)i;
		attempt->first_ms = clock_unix_ms();
		if (i < GATE_ATTEMPTS_TOLD - 1) {
			attempt->protocol = protocol;
			attempt->address = *address;
			if (name != NULL)
				snprintf(attempt->name, sizeof(attempt->name), "%s", name);
			attempt_count = i + 1;
		}
	}
	attempt->count++;
	attempts_dirty[i] = true;
}

static void send_connection(const struct gate_connection *event)
{
	if (queue_count == 0 && send_message(event, sizeof(*event)))
		return;
	if (queue_count == QUEUE) {
		totals.untold++;
		changed();
		return;
	}
	queue[(queue_first + queue_count++) % QUEUE] = *event;
	changed();
}

bool tell_open(struct gate_connection *event)
{
	event->head = (struct gate_head){GATE_CONNECTION, sizeof(*event)};
	event->id = next_id++;
	event->why = GATE_OPEN;
	if (told_singly >= GATE_CONNECTIONS_TOLD)
		return false;
	told_singly++;
	send_connection(event);
	return true;
}

static void add_to_tally(const struct gate_connection *event)
{
	size_t i = 0;

	while (i < tally_count && (tallies[i].why != event->why || tallies[i].rule != event->rule ||
				   tallies[i].published != event->published ||
				   !same_address(&tallies[i].asked, &event->asked) ||
				   strcmp(tallies[i].name, event->name) != 0))
		i++;
	bool rest = i >= GATE_TALLIES_TOLD - 1;
	if (rest) {
		i = GATE_TALLIES_TOLD - 1;
		tally_count = GATE_TALLIES_TOLD;
	}
	struct gate_tally *tally = &tallies[i];
	if (tally->count == 0) {
		tally->head = (struct gate_head){GATE_TALLY, sizeof(*tally)};
		tally->index = (uint32_t)i;
		if (!rest) {
			tally->why = event->why;
			tally->rule = event->rule;
			tally->published = event->published;
			tally->asked = event->asked;
			memcpy(tally->name, event->name, sizeof(tally->name));
			tally_count = i + 1;
		}
	}
	tally->count++;
	tally->ms += event->ms;
	tally->sent += event->sent;
	tally->received += event->received;
	tallies_dirty[i] = true;
}

void tell_closed(struct gate_connection *event, bool was_open, bool singly)
{
	totals.sent += event->sent;
	totals.received += event->received;
	if (!was_open) {
		totals.connections_refused++;
		event->head = (struct gate_head){GATE_CONNECTION, sizeof(*event)};
		event->id = next_id++;
		singly = told_singly < GATE_CONNECTIONS_TOLD;
		told_singly += singly;
	}
	changed();
	if (singly)
		send_connection(event);
	else
		add_to_tally(event);
}
