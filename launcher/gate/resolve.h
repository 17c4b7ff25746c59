// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_RESOLVE_H
#define SBOX_RESOLVE_H

#include "names.h"

/*
 * A name's addresses, in this order: what "host" means; the profile's pins; /etc/hosts; the name
 * servers of /etc/resolv.conf (c-ares, in the gate's loop: nothing ever waits for them). Answers
 * are kept for their time to live, 5 s at least.
 */

/* Somebody who wants to know. Called from the loop, once. */
struct name_wait {
	void (*told)(struct name_wait *wait, struct name *name);
	struct name_wait *next, **link;
};

/* Reads resolv.conf: before there are no files any more. NULL, or what is wrong. */
const char *resolve_init(void);
/* True: known, look at name->state. False: `wait` will be told. */
bool resolve_ask(struct name *name, struct name_wait *wait);
void resolve_cancel(struct name_wait *wait);

/* For the loop: how long it may sleep at most, -1 for ever; and what is due after that. */
int resolve_sleep_ms(void);
void resolve_due(void);
void resolve_end(void);

#endif
