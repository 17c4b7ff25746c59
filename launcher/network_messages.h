// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_NETWORK_MESSAGES_H
#define SBOX_NETWORK_MESSAGES_H

#include "network_setup.h"

/* The netlink part of network_setup_make(). */
void network_setup_batches(struct arena *arena, struct network_setup *setup,
			   const struct port_range *ranges, size_t count);

#endif
