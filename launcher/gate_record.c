// SPDX-License-Identifier: Apache-2.0
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include "gate.h"
#include "network_rules.h"
#include "run.h"

/* From what the gate told to what the record says; refusals become denials, each with the line
 * that would permit it. */

#define NS_IN_A_MS 1000000ULL

static const char *const verdict_words[] = {
	[GATE_ANSWERED] = "answered",    [GATE_NO_SUCH_NAME] = "no_such_name",
	[GATE_NO_ANSWER] = "no_answer",  [GATE_NOT_ALLOWED] = "not_allowed",
	[GATE_MALFORMED] = "not_a_name", [GATE_TOO_MANY] = "too_many",
};

static const char *const end_words[] = {
	[GATE_OPEN] = "lost",
	[GATE_FINISHED] = "finished",
	[GATE_RESET_INSIDE] = "reset_inside",
	[GATE_RESET_OUTSIDE] = "reset_outside",
	[GATE_ENDED] = "run_ended",
	[GATE_NO_RULE] = "no_rule",
	[GATE_DENY_RULE] = "deny_rule",
	[GATE_BAD_ADDRESS] = "address_not_public",
	[GATE_NOT_RESOLVED] = "not_resolved",
	[GATE_NOT_REACHED] = "not_reached",
	[GATE_FULL] = "full",
	[GATE_OTHER_NAME] = "other_name",
	[GATE_NO_NAME] = "no_name",
	[GATE_BAD_HELLO] = "bad_hello",
	[GATE_SLOW_HELLO] = "slow_hello",
};

static const char *word(const char *const *words, size_t count, unsigned value)
{
	return value < count && words[value] != NULL ? words[value] : "unknown";
}
#define WORD(words, value) word(words, sizeof(words) / sizeof((words)[0]), value)

static const char *some(struct arena *arena, const char *text)
{
	return text[0] != '\0' ? arena_strdup(arena, text) : NULL;
}

static const char *address_text(struct arena *arena, const struct rule_address *address)
{
	char text[INET6_ADDRSTRLEN];

	if ((address->family != AF_INET && address->family != AF_INET6) ||
	    inet_ntop(address->family, address->bytes, text, sizeof(text)) == NULL)
		return NULL;
	return arena_strdup(arena, text);
}

/* As a rule would have it: [2001:db8::1]:443. */
static const char *place_text(struct arena *arena, const char *name,
			      const struct gate_address *address)
{
	if (name[0] != '\0')
		return arena_printf(arena, "%s:%u", name, address->port);
	const char *ip = address_text(arena, &address->ip);

	/* a gate that is in order names one or the other */
	return arena_printf(arena, address->ip.family == AF_INET6 ? "[%s]:%u" : "%s:%u",
			    ip != NULL ? ip : "unknown", address->port);
}

/* ---- denials ---- */

static void deny(struct run *run, const char *op, const char *object, uint64_t count, int errnum,
		 const char *permit, const char *never)
{
	const struct record_denial denial = {.boundary = BOUNDARY_NETWORK,
					     .op = op,
					     .object = object,
					     .count = count,
					     .errnum = errnum,
					     .permit = permit,
					     .never = never};

	if (run->profile.audit.denials != DENIALS_OFF)
		denials_add(&run->denials, &denial);
}

static const char *without(struct run *run, unsigned rule)
{
	const char *text = network_rules_text(run->arm.network_rules, rule);

	return arena_printf(run->arena, "[network] deny without %s", text != NULL ? text : "it");
}

static void deny_name(struct run *run, const struct gate_name *name)
{
	const char *allow = arena_printf(run->arena, "[network] allow = %s:443", name->name);
	const char *permit = NULL, *never = NULL;

	switch ((enum gate_verdict)name->verdict) {
	case GATE_NOT_ALLOWED:
		permit = name->rule != 0 ? without(run, name->rule) : allow;
		break;
	case GATE_TOO_MANY:
		permit = allow;
		break;
	case GATE_MALFORMED:
		never = "it is not the name of a host";
		break;
	case GATE_ANSWERED:
	case GATE_NO_SUCH_NAME:
	case GATE_NO_ANSWER:
		return;
	}
	deny(run, "resolve", name->name, name->count, 0, permit, never);
}

/* A line that the profile would not take helps nobody: then why it would not. */
static const char *permit_place(struct run *run, const char *place, const char **ret_never)
{
	char fault[RULE_FAULT_BYTES];
	struct rule rule;

	if (rule_parse_allow(place, &rule, fault))
		return arena_printf(run->arena, "[network] allow = %s", place);
	*ret_never = arena_strdup(run->arena, fault);
	return NULL;
}

static const char *permit_address(struct run *run, const struct gate_connection *connection,
				  const char **ret_never)
{
	const char *name = connection->name;

	if (connection->class == GATE_PRIVATE && name[0] != '\0')
		return arena_printf(run->arena, "[network] allow = %s@private:%u", name,
				    connection->asked.port);
	if (connection->dialled.ip.family == 0)
		return NULL;
	return permit_place(run, place_text(run->arena, "", &connection->dialled), ret_never);
}

static void deny_connection(struct run *run, const struct gate_connection *connection,
			    uint64_t count)
{
	const char *place = place_text(run->arena, connection->name, &connection->asked);
	const char *permit = NULL, *never = NULL, *op = "connect";

	switch ((enum gate_why)connection->why) {
	case GATE_NO_RULE:
		permit = permit_place(run, place, &never);
		break;
	case GATE_DENY_RULE:
		permit = without(run, connection->rule);
		break;
	case GATE_BAD_ADDRESS:
		permit = permit_address(run, connection, &never);
		if (permit == NULL && never == NULL)
			never = "the name has no address that is public; one of another kind has "
				"to be named in [network] allow";
		break;
	case GATE_FULL:
		never = "too many connections at once";
		break;
	case GATE_OTHER_NAME:
		op = "server-name";
		never = arena_printf(run->arena, "the connection was to %s and asked for %s", place,
				     connection->server_name);
		break;
	case GATE_NO_NAME:
		op = "server-name";
		permit = "[network] sni = optional";
		break;
	case GATE_BAD_HELLO:
		op = "server-name";
		never = "what was sent first is neither TLS nor HTTP";
		break;
	case GATE_OPEN:
	case GATE_FINISHED:
	case GATE_RESET_INSIDE:
	case GATE_RESET_OUTSIDE:
	case GATE_ENDED:
	case GATE_NOT_RESOLVED:
	case GATE_NOT_REACHED:
	case GATE_SLOW_HELLO:
		return;
	}
	deny(run, op, place, count, ECONNRESET, permit, never);
}

static void deny_place(struct run *run, const char *place, uint64_t count)
{
	const char *never = NULL, *permit = permit_place(run, place, &never);

	deny(run, "connect", place, count, ECONNREFUSED, permit, never);
}

static void deny_attempt(struct run *run, const struct gate_attempt *attempt)
{
	bool tcp = attempt->protocol == IPPROTO_TCP;
	const char *place = place_text(run->arena, attempt->name, &attempt->address);

	if (attempt->address.ip.family == 0)
		deny(run, "connect", NULL, attempt->count, ECONNREFUSED, NULL,
		     "more places than are told one by one");
	else if (tcp)
		deny_place(run, place, attempt->count);
	else
		deny(run, "send", arena_printf(run->arena, "%s/udp", place), attempt->count,
		     ECONNREFUSED, NULL, "only TCP goes through the gate");
}

/* ---- the record ---- */

static struct record_name *build_names(struct run *run)
{
	const struct gate *gate = &run->gate;
	struct record_name *names =
		arena_alloc(run->arena, (gate->name_count + 1) * sizeof(*names));

	for (size_t i = 0; i < gate->name_count; i++) {
		const struct gate_name *told = &gate->names[i];

		names[i] = (struct record_name){
			.name = told->name,
			.verdict = WORD(verdict_words, told->verdict),
			.rule = network_rules_text(run->arm.network_rules, told->rule),
			.count = told->count};
		deny_name(run, told);
	}
	return names;
}

static struct record_connection *build_connections(struct run *run)
{
	const struct gate *gate = &run->gate;
	struct record_connection *connections =
		arena_alloc(run->arena, (gate->connection_count + 1) * sizeof(*connections));

	for (size_t i = 0; i < gate->connection_count; i++) {
		const struct gate_connection *told = &gate->connections[i];

		connections[i] = (struct record_connection){
			.time_ns = told->start_ms * NS_IN_A_MS,
			.name = some(run->arena, told->name),
			.asked = address_text(run->arena, &told->asked.ip),
			.asked_port = told->asked.port,
			.dialled = address_text(run->arena, &told->dialled.ip),
			.dialled_port = told->dialled.port,
			.server_name = some(run->arena, told->server_name),
			.rule = network_rules_text(run->arm.network_rules, told->rule),
			.ended = WORD(end_words, told->why),
			.published = told->published != 0,
			.errnum = (int)told->errnum,
			.count = 1,
			.ms = told->ms,
			.dial_us = told->dial_us,
			.sent = told->sent,
			.received = told->received};
		deny_connection(run, told, 1);
	}
	return connections;
}

static struct record_connection *build_more(struct run *run)
{
	const struct gate *gate = &run->gate;
	struct record_connection *more =
		arena_alloc(run->arena, (gate->tally_count + 1) * sizeof(*more));

	for (size_t i = 0; i < gate->tally_count; i++) {
		const struct gate_tally *told = &gate->tallies[i];
		struct gate_connection like = {
			.why = told->why, .rule = told->rule, .asked = told->asked};

		more[i] = (struct record_connection){
			.time_ns = UNKNOWN,
			.name = some(run->arena, told->name),
			.asked = address_text(run->arena, &told->asked.ip),
			.asked_port = told->asked.port,
			.rule = network_rules_text(run->arm.network_rules, told->rule),
			.ended = WORD(end_words, told->why),
			.published = told->published != 0,
			.count = told->count,
			.ms = told->ms,
			.dial_us = UNKNOWN,
			.sent = told->sent,
			.received = told->received};
		memcpy(like.name, told->name, sizeof(like.name));
		if (told->asked.ip.family != 0)
			deny_connection(run, &like, told->count);
	}
	return more;
}

static struct record_attempt *build_attempts(struct run *run)
{
	const struct gate *gate = &run->gate;
	struct record_attempt *attempts =
		arena_alloc(run->arena, (gate->attempt_count + 1) * sizeof(*attempts));

	for (size_t i = 0; i < gate->attempt_count; i++) {
		const struct gate_attempt *told = &gate->attempts[i];

		attempts[i] = (struct record_attempt){
			.protocol = told->protocol == IPPROTO_TCP ? "tcp" : "udp",
			.name = some(run->arena, told->name),
			.address = address_text(run->arena, &told->address.ip),
			.port = told->address.port,
			.count = told->count};
		deny_attempt(run, told);
	}
	return attempts;
}

void gate_record(struct run *run)
{
	const struct gate *gate = &run->gate;
	const struct gate_totals *told = &gate->totals;
	struct record_network *network;

	if (gate->names == NULL)
		return;
	network = arena_alloc(run->arena, sizeof(*network));
	network->gate = gate->done     ? "served"
			: gate->ready  ? "lost"
			: gate->called ? "not_ready"
				       : "not_started";
	network->names = build_names(run);
	network->name_count = gate->name_count;
	network->connections = build_connections(run);
	network->connection_count = gate->connection_count;
	network->more = build_more(run);
	network->more_count = gate->tally_count;
	network->attempts = build_attempts(run);
	network->attempt_count = gate->attempt_count;
	network->totals.names = told->names;
	network->totals.names_refused = told->names_refused;
	network->totals.names_dropped = told->names_untold;
	network->totals.wildcard_names = told->wildcard_names;
	network->totals.wildcard_bytes = told->wildcard_bytes;
	network->totals.connections = told->connections;
	network->totals.connections_refused = told->connections_refused;
	network->totals.connections_dropped = told->untold + gate->connections_dropped;
	network->totals.connections_most = told->connections_most;
	network->totals.attempts = told->attempts;
	network->totals.sent = told->sent;
	network->totals.received = told->received;
	run->end.network = network;
}
