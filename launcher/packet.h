// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_PACKET_H
#define SBOX_PACKET_H

/* Where things are in a packet, in bytes from the start of their header: RFC 791, 8200, 9293, 768,
 * 792 and 4443. */
enum {
	IP4_SOURCE = 12,
	IP4_DESTINATION = 16,
	IP6_DESTINATION = 24,
	SOURCE_PORT = 0, /* of UDP and TCP */
	DESTINATION_PORT = 2,
	UDP_CHECKSUM = 6,
	TCP_SEQUENCE = 4,
	TCP_FLAGS = 13,
	TCP_SYN = 0x02,
	TCP_RST_ACK = 0x14,
	TCP_FIN_SYN_RST_ACK = 0x17,
	ICMP_BODY = 8, /* the packet that it is about; ICMPv6 too */
};

#endif
