// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_HELLO_H
#define SBOX_HELLO_H

#include "rules.h"

/*
 * What a client's first bytes say about whom they are for. Pure functions over a prefix of the
 * stream; the caller asks again with more of it when told so.
 */

enum { HELLO_BYTES = 32768 }; /* a ClientHello or HTTP head beyond that is refused */

enum hello_kind {
	HELLO_MORE,  /* cannot be told from so few bytes */
	HELLO_NAMED, /* for `name` */
	HELLO_PLAIN, /* well-formed, and names nobody */
	HELLO_BROKEN,
};

struct hello {
	enum hello_kind kind;
	size_t size; /* bytes up to its end; NAMED and PLAIN */
	/* As written, printable or else as \DDD, cut when too long: for the record. */
	char shown[RULE_NAME_BYTES];
	/* The same as a name to compare with; "" when it is none (`shown` is an address, say). */
	char name[RULE_NAME_BYTES];
};

/* A TLS ClientHello, in one record or several. The bytes begin with a record of type 22. */
void hello_read_tls(const uint8_t *bytes, size_t len, struct hello *ret_hello);
/* An SSL 2 ClientHello, which can ask for TLS and has no place for a name. */
bool hello_is_ssl2(const uint8_t *bytes, size_t len);

/* Fills shown and name. */
void hello_set_name(struct hello *hello, const char *text, size_t len);

#endif
