// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_TELL_H
#define SBOX_TELL_H

#include "protocol.h"

/*
 * To the supervisor. Nothing here waits: what finds the socket full is told by a later message, or
 * counted as untold. Tables have a fixed size, so that a flood costs counters.
 */

extern struct gate_totals totals;

/* From here on events go out; the descriptor is the control socket, already watched by its owner,
 * who calls tell_more() when there is room again. */
void tell_start(int fd);
void tell_more(void);
/* Everything that was not told, waiting for room a moment; then TOTALS and DONE. */
void tell_end(void);

void tell_name(const char *shown, enum gate_verdict verdict, const struct rule *rule,
	       uint16_t question);
/* `name`: whose address inside it is, or NULL. */
void tell_attempt(uint8_t protocol, const struct gate_address *address, const char *name);

/* A connection is told singly when there is budget: true, and its end has to be told so too. */
bool tell_open(struct gate_connection *event);
/* `singly`: as tell_open() said, or when it never was open. Head, id and totals are filled here. */
void tell_closed(struct gate_connection *event, bool was_open, bool singly);

/* Printable: every other byte as \DDD; cut when too long. */
void tell_show(const char *text, size_t len, char ret_shown[RULE_NAME_BYTES]);

#endif
