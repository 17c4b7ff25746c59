// SPDX-License-Identifier: Apache-2.0
#include "resolve.h"

#include <ares.h>
#include <arpa/nameser.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "address.h"
#include "hosts.h"

enum {
	TIMEOUT_MS = 2000, /* for the first round; c-ares doubles it */
	TRIES = 2,
	TTL_LEAST = 5,
	TTL_MOST = 300,
	FAILED_MS = 1000, /* until a name whose servers do not answer is asked for again */
	SERVER_SOCKETS = 32,
};

/* One question to the name servers: for v4 or v6 addresses. */
struct question {
	struct name *name;
	int type;      /* ns_t_a, ns_t_aaaa */
	bool searched; /* the search list was tried too */
};

static ares_channel channel;
static int ndots;
static unsigned outstanding;
static struct watch sockets[SERVER_SOCKETS];

static void on_socket(struct watch *watch, uint32_t events)
{
	bool wrong = (events & (EPOLLERR | EPOLLHUP)) != 0;
	int fd = watch->fd;

	ares_process_fd(channel, wrong || (events & EPOLLIN) ? fd : ARES_SOCKET_BAD,
			events & EPOLLOUT ? fd : ARES_SOCKET_BAD);
}

/* c-ares opens and closes; this says what it waits for. */
static void on_interest(void *data, ares_socket_t fd, int readable, int writable)
{
	uint32_t events = (readable ? EPOLLIN : 0u) | (writable ? EPOLLOUT : 0u);
	struct watch *free_one = NULL, *watch = NULL;

	(void)data;
	for (int i = 0; i < SERVER_SOCKETS; i++) {
		if (sockets[i].fd == fd)
			watch = &sockets[i];
		else if (sockets[i].fd < 0)
			free_one = &sockets[i];
	}
	if (watch != NULL && events == 0) {
		loop_forget(watch);
	} else if (watch != NULL) {
		loop_change(watch, events);
	} else if (free_one != NULL && events != 0) {
		/* None free: its question runs into its timeout, and the next server is asked. */
		*free_one = (struct watch){.ready = on_socket, .fd = fd};
		if (loop_watch(free_one, events) != 0)
			free_one->fd = -1;
	}
}

const char *resolve_init(void)
{
	struct ares_options options = {
		/* No HOSTALIASES: the environment is nobody's to decide with. */
		.flags = ARES_FLAG_NOALIASES, .timeout = TIMEOUT_MS,        .tries = TRIES,
		.lookups = (char[]){"b"},     .sock_state_cb = on_interest,
	};
	int rc = ares_library_init(ARES_LIB_INIT_ALL);

	for (int i = 0; i < SERVER_SOCKETS; i++)
		sockets[i].fd = -1;
	if (rc == ARES_SUCCESS)
		rc = ares_init_options(&channel, &options,
				       ARES_OPT_FLAGS | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES |
					       ARES_OPT_LOOKUPS | ARES_OPT_SOCK_STATE_CB);
	if (rc != ARES_SUCCESS)
		return ares_strerror(rc);

	struct ares_options found;
	int mask;
	rc = ares_save_options(channel, &found, &mask);
	if (rc != ARES_SUCCESS)
		return ares_strerror(rc);
	ndots = found.ndots;
	ares_destroy_options(&found);
	return NULL;
}

static void tell(struct name *name)
{
	loop_cancel(&name->settle);
	name->settled = true;
	if (name->address_count > 0)
		name->state = NAME_KNOWN;
	else
		name->state = name->failed ? NAME_FAILED : NAME_NONE;
	uint32_t ttl = name->ttl < TTL_LEAST  ? TTL_LEAST
		       : name->ttl > TTL_MOST ? TTL_MOST
					      : name->ttl;
	name->until_ms =
		loop_now_ms() + (name->state == NAME_FAILED ? FAILED_MS : (uint64_t)ttl * 1000);
	while (name->waiting != NULL) {
		struct name_wait *wait = name->waiting;

		resolve_cancel(wait);
		wait->told(wait, name);
	}
}

static void on_settle(struct timer *timer)
{
	tell(OWNER(timer, struct name, settle));
}

static void add_address(struct name *name, const struct rule_address *address)
{
	struct rule_address plain = *address;

	address_plain(&plain);
	for (size_t i = 0; i < name->address_count; i++)
		if (address_equal(&name->addresses[i], &plain))
			return;
	if (name->address_count < NAME_ADDRESSES)
		name->addresses[name->address_count++] = plain;
}

static void keep_ttl(struct name *name, int ttl)
{
	if (ttl >= 0 && (uint32_t)ttl < name->ttl)
		name->ttl = (uint32_t)ttl;
}

static void read_v4(struct name *name, const uint8_t *answer, int len)
{
	struct ares_addrttl found[NAME_ADDRESSES];
	int count = NAME_ADDRESSES;

	if (ares_parse_a_reply(answer, len, NULL, found, &count) != ARES_SUCCESS)
		return;
	for (int i = 0; i < count; i++) {
		struct rule_address address = {.family = AF_INET};

		memcpy(address.bytes, &found[i].ipaddr, 4);
		add_address(name, &address);
		keep_ttl(name, found[i].ttl);
	}
}

static void read_v6(struct name *name, const uint8_t *answer, int len)
{
	struct ares_addr6ttl found[NAME_ADDRESSES];
	int count = NAME_ADDRESSES;

	if (ares_parse_aaaa_reply(answer, len, NULL, found, &count) != ARES_SUCCESS)
		return;
	for (int i = 0; i < count; i++) {
		struct rule_address address = {.family = AF_INET6};

		memcpy(address.bytes, &found[i].ip6addr, 16);
		add_address(name, &address);
		keep_ttl(name, found[i].ttl);
	}
}

static int count_dots(const char *text)
{
	int dots = 0;

	for (; *text != '\0'; text++)
		dots += *text == '.';
	return dots;
}

static void on_answer(void *data, int status, int timeouts, unsigned char *answer, int len)
{
	struct question *question = data;
	struct name *name = question->name;

	(void)timeouts;
	if (status == ARES_ENOTFOUND && !question->searched && count_dots(name->text) < ndots) {
		question->searched = true;
		ares_search(channel, name->text, ns_c_in, question->type, on_answer, question);
		return;
	}
	if (status == ARES_SUCCESS && question->type == ns_t_a)
		read_v4(name, answer, len);
	else if (status == ARES_SUCCESS)
		read_v6(name, answer, len);
	else if (status != ARES_ENOTFOUND && status != ARES_ENODATA)
		name->failed = true;
	free(question);
	outstanding--;
	name->pending--;
	if (name->settled || status == ARES_EDESTRUCTION)
		return;
	if (name->pending == 0)
		tell(name);
	else if (name->address_count > 0)
		loop_timer(&name->settle, TIMER_SETTLE, on_settle);
}

/* The name as it is comes first, also where the search list could lead elsewhere; one without a dot
 * is what search lists are for. */
static void ask(struct name *name, int type)
{
	struct question *question = calloc(1, sizeof(*question));

	name->pending++;
	if (question == NULL) {
		name->pending--;
		name->failed = true;
		return;
	}
	outstanding++;
	*question = (struct question){.name = name, .type = type};
	question->searched = strchr(name->text, '.') == NULL;
	if (question->searched)
		ares_search(channel, name->text, ns_c_in, type, on_answer, question);
	else
		ares_query(channel, name->text, ns_c_in, type, on_answer, question);
}

/* What no name server is asked for. */
static bool know(struct name *name)
{
	static const struct rule_address loopback4 = {.family = AF_INET, .bytes = {127, 0, 0, 1}};
	static const struct rule_address loopback6 = {.family = AF_INET6, .bytes = {[15] = 1}};

	if (name->rule->kind == RULE_HOST) {
		add_address(name, &loopback4);
		add_address(name, &loopback6);
	}
	for (size_t i = 0; i < policy.pin_count; i++)
		if (strcmp(policy.pins[i].name, name->text) == 0) {
			add_address(name, &policy.pins[i].address);
			name->pinned = true;
		}
	if (name->address_count == 0)
		name->address_count = hosts_find(name->text, name->addresses, NAME_ADDRESSES);
	if (name->address_count == 0)
		return false;
	name->state = NAME_KNOWN;
	name->until_ms = 0;
	return true;
}

static void begin(struct name *name)
{
	name->state = NAME_ASKING;
	name->settled = false;
	name->failed = false;
	name->address_count = 0;
	name->ttl = TTL_MOST;
	/* Answered at once, neither may end the whole before the other was asked. */
	name->pending = 1;
	ask(name, ns_t_aaaa);
	ask(name, ns_t_a);
	if (--name->pending == 0 && !name->settled)
		tell(name);
}

static bool is_fresh(const struct name *name)
{
	return name->state != NAME_NEW && (name->until_ms == 0 || loop_now_ms() < name->until_ms);
}

bool resolve_ask(struct name *name, struct name_wait *wait)
{
	wait->link = NULL;
	if (name->state != NAME_ASKING) {
		if (is_fresh(name) || (name->state == NAME_NEW && know(name)))
			return true;
		/* A late answer of the round before is still out: what is there has to do. */
		if (name->pending > 0)
			return true;
		begin(name);
		if (name->state != NAME_ASKING)
			return true;
	}
	wait->next = name->waiting;
	if (wait->next != NULL)
		wait->next->link = &wait->next;
	wait->link = &name->waiting;
	name->waiting = wait;
	return false;
}

void resolve_cancel(struct name_wait *wait)
{
	if (wait->link == NULL)
		return;
	*wait->link = wait->next;
	if (wait->next != NULL)
		wait->next->link = wait->link;
	wait->link = NULL;
}

int resolve_sleep_ms(void)
{
	struct timeval most, *left;

	if (outstanding == 0)
		return -1;
	most.tv_sec = 3600;
	most.tv_usec = 0;
	left = ares_timeout(channel, &most, &most);
	if (left == NULL || left->tv_sec >= 3600)
		return -1;
	return (int)(left->tv_sec * 1000 + (left->tv_usec + 999) / 1000);
}

void resolve_due(void)
{
	if (outstanding > 0)
		ares_process_fd(channel, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
}

void resolve_end(void)
{
	ares_destroy(channel);
}
