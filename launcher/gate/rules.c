// SPDX-License-Identifier: Apache-2.0
#include "rules.h"

#include <stdio.h>
#include <string.h>

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_hex(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'f');
}

/* inet_aton(3), and so most programs, take 1, 0x7f000001 and a.0x1's last part for numbers. */
static bool is_number(const char *label, size_t len)
{
	bool hex = len >= 2 && label[0] == '0' && label[1] == 'x';
	size_t i = hex ? 2 : 0;

	while (i < len && (hex ? is_hex(label[i]) : is_digit(label[i])))
		i++;
	return i == len;
}

static bool clean_label(const char *label, size_t len)
{
	if (len == 0 || len > RULE_LABEL_BYTES || label[0] == '-' || label[len - 1] == '-')
		return false;
	for (size_t i = 0; i < len; i++)
		if (!is_digit(label[i]) && !(label[i] >= 'a' && label[i] <= 'z') &&
		    label[i] != '-' && label[i] != '_')
			return false;
	return true;
}

bool rule_clean_name(const char *text, size_t len, char ret_name[RULE_NAME_BYTES])
{
	if (len > 1 && text[len - 1] == '.')
		len--;
	if (len == 0 || len > 253)
		return false;
	for (size_t i = 0; i < len; i++)
		ret_name[i] = lower(text[i]);
	ret_name[len] = '\0';

	for (const char *label = ret_name;;) {
		/* Bytes of the text, not of a string: a NUL in it ends no label. */
		const char *dot = memchr(label, '.', (size_t)(ret_name + len - label));
		size_t size = (size_t)((dot ? dot : ret_name + len) - label);

		if (!clean_label(label, size))
			return false;
		if (dot == NULL)
			return !is_number(label, size);
		label = dot + 1;
	}
}

/* One label or more stand before `name`. */
static bool is_below(const char *asked, const char *name)
{
	size_t asked_len = strlen(asked), len = strlen(name);

	return asked_len > len + 1 && asked[asked_len - len - 1] == '.' &&
	       strcmp(asked + asked_len - len, name) == 0;
}

static bool names_match(const struct rule *rule, const char *name)
{
	switch ((enum rule_kind)rule->kind) {
	case RULE_EXACT:
		return strcmp(name, rule->name) == 0;
	case RULE_BELOW:
		return is_below(name, rule->name);
	case RULE_HOST:
		return strcmp(name, "host") == 0;
	case RULE_NET:
		break;
	}
	return false;
}

static bool ports_match(const struct rule *rule, uint16_t port)
{
	if (port != 0)
		return port >= rule->port_low && port <= rule->port_high;
	return rule->action == RULE_ALLOW || (rule->port_low <= 1 && rule->port_high == UINT16_MAX);
}

bool rule_net_holds(const struct rule_address *net, unsigned bits,
		    const struct rule_address *address)
{
	unsigned whole = bits / 8, rest = bits % 8;

	if (net->family != address->family || memcmp(net->bytes, address->bytes, whole) != 0)
		return false;
	return rest == 0 || ((net->bytes[whole] ^ address->bytes[whole]) >> (8 - rest)) == 0;
}

const struct rule *rule_for_name(const struct rule *rules, size_t count, const char *name,
				 uint16_t port)
{
	const struct rule *found = NULL;

	for (size_t i = 0; i < count; i++) {
		if (!names_match(&rules[i], name) || !ports_match(&rules[i], port))
			continue;
		if (rules[i].action == RULE_DENY)
			return &rules[i];
		if (found == NULL)
			found = &rules[i];
	}
	return found;
}

const struct rule *rule_for_address(const struct rule *rules, size_t count,
				    const struct rule_address *address, uint16_t port)
{
	const struct rule *found = NULL;

	for (size_t i = 0; i < count; i++) {
		if (rules[i].kind != RULE_NET ||
		    !rule_net_holds(&rules[i].address, rules[i].bits, address) ||
		    !ports_match(&rules[i], port))
			continue;
		if (rules[i].action == RULE_DENY)
			return &rules[i];
		if (found == NULL)
			found = &rules[i];
	}
	return found;
}

/* Each port once, however many rules name it. */
static unsigned count_ports(const struct rule *rules, size_t count)
{
	uint8_t seen[(UINT16_MAX + 1) / 8] = {0};
	unsigned ports = 0;

	for (size_t i = 0; i < count; i++) {
		if (rules[i].action != RULE_ALLOW)
			continue;
		for (unsigned port = rules[i].port_low; port <= rules[i].port_high; port++) {
			if ((seen[port / 8] & (1u << port % 8)) == 0)
				ports++;
			seen[port / 8] |= (uint8_t)(1u << port % 8);
		}
	}
	return ports;
}

bool rules_check(const struct rule *rules, size_t count, char fault[RULE_FAULT_BYTES])
{
	if (count > RULES_MAX) {
		snprintf(fault, RULE_FAULT_BYTES,
			 "%zu rules are too many (%d of allow and deny): use *.NAME or NET/BITS",
			 count, RULES_MAX);
		return false;
	}
	unsigned ports = count_ports(rules, count);
	if (ports > RULE_PORTS_MAX) {
		snprintf(fault, RULE_FAULT_BYTES,
			 "%u ports are too many (%d in all): name those that are used", ports,
			 RULE_PORTS_MAX);
		return false;
	}
	return true;
}

bool rules_check_listen(const struct rule_listen *listens, size_t count,
			char fault[RULE_FAULT_BYTES])
{
	if (count > RULE_LISTENS_MAX) {
		snprintf(fault, RULE_FAULT_BYTES, "%zu published ports are too many (%d)", count,
			 RULE_LISTENS_MAX);
		return false;
	}
	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < i; j++)
			if (listens[i].host == listens[j].host) {
				snprintf(fault, RULE_FAULT_BYTES,
					 "the host's port %u is published twice: write "
					 "PORT:OTHERPORT",
					 listens[i].host);
				return false;
			}
	return true;
}
