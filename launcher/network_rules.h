// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_NETWORK_RULES_H
#define SBOX_NETWORK_RULES_H

#include "arena.h"
#include "error.h"
#include "network_setup.h"
#include "profile.h"
#include "rules.h"

/* What [network] asks of the gate, read from the profile's texts. Lives in the arena. */
struct network_rules {
	struct rule *rules; /* number 1 is the first of allow; deny comes after it */
	const char **texts; /* the rules as the profile has them */
	size_t rule_count;
	struct rule_pin *pins;
	size_t pin_count;
	struct rule_listen *listens;
	size_t listen_count;
};

/* The texts were checked one by one when they were read: what is wrong then aborts. */
void network_rules_read(struct arena *arena, const struct profile *profile,
			struct network_rules *ret_rules);

/* What single texts cannot tell: how many there are, ports used twice. 0, or -1 with the error and
 * the key that is at fault. */
int network_rules_check(struct arena *arena, const struct profile *profile, enum key_id *ret_key,
			struct error *err);

/* The ports of all allow rules, sorted, without overlaps. */
size_t network_rules_ports(struct arena *arena, const struct network_rules *rules,
			   struct port_range **ret_ranges);

/* Rule number N as the profile has it ("api.example.org:443"), or NULL. */
const char *network_rules_text(const struct network_rules *rules, unsigned number);

#endif
