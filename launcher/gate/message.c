// SPDX-License-Identifier: Apache-2.0
#include "message.h"

#include <resolv.h>
#include <string.h>

enum { UDP_ROOM = 1232, EDNS_BADVERS = 16 };

/* The additional section: does an OPT record (RFC 6891) stand there? */
static bool read_edns(ns_msg *message, struct message_question *question)
{
	for (int i = 0; i < ns_msg_count(*message, ns_s_ar); i++) {
		ns_rr record;

		if (ns_parserr(message, ns_s_ar, i, &record) != 0)
			return false;
		if (ns_rr_type(record) != ns_t_opt)
			continue;
		if (question->edns)
			return false; /* at most one */
		question->edns = true;
		question->edns_version = (uint8_t)(ns_rr_ttl(record) >> 16);
	}
	return true;
}

enum message_fault message_read(const uint8_t *bytes, size_t len,
				struct message_question *ret_question)
{
	struct message_question question = {0};
	HEADER header;
	ns_msg message;
	ns_rr record;

	*ret_question = question;
	if (len < NS_HFIXEDSZ || len > UINT16_MAX)
		return MESSAGE_NOTHING;
	memcpy(&header, bytes, sizeof(header));
	if (header.qr)
		return MESSAGE_NOTHING;
	ret_question->id = question.id = ns_get16(bytes);
	ret_question->recursion = question.recursion = header.rd;
	if (header.opcode != ns_o_query)
		return MESSAGE_OTHER;
	if (ns_initparse(bytes, (int)len, &message) != 0 || ns_msg_count(message, ns_s_qd) != 1 ||
	    ns_parserr(&message, ns_s_qd, 0, &record) != 0)
		return MESSAGE_BROKEN;
	if (strlen(ns_rr_name(record)) >= sizeof(question.name))
		return MESSAGE_BROKEN;
	strcpy(question.name, ns_rr_name(record));
	question.type = ns_rr_type(record);
	question.class = ns_rr_class(record);
	question.named = true;
	if (!read_edns(&message, &question))
		return MESSAGE_BROKEN;
	*ret_question = question;
	return question.edns && question.edns_version != 0 ? MESSAGE_VERSION : MESSAGE_FINE;
}

/* The question, as it was asked: upper case is repeated (some clients compare). */
static uint8_t *put_question(const struct message_question *question, uint8_t *at, uint8_t *end)
{
	uint8_t wire[NS_MAXCDNAME];

	if (ns_name_pton(question->name, wire, sizeof(wire)) < 0)
		return NULL;
	int len = ns_name_pack(wire, at, (int)(end - at), NULL, NULL);
	if (len < 0 || end - at < len + NS_QFIXEDSZ)
		return NULL;
	ns_put16(question->type, at + len);
	ns_put16(question->class, at + len + 2);
	return at + len + NS_QFIXEDSZ;
}

static uint8_t *put_record(uint8_t *at, uint8_t *end, uint16_t type, uint16_t class, uint32_t ttl,
			   const uint8_t *data, size_t len)
{
	if ((size_t)(end - at) < NS_RRFIXEDSZ + len)
		return NULL;
	ns_put16(type, at);
	ns_put16(class, at + 2);
	ns_put32(ttl, at + 4);
	ns_put16((unsigned)len, at + 8);
	if (len > 0)
		memcpy(at + NS_RRFIXEDSZ, data, len);
	return at + NS_RRFIXEDSZ + len;
}

static uint8_t *put_address(const struct rule_address *address, uint32_t ttl, uint8_t *at,
			    uint8_t *end)
{
	bool v4 = address->family == AF_INET;

	if (end - at < 2)
		return NULL;
	ns_put16(0xc000 | NS_HFIXEDSZ, at); /* the name of the question */
	return put_record(at + 2, end, v4 ? ns_t_a : ns_t_aaaa, ns_c_in, ttl, address->bytes,
			  v4 ? 4 : 16);
}

size_t message_answer(const struct message_question *question, int rcode,
		      const struct rule_address *address, uint32_t ttl,
		      uint8_t ret_bytes[MESSAGE_BYTES])
{
	uint8_t *at = ret_bytes + NS_HFIXEDSZ, *end = ret_bytes + MESSAGE_BYTES;
	HEADER header = {.qr = 1, .ra = 1, .rd = question->recursion};

	header.rcode = (unsigned)rcode & 0xf;
	header.qdcount = htons(question->named);
	header.ancount = htons(address != NULL);
	header.arcount = htons(question->edns);
	memcpy(ret_bytes, &header, sizeof(header));
	ns_put16(question->id, ret_bytes);
	if (question->named)
		at = put_question(question, at, end);
	if (at != NULL && address != NULL)
		at = put_address(address, ttl, at, end);
	if (at != NULL && question->edns) {
		/* OPT: the root's name, room for UDP as its class, the rest of rcode in its TTL. */
		*at = 0;
		at = put_record(at + 1, end, ns_t_opt, UDP_ROOM, (uint32_t)(rcode >> 4) << 24, NULL,
				0);
	}
	return at == NULL ? 0 : (size_t)(at - ret_bytes);
}
