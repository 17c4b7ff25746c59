// SPDX-License-Identifier: Apache-2.0
/*
 * A connection's first bytes, as they arrive: in pieces of any size. Byte 0: port, sni and whether
 * a name was dialled; then the size of each piece, up to a 0; then the stream.
 */
#include "fuzz.h"

#include "inspect.h"

enum { PIECES = 64 };

struct stream {
	struct inspect state;
	size_t passed, arrived; /* of the bytes */
	uint64_t owed;          /* may pass without being looked at */
	bool refused;
};

/* What passes was asked of the one that was connected to, or of nobody. */
static void check_name(const struct inspect *state)
{
	char clean[RULE_NAME_BYTES];
	size_t len = strlen(state->server_name);

	if (state->name != NULL && len > 0)
		REQUIRE(rule_clean_name(state->server_name, len, clean) &&
			strcmp(clean, state->name) == 0);
}

/* As connection.c does: what may pass goes, what is left is looked at again. False: it waits. */
static bool look(struct stream *stream, const uint8_t *bytes)
{
	size_t held = stream->arrived - stream->passed;

	if (stream->owed > 0) {
		size_t goes = stream->owed < held ? (size_t)stream->owed : held;

		stream->passed += goes;
		stream->owed -= stream->owed == UINT64_MAX ? 0 : goes;
		return goes > 0;
	}
	if (held == 0)
		return false;
	size_t shown = held < HELLO_BYTES ? held : HELLO_BYTES;
	uint8_t *copy = malloc(shown);
	memcpy(copy, bytes + stream->passed, shown);
	struct inspect_verdict verdict = inspect(&stream->state, copy, shown);
	free(copy);

	REQUIRE(memchr(stream->state.server_name, '\0', RULE_NAME_BYTES) != NULL);
	REQUIRE(stream->state.ahead_len <= sizeof(stream->state.ahead));
	stream->refused = verdict.why != GATE_OPEN;
	if (stream->refused)
		return false;
	if (verdict.more) {
		REQUIRE(verdict.pass == 0);
		/* a whole buffer tells, or the connection would wait for ever */
		REQUIRE(shown < HELLO_BYTES);
		return false;
	}
	REQUIRE(verdict.pass > 0);
	check_name(&stream->state);
	stream->owed = verdict.pass;
	return true;
}

/* With a name, nothing passes that asks another one: a request's head is looked at as a whole, so
 * its Host line is not out before it was judged. */
static void check_host(const struct stream *stream, const uint8_t *bytes)
{
	static const char other[] = "GET / HTTP/1.1\r\nHost: other\r\n\r\n";

	if (stream->state.name != NULL && stream->passed >= sizeof(other) - 1)
		REQUIRE(memcmp(bytes, other, sizeof(other) - 1) != 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct fuzz_input input = {bytes, bytes + len};
	uint8_t flags = fuzz_byte(&input), sizes[PIECES];
	struct stream stream = {.state = {.port = flags & 1 ? 443 : 80}};
	size_t count = 0;

	memset(&policy, 0, sizeof(policy));
	policy.sni_optional = (flags & 2) != 0;
	if ((flags & 4) == 0)
		stream.state.name = "example.org";
	if (flags & 8) {
		policy.rules[0] = (struct rule){
			.action = RULE_DENY, .kind = RULE_EXACT, .port_low = 1, .port_high = 65535};
		strcpy(policy.rules[0].name, "denied.example");
		policy.rule_count = 1;
	}
	while (count < PIECES && (sizes[count] = fuzz_byte(&input)) != 0)
		count++;
	for (size_t i = 0; stream.arrived < fuzz_left(&input) && !stream.refused; i++) {
		size_t left = fuzz_left(&input) - stream.arrived;
		size_t piece = i < count ? sizes[i] : left;

		stream.arrived += piece < left ? piece : left;
		while (look(&stream, input.at))
			;
		check_host(&stream, input.at);
	}
	return 0;
}
