// SPDX-License-Identifier: Apache-2.0
/*
 * The sandbox's own name server: any message in; what comes out is one answer to it, small, in
 * order, and with an address only for a name that is allowed. The first byte says what the name
 * servers outside would know; with 0x80 in it the next is the type, and then the name follows as
 * text, from which a message is made here: so that what is a name stays one under mutation.
 */
#include "fuzz.h"

#define resolve_ask fuzz_resolve_ask
#include "answer.c"

#include "loop.h"

static uint8_t knows;
static struct name_wait *told_later;
static struct name *asked_for;
static unsigned answers;

bool fuzz_resolve_ask(struct name *name, struct name_wait *wait)
{
	name->state = NAME_KNOWN + knows % 3;
	if (knows & 4) {
		told_later = wait;
		asked_for = name;
		return false;
	}
	return true;
}

static const uint8_t *question;
static size_t question_len;

/* By its labels, from the right: the last one is localhost. */
static bool ends_in_localhost(const char *name)
{
	const char *dot = strrchr(name, '.');

	return strcmp(dot != NULL ? dot + 1 : name, "localhost") == 0;
}

static bool may_have_address(const char *name)
{
	char clean[RULE_NAME_BYTES];

	if (!rule_clean_name(name, strlen(name), clean))
		return false;
	const struct rule *rule = rule_for_name(policy.rules, policy.rule_count, clean, 0);
	return ends_in_localhost(clean) || (rule != NULL && rule->action == RULE_ALLOW);
}

static void check_answer(const void *back, const uint8_t *bytes, size_t len)
{
	ns_msg message;
	ns_rr record;

	REQUIRE(memcmp(back, "back", 4) == 0);
	answers++;
	if (len == 0)
		return;
	REQUIRE(len <= MESSAGE_BYTES && question_len >= 2);
	REQUIRE(memcmp(bytes, question, 2) == 0);
	REQUIRE(ns_initparse(bytes, (int)len, &message) == 0);
	REQUIRE(ns_msg_getflag(message, ns_f_qr) == 1);
	REQUIRE(ns_msg_count(message, ns_s_qd) <= 1 && ns_msg_count(message, ns_s_an) <= 1);
	if (ns_msg_count(message, ns_s_an) == 0)
		return;
	REQUIRE(ns_msg_getflag(message, ns_f_rcode) == ns_r_noerror);
	REQUIRE(ns_parserr(&message, ns_s_an, 0, &record) == 0);
	REQUIRE(may_have_address(ns_rr_name(record)));
	REQUIRE(ns_rr_rdlen(record) == (ns_rr_type(record) == ns_t_a ? 4 : 16));
}

enum { AS_TEXT = 0x80 };

/* A question for the name, whose labels end at dots. */
static size_t compose(struct fuzz_input *input, uint8_t message[MESSAGE_BYTES])
{
	static const uint8_t head[NS_HFIXEDSZ] = {0x12, 0x34, 1, 0, 0, 1};
	uint8_t type = fuzz_byte(input);
	size_t used = sizeof(head);

	memcpy(message, head, sizeof(head));
	while (fuzz_left(input) > 0) {
		size_t len = 0;
		char *label = fuzz_piece(input, '.', &len);

		if (len > 0 && len < 64 && used + len + 6 < MESSAGE_BYTES) {
			message[used++] = (uint8_t)len;
			memcpy(message + used, label, len);
			used += len;
		}
		free(label);
	}
	memcpy(message + used, (uint8_t[]){0, 0, type, 0, 1}, 5);
	return used + 5;
}

static void add_rule(const char *name, int action, int kind)
{
	struct rule *rule = &policy.rules[policy.rule_count++];

	*rule = (struct rule){.action = (uint8_t)action,
			      .kind = (uint8_t)kind,
			      .port_low = 1,
			      .port_high = 65535,
			      .number = (uint32_t)policy.rule_count};
	strcpy(rule->name, name);
}

static void set_up(void)
{
	if (policy.rule_count > 0)
		return;
	policy.wildcard_names = 4;
	policy.net = 198u << 24 | 18u << 16;
	add_rule("example.org", RULE_ALLOW, RULE_EXACT);
	add_rule("example.net", RULE_ALLOW, RULE_BELOW);
	add_rule("no.example.net", RULE_DENY, RULE_EXACT);
	REQUIRE(loop_init() == 0 && names_init());
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct fuzz_input input = {bytes, bytes + len};

	set_up();
	knows = fuzz_byte(&input);
	uint8_t *made = malloc(MESSAGE_BYTES);
	question_len = (knows & AS_TEXT) != 0 ? compose(&input, made) : fuzz_left(&input);
	question = fuzz_copy((knows & AS_TEXT) != 0 ? made : input.at, question_len);
	free(made);
	answers = 0;
	told_later = NULL;
	answer(question, question_len, check_answer, "back", 5);
	if (told_later != NULL)
		told_later->told(told_later, asked_for);
	REQUIRE(answers == 1);
	free((void *)question);
	return 0;
}
