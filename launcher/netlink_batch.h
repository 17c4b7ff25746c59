// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_NETLINK_BATCH_H
#define SBOX_NETLINK_BATCH_H

#include <stddef.h>
#include <stdint.h>

#include "arena.h"
#include "step.h"

/*
 * Writes netlink messages into memory of an arena, one after the other; what does not fit
 * aborts. netlink_batch.c knows netlink, nft_rule.c what nf_tables makes of it.
 */
struct batch {
	unsigned char *bytes;
	size_t size, length;
	size_t message; /* where the message that is being written begins */
	uint32_t sequence;
};

void *batch_put(struct batch *batch, const void *bytes, size_t length);
void batch_begin(struct batch *batch, unsigned type, unsigned flags);
void batch_end(struct batch *batch);
void batch_attribute(struct batch *batch, unsigned type, const void *bytes, size_t length);
void batch_text(struct batch *batch, unsigned type, const char *text);
void batch_be32(struct batch *batch, unsigned type, uint32_t value);
size_t batch_nest(struct batch *batch, unsigned type);
void batch_nest_end(struct batch *batch, size_t at);
struct batch batch_new(struct arena *arena, size_t size);
struct network_batch batch_finish(const struct batch *batch, uint32_t answered);

/* A rule of nf_tables while it is written: where its nests begin. */
struct nft_rule {
	size_t list, element, data;
};

void nft_mark(struct batch *batch, unsigned type);
void nft_ask_generation(struct batch *batch);
void nft_table(struct batch *batch);
void nft_chain(struct batch *batch, const char *name, int hook, int priority);
struct nft_rule nft_rule(struct batch *batch, const char *chain, unsigned flags);
void nft_rule_end(struct batch *batch, const struct nft_rule *rule);
void nft_expression(struct batch *batch, struct nft_rule *rule, const char *name);
void nft_expression_end(struct batch *batch, const struct nft_rule *rule);
void nft_load_meta(struct batch *batch, struct nft_rule *rule, unsigned key);
void nft_load_packet(struct batch *batch, struct nft_rule *rule, unsigned base, unsigned offset,
		     unsigned length);
void nft_mask(struct batch *batch, struct nft_rule *rule, const void *bits, size_t length);
void nft_compare(struct batch *batch, struct nft_rule *rule, unsigned op, const void *bytes,
		 size_t length);
void nft_immediate(struct batch *batch, struct nft_rule *rule, unsigned reg, const void *bytes,
		   size_t length);
void nft_verdict(struct batch *batch, struct nft_rule *rule, uint32_t code, const char *chain);

#endif
