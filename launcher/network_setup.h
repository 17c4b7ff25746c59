// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_NETWORK_SETUP_H
#define SBOX_NETWORK_SETUP_H

#include <stddef.h>
#include <stdint.h>

#include "arena.h"
#include "step.h"

/*
 * The netlink messages that turn a fresh network namespace into one in which
 * every address is local and every connection to a port of the profile's
 * lands on the gate's listener, and the sockets that the gate serves there. Pure: bytes for
 * the new process to send.
 *
 *   probe              asks nf_tables something
 *   routes4, routes6   rtnetlink: an address on lo, all addresses local
 *   filter             one nf_tables batch:
 *
 *     prerouting  the first packet of a TCP connection to one of `ports`, or to
 *                 53: to the listener (TPROXY). Not 127/8, ::1 and the
 *                 sandbox's own address: those are the program's own.
 *     output      UDP to port 53: to the gate's port, and back. By rewriting the
 *                 number, so that the program may have a server on 53 itself.
 */

/* Where it cannot be had. */
#define NETWORK_SETUP_NEEDS                                                                        \
	"the kernel needs nf_tables with TPROXY (modules nf_tables and nft_tproxy)"

struct port_range {
	uint16_t first, last;
};

enum { NETWORK_RANGES_MAX = 256 };

/* Allocated in the arena; aborts when there are more ranges than NETWORK_RANGES_MAX. publishes:
 * with sockets that connect to the program's own servers. */
const struct network_setup *network_setup_make(struct arena *arena, const struct port_range *ranges,
					       size_t count, bool publishes);

#endif
