// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_POLICY_H
#define SBOX_POLICY_H

#include "protocol.h"

/* What the launcher sent before START; never changes after that. One a process. */
struct policy {
	struct rule rules[RULES_MAX];
	size_t rule_count;
	struct rule_pin pins[RULE_PINS_MAX];
	size_t pin_count;
	uint32_t connections, wildcard_names;
	uint32_t net; /* names get addresses from here, host order */
	bool sni_optional;
};

extern struct policy policy;

enum { POLICY_NET_BITS = 15, POLICY_NAMES_MOST = 4096 };

/* Each 0, or -1 and what is wrong. The message is whole (its size was compared). */
int policy_setup(const struct gate_setup *setup, struct gate_failed *failed);
int policy_rules(const struct gate_rules *rules, struct gate_failed *failed);
int policy_pins(const struct gate_pins *pins, struct gate_failed *failed);

/* -1 with errno, rule and text filled. */
int policy_fault(struct gate_failed *failed, uint32_t rule, int errnum, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/*
 * May this address, which a name has, be dialled? The name's rule, the port and whether a pin of
 * the profile gave the address. NULL: yes. Otherwise what speaks against it, and the deny rule.
 */
struct policy_refusal {
	enum gate_class class;
	const struct rule *deny; /* or NULL */
};

bool policy_may_dial(const struct rule *rule, const struct rule_address *address, uint16_t port,
		     bool pinned, bool own, struct policy_refusal *ret_refusal);

#endif
