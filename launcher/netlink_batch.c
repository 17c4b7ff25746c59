// SPDX-License-Identifier: Apache-2.0
#include "netlink_batch.h"

#include <arpa/inet.h>
#include <linux/netlink.h>
#include <stdlib.h>
#include <string.h>

void *batch_put(struct batch *batch, const void *bytes, size_t length)
{
	if (batch->length + NLMSG_ALIGN(length) > batch->size)
		abort();
	unsigned char *at = batch->bytes + batch->length;
	if (bytes != NULL)
		memcpy(at, bytes, length);
	batch->length += NLMSG_ALIGN(length); /* the arena's bytes are zero */
	return at;
}

void batch_begin(struct batch *batch, unsigned type, unsigned flags)
{
	const struct nlmsghdr header = {.nlmsg_type = (uint16_t)type,
					.nlmsg_flags = (uint16_t)(NLM_F_REQUEST | flags),
					.nlmsg_seq = ++batch->sequence};

	batch->message = batch->length;
	batch_put(batch, &header, sizeof(header));
}

void batch_end(struct batch *batch)
{
	struct nlmsghdr *header = (void *)(batch->bytes + batch->message);

	header->nlmsg_len = (uint32_t)(batch->length - batch->message);
}

void batch_attribute(struct batch *batch, unsigned type, const void *bytes, size_t length)
{
	const struct nlattr header = {.nla_len = (uint16_t)(NLA_HDRLEN + length),
				      .nla_type = (uint16_t)type};

	batch_put(batch, &header, sizeof(header));
	batch_put(batch, bytes, length);
}

void batch_text(struct batch *batch, unsigned type, const char *text)
{
	batch_attribute(batch, type, text, strlen(text) + 1);
}

/* nf_tables wants its numbers in network byte order. */
void batch_be32(struct batch *batch, unsigned type, uint32_t value)
{
	const uint32_t bytes = htonl(value);

	batch_attribute(batch, type, &bytes, sizeof(bytes));
}

size_t batch_nest(struct batch *batch, unsigned type)
{
	size_t at = batch->length;

	batch_attribute(batch, type | NLA_F_NESTED, NULL, 0);
	return at;
}

void batch_nest_end(struct batch *batch, size_t at)
{
	struct nlattr *header = (void *)(batch->bytes + at);

	header->nla_len = (uint16_t)(batch->length - at);
}

struct batch batch_new(struct arena *arena, size_t size)
{
	return (struct batch){.bytes = arena_alloc(arena, size), .size = size};
}

struct network_batch batch_finish(const struct batch *batch, uint32_t answered)
{
	return (struct network_batch){
		.bytes = batch->bytes, .length = batch->length, .answered = answered};
}
