// SPDX-License-Identifier: Apache-2.0
#include "network_messages.h"

#include <arpa/inet.h>
#include <linux/if.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter_ipv4.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>

#include "netlink_batch.h"
#include "packet.h"

enum {
	ROUTES_SIZE = 512,
	FILTER_SIZE = 8192, /* and room for a rule for each range */
	RULE_SIZE = 512,
	PROBE_SIZE = 64,
	IP4_SOURCE_PREFIX = 32,
	LOOPBACK_INDEX = 1, /* in every network namespace (net/core/dev.c) */
};

/* ---- routes ---- */

static void put_address(struct batch *batch, uint32_t address)
{
	const struct ifaddrmsg body = {.ifa_family = AF_INET,
				       .ifa_prefixlen = IP4_SOURCE_PREFIX,
				       .ifa_scope = RT_SCOPE_UNIVERSE,
				       .ifa_index = LOOPBACK_INDEX};

	batch_begin(batch, RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL);
	batch_put(batch, &body, sizeof(body));
	batch_attribute(batch, IFA_LOCAL, &address, sizeof(address));
	batch_attribute(batch, IFA_ADDRESS, &address, sizeof(address));
	batch_end(batch);
}

/* source 0: whatever the kernel takes. */
static void put_local_route(struct batch *batch, int family, uint32_t source)
{
	const uint32_t device = LOOPBACK_INDEX;
	const struct rtmsg body = {.rtm_family = (unsigned char)family,
				   .rtm_table = RT_TABLE_LOCAL,
				   .rtm_protocol = RTPROT_BOOT,
				   .rtm_scope = RT_SCOPE_HOST,
				   .rtm_type = RTN_LOCAL};

	batch_begin(batch, RTM_NEWROUTE, NLM_F_CREATE | NLM_F_EXCL | NLM_F_ACK);
	batch_put(batch, &body, sizeof(body));
	batch_attribute(batch, RTA_OIF, &device, sizeof(device));
	if (source != 0)
		batch_attribute(batch, RTA_PREFSRC, &source, sizeof(source));
	batch_end(batch);
}

static void end_accepting(struct batch *batch, struct nft_rule *rule)
{
	nft_verdict(batch, rule, NF_ACCEPT, NULL);
	nft_rule_end(batch, rule);
}

static void match_family(struct batch *batch, struct nft_rule *rule, unsigned char family)
{
	nft_load_meta(batch, rule, NFT_META_NFPROTO);
	nft_compare(batch, rule, NFT_CMP_EQ, &family, 1);
}

static void match_port(struct batch *batch, struct nft_rule *rule, unsigned offset, unsigned op,
		       uint16_t port)
{
	const uint16_t bytes = htons(port);

	nft_load_packet(batch, rule, NFT_PAYLOAD_TRANSPORT_HEADER, offset, sizeof(bytes));
	nft_compare(batch, rule, op, &bytes, sizeof(bytes));
}

static void match_address4(struct batch *batch, struct nft_rule *rule, unsigned op,
			   uint32_t address)
{
	nft_load_packet(batch, rule, NFT_PAYLOAD_NETWORK_HEADER, IP4_DESTINATION, sizeof(address));
	nft_compare(batch, rule, op, &address, sizeof(address));
}

/* 127/8, in network byte order. */
static void match_loopback4(struct batch *batch, struct nft_rule *rule)
{
	static const unsigned char bits[4] = {0xff}, loopback[4] = {127};

	match_family(batch, rule, NFPROTO_IPV4);
	nft_load_packet(batch, rule, NFT_PAYLOAD_NETWORK_HEADER, IP4_DESTINATION, sizeof(bits));
	nft_mask(batch, rule, bits, sizeof(bits));
	nft_compare(batch, rule, NFT_CMP_EQ, loopback, sizeof(loopback));
}

/* Everything but `protocol` is let through: the rules after this one are for it alone. */
static void only_protocol(struct batch *batch, const char *chain, unsigned char protocol)
{
	struct nft_rule rule = nft_rule(batch, chain, 0);

	nft_load_meta(batch, &rule, NFT_META_L4PROTO);
	nft_compare(batch, &rule, NFT_CMP_NEQ, &protocol, 1);
	end_accepting(batch, &rule);
}

/*
 * What the program says to itself. 127.0.0.53 is where a host's own resolver
 * listens, and programs have it written in them: a name server on it is the gate's.
 */
static void pass_own(struct batch *batch, const char *chain)
{
	struct nft_rule rule = nft_rule(batch, chain, 0);
	match_loopback4(batch, &rule);
	match_address4(batch, &rule, NFT_CMP_NEQ, htonl(NETWORK_STUB_ADDRESS));
	end_accepting(batch, &rule);

	rule = nft_rule(batch, chain, 0);
	match_family(batch, &rule, NFPROTO_IPV6);
	nft_load_packet(batch, &rule, NFT_PAYLOAD_NETWORK_HEADER, IP6_DESTINATION,
			sizeof(struct in6_addr));
	nft_compare(batch, &rule, NFT_CMP_EQ, &in6addr_loopback, sizeof(in6addr_loopback));
	end_accepting(batch, &rule);
}

/* Only what opens a connection: the rest finds its socket by itself. */
static void pass_established(struct batch *batch, const char *chain)
{
	static const unsigned char bits = TCP_FIN_SYN_RST_ACK, syn = TCP_SYN;
	struct nft_rule rule = nft_rule(batch, chain, 0);

	nft_load_packet(batch, &rule, NFT_PAYLOAD_TRANSPORT_HEADER, TCP_FLAGS, 1);
	nft_mask(batch, &rule, &bits, 1);
	nft_compare(batch, &rule, NFT_CMP_NEQ, &syn, 1);
	end_accepting(batch, &rule);
}

/* To its own addresses only names are asked for. */
static void pass_own_ports(struct batch *batch, const char *chain)
{
	static const uint32_t addresses[] = {NETWORK_STUB_ADDRESS, NETWORK_OWN_ADDRESS};

	for (size_t i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++) {
		struct nft_rule rule = nft_rule(batch, chain, 0);

		match_family(batch, &rule, NFPROTO_IPV4);
		match_address4(batch, &rule, NFT_CMP_EQ, htonl(addresses[i]));
		match_port(batch, &rule, DESTINATION_PORT, NFT_CMP_NEQ, NETWORK_DNS_PORT);
		end_accepting(batch, &rule);
	}
}

static void put_range(struct batch *batch, const char *chain, const struct port_range *range,
		      const char *target)
{
	struct nft_rule rule = nft_rule(batch, chain, 0);

	if (range->first == range->last) {
		match_port(batch, &rule, DESTINATION_PORT, NFT_CMP_EQ, range->first);
	} else {
		match_port(batch, &rule, DESTINATION_PORT, NFT_CMP_GTE, range->first);
		match_port(batch, &rule, DESTINATION_PORT, NFT_CMP_LTE, range->last);
	}
	nft_verdict(batch, &rule, (uint32_t)NFT_GOTO, target);
	nft_rule_end(batch, &rule);
}

static void put_tproxy(struct batch *batch, const char *chain, unsigned char family,
		       const void *address, size_t length, uint16_t to_port)
{
	const uint16_t port = htons(to_port);
	struct nft_rule rule = nft_rule(batch, chain, 0);

	match_family(batch, &rule, family);
	nft_immediate(batch, &rule, NFT_REG_2, address, length);
	nft_immediate(batch, &rule, NFT_REG_1, &port, sizeof(port));
	nft_expression(batch, &rule, "tproxy");
	batch_be32(batch, NFTA_TPROXY_FAMILY, family);
	batch_be32(batch, NFTA_TPROXY_REG_ADDR, NFT_REG_2);
	batch_be32(batch, NFTA_TPROXY_REG_PORT, NFT_REG_1);
	nft_expression_end(batch, &rule);
	nft_rule_end(batch, &rule);
}

/* The port of a UDP packet becomes another; its checksum follows. */
static void rewrite_port(struct batch *batch, unsigned offset, uint16_t from, uint16_t to,
			 unsigned flags)
{
	const uint16_t bytes = htons(to);
	struct nft_rule rule = nft_rule(batch, "out", flags);

	match_port(batch, &rule, offset, NFT_CMP_EQ, from);
	nft_immediate(batch, &rule, NFT_REG_1, &bytes, sizeof(bytes));
	nft_expression(batch, &rule, "payload");
	batch_be32(batch, NFTA_PAYLOAD_SREG, NFT_REG_1);
	batch_be32(batch, NFTA_PAYLOAD_BASE, NFT_PAYLOAD_TRANSPORT_HEADER);
	batch_be32(batch, NFTA_PAYLOAD_OFFSET, offset);
	batch_be32(batch, NFTA_PAYLOAD_LEN, sizeof(bytes));
	batch_be32(batch, NFTA_PAYLOAD_CSUM_TYPE, NFT_PAYLOAD_CSUM_INET);
	batch_be32(batch, NFTA_PAYLOAD_CSUM_OFFSET, UDP_CHECKSUM);
	nft_expression_end(batch, &rule);
	end_accepting(batch, &rule);
}

/* A chain of its own, so that a rule for each range of ports is enough for both families. */
static void put_listener(struct batch *batch, const char *chain, uint16_t port)
{
	const uint32_t four = htonl(NETWORK_LISTENER_ADDRESS);
	const struct in6_addr six = NETWORK_LISTENER_ADDRESS6;

	nft_chain(batch, chain, -1, 0);
	put_tproxy(batch, chain, NFPROTO_IPV4, &four, sizeof(four), port);
	put_tproxy(batch, chain, NFPROTO_IPV6, &six, sizeof(six), port);
}

static void put_connections(struct batch *batch, const struct port_range *ranges, size_t count)
{
	static const struct port_range names = {NETWORK_DNS_PORT, NETWORK_DNS_PORT};

	put_listener(batch, "gate", NETWORK_GATE_PORT);
	put_listener(batch, "names", NETWORK_NAMES_PORT);
	nft_chain(batch, "in", NF_INET_PRE_ROUTING, NF_IP_PRI_MANGLE);
	only_protocol(batch, "in", IPPROTO_TCP);
	pass_established(batch, "in");
	pass_own(batch, "in");
	pass_own_ports(batch, "in");
	put_range(batch, "in", &names, "names");
	for (size_t i = 0; i < count; i++)
		put_range(batch, "in", &ranges[i], "gate");
}

static void put_questions(struct batch *batch)
{
	nft_chain(batch, "out", NF_INET_LOCAL_OUT, NF_IP_PRI_MANGLE);
	only_protocol(batch, "out", IPPROTO_UDP);
	rewrite_port(batch, SOURCE_PORT, NETWORK_NAMES_PORT, NETWORK_DNS_PORT, 0);
	pass_own(batch, "out");
	/* the answer to the last message tells of all */
	rewrite_port(batch, DESTINATION_PORT, NETWORK_DNS_PORT, NETWORK_NAMES_PORT, NLM_F_ACK);
}

/* A question that every nf_tables answers, and that registers no hook. */
static struct network_batch make_probe(struct arena *arena)
{
	struct batch probe = batch_new(arena, PROBE_SIZE);

	nft_ask_generation(&probe);
	return batch_finish(&probe, probe.sequence);
}

void network_setup_batches(struct arena *arena, struct network_setup *setup,
			   const struct port_range *ranges, size_t count)
{
	struct batch routes4 = batch_new(arena, ROUTES_SIZE),
		     routes6 = batch_new(arena, ROUTES_SIZE);
	struct batch filter = batch_new(arena, FILTER_SIZE + count * RULE_SIZE);

	put_address(&routes4, htonl(NETWORK_OWN_ADDRESS));
	put_local_route(&routes4, AF_INET, htonl(NETWORK_OWN_ADDRESS));
	put_local_route(&routes6, AF_INET6, 0);
	nft_mark(&filter, NFNL_MSG_BATCH_BEGIN);
	nft_table(&filter);
	put_connections(&filter, ranges, count);
	put_questions(&filter);
	uint32_t answered = filter.sequence;
	nft_mark(&filter, NFNL_MSG_BATCH_END);
	setup->probe = make_probe(arena);
	setup->routes4 = batch_finish(&routes4, routes4.sequence);
	setup->routes6 = batch_finish(&routes6, routes6.sequence);
	setup->filter = batch_finish(&filter, answered);
}
