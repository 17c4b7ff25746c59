// SPDX-License-Identifier: Apache-2.0
/* ClientHello: what is said of a prefix is never taken back when more of it comes. */
#include "fuzz.h"

#include "hello.h"

static void check(const struct hello *hello, size_t len)
{
	char again[RULE_NAME_BYTES];

	REQUIRE(memchr(hello->shown, '\0', sizeof(hello->shown)) != NULL);
	for (const char *at = hello->shown; *at != '\0'; at++)
		REQUIRE(*at > ' ' && *at < 0x7f);
	REQUIRE(hello->name[0] == '\0' || rule_clean_name(hello->name, strlen(hello->name), again));
	if (hello->kind == HELLO_NAMED)
		REQUIRE(hello->shown[0] != '\0');
	if (hello->kind == HELLO_NAMED || hello->kind == HELLO_PLAIN)
		REQUIRE(hello->size > 0 && hello->size <= len);
	if (hello->kind == HELLO_PLAIN)
		REQUIRE(hello->name[0] == '\0');
	if (hello->kind == HELLO_MORE)
		REQUIRE(len < HELLO_BYTES);
}

static void read_prefix(const uint8_t *bytes, size_t len, struct hello *ret)
{
	uint8_t *copy = fuzz_copy(bytes, len);

	hello_read_tls(copy, len, ret);
	check(ret, len);
	free(copy);
}

/* What was read before leaves nothing: the buffer that records are gathered in stays between two.
 */
static void read_after(const uint8_t *bytes, size_t len, uint8_t before, struct hello *ret)
{
	static uint8_t record[5 + 16384] = {22, 3, 1, 0x40, 0};
	struct hello ignored;

	memset(record + 5, before, sizeof(record) - 5);
	record[5] = 1; /* a ClientHello, whose length is what was asked for */
	hello_read_tls(record, sizeof(record), &ignored);
	read_prefix(bytes, len, ret);
}

static bool same(const struct hello *one, const struct hello *other)
{
	if (one->kind != other->kind)
		return false;
	return one->kind == HELLO_MORE || one->kind == HELLO_BROKEN ||
	       (one->size == other->size && strcmp(one->name, other->name) == 0 &&
		strcmp(one->shown, other->shown) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct hello whole, part, again;

	if (len == 0)
		return 0;
	hello_is_ssl2(bytes, len);
	read_after(bytes, len, 0, &whole);
	read_after(bytes, len, 0xff, &again);
	REQUIRE(same(&whole, &again));
	size_t step = len / (len < 4096 ? 40 : 8) + 1;
	for (size_t cut = 0; cut < len; cut += step) {
		read_prefix(bytes, cut, &part);
		REQUIRE(part.kind == HELLO_MORE || same(&part, &whole));
	}
	return 0;
}
