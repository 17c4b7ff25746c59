// SPDX-License-Identifier: Apache-2.0
#include "inspect.h"

#include <string.h>
#include <strings.h>

#include "http.h"

/* A line that ends nowhere is no request: servers give up far sooner. */
enum { LINE_MOST = 1024 * 1024 };
enum { RECORD_CIPHERS = 20, RECORD_HANDSHAKE = 22, CLIENT_HELLO = 1, HTTPS = 443 };

static const struct inspect_verdict need_more = {.more = true};

static struct inspect_verdict refuse(enum gate_why why)
{
	return (struct inspect_verdict){.why = why};
}

static struct inspect_verdict pass(uint64_t bytes)
{
	return (struct inspect_verdict){.pass = bytes};
}

static struct inspect_verdict pass_all(struct inspect *state)
{
	state->stage = INSPECT_OFF;
	return pass(UINT64_MAX);
}

/* A name was seen, or none: GATE_OPEN, or what is wrong. `required`: there has to be one. */
static enum gate_why judge(struct inspect *state, const struct hello *hello, bool required)
{
	if (hello->kind == HELLO_NAMED)
		memcpy(state->server_name, hello->shown, sizeof(state->server_name));
	if (state->name == NULL) {
		const struct rule *rule =
			rule_for_name(policy.rules, policy.rule_count, hello->name, state->port);

		return hello->name[0] != '\0' && rule != NULL && rule->action == RULE_DENY
			       ? GATE_DENY_RULE
			       : GATE_OPEN;
	}
	if (hello->kind == HELLO_NAMED)
		return strcmp(hello->name, state->name) == 0 ? GATE_OPEN : GATE_OTHER_NAME;
	return required && !policy.sni_optional ? GATE_NO_NAME : GATE_OPEN;
}

static struct inspect_verdict look_at_tls(struct inspect *state, const uint8_t *bytes, size_t len)
{
	struct hello hello;

	hello_read_tls(bytes, len, &hello);
	if (hello.kind == HELLO_MORE)
		return need_more;
	if (hello.kind == HELLO_BROKEN)
		return refuse(GATE_BAD_HELLO);
	enum gate_why why = judge(state, &hello, true);
	state->stage = INSPECT_TLS;
	return why == GATE_OPEN ? pass(hello.size) : refuse(why);
}

/* After a ClientHello: a server that asks for another one (HelloRetryRequest) gets one, and some
 * clients put a change of ciphers before it. Everything else is the handshake's rest. */
static struct inspect_verdict look_after_tls(struct inspect *state, const uint8_t *bytes,
					     size_t len)
{
	static const uint8_t ciphers[] = {RECORD_CIPHERS, 3, 3, 0, 1, 1};

	if (len < sizeof(ciphers) &&
	    (bytes[0] == RECORD_HANDSHAKE || memcmp(bytes, ciphers, len) == 0))
		return need_more;
	if (len >= sizeof(ciphers) && memcmp(bytes, ciphers, sizeof(ciphers)) == 0)
		return pass(sizeof(ciphers));
	if (bytes[0] == RECORD_HANDSHAKE && bytes[5] == CLIENT_HELLO)
		return look_at_tls(state, bytes, len);
	return pass_all(state);
}

static struct inspect_verdict look_at_http(struct inspect *state, const uint8_t *bytes, size_t len)
{
	struct http_request request;

	http_read_request(bytes, len, &request);
	if (request.hello.kind == HELLO_MORE)
		return need_more;
	if (request.hello.kind == HELLO_BROKEN)
		return refuse(GATE_BAD_HELLO);
	/* Without a Host the server takes its main site, as it does for a bare address. */
	enum gate_why why = judge(state, &request.hello, request.hidden);
	if (why != GATE_OPEN)
		return refuse(why);
	if (request.hidden)
		return pass_all(state);
	state->leaves |= request.leaves;
	state->stage = request.chunked ? INSPECT_CHUNK : INSPECT_HTTP;
	return pass(request.hello.size + request.body);
}

static struct inspect_verdict look_at_chunk(struct inspect *state, const uint8_t *bytes, size_t len)
{
	struct http_chunk chunk;

	http_read_chunk(bytes, len, &chunk);
	if (chunk.kind == HELLO_MORE)
		return need_more;
	if (chunk.kind == HELLO_BROKEN)
		return refuse(GATE_BAD_HELLO);
	state->stage = chunk.last ? INSPECT_HTTP : INSPECT_CHUNK_END;
	return pass(chunk.size + chunk.data);
}

static struct inspect_verdict look_at_chunk_end(struct inspect *state, const uint8_t *bytes,
						size_t len)
{
	if (bytes[0] != '\r' || (len > 1 && bytes[1] != '\n'))
		return refuse(GATE_BAD_HELLO);
	if (len < 2)
		return need_more;
	state->stage = INSPECT_CHUNK;
	return pass(2);
}

/* METHOD TARGET HTTP/x, whatever stands between them, and what the method and the target are. */
static bool ends_like_request(const struct inspect_line *line)
{
	return line->words > 1 && line->word_len == sizeof(line->word) &&
	       strncasecmp(line->word, "HTTP/", sizeof(line->word)) == 0;
}

static struct inspect_verdict look_at_line(struct inspect *state, const uint8_t *bytes, size_t len)
{
	struct inspect_line *line = &state->line;

	for (size_t i = 0; i < len; i++) {
		/* a CR by itself ends lines for some */
		if ((bytes[i] == '\n' || bytes[i] == '\r') && ends_like_request(line))
			return refuse(GATE_BAD_HELLO);
		if (bytes[i] == '\n' && line->words > 0)
			return pass_all(state);
		bool blank = bytes[i] <= ' ';

		if (!blank && !line->in_word) {
			line->words++;
			line->word_len = 0;
		}
		if (!blank && line->word_len < sizeof(line->word))
			line->word[line->word_len++] = (char)bytes[i];
		line->in_word = !blank;
	}
	line->bytes += len;
	return line->bytes > LINE_MOST ? pass_all(state) : pass(len);
}

/* Not known: its first line is watched. */
static struct inspect_verdict begin_line(struct inspect *state, const uint8_t *bytes, size_t len)
{
	state->stage = INSPECT_LINE;
	state->line = (struct inspect_line){0};
	return look_at_line(state, bytes, len);
}

/* Line ends before a request, which servers skip. */
static size_t count_line_ends(const uint8_t *bytes, size_t len)
{
	size_t count = 0;

	while (count < len && (bytes[count] == '\r' || bytes[count] == '\n'))
		count++;
	return count;
}

/* Between requests: another one, or what CONNECT and Upgrade led to. */
static struct inspect_verdict look_at_next(struct inspect *state, const uint8_t *bytes, size_t len)
{
	size_t ends = count_line_ends(bytes, len);
	enum hello_kind kind = http_recognize(bytes, len);

	if (ends > 0)
		return pass(ends);
	if (kind == HELLO_MORE)
		return need_more;
	if (kind == HELLO_NAMED)
		return look_at_http(state, bytes, len);
	return state->leaves ? begin_line(state, bytes, len) : refuse(GATE_BAD_HELLO);
}

static bool is_ssh(const uint8_t *bytes, size_t len)
{
	return memcmp(bytes, "SSH-", len < 4 ? len : 4) == 0;
}

/* It cannot be told yet what it is. A program may wait for an answer to these few bytes; a server
 * that would take them for the begin of a request waits for its end. So they go ahead. */
static struct inspect_verdict go_ahead(struct inspect *state, const uint8_t *bytes, size_t len)
{
	if (state->port == HTTPS && !policy.sni_optional)
		return need_more;
	if (len > sizeof(state->ahead))
		return refuse(GATE_BAD_HELLO);
	memcpy(state->ahead, bytes, len);
	state->ahead_len = len;
	return pass(len);
}

static struct inspect_verdict look_at_first(struct inspect *state, const uint8_t *bytes, size_t len)
{
	size_t ends = count_line_ends(bytes, len);

	if (ends > 0)
		return pass(ends);
	if (bytes[0] == RECORD_HANDSHAKE)
		return look_at_tls(state, bytes, len);
	if (is_ssh(bytes, len))
		return len < 4 ? go_ahead(state, bytes, len) : begin_line(state, bytes, len);
	if ((bytes[0] & 0x80) != 0 && len < 5 && (len < 3 || bytes[2] == CLIENT_HELLO))
		return go_ahead(state, bytes, len);
	if (hello_is_ssl2(bytes, len))
		return refuse(GATE_BAD_HELLO);
	enum hello_kind kind = http_recognize(bytes, len);
	if (kind == HELLO_NAMED)
		return look_at_http(state, bytes, len);
	if (kind == HELLO_MORE)
		return go_ahead(state, bytes, len);
	if (state->port == HTTPS && !policy.sni_optional)
		return refuse(GATE_BAD_HELLO);
	return begin_line(state, bytes, len);
}

/* With what went ahead before it. */
static struct inspect_verdict look_on(struct inspect *state, const uint8_t *bytes, size_t len)
{
	static uint8_t whole[sizeof(state->ahead) + HELLO_BYTES];
	size_t ahead = state->ahead_len, rest = len < HELLO_BYTES ? len : HELLO_BYTES;

	memcpy(whole, state->ahead, ahead);
	memcpy(whole + ahead, bytes, rest);
	state->ahead_len = 0;
	struct inspect_verdict verdict = look_at_first(state, whole, ahead + rest);
	if (verdict.more)
		state->ahead_len = ahead;
	else if (verdict.why == GATE_OPEN && verdict.pass != UINT64_MAX)
		verdict.pass -= ahead;
	return verdict;
}

/* A literal address: what it says is written down, and only a deny rule is in its way. */
static struct inspect_verdict look_only(struct inspect *state, const uint8_t *bytes, size_t len)
{
	enum gate_why why = GATE_OPEN;

	if (bytes[0] == RECORD_HANDSHAKE) {
		struct hello hello;

		hello_read_tls(bytes, len, &hello);
		why = judge(state, &hello, false);
	} else if (http_recognize(bytes, len) == HELLO_NAMED) {
		struct http_request request;

		http_read_request(bytes, len, &request);
		why = judge(state, &request.hello, false);
	}
	return why == GATE_OPEN ? pass_all(state) : refuse(why);
}

static struct inspect_verdict look(struct inspect *state, const uint8_t *bytes, size_t len)
{
	if (state->stage != INSPECT_OFF && state->name == NULL)
		return look_only(state, bytes, len);
	switch (state->stage) {
	case INSPECT_FIRST:
		return state->ahead_len > 0 ? look_on(state, bytes, len)
					    : look_at_first(state, bytes, len);
	case INSPECT_TLS:
		return look_after_tls(state, bytes, len);
	case INSPECT_HTTP:
		return look_at_next(state, bytes, len);
	case INSPECT_CHUNK:
		return look_at_chunk(state, bytes, len);
	case INSPECT_CHUNK_END:
		return look_at_chunk_end(state, bytes, len);
	case INSPECT_LINE:
		return look_at_line(state, bytes, len);
	case INSPECT_OFF:
		break;
	}
	return pass_all(state);
}

struct inspect_verdict inspect(struct inspect *state, const uint8_t *bytes, size_t len)
{
	if (len == 0)
		return need_more;
	struct inspect_verdict verdict = look(state, bytes, len);

	/* no more than this is ever shown, so that waiting for more would be for nothing */
	return verdict.more && len >= HELLO_BYTES ? refuse(GATE_BAD_HELLO) : verdict;
}
