// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_PUBLISH_H
#define SBOX_PUBLISH_H

#include "loop.h"

/*
 * listen = INSIDE:HOST. Who connects to the host's loopback is connected to the sandbox's. For that
 * the gate has sockets that were made inside, and uses each again when its connection is over; when
 * all are in use, further connections wait in the listener's queue.
 */

/* 0, or -1 and errno. */
int publish_listener(int fd, uint16_t port);
int publish_inside(int fd, int family);
/* A socket inside whose connection is over: at once, or when the kernel has delivered the rest. */
void publish_return(struct watch *watch, bool reset);

#endif
