// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_ATTEMPTS_H
#define SBOX_ATTEMPTS_H

#include "protocol.h"

/*
 * What the kernel refused inside, seen by the packets with which it did: resets of connections to
 * ports where nobody listens, ICMP errors for UDP. Nothing is decided here.
 */

/* 0, or -1 and errno. */
int attempts_watch(int fd, enum gate_socket_kind kind);

/* One packet as its raw socket gives it. True: it tells of an attempt. `from` is filled for v6,
 * where the socket gives no network header. */
bool attempts_read(enum gate_socket_kind kind, const uint8_t *bytes, size_t len,
		   const struct gate_address *from, uint8_t *ret_protocol,
		   struct gate_address *ret_address);

#endif
