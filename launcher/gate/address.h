// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_ADDRESS_H
#define SBOX_ADDRESS_H

#include <sys/socket.h>

#include "protocol.h"

/*
 * What an address is for (IANA's special-purpose registries, and what clouds use beyond them). v6
 * addresses that carry a v4 one (mapped, NAT64, 6to4) are judged by that one.
 */
enum gate_class address_class(const struct rule_address *address);

/* ::ffff:a.b.c.d becomes a.b.c.d: the same destination has one form. */
void address_plain(struct rule_address *address);

bool address_equal(const struct rule_address *one, const struct rule_address *other);

struct gate_address address_from(const struct sockaddr_storage *socket);
socklen_t address_to(const struct rule_address *address, uint16_t port,
		     struct sockaddr_storage *ret_socket);

#endif
