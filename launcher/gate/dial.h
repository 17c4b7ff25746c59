// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_DIAL_H
#define SBOX_DIAL_H

#include "resolve.h"

struct connection;

/*
 * From a destination to a connected socket: the addresses that the policy lets through, v6 and v4
 * in turn, the next one when one fails or takes 250 ms (RFC 8305). The address that was checked is
 * the one that is connected to: no name is looked up in between.
 */
struct dial;

/* Opens the sockets that tell the host's own addresses from others. 0, or -1 and errno. */
int dial_init(void);
/* Ends in connection_opened() or connection_fail(), perhaps at once. */
void dial_begin(struct connection *connection);
void dial_end(struct dial *dial);

#endif
