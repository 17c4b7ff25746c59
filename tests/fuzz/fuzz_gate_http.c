// SPDX-License-Identifier: Apache-2.0
/* HTTP/1 heads and chunks: what is said of a prefix is never taken back when more of it comes, and
 * the host of a request is the one that a second, plain reading finds. */
#include "fuzz.h"

#include <strings.h>

#include "http.h"

static void check_hello(const struct hello *hello, size_t len)
{
	char again[RULE_NAME_BYTES];

	REQUIRE(memchr(hello->shown, '\0', sizeof(hello->shown)) != NULL);
	for (const char *at = hello->shown; *at != '\0'; at++)
		REQUIRE(*at > ' ' && *at < 0x7f);
	REQUIRE(hello->name[0] == '\0' || rule_clean_name(hello->name, strlen(hello->name), again));
	if (hello->kind == HELLO_NAMED || hello->kind == HELLO_PLAIN)
		REQUIRE(hello->size > 0 && hello->size <= len);
	if (hello->kind == HELLO_MORE)
		REQUIRE(len < HELLO_BYTES);
}

static void request(const uint8_t *bytes, size_t len, struct http_request *ret)
{
	uint8_t *copy = fuzz_copy(bytes, len);

	http_read_request(copy, len, ret);
	check_hello(&ret->hello, len);
	free(copy);
}

static void chunk(const uint8_t *bytes, size_t len, struct http_chunk *ret)
{
	uint8_t *copy = fuzz_copy(bytes, len);

	http_read_chunk(copy, len, ret);
	if (ret->kind == HELLO_PLAIN)
		REQUIRE(ret->size > 0 && ret->size <= len && ret->last == (ret->data == 0));
	free(copy);
}

/* The number of a line "content-length: N", as it would be on paper. */
static unsigned __int128 length_of(const char *at, const char *stop)
{
	unsigned __int128 number = 0;

	for (at += 15; at < stop; at++)
		if (*at >= '0' && *at <= '9' && number >> 100 == 0)
			number = number * 10 + (unsigned)(*at - '0');
	return number;
}

/* Lines of a good head: how often is each field there that must not come twice? */
static void check_fields(const uint8_t *bytes, const struct http_request *request)
{
	const char *first = memchr(bytes, '\n', request->hello.size);
	const char *at = first + 1, *end = (const char *)bytes + request->hello.size;
	unsigned hosts = 0, lengths = 0, codings = 0;
	unsigned __int128 body = 0;

	REQUIRE(first != NULL); /* of the request line */
	while (at < end) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));

		REQUIRE(stop != NULL);
		hosts += stop - at >= 5 && strncasecmp(at, "host:", 5) == 0;
		if (stop - at >= 15 && strncasecmp(at, "content-length:", 15) == 0) {
			lengths++;
			body = length_of(at, stop);
		}
		codings += stop - at >= 18 && strncasecmp(at, "transfer-encoding:", 18) == 0;
		at = stop + 1;
	}
	REQUIRE(hosts <= 1 && lengths <= 1 && codings <= 1);
	REQUIRE(request->chunked == (codings > 0));
	REQUIRE(!request->chunked || lengths == 0);
	REQUIRE(request->body == body);
}

static void check_prefixes(const uint8_t *bytes, size_t len)
{
	struct http_request whole, part;
	struct http_chunk whole_chunk, part_chunk;
	size_t step = len / (len < 4096 ? 30 : 6) + 1;

	request(bytes, len, &whole);
	chunk(bytes, len, &whole_chunk);
	if (!whole.hidden && (whole.hello.kind == HELLO_NAMED || whole.hello.kind == HELLO_PLAIN))
		check_fields(bytes, &whole);
	for (size_t cut = 0; cut < len; cut += step) {
		request(bytes, cut, &part);
		chunk(bytes, cut, &part_chunk);
		if (part.hello.kind != HELLO_MORE) {
			REQUIRE(part.hello.kind == whole.hello.kind);
			if (part.hello.kind != HELLO_BROKEN)
				REQUIRE(part.hello.size == whole.hello.size &&
					part.body == whole.body && part.chunked == whole.chunked &&
					strcmp(part.hello.name, whole.hello.name) == 0);
		}
		if (part_chunk.kind != HELLO_MORE) {
			REQUIRE(part_chunk.kind == whole_chunk.kind);
			if (part_chunk.kind == HELLO_PLAIN)
				REQUIRE(part_chunk.size == whole_chunk.size &&
					part_chunk.data == whole_chunk.data);
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	if (len == 0)
		return 0;
	len = len < HELLO_BYTES ? len : HELLO_BYTES; /* no more is ever shown */
	enum hello_kind kind = http_recognize(bytes, len);
	for (size_t cut = 1; cut < len && cut < 80; cut++) {
		enum hello_kind part = http_recognize(bytes, cut);

		REQUIRE(part == HELLO_MORE || part == kind);
	}
	check_prefixes(bytes, len);
	return 0;
}
