// SPDX-License-Identifier: Apache-2.0
#include "network_setup.h"

#include <arpa/inet.h>
#include <linux/filter.h>
#include <netinet/icmp6.h>
#include <netinet/in.h>
#include <netinet/ip_icmp.h>
#include <netinet/tcp.h>
#include <stdlib.h>

#include "network_messages.h"
#include "packet.h"
#include "protocol.h"

/*
 * Raw sockets see what the kernel refused by itself: a reset that answers a first
 * packet (its sequence is 0), and "port unreachable". Filtered, so that nothing
 * else is ever queued, and without what the program says to itself.
 */

#define LOAD_BYTE(at)     BPF_STMT(BPF_LD | BPF_B | BPF_ABS, at)
#define LOAD_WORD(at)     BPF_STMT(BPF_LD | BPF_W | BPF_ABS, at)
#define BEHIND_IP_BYTE(a) BPF_STMT(BPF_LD | BPF_B | BPF_IND, a)
#define BEHIND_IP_WORD(a) BPF_STMT(BPF_LD | BPF_W | BPF_IND, a)
#define MASK(bits)        BPF_STMT(BPF_ALU | BPF_AND | BPF_K, bits)
/* X is the length of the IPv4 header. */
#define SKIP_IP BPF_STMT(BPF_LDX | BPF_B | BPF_MSH, 0)
/* Else the packet is not for us; the last two instructions say so. */
#define IF(value, yes, no) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, yes, no)
#define TAKE               BPF_STMT(BPF_RET | BPF_K, 256)
#define LEAVE              BPF_STMT(BPF_RET | BPF_K, 0)

enum { NET_8 = 0x7f000000 };

/* IPv6's raw sockets see what is behind the header; this is in it. */
#define IP6_SOURCE_WORD(n) LOAD_WORD((uint32_t)(SKF_NET_OFF + 8 + 4 * (n)))
#define INNER6_WORD(n)     LOAD_WORD(ICMP_BODY + IP6_DESTINATION + 4 * (n))

static struct sock_filter tcp4[] = {
	SKIP_IP,
	BEHIND_IP_BYTE(TCP_FLAGS),
	MASK(TCP_RST_ACK),
	IF(TCP_RST_ACK, 0, 7),
	BEHIND_IP_WORD(TCP_SEQUENCE),
	IF(0, 0, 5),
	LOAD_WORD(IP4_SOURCE),
	IF(NETWORK_OWN_ADDRESS, 3, 0),
	MASK(0xff000000),
	IF(NET_8, 1, 0),
	TAKE,
	LEAVE,
};

static struct sock_filter tcp6[] = {
	LOAD_BYTE(TCP_FLAGS),
	MASK(TCP_RST_ACK),
	IF(TCP_RST_ACK, 0, 11),
	LOAD_WORD(TCP_SEQUENCE),
	IF(0, 0, 9),
	IP6_SOURCE_WORD(0),
	IF(0, 0, 6),
	IP6_SOURCE_WORD(1),
	IF(0, 0, 4),
	IP6_SOURCE_WORD(2),
	IF(0, 0, 2),
	IP6_SOURCE_WORD(3),
	IF(1, 1, 0),
	TAKE,
	LEAVE,
};

static struct sock_filter icmp4[] = {
	SKIP_IP,
	BEHIND_IP_BYTE(0),
	IF(ICMP_DEST_UNREACH, 0, 7),
	BEHIND_IP_BYTE(1),
	IF(ICMP_PORT_UNREACH, 0, 5),
	BEHIND_IP_WORD(ICMP_BODY + IP4_DESTINATION),
	IF(NETWORK_OWN_ADDRESS, 3, 0),
	MASK(0xff000000),
	IF(NET_8, 1, 0),
	TAKE,
	LEAVE,
};

static struct sock_filter icmp6[] = {
	LOAD_BYTE(0),   IF(ICMP6_DST_UNREACH, 0, 11),
	LOAD_BYTE(1),   IF(ICMP6_DST_UNREACH_NOPORT, 0, 9),
	INNER6_WORD(0), IF(0, 0, 6),
	INNER6_WORD(1), IF(0, 0, 4),
	INNER6_WORD(2), IF(0, 0, 2),
	INNER6_WORD(3), IF(1, 1, 0),
	TAKE,           LEAVE,
};

#define FILTER(code)                                                                               \
	{                                                                                          \
		.len = sizeof(code) / sizeof((code)[0]), .filter = (code)                          \
	}
static const struct sock_fprog tcp4_filter = FILTER(tcp4), tcp6_filter = FILTER(tcp6),
			       icmp4_filter = FILTER(icmp4), icmp6_filter = FILTER(icmp6);

static const struct sockaddr *address4(struct arena *arena, uint32_t address, uint16_t port)
{
	struct sockaddr_in *at = arena_alloc(arena, sizeof(*at));

	at->sin_family = AF_INET;
	at->sin_port = htons(port);
	at->sin_addr.s_addr = htonl(address);
	return (const struct sockaddr *)at;
}

static const struct sockaddr *address6(struct arena *arena, struct in6_addr address, uint16_t port)
{
	struct sockaddr_in6 *at = arena_alloc(arena, sizeof(*at));

	at->sin6_family = AF_INET6;
	at->sin6_port = htons(port);
	at->sin6_addr = address;
	return (const struct sockaddr *)at;
}

static struct network_socket *add(struct network_setup *setup, int family, int type, unsigned kind)
{
	if (setup->socket_count == NETWORK_SOCKETS_MAX)
		abort();
	struct network_socket *added = &setup->sockets[setup->socket_count++];
	added->family = family;
	added->type = type;
	added->kind = kind;
	added->copies = 1;
	added->optional = family == AF_INET6;
	return added;
}

static void add_bound(struct arena *arena, struct network_setup *setup, unsigned kind4,
		      unsigned kind6, int type, uint16_t port)
{
	bool listens = type == SOCK_STREAM;
	struct network_socket *four = add(setup, AF_INET, type, kind4);
	struct network_socket *six = add(setup, AF_INET6, type, kind6);

	four->transparent = six->transparent = listens;
	four->address = address4(arena, listens ? NETWORK_LISTENER_ADDRESS : INADDR_ANY, port);
	six->address = address6(
		arena, listens ? (struct in6_addr)NETWORK_LISTENER_ADDRESS6 : in6addr_any, port);
	four->address_size = sizeof(struct sockaddr_in);
	six->address_size = sizeof(struct sockaddr_in6);
}

static void add_raw(struct network_setup *setup)
{
	static const struct {
		int family, protocol;
		unsigned kind;
		const struct sock_fprog *filter;
	} raw[] = {{AF_INET, IPPROTO_TCP, GATE_RAW_TCP4, &tcp4_filter},
		   {AF_INET6, IPPROTO_TCP, GATE_RAW_TCP6, &tcp6_filter},
		   {AF_INET, IPPROTO_ICMP, GATE_RAW_ICMP4, &icmp4_filter},
		   {AF_INET6, IPPROTO_ICMPV6, GATE_RAW_ICMP6, &icmp6_filter}};

	for (size_t i = 0; i < sizeof(raw) / sizeof(raw[0]); i++) {
		struct network_socket *added = add(setup, raw[i].family, SOCK_RAW, raw[i].kind);

		added->protocol = raw[i].protocol;
		added->filter = raw[i].filter;
	}
}

const struct network_setup *network_setup_make(struct arena *arena, const struct port_range *ranges,
					       size_t count, bool publishes)
{
	struct network_setup *setup = arena_alloc(arena, sizeof(*setup));

	if (count > NETWORK_RANGES_MAX)
		abort();
	network_setup_batches(arena, setup, ranges, count);
	add_bound(arena, setup, GATE_TCP4, GATE_TCP6, SOCK_STREAM, NETWORK_GATE_PORT);
	add_bound(arena, setup, GATE_DNS_TCP4, GATE_DNS_TCP6, SOCK_STREAM, NETWORK_NAMES_PORT);
	add_bound(arena, setup, GATE_DNS_UDP4, GATE_DNS_UDP6, SOCK_DGRAM, NETWORK_NAMES_PORT);
	add_raw(setup);
	if (publishes) {
		/* they stand last: see send_sockets() */
		add(setup, AF_INET, SOCK_STREAM, GATE_INSIDE4)->copies = NETWORK_COPIES_MAX;
		add(setup, AF_INET6, SOCK_STREAM, GATE_INSIDE6)->copies = NETWORK_COPIES_MAX;
	}
	return setup;
}
