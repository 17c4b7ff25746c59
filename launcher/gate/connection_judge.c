// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "connection.h"
#include "policy.h"

/* Who is meant, and does a rule allow it? */
static enum gate_why judge(struct connection *connection)
{
	struct gate_connection *event = &connection->event;
	const struct rule_address *address = &event->asked.ip;
	uint32_t v4 = (uint32_t)address->bytes[0] << 24 | (uint32_t)address->bytes[1] << 16 |
		      (uint32_t)address->bytes[2] << 8 | address->bytes[3];

	if (address->family == AF_INET && names_is_inside(v4)) {
		connection->name = names_at(v4);
		if (connection->name == NULL)
			return GATE_NO_RULE;
		memcpy(event->name, connection->name->text, sizeof(event->name));
		connection->rule = rule_for_name(policy.rules, policy.rule_count, event->name,
						 event->asked.port);
	} else {
		connection->rule = rule_for_address(policy.rules, policy.rule_count, address,
						    event->asked.port);
	}
	if (connection->rule == NULL)
		return GATE_NO_RULE;
	event->rule = connection->rule->number;
	return connection->rule->action == RULE_DENY ? GATE_DENY_RULE : GATE_OPEN;
}

/* A literal address: a rule names it, but a network may hold what has to be named by itself. */
static enum gate_why judge_class(struct connection *connection)
{
	struct policy_refusal refusal;
	struct gate_connection *event = &connection->event;

	if (connection->name != NULL || policy_may_dial(connection->rule, &event->asked.ip,
							event->asked.port, false, false, &refusal))
		return GATE_OPEN;
	event->class = (uint8_t)refusal.class;
	return GATE_BAD_ADDRESS;
}

enum gate_why connection_judge(struct connection *connection)
{
	enum gate_why why = judge(connection);

	return why == GATE_OPEN ? judge_class(connection) : why;
}
