// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_HTTP_H
#define SBOX_HTTP_H

#include "hello.h"

/*
 * HTTP/1 requests, one after the other, as far as it takes to see for which host each is. Strict:
 * what two readers could read in two ways (RFC 9112, 11.2) is broken.
 */

/* HELLO_MORE: could become one; HELLO_NAMED: it is one; HELLO_BROKEN: something else. */
enum hello_kind http_recognize(const uint8_t *bytes, size_t len);

struct http_request {
	struct hello hello; /* NAMED: its host; PLAIN: none; size is that of the head */
	bool chunked;
	bool leaves;   /* CONNECT, or Upgrade: what follows may be something else */
	bool hidden;   /* HTTP/2: the host is not to be seen */
	uint64_t body; /* bytes after the head, when not chunked */
};

void http_read_request(const uint8_t *bytes, size_t len, struct http_request *ret_request);

/* One chunk: `size` bytes up to its data, `data` bytes of those, and CR LF, which the caller looks
 * for. The last one has data 0 and its size ends after the trailers. */
struct http_chunk {
	enum hello_kind kind; /* MORE, PLAIN, BROKEN */
	size_t size;
	uint64_t data;
	bool last;
};

void http_read_chunk(const uint8_t *bytes, size_t len, struct http_chunk *ret_chunk);

#endif
