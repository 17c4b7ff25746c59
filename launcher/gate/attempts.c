// SPDX-License-Identifier: Apache-2.0
#include "attempts.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/icmp6.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <netinet/ip_icmp.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "address.h"
#include "loop.h"
#include "names.h"
#include "tell.h"

enum { SOCKETS = 8, TURN = 256, PACKET = 2048 };

struct source {
	struct watch watch;
	enum gate_socket_kind kind;
};

static struct source sources[SOCKETS];
static size_t count;

/* The payload of a v4 packet, or NULL. */
static const uint8_t *skip_ip(const uint8_t *bytes, size_t len, size_t *ret_left, struct iphdr *ip)
{
	if (len < sizeof(*ip))
		return NULL;
	memcpy(ip, bytes, sizeof(*ip));
	size_t header = (size_t)ip->ihl * 4;
	if (ip->version != 4 || header < sizeof(*ip) || header > len)
		return NULL;
	*ret_left = len - header;
	return bytes + header;
}

/* A reset with sequence 0 answers a packet that no socket was there for. */
static bool is_refusal(const uint8_t *bytes, size_t len, uint16_t *ret_port)
{
	struct tcphdr tcp;

	if (len < sizeof(tcp))
		return false;
	memcpy(&tcp, bytes, sizeof(tcp));
	*ret_port = ntohs(tcp.source);
	return tcp.rst && tcp.seq == 0;
}

static bool read_tcp4(const uint8_t *bytes, size_t len, struct gate_address *address)
{
	struct iphdr ip;
	size_t left;
	const uint8_t *tcp = skip_ip(bytes, len, &left, &ip);

	if (tcp == NULL || ip.protocol != IPPROTO_TCP || !is_refusal(tcp, left, &address->port))
		return false;
	address->ip.family = AF_INET;
	memcpy(address->ip.bytes, &ip.saddr, 4);
	return true;
}

/* The first bytes of the packet that could not be delivered: ports are where UDP and TCP have them.
 */
static bool read_ports(const uint8_t *bytes, size_t len, uint8_t protocol, uint16_t *ret_port)
{
	if ((protocol != IPPROTO_UDP && protocol != IPPROTO_TCP) || len < 4)
		return false;
	*ret_port = (uint16_t)(bytes[2] << 8 | bytes[3]);
	return true;
}

static bool read_icmp4(const uint8_t *bytes, size_t len, uint8_t *ret_protocol,
		       struct gate_address *address)
{
	struct iphdr ip;
	size_t left;
	const uint8_t *icmp = skip_ip(bytes, len, &left, &ip);

	if (icmp == NULL || ip.protocol != IPPROTO_ICMP || left < ICMP_MINLEN ||
	    icmp[0] != ICMP_DEST_UNREACH)
		return false;
	const uint8_t *inner = skip_ip(icmp + ICMP_MINLEN, left - ICMP_MINLEN, &left, &ip);
	if (inner == NULL)
		return false;
	*ret_protocol = ip.protocol;
	address->ip.family = AF_INET;
	memcpy(address->ip.bytes, &ip.daddr, 4);
	read_ports(inner, left, ip.protocol, &address->port);
	return true;
}

static bool read_icmp6(const uint8_t *bytes, size_t len, uint8_t *ret_protocol,
		       struct gate_address *address)
{
	struct ip6_hdr ip;
	size_t headers = sizeof(struct icmp6_hdr) + sizeof(ip);

	if (len < headers || bytes[0] != ICMP6_DST_UNREACH)
		return false;
	memcpy(&ip, bytes + sizeof(struct icmp6_hdr), sizeof(ip));
	*ret_protocol = ip.ip6_nxt;
	address->ip.family = AF_INET6;
	memcpy(address->ip.bytes, &ip.ip6_dst, 16);
	read_ports(bytes + headers, len - headers, ip.ip6_nxt, &address->port);
	return true;
}

bool attempts_read(enum gate_socket_kind kind, const uint8_t *bytes, size_t len,
		   const struct gate_address *from, uint8_t *ret_protocol,
		   struct gate_address *ret_address)
{
	struct gate_address address = {0};
	bool found = false;

	*ret_protocol = IPPROTO_TCP;
	if (kind == GATE_RAW_TCP4) {
		found = read_tcp4(bytes, len, &address);
	} else if (kind == GATE_RAW_TCP6) {
		found = is_refusal(bytes, len, &address.port);
		address.ip = from->ip;
	} else if (kind == GATE_RAW_ICMP4) {
		found = read_icmp4(bytes, len, ret_protocol, &address);
	} else if (kind == GATE_RAW_ICMP6) {
		found = read_icmp6(bytes, len, ret_protocol, &address);
	}
	address_plain(&address.ip);
	*ret_address = address;
	/* A program that talks to itself is nobody's business. */
	return found && address_class(&address.ip) != GATE_LOOPBACK;
}

static void on_packet(struct watch *watch, uint32_t events)
{
	struct source *source = OWNER(watch, struct source, watch);
	uint8_t bytes[PACKET], protocol;

	(void)events;
	for (int i = 0; i < TURN; i++) {
		struct sockaddr_storage peer = {0};
		socklen_t peer_len = sizeof(peer);
		ssize_t len = recvfrom(watch->fd, bytes, sizeof(bytes), MSG_DONTWAIT,
				       (struct sockaddr *)&peer, &peer_len);

		if (len < 0 && errno != EINTR)
			return;
		struct gate_address from = address_from(&peer), address;
		if (len < 0 ||
		    !attempts_read(source->kind, bytes, (size_t)len, &from, &protocol, &address))
			continue;
		uint32_t v4 = (uint32_t)address.ip.bytes[0] << 24 |
			      (uint32_t)address.ip.bytes[1] << 16 |
			      (uint32_t)address.ip.bytes[2] << 8 | address.ip.bytes[3];
		struct name *name = address.ip.family == AF_INET ? names_at(v4) : NULL;
		tell_attempt(protocol, &address, name ? name->text : NULL);
	}
}

int attempts_watch(int fd, enum gate_socket_kind kind)
{
	if (count == SOCKETS) {
		errno = ENOBUFS;
		return -1;
	}
	struct source *source = &sources[count++];
	*source = (struct source){.watch = {.ready = on_packet, .fd = fd}, .kind = kind};
	if (fcntl(fd, F_SETFL, O_NONBLOCK) != 0)
		return -1;
	return loop_watch(&source->watch, EPOLLIN);
}
