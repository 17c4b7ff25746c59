// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_NAMES_H
#define SBOX_NAMES_H

#include "loop.h"
#include "policy.h"

/*
 * The names that the sandbox may know, each with an address of its own that means it. They stay
 * for the whole run. Those of exact rules are there from the start, those below *.NAME come when
 * they are asked for: bounded in number and length, since each leaves as a question to the host's
 * name servers, and a program could write what it liked into them.
 */

enum { NAME_ADDRESSES = 16, NAME_WILDCARD_BYTES = 63 };

enum name_state {
	NAME_NEW,    /* nobody asked yet */
	NAME_ASKING, /* and nothing is known meanwhile */
	NAME_KNOWN,
	NAME_NONE,   /* there is no such name, or it has no address */
	NAME_FAILED, /* the name servers do not tell */
};

struct name {
	struct name *next;       /* of the same hash */
	const struct rule *rule; /* that allows it; for ports see rule_for_name() */
	uint32_t address;        /* inside, host order */
	enum name_state state;
	uint64_t until_ms; /* loop_now_ms(); 0: for ever */
	bool pinned;       /* its addresses are the profile's */
	bool settled;      /* waiters were told */
	unsigned pending;  /* questions to name servers that are out */
	struct timer settle;
	struct name_wait *waiting;
	struct rule_address addresses[NAME_ADDRESSES];
	size_t address_count;
	uint32_t ttl; /* of what came so far, seconds */
	bool failed;  /* one of the questions did */
	char text[RULE_NAME_BYTES];
};

/* The names of exact rules. False: no memory. */
bool names_init(void);
/* NULL: not allowed, or too many, as the verdict says. The rule that decided, or NULL. */
struct name *names_get(const char *text, enum gate_verdict *ret_verdict,
		       const struct rule **ret_rule);
/* Which one an address inside (host order) means, or NULL. */
struct name *names_at(uint32_t address);
bool names_is_inside(uint32_t address);

/* Different names below *.NAME so far, and the bytes before NAME in them. */
void names_count(uint64_t *ret_names, uint64_t *ret_bytes);

#endif
