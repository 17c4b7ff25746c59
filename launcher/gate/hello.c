// SPDX-License-Identifier: Apache-2.0
#include "hello.h"

#include <stdio.h>
#include <string.h>

enum {
	RECORD_HEADER = 5,
	RECORD_HANDSHAKE = 22,
	RECORD_MOST = 16384, /* RFC 8446, 5.1 */
	HANDSHAKE_HEADER = 4,
	CLIENT_HELLO = 1,
	EXTENSION_SERVER_NAME = 0,
	SERVER_NAME_HOST = 0,
};

/* A piece of a message; reading beyond its end spoils it. */
struct piece {
	const uint8_t *at, *end;
	bool bad;
};

static uint32_t take(struct piece *piece, unsigned bytes)
{
	uint32_t number = 0;

	if (piece->bad || (size_t)(piece->end - piece->at) < bytes) {
		piece->bad = true;
		return 0;
	}
	for (unsigned i = 0; i < bytes; i++)
		number = number << 8 | *piece->at++;
	return number;
}

/* A vector: its length in so many bytes, then itself. */
static struct piece take_piece(struct piece *piece, unsigned length_bytes)
{
	uint32_t len = take(piece, length_bytes);
	struct piece inner = {.at = piece->at, .end = piece->at};

	if (piece->bad || (size_t)(piece->end - piece->at) < len) {
		piece->bad = inner.bad = true;
		return inner;
	}
	inner.end = piece->at += len;
	return inner;
}

void hello_set_name(struct hello *hello, const char *text, size_t len)
{
	size_t used = 0;

	for (size_t i = 0; i < len && used + 5 < sizeof(hello->shown); i++) {
		unsigned char byte = (unsigned char)text[i];
		bool plain = byte > ' ' && byte < 0x7f && byte != '\\';

		used += (size_t)snprintf(hello->shown + used, sizeof(hello->shown) - used,
					 plain ? "%c" : "\\%03u", byte);
	}
	hello->shown[used] = '\0';
	hello->kind = HELLO_NAMED;
	if (!rule_clean_name(text, len, hello->name))
		hello->name[0] = '\0';
}

/* RFC 6066, 3: a list with one name of type host_name, as every client writes it. */
static void read_server_name(struct piece data, struct hello *hello)
{
	struct piece list = take_piece(&data, 2);
	uint32_t type = take(&list, 1);
	struct piece name = take_piece(&list, 2);

	if (list.bad || data.bad || data.at != data.end || list.at != list.end ||
	    type != SERVER_NAME_HOST || name.at == name.end) {
		hello->kind = HELLO_BROKEN;
		return;
	}
	hello_set_name(hello, (const char *)name.at, (size_t)(name.end - name.at));
}

static void read_client_hello(struct piece body, struct hello *hello)
{
	bool seen = false;

	hello->kind = HELLO_PLAIN;
	take(&body, 2 + 32);  /* version and random */
	take_piece(&body, 1); /* session */
	take_piece(&body, 2); /* ciphers */
	take_piece(&body, 1); /* compression */
	if (!body.bad && body.at == body.end)
		return; /* from before there were extensions */

	struct piece extensions = take_piece(&body, 2);
	while (!extensions.bad && extensions.at < extensions.end) {
		uint32_t type = take(&extensions, 2);
		struct piece data = take_piece(&extensions, 2);

		if (extensions.bad || type != EXTENSION_SERVER_NAME)
			continue;
		read_server_name(data, hello);
		/* Twice is forbidden, and which one a server takes is anybody's guess. */
		if (seen)
			hello->kind = HELLO_BROKEN;
		if (hello->kind == HELLO_BROKEN)
			return;
		seen = true;
	}
	if (body.bad || extensions.bad || body.at != body.end)
		hello->kind = HELLO_BROKEN;
}

/* Only what it says about itself up to here: 1 whole, 0 more is needed, -1 wrong. */
static int gather(const uint8_t *bytes, size_t len, uint8_t *message, size_t *ret_message_len,
		  size_t *ret_size)
{
	size_t at = 0, have = 0, want = HANDSHAKE_HEADER;

	while (have < want) {
		if (len - at < RECORD_HEADER)
			return 0;
		const uint8_t *record = bytes + at;
		size_t size = (size_t)record[3] << 8 | record[4];

		if (record[0] != RECORD_HANDSHAKE || record[1] != 3 || size == 0 ||
		    size > RECORD_MOST || have + size > HELLO_BYTES)
			return -1;
		size_t here = len - at - RECORD_HEADER < size ? len - at - RECORD_HEADER : size;
		memcpy(message + have, record + RECORD_HEADER, here);
		have += here;
		if (have >= 1 && message[0] != CLIENT_HELLO)
			return -1;
		if (have >= HANDSHAKE_HEADER)
			want = HANDSHAKE_HEADER +
			       ((size_t)message[1] << 16 | (size_t)message[2] << 8 | message[3]);
		if (want > HELLO_BYTES)
			return -1;
		if (here < size)
			return 0;
		at += RECORD_HEADER + size;
	}
	*ret_message_len = have;
	*ret_size = at;
	/* Nothing can follow in its record: the server has to answer first. */
	return have == want ? 1 : -1;
}

void hello_read_tls(const uint8_t *bytes, size_t len, struct hello *ret_hello)
{
	static uint8_t message[HELLO_BYTES];
	size_t message_len = 0;

	memset(ret_hello, 0, sizeof(*ret_hello));
	int whole = gather(bytes, len, message, &message_len, &ret_hello->size);
	if (whole <= 0) {
		ret_hello->kind = whole < 0 || len >= HELLO_BYTES ? HELLO_BROKEN : HELLO_MORE;
		return;
	}
	read_client_hello(
		(struct piece){.at = message + HANDSHAKE_HEADER, .end = message + message_len},
		ret_hello);
}

bool hello_is_ssl2(const uint8_t *bytes, size_t len)
{
	return len >= 5 && (bytes[0] & 0x80) != 0 && bytes[2] == CLIENT_HELLO &&
	       ((bytes[3] == 0 && bytes[4] == 2) || bytes[3] == 3);
}
