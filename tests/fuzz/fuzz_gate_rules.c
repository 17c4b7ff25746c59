// SPDX-License-Identifier: Apache-2.0
/*
 * [network]: rules, pins and ports as a profile has them, then what the gate makes of the rules
 * (IDNA), then what it judges by them. A line each: a allow, d deny, p resolve, l listen, i a name
 * in UTF-8, x an address.
 */
#include "fuzz.h"

#include <arpa/inet.h>

#include "address.h"
#include "idna.h"
#include "policy.h"

enum { LINES = 40 };

static struct rule rules[LINES];
static struct rule_listen listens[LINES];
static struct rule_pin pins[LINES];
static size_t rule_count, listen_count, pin_count;

static bool is_clean(const char *name)
{
	char again[RULE_NAME_BYTES];

	return rule_clean_name(name, strlen(name), again) && strcmp(name, again) == 0;
}

/* The address has no bit beyond those of its network. */
static void check_bits(const struct rule *rule)
{
	unsigned most = rule->address.family == AF_INET ? 32 : 128;

	REQUIRE(rule->bits <= most);
	for (unsigned bit = rule->bits; bit < most; bit++)
		REQUIRE((rule->address.bytes[bit / 8] >> (7 - bit % 8) & 1) == 0);
}

static void check_rule(const struct rule *rule)
{
	bool named = rule->kind == RULE_EXACT || rule->kind == RULE_BELOW;

	REQUIRE(rule->number == 0 && rule->port_low > 0 && rule->port_low <= rule->port_high);
	REQUIRE(rule->kind >= RULE_EXACT && rule->kind <= RULE_HOST);
	REQUIRE(memchr(rule->name, '\0', sizeof(rule->name)) != NULL);
	REQUIRE(!named || rule->idna || is_clean(rule->name));
	if (rule->kind != RULE_NET)
		return;
	check_bits(rule);
	REQUIRE(rule_net_holds(&rule->address, rule->bits, &rule->address));
	if (rule->action == RULE_ALLOW)
		REQUIRE(rule->bits > 0 && address_class(&rule->address) != GATE_LOOPBACK);
}

static void check_address(const char *text)
{
	struct rule_address address = {.family = AF_INET6}, plain;
	struct sockaddr_storage socket;

	memcpy(address.bytes, text, strnlen(text, 16));
	plain = address;
	address_plain(&plain);
	REQUIRE(address_class(&plain) == address_class(&address));
	socklen_t size = address_to(&address, 443, &socket);
	REQUIRE(size == sizeof(struct sockaddr_in6));
	struct gate_address back = address_from(&socket);
	REQUIRE(address_equal(&back.ip, &plain) && back.port == 443);
	address.family = AF_INET;
	address_class(&address);
	socket.ss_family = AF_UNIX;
	back = address_from(&socket);
	REQUIRE(back.ip.family == 0);
}

static void check_idna(const char *name)
{
	char ascii[RULE_NAME_BYTES], again[RULE_NAME_BYTES];

	if (idna_to_ascii(name, ascii) != NULL)
		return;
	for (const char *at = ascii; *at != '\0'; at++)
		REQUIRE((unsigned char)*at < 0x80);
	if (is_clean(ascii)) {
		REQUIRE(idna_to_ascii(ascii, again) == NULL);
		REQUIRE(strcmp(ascii, again) == 0);
	}
}

static void read_line(const char *line)
{
	char fault[RULE_FAULT_BYTES] = "";
	bool good = true;

	if (line[0] == 'a' || line[0] == 'd') {
		struct rule *rule = &rules[rule_count];

		memset(rule, 0xa5, sizeof(*rule));
		good = line[0] == 'a' ? rule_parse_allow(line + 1, rule, fault)
				      : rule_parse_deny(line + 1, rule, fault);
		if (good)
			check_rule(&rules[rule_count++]);
		if (good && line[0] == 'a')
			REQUIRE(strtoull(strrchr(line, ':') + 1, NULL, 10) == rule->port_low);
	} else if (line[0] == 'p') {
		good = rule_parse_pin(line + 1, &pins[pin_count], fault);
		pin_count += good;
	} else if (line[0] == 'l') {
		good = rule_parse_listen(line + 1, &listens[listen_count], fault);
		if (good)
			REQUIRE(listens[listen_count].inside > 0 && listens[listen_count].host > 0);
		listen_count += good;
	} else if (line[0] == 'i') {
		check_idna(line + 1);
	} else {
		check_address(line);
	}
	REQUIRE(good || fault[0] != '\0');
}

/* What the gate has taken is what it judges by. */
static void check_policy(void)
{
	struct policy_refusal refusal;

	for (size_t i = 0; i < policy.rule_count; i++) {
		const struct rule *rule = &policy.rules[i];
		char below[RULE_NAME_BYTES + 4];
		const struct rule *found = rule;

		REQUIRE(!rule->idna);
		if (rule->kind == RULE_NET)
			found = rule_for_address(policy.rules, policy.rule_count, &rule->address,
						 rule->port_low);
		if (rule->kind == RULE_EXACT || rule->kind == RULE_BELOW) {
			REQUIRE(is_clean(rule->name));
			snprintf(below, sizeof(below), "%s%s", rule->kind == RULE_BELOW ? "x." : "",
				 rule->name);
			found = rule_for_name(policy.rules, policy.rule_count, below,
					      rule->port_low);
		}
		/* a deny rule wins over any other, and before it the first counts */
		REQUIRE(found != NULL && (found->action == RULE_DENY || found <= rule));
		for (size_t p = 0; p < policy.pin_count; p++)
			policy_may_dial(rule, &policy.pins[p].address, rule->port_high, p & 1,
					p & 2, &refusal);
	}
}

static void take_rules(void)
{
	static struct gate_rules message;
	static struct gate_pins more;
	static struct gate_failed failed;

	memset(&policy, 0, sizeof(policy));
	for (size_t i = 0; i < rule_count; i++) {
		message.count = 1;
		message.rules[0] = rules[i];
		if (policy_rules(&message, &failed) != 0)
			REQUIRE(rules[i].idna && failed.text[0] != '\0');
	}
	for (size_t i = 0; i < pin_count; i++) {
		more.count = 1;
		more.pins[0] = pins[i];
		if (policy_pins(&more, &failed) != 0)
			REQUIRE(pins[i].idna && failed.text[0] != '\0');
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct fuzz_input input = {bytes, bytes + len};
	char fault[RULE_FAULT_BYTES];

	rule_count = listen_count = pin_count = 0;
	for (int i = 0; i < LINES && fuzz_left(&input) > 0; i++) {
		char *line = fuzz_piece(&input, '\n', NULL);

		read_line(line);
		free(line);
	}
	rules_check(rules, rule_count, fault);
	rules_check_listen(listens, listen_count, fault);
	take_rules();
	check_policy();
	return 0;
}
