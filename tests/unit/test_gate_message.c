// SPDX-License-Identifier: Apache-2.0

/* What the gate reads from inside: DNS messages, packets of refusals; classes of addresses; rules
 * as they arrive. */

#include <arpa/inet.h>
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "address.h"
#include "attempts.h"
#include "hosts.h"
#include "message.h"
#include "policy.h"

enum { RANDOM_ROUNDS = 50000 };

static const uint8_t question_bytes[] = "\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00"
					"\x03"
					"ApI\x07"
					"example\x00\x00\x01\x00\x01";

START_TEST(question_and_answer)
{
	const struct rule_address address = {.family = AF_INET, .bytes = {198, 18, 0, 17}};
	struct message_question question;
	uint8_t out[MESSAGE_BYTES];
	size_t asked = sizeof(question_bytes) - 1;

	ck_assert_int_eq(message_read(question_bytes, asked, &question), MESSAGE_FINE);
	ck_assert_str_eq(question.name, "ApI.example");
	ck_assert_int_eq(question.type, ns_t_a);
	size_t len = message_answer(&question, ns_r_noerror, &address, 60, out);
	ck_assert_uint_eq(len, asked + 16);
	ck_assert_mem_eq(out, "\x12\x34\x81\x80\x00\x01\x00\x01\x00\x00\x00\x00", 12);
	ck_assert_mem_eq(out + 12, question_bytes + 12, asked - 12);
	ck_assert_mem_eq(out + asked,
			 "\xc0\x0c\x00\x01\x00\x01\x00\x00\x00\x3c\x00\x04\xc6\x12\x00\x11", 16);
	len = message_answer(&question, ns_r_nxdomain, NULL, 60, out);
	ck_assert_uint_eq(len, asked);
	ck_assert_int_eq(out[3] & 15, 3);
}
END_TEST

START_TEST(longest_name_fits)
{
	struct message_question question;
	uint8_t bytes[300] = {0, 1, 1, 0, 0, 1}, out[MESSAGE_BYTES];
	size_t at = 12;

	for (int label = 0; label < 4; label++) {
		size_t len = label < 3 ? 63 : 61;

		bytes[at++] = (uint8_t)len;
		memset(bytes + at, '\x01', len); /* four times as long when shown */
		at += len;
	}
	bytes[at++] = 0;
	bytes[at + 1] = ns_t_a;
	bytes[at + 3] = ns_c_in;
	at += 4;
	ck_assert_int_eq(message_read(bytes, at, &question), MESSAGE_FINE);
	question.edns = true;
	ck_assert_uint_gt(message_answer(&question, ns_r_nxdomain, NULL, 0, out), at);
}
END_TEST

START_TEST(random_messages_are_survived)
{
	srand(11);
	for (int round = 0; round < RANDOM_ROUNDS; round++) {
		size_t len = (size_t)(rand() % 80);
		uint8_t *exact = malloc(len > 0 ? len : 1), out[MESSAGE_BYTES];
		struct message_question question;
		struct gate_address from = {0}, address;
		uint8_t protocol;

		for (size_t i = 0; i < len; i++)
			exact[i] = i < sizeof(question_bytes) && rand() % 8 ? question_bytes[i]
									    : (uint8_t)rand();
		enum message_fault fault = message_read(exact, len, &question);
		if (fault == MESSAGE_FINE)
			ck_assert_uint_gt(message_answer(&question, 0, NULL, 0, out), 0);
		for (int kind = GATE_RAW_TCP4; kind <= GATE_RAW_ICMP6; kind++)
			attempts_read((enum gate_socket_kind)kind, exact, len, &from, &protocol,
				      &address);
		free(exact);
	}
}
END_TEST

static const struct {
	const char *address;
	enum gate_class class;
} classes[] = {
	{"8.8.8.8", GATE_PUBLIC},
	{"1.1.1.1", GATE_PUBLIC},
	{"100.63.255.255", GATE_PUBLIC},
	{"100.64.0.0", GATE_PRIVATE},
	{"100.100.100.200", GATE_METADATA},
	{"10.255.255.255", GATE_PRIVATE},
	{"11.0.0.0", GATE_PUBLIC},
	{"172.15.255.255", GATE_PUBLIC},
	{"172.16.0.0", GATE_PRIVATE},
	{"172.31.255.255", GATE_PRIVATE},
	{"172.32.0.0", GATE_PUBLIC},
	{"192.168.0.1", GATE_PRIVATE},
	{"127.0.0.1", GATE_LOOPBACK},
	{"127.255.255.255", GATE_LOOPBACK},
	{"0.0.0.0", GATE_RESERVED},
	{"0.1.2.3", GATE_RESERVED},
	{"169.254.169.254", GATE_METADATA},
	{"169.254.1.1", GATE_LINK_LOCAL},
	{"168.63.129.16", GATE_METADATA},
	{"198.18.0.1", GATE_PRIVATE},
	{"224.0.0.1", GATE_MULTICAST},
	{"239.255.255.250", GATE_MULTICAST},
	{"240.0.0.1", GATE_RESERVED},
	{"255.255.255.255", GATE_RESERVED},
	{"2606:4700::1111", GATE_PUBLIC},
	{"::1", GATE_LOOPBACK},
	{"::", GATE_RESERVED},
	{"::8.8.8.8", GATE_RESERVED},
	{"::ffff:127.0.0.1", GATE_LOOPBACK},
	{"::ffff:8.8.8.8", GATE_PUBLIC},
	{"::ffff:0:10.0.0.1", GATE_PRIVATE},
	{"64:ff9b::10.0.0.1", GATE_PRIVATE},
	{"64:ff9b::169.254.169.254", GATE_METADATA},
	{"64:ff9b::8.8.8.8", GATE_PUBLIC},
	{"64:ff9b:1::1", GATE_PRIVATE},
	{"2002:7f00:1::", GATE_LOOPBACK},
	{"2002:808:808::1", GATE_PUBLIC},
	{"2001:0:1::", GATE_RESERVED},
	{"2001:db8::1", GATE_RESERVED},
	{"fc00::1", GATE_PRIVATE},
	{"fdff::1", GATE_PRIVATE},
	{"fd00:ec2::254", GATE_METADATA},
	{"fe80::1", GATE_LINK_LOCAL},
	{"febf::1", GATE_LINK_LOCAL},
	{"fec0::1", GATE_PRIVATE},
	{"ff02::1", GATE_MULTICAST},
};

START_TEST(addresses_have_their_class)
{
	const char *text = classes[_i].address;
	struct rule_address address = {.family = strchr(text, ':') ? AF_INET6 : AF_INET};

	ck_assert_int_eq(inet_pton(address.family, text, address.bytes), 1);
	ck_assert_msg(address_class(&address) == classes[_i].class, "%s: %d", text,
		      address_class(&address));
}
END_TEST

START_TEST(hosts_are_found)
{
	static const char text[] =
		"# 10.0.0.9 a\n10.0.0.1\tA.Example b.example # c\n\n"
		"::ffff:10.0.0.2 a.example\nfe80::1%lo a.example\n10.0.0.3 a.example";
	struct rule_address found[4];

	hosts_use(text, sizeof(text) - 1);
	ck_assert_uint_eq(hosts_find("a.example", found, 4), 3);
	ck_assert_int_eq(found[0].bytes[3], 1);
	ck_assert_int_eq(found[1].family, AF_INET);
	ck_assert_int_eq(found[2].bytes[3], 3);
	ck_assert_uint_eq(hosts_find("a.example", found, 1), 1);
	ck_assert_uint_eq(hosts_find("b.example", found, 4), 1);
	ck_assert_uint_eq(hosts_find("c", found, 4), 0);
	ck_assert_uint_eq(hosts_find("a", found, 4), 0);
}
END_TEST

static struct rule parsed(const char *text)
{
	char fault[RULE_FAULT_BYTES];
	struct rule rule;

	ck_assert_msg(rule_parse_allow(text, &rule, fault), "%s", fault);
	return rule;
}

static int send_rule(struct rule rule, struct gate_failed *failed)
{
	struct gate_rules *message = calloc(1, sizeof(*message));

	message->count = 1;
	message->rules[0] = rule;
	message->rules[0].number = 5;
	int rc = policy_rules(message, failed);
	free(message);
	return rc;
}

START_TEST(rules_are_checked_again)
{
	struct gate_failed failed;
	struct rule rule = parsed("m\xc3\xbcnchen.example:80");

	ck_assert_int_eq(send_rule(rule, &failed), 0);
	ck_assert_str_eq(policy.rules[0].name, "xn--mnchen-3ya.example");
	rule.action = 9;
	ck_assert_int_eq(send_rule(rule, &failed), -1);
	ck_assert_uint_eq(failed.rule, 5);
	rule = parsed("a.example:80");
	rule.port_low = 0;
	ck_assert_int_eq(send_rule(rule, &failed), -1);
	rule = parsed("a.example:80");
	strcpy(rule.name, "a b");
	ck_assert_int_eq(send_rule(rule, &failed), -1);
	memset(rule.name, 'a', sizeof(rule.name));
	ck_assert_int_eq(send_rule(rule, &failed), -1);
	rule = parsed("10.0.0.0/8:80");
	rule.bits = 33;
	ck_assert_int_eq(send_rule(rule, &failed), -1);
	rule.bits = 8;
	rule.address.family = 7;
	ck_assert_int_eq(send_rule(rule, &failed), -1);
	/* One label, once it is ASCII. */
	rule = parsed("*.\xe4\xb8\xad\xe5\x9b\xbd:80");
	ck_assert_int_eq(send_rule(rule, &failed), -1);
	ck_assert_uint_eq(policy.rule_count, 1);
	rule = parsed("a.example:80");
	while (policy.rule_count < RULES_MAX)
		ck_assert_int_eq(send_rule(rule, &failed), 0);
	ck_assert_int_eq(send_rule(rule, &failed), -1);
}
END_TEST

/* A reset and an ICMP error as the kernel sends them. */
START_TEST(refusals_are_read)
{
	uint8_t reset[40] = {0x45, [9] = 6, [12] = 1, 2, 3, 4, 127, 0, 0, 1, 0, 25, 0xc0, 0};
	uint8_t icmp[56] = {0x45, [9] = 1, [20] = 3, 3,    [28] = 0x45, [37] = 17, [44] = 8,
			    8,    8,       8,        0xc0, 0,           0,         123};
	struct gate_address from = {0}, address;
	uint8_t protocol;

	reset[33] = 0x14; /* RST, ACK */
	ck_assert(attempts_read(GATE_RAW_TCP4, reset, sizeof(reset), &from, &protocol, &address));
	ck_assert_int_eq(address.port, 25);
	ck_assert_int_eq(address.ip.bytes[0], 1);
	ck_assert_int_eq(protocol, IPPROTO_TCP);
	reset[24] = 1; /* a sequence: somebody was there */
	ck_assert(!attempts_read(GATE_RAW_TCP4, reset, sizeof(reset), &from, &protocol, &address));
	reset[24] = 0;
	reset[12] = 127;
	ck_assert(!attempts_read(GATE_RAW_TCP4, reset, sizeof(reset), &from, &protocol, &address));
	ck_assert(attempts_read(GATE_RAW_ICMP4, icmp, sizeof(icmp), &from, &protocol, &address));
	ck_assert_int_eq(address.port, 123);
	ck_assert_int_eq(protocol, IPPROTO_UDP);
	ck_assert(!attempts_read(GATE_RAW_ICMP4, icmp, 40, &from, &protocol, &address));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("gate_message");
	TCase *test = tcase_create("gate_message");
	SRunner *runner = srunner_create(suite);

	tcase_set_timeout(test, 60);
	tcase_add_test(test, question_and_answer);
	tcase_add_test(test, longest_name_fits);
	tcase_add_test(test, random_messages_are_survived);
	tcase_add_loop_test(test, addresses_have_their_class, 0,
			    sizeof(classes) / sizeof(classes[0]));
	tcase_add_test(test, hosts_are_found);
	tcase_add_test(test, rules_are_checked_again);
	tcase_add_test(test, refusals_are_read);
	suite_add_tcase(suite, test);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? 0 : 1;
}
