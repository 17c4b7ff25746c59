// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_INSPECT_H
#define SBOX_INSPECT_H

#include "hello.h"
#include "policy.h"

/*
 * Is what the program sends for the host that it connected to? Servers of many sites tell by TLS's
 * server name or HTTP's Host, so an address alone says nothing.
 *
 *   TLS    each ClientHello (there can be two) up to the first record that is none
 *   HTTP   each request of the connection
 *   else   on port 443 refused, but for SSH; elsewhere it passes, unless its first line turns out
 *          to be a request: servers take many for one that no client writes (a tab for a blank)
 *
 * What it cannot see: names inside TLS; protocols that turn to TLS later (STARTTLS).
 */

enum inspect_stage {
	INSPECT_FIRST,     /* nothing was seen yet */
	INSPECT_TLS,       /* one ClientHello passed */
	INSPECT_HTTP,      /* a request is over, or its head */
	INSPECT_CHUNK,     /* a chunk of a request's body begins */
	INSPECT_CHUNK_END, /* its data is over */
	INSPECT_LINE,      /* neither; its first line passes while it is none of a request */
	INSPECT_OFF,       /* everything passes */
};

/* The line of INSPECT_LINE: how its last word begins. */
struct inspect_line {
	size_t bytes, words, word_len;
	bool in_word;
	char word[5];
};

struct inspect {
	enum inspect_stage stage;
	const char *name; /* what was connected to; NULL: an address, only looked at */
	uint16_t port;
	bool leaves; /* HTTP: what comes may be something else */
	/* First bytes that went ahead, since they ask for nothing yet. */
	uint8_t ahead[64];
	size_t ahead_len;
	struct inspect_line line;
	char server_name[RULE_NAME_BYTES]; /* the last one seen, printable */
};

struct inspect_verdict {
	enum gate_why why; /* GATE_OPEN: fine */
	bool more;         /* cannot be told from so few bytes */
	uint64_t pass;     /* bytes that may go; UINT64_MAX: all from here on */
};

/* `bytes` are the stream from where the last verdict's `pass` ended. */
struct inspect_verdict inspect(struct inspect *state, const uint8_t *bytes, size_t len);

#endif
