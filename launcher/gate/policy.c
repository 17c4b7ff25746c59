// SPDX-License-Identifier: Apache-2.0
#include "policy.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "address.h"
#include "idna.h"

enum { CONNECTIONS = 4096, WILDCARD_NAMES = 1024, NET = 198u << 24 | 18u << 16 };

struct policy policy;

int policy_fault(struct gate_failed *failed, uint32_t rule, int errnum, const char *fmt, ...)
{
	va_list ap;

	memset(failed, 0, sizeof(*failed));
	failed->head.type = GATE_FAILED;
	failed->head.size = sizeof(*failed);
	failed->rule = rule;
	failed->errnum = (uint32_t)errnum;
	va_start(ap, fmt);
	vsnprintf(failed->text, sizeof(failed->text), fmt, ap);
	va_end(ap);
	return -1;
}

int policy_setup(const struct gate_setup *setup, struct gate_failed *failed)
{
	if (setup->version != GATE_VERSION)
		return policy_fault(failed, 0, 0,
				    "the gate speaks version %d, the launcher %u: they are not of "
				    "one installation",
				    GATE_VERSION, setup->version);
	policy.connections = setup->connections ? setup->connections : CONNECTIONS;
	policy.wildcard_names = setup->wildcard_names ? setup->wildcard_names : WILDCARD_NAMES;
	policy.net = setup->names_net ? ntohl(setup->names_net) : NET;
	policy.sni_optional = setup->sni_optional != 0;
	if (policy.wildcard_names > POLICY_NAMES_MOST)
		return policy_fault(failed, 0, 0, "%u wildcard names are too many (%d)",
				    policy.wildcard_names, POLICY_NAMES_MOST);
	if ((policy.net & ((1u << (32 - POLICY_NET_BITS)) - 1)) != 0)
		return policy_fault(failed, 0, 0, "names_net is not a network of %d bits",
				    POLICY_NET_BITS);
	return 0;
}

/* The name in its ASCII form, and checked again: what comes after this trusts it. */
static int clean(char name[RULE_NAME_BYTES], uint8_t *idna, uint32_t rule,
		 struct gate_failed *failed)
{
	char ascii[RULE_NAME_BYTES];

	if (memchr(name, '\0', RULE_NAME_BYTES) == NULL)
		return policy_fault(failed, rule, 0, "a name without an end");
	if (*idna != 0) {
		const char *wrong = idna_to_ascii(name, ascii);

		if (wrong != NULL)
			return policy_fault(failed, rule, 0, "\"%s\" is not a name: %s", name,
					    wrong);
		memcpy(name, ascii, sizeof(ascii));
		*idna = 0;
	}
	memcpy(ascii, name, sizeof(ascii));
	if (!rule_clean_name(ascii, strlen(ascii), name))
		return policy_fault(failed, rule, 0, "\"%s\" is not a name", ascii);
	return 0;
}

static bool fits(uint8_t family, unsigned bits)
{
	return (family == AF_INET && bits <= 32) || (family == AF_INET6 && bits <= 128);
}

static int add_rule(const struct rule *from, struct gate_failed *failed)
{
	struct rule rule = *from;
	bool named = rule.kind == RULE_EXACT || rule.kind == RULE_BELOW;

	if (policy.rule_count == RULES_MAX)
		return policy_fault(failed, rule.number, 0, "more than %d rules", RULES_MAX);
	if ((rule.action != RULE_ALLOW && rule.action != RULE_DENY) || rule.port_low == 0 ||
	    rule.port_low > rule.port_high ||
	    !(named || rule.kind == RULE_HOST ||
	      (rule.kind == RULE_NET && fits(rule.address.family, rule.bits))))
		return policy_fault(failed, rule.number, 0, "not a rule");
	if (named && clean(rule.name, &rule.idna, rule.number, failed) != 0)
		return -1;
	/* Not seen before, when the name was not ASCII. */
	if (rule.kind == RULE_BELOW && rule.action == RULE_ALLOW && strchr(rule.name, '.') == NULL)
		return policy_fault(failed, rule.number, 0,
				    "\"*.%s\" would allow all of a top-level domain", rule.name);
	policy.rules[policy.rule_count++] = rule;
	return 0;
}

int policy_rules(const struct gate_rules *rules, struct gate_failed *failed)
{
	if (rules->count > GATE_BATCH_RULES)
		return policy_fault(failed, 0, 0, "more rules than a message holds");
	for (uint32_t i = 0; i < rules->count; i++)
		if (add_rule(&rules->rules[i], failed) != 0)
			return -1;
	return 0;
}

int policy_pins(const struct gate_pins *pins, struct gate_failed *failed)
{
	if (pins->count > GATE_BATCH_RULES)
		return policy_fault(failed, 0, 0, "more pins than a message holds");
	for (uint32_t i = 0; i < pins->count; i++) {
		struct rule_pin pin = pins->pins[i];

		if (policy.pin_count == RULE_PINS_MAX)
			return policy_fault(failed, 0, 0, "more than %d pinned names",
					    RULE_PINS_MAX);
		if (!fits(pin.address.family, 0))
			return policy_fault(failed, 0, 0, "not an address");
		if (clean(pin.name, &pin.idna, 0, failed) != 0)
			return -1;
		address_plain(&pin.address);
		policy.pins[policy.pin_count++] = pin;
	}
	return 0;
}

/* An allow rule names it: for where clouds keep credentials the address itself, no network. */
static bool is_named(const struct rule_address *address, uint16_t port, enum gate_class class)
{
	const struct rule *rule = rule_for_address(policy.rules, policy.rule_count, address, port);
	unsigned most = address->family == AF_INET ? 32 : 128;

	return rule != NULL && rule->action == RULE_ALLOW &&
	       (class != GATE_METADATA || rule->bits == most);
}

bool policy_may_dial(const struct rule *rule, const struct rule_address *address, uint16_t port,
		     bool pinned, bool own, struct policy_refusal *ret_refusal)
{
	const struct rule *other = rule_for_address(policy.rules, policy.rule_count, address, port);
	enum gate_class class = address_class(address);

	if (class == GATE_PUBLIC && own)
		class = GATE_OWN;
	*ret_refusal = (struct policy_refusal){.class = class};
	if (other != NULL && other->action == RULE_DENY) {
		ret_refusal->deny = other;
		return false;
	}
	if (class == GATE_PUBLIC || pinned || rule->kind == RULE_HOST)
		return true;
	if (is_named(address, port, class))
		return true;
	return rule->with_private && (class == GATE_PRIVATE || class == GATE_OWN);
}
