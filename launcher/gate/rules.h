// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_RULES_H
#define SBOX_RULES_H

/*
 * What [network] may name, as fixed structs: the launcher parses the profile's text into them, the
 * gate judges by them. No allocation, no library, no network.
 *
 *   allow    HOST:PORT     NAME | *.NAME | NAME@private | ADDRESS | NET/BITS | [V6] | [V6/BITS] |
 * host deny     HOST[:PORT]   the same without @private; no port: every port resolve  NAME=ADDRESS
 *   listen   PORT[:PORT]   inside, on the host's loopback
 *
 * PORT is 1-65535, or LOW-HIGH. "host" is the host's own loopback. *.NAME is one label or more
 * before NAME, and never NAME itself. A name may hold UTF-8: it is then for the gate to turn into
 * its ASCII form (`idna`).
 */

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	RULE_NAME_BYTES = 256, /* a name's 253, or UTF-8 that becomes one, and the end */
	RULE_LABEL_BYTES = 63,
	RULES_MAX = 512, /* allow and deny together */
	RULE_PINS_MAX = 256,
	RULE_LISTENS_MAX = 64,
	RULE_PORTS_MAX = 256, /* ports of all allow rules, each counted once */
};

enum rule_action { RULE_ALLOW = 1, RULE_DENY };
enum rule_kind { RULE_EXACT = 1, RULE_BELOW, RULE_NET, RULE_HOST };

/* Addresses in network order; a v4 address fills the first four bytes. */
struct rule_address {
	uint8_t family; /* AF_INET, AF_INET6; 0: none */
	uint8_t bytes[16];
};

struct rule {
	uint32_t number;      /* the caller's, from 1, for the record */
	uint8_t action;       /* enum rule_action */
	uint8_t kind;         /* enum rule_kind */
	uint8_t idna;         /* the name is not ASCII yet */
	uint8_t with_private; /* @private: addresses of private networks are fine */
	uint16_t port_low, port_high;
	uint8_t bits;                /* of RULE_NET */
	struct rule_address address; /* of RULE_NET, host bits zero */
	char name[RULE_NAME_BYTES];  /* EXACT, BELOW (without "*."): lower case, no final dot */
};

struct rule_pin {
	struct rule_address address;
	uint8_t idna;
	char name[RULE_NAME_BYTES];
};

struct rule_listen {
	uint16_t inside, host;
};

/* Room for what is wrong with a value: a clause that names it and the way out. */
enum { RULE_FAULT_BYTES = 512 };

/* True, or false and the fault. Rules come back with number 0. */
bool rule_parse_allow(const char *text, struct rule *ret_rule, char fault[RULE_FAULT_BYTES]);
bool rule_parse_deny(const char *text, struct rule *ret_rule, char fault[RULE_FAULT_BYTES]);
bool rule_parse_pin(const char *text, struct rule_pin *ret_pin, char fault[RULE_FAULT_BYTES]);
bool rule_parse_listen(const char *text, struct rule_listen *ret_listen,
		       char fault[RULE_FAULT_BYTES]);
/* What single rules cannot know: the number of rules and ports, listen ports used twice. */
bool rules_check(const struct rule *rules, size_t count, char fault[RULE_FAULT_BYTES]);
bool rules_check_listen(const struct rule_listen *listens, size_t count,
			char fault[RULE_FAULT_BYTES]);

/*
 * A name as it may be compared: letters, digits, '-' and '_' in labels of 1-63, 253 in all, no '-'
 * at a label's end, not all numbers at the right end (which programs read as an address). One
 * final dot is taken off, upper case is lowered. False: not such a name.
 */
bool rule_clean_name(const char *text, size_t len, char ret_name[RULE_NAME_BYTES]);

bool rule_net_holds(const struct rule_address *net, unsigned bits,
		    const struct rule_address *address);

/*
 * The first deny rule that applies, else the first allow rule that does, else NULL. The port is
 * that of the connection; 0 asks whether any port would do (a name that is being looked up: only a
 * deny rule for every port takes it away). With a name, the rules for names are asked, and deny
 * rules for addresses are not: rule_for_address() is, for each address that the name has.
 */
const struct rule *rule_for_name(const struct rule *rules, size_t count, const char *name,
				 uint16_t port);
const struct rule *rule_for_address(const struct rule *rules, size_t count,
				    const struct rule_address *address, uint16_t port);

#endif
