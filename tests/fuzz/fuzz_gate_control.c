// SPDX-License-Identifier: Apache-2.0
/* The launcher's messages, as the gate takes them: each with its length before it in two bytes.
 * What changes the process (identity, descriptors, sockets) is left out. */
#include "fuzz.h"

#include "acceptor.h"
#include "confine.h"
#include "dial.h"
#include "names.h"

#define confine_identity(setup, failed) ((void)(setup), (void)(failed), 0)
#define confine_descriptors(wanted)     (wanted)
#define confine_end(failed)             ((void)(failed), 0)
#define acceptor_init(fd)               (0)
#define dial_init()                     (0)
#define names_init()                    (true)
#include "control.c"

static void check_policy(void)
{
	char again[RULE_NAME_BYTES];

	REQUIRE(policy.rule_count <= RULES_MAX && policy.pin_count <= RULE_PINS_MAX);
	for (size_t i = 0; i < policy.rule_count; i++) {
		const struct rule *rule = &policy.rules[i];

		REQUIRE(rule->kind >= RULE_EXACT && rule->kind <= RULE_HOST);
		REQUIRE(rule->action == RULE_ALLOW || rule->action == RULE_DENY);
		REQUIRE(rule->port_low > 0 && rule->port_low <= rule->port_high);
		/* all of a top-level domain is no rule */
		REQUIRE(rule->kind != RULE_BELOW || rule->action == RULE_DENY ||
			strchr(rule->name, '.') != NULL);
		if (rule->kind == RULE_EXACT || rule->kind == RULE_BELOW)
			REQUIRE(rule_clean_name(rule->name, strlen(rule->name), again));
		else if (rule->kind == RULE_NET)
			REQUIRE(rule->bits <= (rule->address.family == AF_INET ? 32 : 128));
		rule_for_name(policy.rules, policy.rule_count, "example.org", 443);
		rule_for_address(policy.rules, policy.rule_count, &rule->address, 443);
	}
	for (size_t i = 0; i < policy.pin_count; i++)
		REQUIRE(rule_clean_name(policy.pins[i].name, strlen(policy.pins[i].name), again));
}

/* Socket messages announce none, or others than came: there are no sockets here. */
static int feed(struct fuzz_input *input, struct gate_failed *failed)
{
	static union message message;
	size_t announced = fuzz_short(input), len = announced;
	int fds[GATE_BATCH_SOCKETS];
	size_t fd_count = 0;

	if (len > sizeof(message))
		len = sizeof(message);
	memset(&message, 0, sizeof(message));
	memcpy(&message, input->at, len < fuzz_left(input) ? len : fuzz_left(input));
	input->at += len < fuzz_left(input) ? len : fuzz_left(input);
	if (len >= sizeof(struct gate_sockets) && message.head.type == GATE_SOCKETS &&
	    message.sockets.count > 0 && message.sockets.count <= 2)
		while (fd_count < message.sockets.count)
			fds[fd_count++] = -1;
	return take(&message, len, fds, fd_count, failed);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct fuzz_input input = {bytes, bytes + len};
	struct gate_failed failed;
	int rc = 1;

	memset(&policy, 0, sizeof(policy));
	is_set_up = false;
	while (rc == 1 && fuzz_left(&input) > 0) {
		memset(&failed, 0, sizeof(failed));
		rc = feed(&input, &failed);
		REQUIRE(rc >= -1 && rc <= 1);
		REQUIRE(rc != -1 || (failed.head.type == GATE_FAILED && failed.text[0] != '\0'));
		REQUIRE(rc != 0 || is_set_up);
	}
	check_policy();
	return 0;
}
