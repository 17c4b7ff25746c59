// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_MESSAGE_H
#define SBOX_MESSAGE_H

#include <arpa/nameser.h>

#include "rules.h"

/* DNS messages of the sandbox's own name server: one question in, one answer out. libresolv reads.
 */

enum { MESSAGE_BYTES = 512 }; /* an answer is never larger, so that it is never cut */

struct message_question {
	uint16_t id;
	uint16_t type, class;
	bool recursion;       /* RD */
	bool edns;            /* it had an OPT record */
	uint8_t edns_version; /* must be 0 */
	bool named;           /* there is a question to repeat */
	/* As asked, in the usual notation: bytes that are not printable as \DDD, dots and
	 * backslashes in a label with a backslash before them. No final dot, "." is the root. */
	char name[NS_MAXDNAME];
};

enum message_fault {
	MESSAGE_FINE,
	MESSAGE_NOTHING, /* not a question: no answer */
	MESSAGE_BROKEN,  /* FORMERR */
	MESSAGE_OTHER,   /* NOTIMP: not a query */
	MESSAGE_VERSION, /* BADVERS: an EDNS version other than 0 */
};

enum message_fault message_read(const uint8_t *bytes, size_t len,
				struct message_question *ret_question);

/* rcode: ns_r_noerror …; at most one address. Returns the length; 0: no room. */
size_t message_answer(const struct message_question *question, int rcode,
		      const struct rule_address *address, uint32_t ttl,
		      uint8_t ret_bytes[MESSAGE_BYTES]);

#endif
