// SPDX-License-Identifier: Apache-2.0

/* The values of [network], and which rule applies to what. */

#include <arpa/inet.h>
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "rules.h"

static const struct {
	const char *text, *fault; /* NULL: fine */
} allows[] = {
	{"api.example.com:443", NULL},
	{"API.Example.COM.:443", NULL},
	{"*.example.org:443", NULL},
	{"a_b.example:80", NULL},
	{"xn--mnchen-3ya.example:80", NULL},
	{"m\xc3\xbcnchen.example:80", NULL},
	{"db@private:5432", NULL},
	{"*.corp.example@private:5432", NULL},
	{"host:5432", NULL},
	{"db:5432", NULL},
	{"10.1.2.0/24:5432", NULL},
	{"10.1.2.3:8000-8255", NULL},
	{"[2001:db8::1]:443", NULL},
	{"[2001:db8::/32]:443", NULL},
	{"[2001:db8::]/32:443", NULL},
	{"*", "\"*\" would allow every destination: name them (*.example.org:443)"},
	{"*:443", "would allow every destination"},
	{"*.com:443", "\"*.com:443\" would allow all of a top-level domain: write *.NAME.com:PORT"},
	{"*.:443", "is not a name"},
	{"a.*.example:443", "is not a name, *.name or address with its port"},
	{"https://example.org:443", "is a URL: write name:port (example.org:443)"},
	{"example.org", "has no port: write NAME:443"},
	{"[2001:db8::1]", "has no port"},
	{"example.org:", "has no port after the last colon (1-65535, or LOW-HIGH)"},
	{"example.org:0", "has no port"},
	{"example.org:080", "has no port"},
	{"example.org:65536", "has no port"},
	{"example.org:+80", "has no port"},
	{"example.org:80a", "has no port after"},
	{"example.org:80-", "has no range of ports after the last colon (8000-8010)"},
	{"example.org:90-80", "has no range of ports"},
	{"example.org:8000-8256", "has 257 ports, more than 256: name those that are used"},
	{"2001:db8::1:443", "is not an address in brackets ([2001:db8::1]:443)"},
	{"[fe80::1%eth0]:80", "is not an address"},
	{"[example.org]:443", "is not an address"},
	{"10.1.2.3/24:80", "has bits set beyond the first 24"},
	{"10.1.2.0/33:80", "has no number of bits after the slash (0-32)"},
	{"10.1.2.0/:80", "has no number of bits"},
	{"10.1.2:80", "is not an address"},
	{"010.1.2.3:80", "is not an address"},
	{"0.0.0.0/0:80", "would allow every address"},
	{"[::/0]:80", "would allow every address"},
	{"127.0.0.1:80", "stays inside the sandbox: write host:PORT for the host's own loopback"},
	{"127.0.0.0/8:80", "stays inside"},
	{"[::1]:80", "stays inside"},
	{"localhost:80", "stays inside"},
	{"x.localhost:80", "stays inside"},
	{"198.18.0.16:80", "stands for names inside"},
	{"198.18.0.0/15:80", "stands for names inside"},
	{"224.0.0.251:80", "is for many at once"},
	{"[ff02::1]:80", "is for many at once"},
	{"[fe80::1]:80", "is the address of a link"},
	{"[fe80::/10]:80", "is the address of a link"},
	{"198.0.0.0/8:80", NULL},
	{"[::ffff:10.0.0.1]:80", "is a v4 address"},
	{"host@private:80", "without @private"},
	{"2130706433:80", "is not an address"},
	{"0x7f000001:80", "is not a name"},
	{"a.0x1:80", "is not a name"},
	{"-a.example:80", "is not a name"},
	{"a-.example:80", "is not a name"},
	{"a..example:80", "is not a name"},
	{".example:80", "is not a name"},
	{"a b.example:80", "is not a name"},
	{"a%00.example:80", "is not a name"},
	{"a\x01.example:80", "\"a${0x01}.example:80\" is not a name"},
	{"a\xff.example:80", "is not a name"},
	{"user@example.org:80", "is not a name"},
};

START_TEST(allow_is_strict)
{
	char fault[RULE_FAULT_BYTES] = "";
	struct rule rule;
	bool good = rule_parse_allow(allows[_i].text, &rule, fault);

	ck_assert_msg(good == (allows[_i].fault == NULL), "%s: %s", allows[_i].text, fault);
	if (!good)
		ck_assert_msg(strstr(fault, allows[_i].fault) != NULL, "%s: %s", allows[_i].text,
			      fault);
}
END_TEST

static struct rule allow(const char *text)
{
	char fault[RULE_FAULT_BYTES];
	struct rule rule;

	ck_assert_msg(rule_parse_allow(text, &rule, fault), "%s", fault);
	return rule;
}

static struct rule deny(const char *text)
{
	char fault[RULE_FAULT_BYTES];
	struct rule rule;

	ck_assert_msg(rule_parse_deny(text, &rule, fault), "%s", fault);
	return rule;
}

START_TEST(allow_is_read_whole)
{
	struct rule rule = allow("*.Corp.Example@private:8000-8010");

	ck_assert_int_eq(rule.kind, RULE_BELOW);
	ck_assert_str_eq(rule.name, "corp.example");
	ck_assert_int_eq(rule.with_private, 1);
	ck_assert_int_eq(rule.port_low, 8000);
	ck_assert_int_eq(rule.port_high, 8010);
	rule = allow("[2001:db8::]/32:443");
	ck_assert_int_eq(rule.kind, RULE_NET);
	ck_assert_int_eq(rule.bits, 32);
	ck_assert_int_eq(rule.address.bytes[1], 1);
	rule = allow("m\xc3\xbcnchen.example:80");
	ck_assert_int_eq(rule.idna, 1);
}
END_TEST

START_TEST(deny_needs_no_port)
{
	char fault[RULE_FAULT_BYTES];
	struct rule rule = deny("evil.example");

	ck_assert_int_eq(rule.port_low, 1);
	ck_assert_int_eq(rule.port_high, 65535);
	rule = deny("[2001:db8::/32]:80-90");
	ck_assert_int_eq(rule.port_high, 90);
	ck_assert_int_eq(deny("[2001:db8::1]").port_high, 65535);
	ck_assert_int_eq(deny("0.0.0.0/0").bits, 0);
	ck_assert_str_eq(deny("*.com").name, "com");
	ck_assert(!rule_parse_deny("*", &rule, fault));
	ck_assert(!rule_parse_deny("a@private", &rule, fault));
	ck_assert(!rule_parse_deny("https://a.example", &rule, fault));
}
END_TEST

static const struct {
	const char *rules[4]; /* "-" before deny */
	const char *name;
	uint16_t port;
	int rule; /* the one that applies, -1: none */
} matches[] = {
	{{"a.example:80"}, "a.example", 80, 0},
	{{"a.example:80"}, "a.example", 81, -1},
	{{"a.example:80"}, "a.example", 0, 0},
	{{"a.example:80"}, "b.a.example", 80, -1},
	{{"a.example:80"}, "xa.example", 80, -1},
	{{"*.a.example:80"}, "a.example", 80, -1},
	{{"*.a.example:80"}, "b.a.example", 80, 0},
	{{"*.a.example:80"}, "c.b.a.example", 80, 0},
	{{"*.a.example:80"}, "ba.example", 80, -1},
	{{"*.a.example:80"}, "b.a.example.evil", 80, -1},
	{{"host:80"}, "host", 80, 0},
	{{"10.0.0.0/8:80"}, "a.example", 80, -1},
	{{"a.example:80", "*.example:90-99"}, "a.example", 95, -1},
	{{"*.b.example:80", "-a.b.example"}, "a.b.example", 80, 1},
	{{"*.b.example:80", "-a.b.example"}, "x.b.example", 80, 0},
	{{"-*.b.example", "a.b.example:80"}, "a.b.example", 80, 0},
	{{"a.example:80-90", "-a.example:85"}, "a.example", 85, 1},
	{{"a.example:80-90", "-a.example:85"}, "a.example", 86, 0},
	{{"a.example:80-90", "-a.example:85"}, "a.example", 0, 0},
	{{"a.example:80-90", "-a.example"}, "a.example", 0, 1},
};

START_TEST(names_find_their_rule)
{
	struct rule rules[4];
	size_t count = 0;

	for (; count < 4 && matches[_i].rules[count] != NULL; count++) {
		const char *text = matches[_i].rules[count];

		if (strcmp(text, "*.example:90-99") == 0)
			rules[count] = allow("*.other.example:90-99");
		else
			rules[count] = text[0] == '-' ? deny(text + 1) : allow(text);
	}
	const struct rule *found = rule_for_name(rules, count, matches[_i].name, matches[_i].port);
	ck_assert_int_eq(found == NULL ? -1 : (int)(found - rules), matches[_i].rule);
}
END_TEST

static const struct {
	const char *net, *address;
	bool holds;
} nets[] = {
	{"10.1.2.0/24:80", "10.1.2.255", true},
	{"10.1.2.0/24:80", "10.1.3.0", false},
	{"10.1.2.4/30:80", "10.1.2.7", true},
	{"10.1.2.4/30:80", "10.1.2.8", false},
	{"10.1.2.3:80", "10.1.2.3", true},
	{"10.1.2.3:80", "10.1.2.2", false},
	{"128.0.0.0/1:80", "129.0.0.0", true},
	{"[2001:db8::/33]:80", "2001:db8:7fff::", true},
	{"[2001:db8::/33]:80", "2001:db8:8000::", false},
	{"[2001:db8::1]:80", "2001:db8::1", true},
	{"10.0.0.0/8:80", "2001:a00::", false},
};

START_TEST(addresses_find_their_rule)
{
	struct rule rules[] = {allow(nets[_i].net), deny("10.1.2.255:81")};
	struct rule_address address = {.family =
					       strchr(nets[_i].address, ':') ? AF_INET6 : AF_INET};

	ck_assert_int_eq(inet_pton(address.family, nets[_i].address, address.bytes), 1);
	ck_assert((rule_for_address(rules, 2, &address, 80) == &rules[0]) == nets[_i].holds);
	ck_assert(rule_for_address(rules, 2, &address, 82) == NULL);
}
END_TEST

START_TEST(names_are_cleaned)
{
	char name[RULE_NAME_BYTES], long_name[300];

	ck_assert(rule_clean_name("A.B.", 4, name));
	ck_assert_str_eq(name, "a.b");
	ck_assert(!rule_clean_name("a\0b.example", 11, name));
	ck_assert(!rule_clean_name("a.b..", 5, name));
	ck_assert(!rule_clean_name(".", 1, name));
	ck_assert(!rule_clean_name("", 0, name));
	ck_assert(!rule_clean_name("1.2.3.4", 7, name));
	ck_assert(!rule_clean_name("a.0x", 4, name));
	ck_assert(rule_clean_name("4a.0xg", 6, name));
	memset(long_name, 'a', sizeof(long_name));
	ck_assert(!rule_clean_name(long_name, 64, name));
	ck_assert(rule_clean_name(long_name, 63, name));
	for (int i = 63; i < 300; i += 64)
		long_name[i] = '.';
	ck_assert(rule_clean_name(long_name, 253, name));
	ck_assert(!rule_clean_name(long_name, 254, name));
}
END_TEST

START_TEST(pins_and_listens)
{
	char fault[RULE_FAULT_BYTES];
	struct rule_pin pin;
	struct rule_listen listen;

	ck_assert(rule_parse_pin("A.example=192.0.2.1", &pin, fault));
	ck_assert_str_eq(pin.name, "a.example");
	ck_assert(rule_parse_pin("a.example=2001:db8::1", &pin, fault));
	ck_assert(rule_parse_pin("a.example=[2001:db8::1]", &pin, fault));
	ck_assert(!rule_parse_pin("a.example", &pin, fault));
	ck_assert(!rule_parse_pin("a.example=b.example", &pin, fault));
	ck_assert(!rule_parse_pin("a.example=192.0.2.1/24", &pin, fault));
	ck_assert(!rule_parse_pin("*.example=192.0.2.1", &pin, fault));
	ck_assert(!rule_parse_pin("host=192.0.2.1", &pin, fault));
	ck_assert(!rule_parse_pin("localhost=192.0.2.1", &pin, fault));
	ck_assert(rule_parse_listen("8080", &listen, fault));
	ck_assert_int_eq(listen.host, 8080);
	ck_assert(rule_parse_listen("8080:9090", &listen, fault));
	ck_assert_int_eq(listen.host, 9090);
	ck_assert(!rule_parse_listen("8080:", &listen, fault));
	ck_assert(!rule_parse_listen("0", &listen, fault));
	ck_assert(!rule_parse_listen("80:80:80", &listen, fault));
}
END_TEST

START_TEST(sums_are_bounded)
{
	char fault[RULE_FAULT_BYTES];
	struct rule *rules = calloc(RULES_MAX + 1, sizeof(*rules));
	struct rule_listen listens[] = {{1, 5}, {2, 5}};

	for (int i = 0; i <= RULES_MAX; i++)
		rules[i] = allow("a.example:443");
	ck_assert(rules_check(rules, RULES_MAX, fault));
	ck_assert(!rules_check(rules, RULES_MAX + 1, fault));
	rules[0] = allow("a.example:1000-1255");
	ck_assert(rules_check(rules, 1, fault));
	ck_assert(!rules_check(rules, 2, fault));
	rules[1] = allow("b.example:1100");
	ck_assert(rules_check(rules, 2, fault));
	rules[1] = deny("b.example");
	ck_assert(rules_check(rules, 2, fault));
	ck_assert(rules_check_listen(listens, 1, fault));
	ck_assert(!rules_check_listen(listens, 2, fault));
	free(rules);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("gate_rules");
	TCase *test = tcase_create("gate_rules");
	SRunner *runner = srunner_create(suite);

	tcase_add_loop_test(test, allow_is_strict, 0, sizeof(allows) / sizeof(allows[0]));
	tcase_add_test(test, allow_is_read_whole);
	tcase_add_test(test, deny_needs_no_port);
	tcase_add_loop_test(test, names_find_their_rule, 0, sizeof(matches) / sizeof(matches[0]));
	tcase_add_loop_test(test, addresses_find_their_rule, 0, sizeof(nets) / sizeof(nets[0]));
	tcase_add_test(test, names_are_cleaned);
	tcase_add_test(test, pins_and_listens);
	tcase_add_test(test, sums_are_bounded);
	suite_add_tcase(suite, test);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? 0 : 1;
}
