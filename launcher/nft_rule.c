// SPDX-License-Identifier: Apache-2.0
#include "netlink_batch.h"

#include <arpa/inet.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <sys/socket.h>

static void nft_begin(struct batch *batch, unsigned type, unsigned flags)
{
	const struct nfgenmsg body = {.nfgen_family = NFPROTO_INET, .version = NFNETLINK_V0};

	batch_begin(batch, NFNL_SUBSYS_NFTABLES << 8 | type, flags);
	batch_put(batch, &body, sizeof(body));
}

void nft_mark(struct batch *batch, unsigned type)
{
	const struct nfgenmsg body = {.nfgen_family = AF_UNSPEC,
				      .version = NFNETLINK_V0,
				      .res_id = htons(NFNL_SUBSYS_NFTABLES)};

	batch_begin(batch, type, 0);
	batch_put(batch, &body, sizeof(body));
	batch_end(batch);
}

void nft_ask_generation(struct batch *batch)
{
	nft_begin(batch, NFT_MSG_GETGEN, NLM_F_ACK);
	batch_end(batch);
}

static const char table_name[] = "sbox";

void nft_table(struct batch *batch)
{
	nft_begin(batch, NFT_MSG_NEWTABLE, NLM_F_CREATE);
	batch_text(batch, NFTA_TABLE_NAME, table_name);
	batch_end(batch);
}

/* hook -1: reached by a jump only. */
void nft_chain(struct batch *batch, const char *name, int hook, int priority)
{
	nft_begin(batch, NFT_MSG_NEWCHAIN, NLM_F_CREATE);
	batch_text(batch, NFTA_CHAIN_TABLE, table_name);
	batch_text(batch, NFTA_CHAIN_NAME, name);
	if (hook >= 0) {
		size_t nest = batch_nest(batch, NFTA_CHAIN_HOOK);

		batch_be32(batch, NFTA_HOOK_HOOKNUM, (uint32_t)hook);
		batch_be32(batch, NFTA_HOOK_PRIORITY, (uint32_t)priority);
		batch_nest_end(batch, nest);
		batch_text(batch, NFTA_CHAIN_TYPE, "filter");
	}
	batch_end(batch);
}

struct nft_rule nft_rule(struct batch *batch, const char *chain, unsigned flags)
{
	nft_begin(batch, NFT_MSG_NEWRULE, NLM_F_CREATE | NLM_F_APPEND | flags);
	batch_text(batch, NFTA_RULE_TABLE, table_name);
	batch_text(batch, NFTA_RULE_CHAIN, chain);
	return (struct nft_rule){.list = batch_nest(batch, NFTA_RULE_EXPRESSIONS)};
}

void nft_rule_end(struct batch *batch, const struct nft_rule *rule)
{
	batch_nest_end(batch, rule->list);
	batch_end(batch);
}

void nft_expression(struct batch *batch, struct nft_rule *rule, const char *name)
{
	rule->element = batch_nest(batch, NFTA_LIST_ELEM);
	batch_text(batch, NFTA_EXPR_NAME, name);
	rule->data = batch_nest(batch, NFTA_EXPR_DATA);
}

void nft_expression_end(struct batch *batch, const struct nft_rule *rule)
{
	batch_nest_end(batch, rule->data);
	batch_nest_end(batch, rule->element);
}

static void put_value(struct batch *batch, unsigned type, const void *bytes, size_t length)
{
	size_t nest = batch_nest(batch, type);

	batch_attribute(batch, NFTA_DATA_VALUE, bytes, length);
	batch_nest_end(batch, nest);
}

void nft_load_meta(struct batch *batch, struct nft_rule *rule, unsigned key)
{
	nft_expression(batch, rule, "meta");
	batch_be32(batch, NFTA_META_DREG, NFT_REG_1);
	batch_be32(batch, NFTA_META_KEY, key);
	nft_expression_end(batch, rule);
}

void nft_load_packet(struct batch *batch, struct nft_rule *rule, unsigned base, unsigned offset,
		     unsigned length)
{
	nft_expression(batch, rule, "payload");
	batch_be32(batch, NFTA_PAYLOAD_DREG, NFT_REG_1);
	batch_be32(batch, NFTA_PAYLOAD_BASE, base);
	batch_be32(batch, NFTA_PAYLOAD_OFFSET, offset);
	batch_be32(batch, NFTA_PAYLOAD_LEN, length);
	nft_expression_end(batch, rule);
}

void nft_mask(struct batch *batch, struct nft_rule *rule, const void *bits, size_t length)
{
	static const unsigned char zero[4];

	nft_expression(batch, rule, "bitwise");
	batch_be32(batch, NFTA_BITWISE_SREG, NFT_REG_1);
	batch_be32(batch, NFTA_BITWISE_DREG, NFT_REG_1);
	batch_be32(batch, NFTA_BITWISE_LEN, (uint32_t)length);
	put_value(batch, NFTA_BITWISE_MASK, bits, length);
	put_value(batch, NFTA_BITWISE_XOR, zero, length);
	nft_expression_end(batch, rule);
}

void nft_compare(struct batch *batch, struct nft_rule *rule, unsigned op, const void *bytes,
		 size_t length)
{
	nft_expression(batch, rule, "cmp");
	batch_be32(batch, NFTA_CMP_SREG, NFT_REG_1);
	batch_be32(batch, NFTA_CMP_OP, op);
	put_value(batch, NFTA_CMP_DATA, bytes, length);
	nft_expression_end(batch, rule);
}

void nft_immediate(struct batch *batch, struct nft_rule *rule, unsigned reg, const void *bytes,
		   size_t length)
{
	nft_expression(batch, rule, "immediate");
	batch_be32(batch, NFTA_IMMEDIATE_DREG, reg);
	put_value(batch, NFTA_IMMEDIATE_DATA, bytes, length);
	nft_expression_end(batch, rule);
}

/* chain NULL: with an accept or the like. */
void nft_verdict(struct batch *batch, struct nft_rule *rule, uint32_t code, const char *chain)
{
	nft_expression(batch, rule, "immediate");
	batch_be32(batch, NFTA_IMMEDIATE_DREG, NFT_REG_VERDICT);
	size_t data = batch_nest(batch, NFTA_IMMEDIATE_DATA);
	size_t nest = batch_nest(batch, NFTA_DATA_VERDICT);
	batch_be32(batch, NFTA_VERDICT_CODE, code);
	if (chain != NULL)
		batch_text(batch, NFTA_VERDICT_CHAIN, chain);
	batch_nest_end(batch, nest);
	batch_nest_end(batch, data);
	nft_expression_end(batch, rule);
}
