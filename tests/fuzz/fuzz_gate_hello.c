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

/* A copy of its own size, so that reading behind the prefix is seen. */
static void read_prefix(const uint8_t *bytes, size_t len, struct hello *ret)
{
	uint8_t *copy = malloc(len + 1);

	memcpy(copy, bytes, len);
	hello_read_tls(copy, len, ret);
	check(ret, len);
	free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct hello whole, part;

	if (len == 0)
		return 0;
	hello_is_ssl2(bytes, len);
	read_prefix(bytes, len, &whole);
	size_t step = len / 40 + 1;
	for (size_t cut = 0; cut < len; cut += step) {
		read_prefix(bytes, cut, &part);
		if (part.kind == HELLO_MORE)
			continue;
		REQUIRE(part.kind == whole.kind);
		if (part.kind != HELLO_BROKEN)
			REQUIRE(part.size == whole.size && strcmp(part.name, whole.name) == 0);
	}
	return 0;
}
