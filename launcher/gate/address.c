// SPDX-License-Identifier: Apache-2.0
#include "address.h"

#include <arpa/inet.h>
#include <string.h>

/* The first that holds the address decides. */
struct range {
	const char *first;
	unsigned bits;
	enum gate_class class;
};

static const struct range ranges4[] = {
	{"169.254.169.254", 32, GATE_METADATA}, /* AWS, Azure, GCP, OpenStack, … */
	{"169.254.170.2", 32, GATE_METADATA},   /* AWS: credentials of containers */
	{"169.254.170.23", 32, GATE_METADATA},  /* AWS: credentials of pods */
	{"100.100.100.200", 32, GATE_METADATA}, /* Alibaba */
	{"168.63.129.16", 32, GATE_METADATA},   /* Azure, in a public range */
	{"192.0.0.192", 32, GATE_METADATA},     /* Oracle, the older one */
	{"0.0.0.0", 8, GATE_RESERVED},          {"10.0.0.0", 8, GATE_PRIVATE},
	{"100.64.0.0", 10, GATE_PRIVATE},       {"127.0.0.0", 8, GATE_LOOPBACK},
	{"169.254.0.0", 16, GATE_LINK_LOCAL},   {"172.16.0.0", 12, GATE_PRIVATE},
	{"192.0.0.0", 24, GATE_RESERVED},       {"192.0.2.0", 24, GATE_RESERVED},
	{"192.88.99.0", 24, GATE_RESERVED},     {"192.168.0.0", 16, GATE_PRIVATE},
	{"198.18.0.0", 15, GATE_PRIVATE},       {"198.51.100.0", 24, GATE_RESERVED},
	{"203.0.113.0", 24, GATE_RESERVED},     {"224.0.0.0", 4, GATE_MULTICAST},
	{"240.0.0.0", 4, GATE_RESERVED},
};

static const struct range ranges6[] = {
	{"fd00:ec2::254", 128, GATE_METADATA},      /* AWS */
	{"fd00:ec2::23", 128, GATE_METADATA},       /* AWS: credentials of pods */
	{"fd20:ce::254", 128, GATE_METADATA},       /* GCP */
	{"fd00:c1::a9fe:a9fe", 128, GATE_METADATA}, /* Oracle */
	{"fe80::a9fe:a9fe", 128, GATE_METADATA},    /* OpenStack */
	{"::1", 128, GATE_LOOPBACK},
	{"64:ff9b:1::", 48, GATE_PRIVATE},
	{"::", 8, GATE_RESERVED}, /* with ::a.b.c.d */
	{"100::", 64, GATE_RESERVED},
	{"2001::", 23, GATE_RESERVED}, /* with Teredo */
	{"2001:db8::", 32, GATE_RESERVED},
	{"3fff::", 20, GATE_RESERVED},
	{"5f00::", 16, GATE_RESERVED},
	{"fc00::", 7, GATE_PRIVATE},
	{"fe80::", 10, GATE_LINK_LOCAL},
	{"fec0::", 10, GATE_PRIVATE},
	{"ff00::", 8, GATE_MULTICAST},
};

/* v6 ranges whose addresses are v4 ones in disguise: where the four bytes stand. */
static const struct {
	const char *first;
	unsigned bits, at;
} carriers[] = {
	{"::ffff:0:0", 96, 12},
	{"::ffff:0:0:0", 96, 12}, /* SIIT */
	{"64:ff9b::", 96, 12},
	{"2002::", 16, 2},
};

static struct rule_address parse(int family, const char *text)
{
	struct rule_address address = {.family = (uint8_t)family};

	inet_pton(family, text, address.bytes);
	return address;
}

static enum gate_class look_up(const struct range *ranges, size_t count,
			       const struct rule_address *address)
{
	for (size_t i = 0; i < count; i++) {
		struct rule_address first = parse(address->family, ranges[i].first);

		if (rule_net_holds(&first, ranges[i].bits, address))
			return ranges[i].class;
	}
	return GATE_PUBLIC;
}

enum gate_class address_class(const struct rule_address *address)
{
	if (address->family == AF_INET)
		return look_up(ranges4, sizeof(ranges4) / sizeof(ranges4[0]), address);
	for (size_t i = 0; i < sizeof(carriers) / sizeof(carriers[0]); i++) {
		struct rule_address first = parse(AF_INET6, carriers[i].first);
		struct rule_address inner = {.family = AF_INET};

		if (!rule_net_holds(&first, carriers[i].bits, address))
			continue;
		memcpy(inner.bytes, address->bytes + carriers[i].at, 4);
		return address_class(&inner);
	}
	return look_up(ranges6, sizeof(ranges6) / sizeof(ranges6[0]), address);
}

void address_plain(struct rule_address *address)
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};

	if (address->family != AF_INET6 || memcmp(address->bytes, mapped, sizeof(mapped)) != 0)
		return;
	memmove(address->bytes, address->bytes + 12, 4);
	memset(address->bytes + 4, 0, 12);
	address->family = AF_INET;
}

bool address_equal(const struct rule_address *one, const struct rule_address *other)
{
	return one->family == other->family &&
	       memcmp(one->bytes, other->bytes, one->family == AF_INET ? 4 : 16) == 0;
}

struct gate_address address_from(const struct sockaddr_storage *socket)
{
	struct gate_address address = {.ip.family = (uint8_t)socket->ss_family};

	if (socket->ss_family == AF_INET) {
		const struct sockaddr_in *in = (const struct sockaddr_in *)socket;

		memcpy(address.ip.bytes, &in->sin_addr, 4);
		address.port = ntohs(in->sin_port);
	} else if (socket->ss_family == AF_INET6) {
		const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)socket;

		memcpy(address.ip.bytes, &in6->sin6_addr, 16);
		address.port = ntohs(in6->sin6_port);
		address_plain(&address.ip);
	} else {
		address.ip.family = 0;
	}
	return address;
}

socklen_t address_to(const struct rule_address *address, uint16_t port,
		     struct sockaddr_storage *ret_socket)
{
	memset(ret_socket, 0, sizeof(*ret_socket));
	ret_socket->ss_family = address->family;
	if (address->family == AF_INET) {
		struct sockaddr_in *in = (struct sockaddr_in *)ret_socket;

		memcpy(&in->sin_addr, address->bytes, 4);
		in->sin_port = htons(port);
		return sizeof(*in);
	}
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)ret_socket;

	memcpy(&in6->sin6_addr, address->bytes, 16);
	in6->sin6_port = htons(port);
	return sizeof(*in6);
}
