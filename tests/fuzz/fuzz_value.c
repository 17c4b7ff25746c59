// SPDX-License-Identifier: Apache-2.0
/* Numbers as people write them: sizes, times, counts, thousandths, words, limits of the store, and
 * moments of --since. Each beside a second reading that is slow and plain. */
#include "fuzz.h"

#include "cmd_time.h"
#include "profile_internal.h"
#include "store.h"

typedef unsigned __int128 wide;

/* Digits, then perhaps a dot and digits: the value in billionths, and what follows. */
static bool read_plain(const char *text, wide *ret, const char **ret_rest)
{
	wide value = 0, unit = 1000000000;
	const char *at = text;

	for (; *at >= '0' && *at <= '9'; at++)
		value = value > (wide)1 << 100 ? value : value * 10 + (wide)(*at - '0') * unit;
	if (at == text)
		return false;
	if (*at == '.') {
		const char *from = ++at;

		for (; *at >= '0' && *at <= '9' && unit > 1; at++)
			value += (wide)(*at - '0') * (unit /= 10);
		if (at == from)
			return false;
	}
	*ret = value;
	*ret_rest = at;
	return true;
}

static void check_size(const char *text)
{
	static const char units[] = "KMGT";
	uint64_t value = 0;
	const char *rest;
	wide plain;

	if (value_size(text, &value) != NULL)
		return;
	REQUIRE(strchr(text, '.') == NULL && read_plain(text, &plain, &rest));
	plain /= 1000000000;
	if (*rest != '\0')
		plain <<= 10 * (strchr(units, *rest) - units + 1);
	REQUIRE(plain == value && value <= INT64_MAX);
}

static void check_duration(const char *text)
{
	static const struct {
		const char *name;
		uint64_t ms;
	} units[] = {{"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}, {"d", 86400000}};
	uint64_t value = 0;
	const char *rest;
	wide plain;

	if (value_duration(text, &value) != NULL)
		return;
	REQUIRE(read_plain(text, &plain, &rest));
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (strcmp(units[i].name, rest) == 0) {
			REQUIRE(plain * units[i].ms == (wide)value * 1000000000);
			return;
		}
	REQUIRE(!"a unit");
}

static void check_numbers(const char *text)
{
	uint64_t value = 0;
	const char *rest;
	wide plain;
	int word = -1;

	if (value_count(text, &value) == NULL) {
		REQUIRE(read_plain(text, &plain, &rest) && *rest == '\0');
		REQUIRE(plain / 1000000000 == value || value == UINT64_MAX);
	}
	if (value_milli(text, &value) == NULL) {
		REQUIRE(read_plain(text, &plain, &rest) && *rest == '\0');
		REQUIRE(plain == (wide)value * 1000000 || value > INT64_MAX);
	}
	if (value_word("none|allow|host", text, &word) == NULL)
		REQUIRE(word >= 0 && word < 3);
}

static void check_store(const char *text)
{
	uint64_t ms = 7, bytes = 7, again_ms, again_bytes;
	char written[80];

	if (store_parse_limits(text, &ms, &bytes) != NULL)
		return;
	REQUIRE(ms <= INT64_MAX && bytes <= INT64_MAX && ms % 1000 == 0 && bytes % 1024 == 0);
	snprintf(written, sizeof(written), "%llus, %lluK", (unsigned long long)ms / 1000,
		 (unsigned long long)bytes / 1024);
	if (ms == 0 || bytes == 0)
		return;
	REQUIRE(store_parse_limits(written, &again_ms, &again_bytes) == NULL);
	REQUIRE(again_ms == ms && again_bytes == bytes);
}

static void check_time(const char *text)
{
	const uint64_t now = 1796000000ULL * 1000000000;
	struct span span = {text, strlen(text)};
	uint64_t ns = 0;

	time_parse(span);
	if (time_parse_when(text, now, &ns) && strchr("0123456789", text[0]) != NULL &&
	    strchr(text, '-') == NULL)
		REQUIRE(ns <= now);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	static void (*const checks[])(const char *) = {check_size, check_duration, check_numbers,
						       check_store, check_time};
	struct fuzz_input input = {bytes, bytes + len};
	char *text = fuzz_rest(&input);

	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++)
		checks[i](text);
	free(text);
	return 0;
}
