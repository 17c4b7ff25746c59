// SPDX-License-Identifier: Apache-2.0

/* First bytes of a connection: TLS, HTTP, and random ones in memory that ends where they end. */

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "http.h"
#include "inspect.h"

enum { ROOM = 2048, RANDOM_ROUNDS = 20000 };

struct buffer {
	uint8_t bytes[ROOM];
	size_t len;
};

static void put(struct buffer *buffer, const void *bytes, size_t len)
{
	memcpy(buffer->bytes + buffer->len, bytes, len);
	buffer->len += len;
}

static void put_number(struct buffer *buffer, size_t number, int bytes)
{
	for (int i = bytes - 1; i >= 0; i--)
		buffer->bytes[buffer->len++] = (uint8_t)(number >> 8 * i);
}

/* An extension server_name with such a list; NULL: none. */
static void put_names(struct buffer *out, const char *name, size_t len)
{
	if (name == NULL)
		return;
	put_number(out, 0, 2);
	put_number(out, len + 5, 2);
	put_number(out, len + 3, 2);
	put_number(out, 0, 1);
	put_number(out, len, 2);
	put(out, name, len);
}

static struct buffer client_hello(const char *name, size_t len, int times)
{
	struct buffer extensions = {.len = 0}, body = {.len = 0}, whole = {.len = 0};

	put_number(&extensions, 0x2b, 2); /* another one before it */
	put_number(&extensions, 3, 2);
	put(&extensions, "\x02\x03\x04", 3);
	for (int i = 0; i < times; i++)
		put_names(&extensions, name, len);
	put_number(&body, 0x303, 2);
	memset(body.bytes + body.len, 7, 32);
	body.len += 32;
	put_number(&body, 0, 1);
	put_number(&body, 2, 2);
	put_number(&body, 0x1301, 2);
	put_number(&body, 0x100, 2);
	put_number(&body, extensions.len, 2);
	put(&body, extensions.bytes, extensions.len);
	put(&whole, "\x16\x03\x01", 3);
	put_number(&whole, body.len + 4, 2);
	put_number(&whole, 1, 1);
	put_number(&whole, body.len, 3);
	put(&whole, body.bytes, body.len);
	return whole;
}

START_TEST(every_prefix_wants_more)
{
	struct buffer whole = client_hello("Api.Example", 11, 1);
	struct hello hello;

	for (size_t len = 0; len < whole.len; len++) {
		uint8_t *exact = malloc(len + 1);

		memcpy(exact, whole.bytes, len);
		hello_read_tls(exact, len, &hello);
		ck_assert_msg(hello.kind == HELLO_MORE, "%zu bytes: %d", len, hello.kind);
		free(exact);
	}
	hello_read_tls(whole.bytes, whole.len, &hello);
	ck_assert_int_eq(hello.kind, HELLO_NAMED);
	ck_assert_str_eq(hello.name, "api.example");
	ck_assert_str_eq(hello.shown, "Api.Example");
	ck_assert_uint_eq(hello.size, whole.len);
}
END_TEST

START_TEST(names_are_taken_as_they_are)
{
	struct buffer whole = client_hello("a\0b.example", 11, 1);
	struct hello hello;

	hello_read_tls(whole.bytes, whole.len, &hello);
	ck_assert_int_eq(hello.kind, HELLO_NAMED);
	ck_assert_str_eq(hello.name, "");
	ck_assert_str_eq(hello.shown, "a\\000b.example");
	whole = client_hello("a.example", 9, 2);
	hello_read_tls(whole.bytes, whole.len, &hello);
	ck_assert_int_eq(hello.kind, HELLO_BROKEN);
	whole = client_hello(NULL, 0, 1);
	hello_read_tls(whole.bytes, whole.len, &hello);
	ck_assert_int_eq(hello.kind, HELLO_PLAIN);
	whole = client_hello("", 0, 1);
	hello_read_tls(whole.bytes, whole.len, &hello);
	ck_assert_int_eq(hello.kind, HELLO_BROKEN);
}
END_TEST

/* One byte changed, anywhere: the name is right, or it is no name at all; nothing is read beyond.
 */
START_TEST(changed_bytes_do_not_confuse)
{
	struct buffer whole = client_hello("api.example", 11, 1);

	for (size_t at = 0; at < whole.len; at++)
		for (int value = 0; value < 256; value++) {
			uint8_t *exact = malloc(whole.len);
			struct hello hello;

			memcpy(exact, whole.bytes, whole.len);
			exact[at] = (uint8_t)value;
			hello_read_tls(exact, whole.len, &hello);
			ck_assert(hello.kind != HELLO_NAMED || hello.size <= whole.len);
			free(exact);
		}
}
END_TEST

static const struct {
	const char *text, *name; /* NULL: broken; "": none */
	uint64_t body;
	bool chunked, leaves;
} requests[] = {
	{"GET / HTTP/1.1\r\nHost: a.example\r\n\r\n", "a.example", 0, false, false},
	{"GET / HTTP/1.1\nHost:a.example:80  \n\n", "a.example", 0, false, false},
	{"GET / HTTP/1.0\r\n\r\n", "", 0, false, false},
	{"POST /x HTTP/1.1\r\nhOST: a.example\r\ncontent-length: 12\r\n\r\n", "a.example", 12,
	 false, false},
	{"POST /x HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: Chunked\r\n\r\n", "a.example",
	 0, true, false},
	{"GET http://b.example:8/x HTTP/1.1\r\n\r\n", "b.example", 0, false, false},
	{"GET http://b.example?x HTTP/1.1\r\nHost: b.example\r\n\r\n", "b.example", 0, false,
	 false},
	{"GET http://b.example/ HTTP/1.1\r\nHost: a.example\r\n\r\n", NULL, 0, false, false},
	{"CONNECT b.example:443 HTTP/1.1\r\n\r\n", "b.example", 0, false, true},
	{"GET / HTTP/1.1\r\nHost: a.example\r\nUpgrade: x\r\n\r\n", "a.example", 0, false, true},
	{"GET / HTTP/1.1\r\nHost: [2001:db8::1]:80\r\n\r\n", "", 0, false, false},
	{"GET /\r\n\r\n", NULL, 0, false, false},
	{"GET / x HTTP/1.1\r\n\r\n", NULL, 0, false, false},
	{"GET / HTTP/3.0\r\n\r\n", NULL, 0, false, false},
	{"GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", NULL, 0, false, false},
	{"GET / HTTP/1.1\r\nHost : a\r\n\r\n", NULL, 0, false, false},
	{"GET / HTTP/1.1\r\nX: a\r\n b\r\n\r\n", NULL, 0, false, false},
	{"GET / HTTP/1.1\r\nHost: a\rb\r\n\r\n", NULL, 0, false, false},
	{"GET / HTTP/1.1\r\nHost: b@a\r\n\r\n", NULL, 0, false, false},
	{"GET / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n", NULL, 0, false, false},
	{"GET / HTTP/1.1\r\nContent-Length: +1\r\n\r\n", NULL, 0, false, false},
	{"GET / HTTP/1.1\r\nContent-Length: 1, 1\r\n\r\n", NULL, 0, false, false},
	{"GET / HTTP/1.1\r\nContent-Length: 9999999999999999999\r\n\r\n", NULL, 0, false, false},
	{"GET / HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", NULL, 0, false, false},
	{"GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n", NULL, 0,
	 false, false},
	{"GET / HTTP/1.1\r\nno colon\r\n\r\n", NULL, 0, false, false},
};

START_TEST(requests_are_read_strictly)
{
	const uint8_t *bytes = (const uint8_t *)requests[_i].text;
	size_t len = strlen(requests[_i].text);
	struct http_request request;

	for (size_t part = 0; part < len; part++) {
		http_read_request(bytes, part, &request);
		ck_assert(request.hello.kind == HELLO_MORE ||
			  (request.hello.kind == HELLO_BROKEN && requests[_i].name == NULL));
	}
	http_read_request(bytes, len, &request);
	if (requests[_i].name == NULL) {
		ck_assert_int_eq(request.hello.kind, HELLO_BROKEN);
		return;
	}
	ck_assert_int_ne(request.hello.kind, HELLO_BROKEN);
	ck_assert_uint_eq(request.hello.size, len);
	ck_assert_str_eq(request.hello.name, requests[_i].name);
	ck_assert_uint_eq(request.body, requests[_i].body);
	ck_assert_int_eq(request.chunked, requests[_i].chunked);
	ck_assert_int_eq(request.leaves, requests[_i].leaves);
}
END_TEST

static const struct {
	const char *text;
	enum hello_kind kind;
	size_t size;
	uint64_t data;
	bool last;
} chunks[] = {
	{"5\r\nhello", HELLO_PLAIN, 3, 5, false},
	{"fF;x=\"y\"\r\n", HELLO_PLAIN, 10, 255, false},
	{"0\r\n\r\n", HELLO_PLAIN, 5, 0, true},
	{"000\r\nA: b\r\n\r\nGET", HELLO_PLAIN, 13, 0, true},
	{"5", HELLO_MORE, 0, 0, false},
	{"0\r\nA: b\r\n", HELLO_MORE, 0, 0, false},
	{"\r\n", HELLO_BROKEN, 0, 0, false},
	{"x\r\n", HELLO_BROKEN, 0, 0, false},
	{"5 \r\n", HELLO_BROKEN, 0, 0, false},
	{"-1\r\n", HELLO_BROKEN, 0, 0, false},
	{"ffffffffffffffff\r\n", HELLO_BROKEN, 0, 0, false},
	{"0\r\nbad\r\n\r\n", HELLO_BROKEN, 0, 0, false},
};

START_TEST(chunks_are_read_strictly)
{
	struct http_chunk chunk;

	http_read_chunk((const uint8_t *)chunks[_i].text, strlen(chunks[_i].text), &chunk);
	ck_assert_int_eq(chunk.kind, chunks[_i].kind);
	if (chunk.kind != HELLO_PLAIN)
		return;
	ck_assert_uint_eq(chunk.size, chunks[_i].size);
	ck_assert_uint_eq(chunk.data, chunks[_i].data);
	ck_assert_int_eq(chunk.last, chunks[_i].last);
}
END_TEST

/* A stream that comes in pieces of `step` bytes, to its end or its refusal. */
static enum gate_why inspect_in_pieces(const uint8_t *bytes, size_t len, size_t step)
{
	struct inspect state = {.name = "a.example", .port = 80};
	size_t done = 0, have = 0;

	while (done < len && have < len) {
		have = have + step < len ? have + step : len;
		while (done < have) {
			struct inspect_verdict verdict = inspect(&state, bytes + done, have - done);

			if (verdict.why != GATE_OPEN)
				return verdict.why;
			if (verdict.more)
				break;
			ck_assert_uint_gt(verdict.pass, 0);
			done += verdict.pass < len - done ? verdict.pass : len - done;
		}
	}
	return GATE_OPEN;
}

/* However the stream is cut, the verdict is the same and no byte passes twice. */
START_TEST(pieces_give_the_same_verdict)
{
	struct buffer tls = client_hello("a.example", 9, 1);
	static const char http[] =
		"POST / HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: chunked"
		"\r\n\r\n3\r\nabc\r\n0\r\n\r\nGET / HTTP/1.1\r\nHost: b.example\r\n"
		"\r\n";

	for (size_t step = 1; step <= tls.len; step++)
		ck_assert_int_eq(inspect_in_pieces(tls.bytes, tls.len, step), GATE_OPEN);
	for (size_t step = 1; step < sizeof(http); step++)
		ck_assert_int_eq(inspect_in_pieces((const uint8_t *)http, sizeof(http) - 1, step),
				 GATE_OTHER_NAME);
}
END_TEST

/* First lines. Some servers take these for requests and would go by the Host that follows. */
static const struct {
	const char *text;
	enum gate_why why;
} lines[] = {
	{"GET\t/ HTTP/1.1\r\n", GATE_BAD_HELLO},
	{"GET\t/\tHTTP/1.1\n", GATE_BAD_HELLO},
	{" GET / HTTP/1.1\r\n", GATE_BAD_HELLO},
	{" \r\n\tGET / HTTP/1.1\r\n", GATE_BAD_HELLO},
	{"\vGET / http/1.1 \r\n", GATE_BAD_HELLO},
	{"\tGET / HTTP/1.1\rHost: b.example\r\r", GATE_BAD_HELLO},
	{"GET x HTTP/1.1\r\n", GATE_BAD_HELLO},
	{"GET ?x HTTP/1.1\r\n", GATE_BAD_HELLO},
	{"GET ftp://b.example/ HTTP/1.1\r\n", GATE_BAD_HELLO},
	{"GET http://b.example\\@a.example/ HTTP/1.1\r\n\r\n", GATE_OTHER_NAME},
	{"GET http://b.example@a.example/ HTTP/1.1\r\n\r\n", GATE_OTHER_NAME},
	{"connect b.example:443 HTTP/1.1\r\n", GATE_BAD_HELLO},
	{"GE(T / HTTP/1.1\r\n", GATE_BAD_HELLO},
	{"GGGGGGGGGGGGGGGGGGGGGGGGGGGGGGGGGGGGGGGGG / HTTP/1.1\r\n", GATE_BAD_HELLO},
	{"SSH-2.0 / HTTP/1.1\r\n", GATE_BAD_HELLO},
	{"GET / HTTP/1.1\r\nHost: a.example\r\nUpgrade: x\r\n\r\nGET\t/ HTTP/1.1\r\n",
	 GATE_BAD_HELLO},
	{"SSH-2.0-OpenSSH_9.2\r\nGET\t/ HTTP/1.1\r\n", GATE_OPEN},
	{"EHLO a.example\r\n", GATE_OPEN},
	{"HTTP/1.1 200 OK\r\n", GATE_OPEN},
	{"HTTP/1.1\r\n", GATE_OPEN},
	{"*1\r\n$4\r\nPING\r\n", GATE_OPEN},
	{"\x81\x05GET / \n", GATE_OPEN},
};

START_TEST(no_first_line_hides_a_request)
{
	size_t len = strlen(lines[_i].text);

	for (size_t step = 1; step <= len; step++)
		ck_assert_msg(inspect_in_pieces((const uint8_t *)lines[_i].text, len, step) ==
				      lines[_i].why,
			      "line %d, step %zu", _i, step);
}
END_TEST

START_TEST(random_bytes_are_survived)
{
	static const char *const starts[] = {
		"",      "GET / HTTP/1.1\r\n", "\x16\x03\x01\x00\x40\x01\x00\x00\x3c",
		"5\r\n", "POST http://",       "\x80\x10\x01\x03"};

	srand(7);
	for (int round = 0; round < RANDOM_ROUNDS; round++) {
		const char *start = starts[rand() % 6];
		size_t begin = strlen(start), len = begin + (size_t)(rand() % 200);
		uint8_t *exact = malloc(len + 1);
		struct inspect state = {.name = "a.example",
					.port = rand() % 2 ? 443 : 80,
					.stage = (enum inspect_stage)(rand() % 7)};
		struct http_request request;
		struct http_chunk chunk;
		struct hello hello;

		memcpy(exact, start, begin);
		for (size_t i = begin; i < len; i++)
			exact[i] = (uint8_t)(rand() % 3 ? "GET/:\r\n 0a"[rand() % 10] : rand());
		exact = realloc(exact, len > 0 ? len : 1);
		hello_read_tls(exact, len, &hello);
		http_read_request(exact, len, &request);
		http_read_chunk(exact, len, &chunk);
		inspect(&state, exact, len);
		ck_assert(chunk.kind != HELLO_PLAIN || chunk.size <= len);
		ck_assert(request.hello.kind == HELLO_BROKEN || request.hello.size <= len);
		free(exact);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("gate_hello");
	TCase *test = tcase_create("gate_hello");
	SRunner *runner = srunner_create(suite);

	tcase_set_timeout(test, 60);
	tcase_add_test(test, every_prefix_wants_more);
	tcase_add_test(test, names_are_taken_as_they_are);
	tcase_add_test(test, changed_bytes_do_not_confuse);
	tcase_add_loop_test(test, requests_are_read_strictly, 0,
			    sizeof(requests) / sizeof(requests[0]));
	tcase_add_loop_test(test, chunks_are_read_strictly, 0, sizeof(chunks) / sizeof(chunks[0]));
	tcase_add_test(test, pieces_give_the_same_verdict);
	tcase_add_loop_test(test, no_first_line_hides_a_request, 0,
			    sizeof(lines) / sizeof(lines[0]));
	tcase_add_test(test, random_bytes_are_survived);
	suite_add_tcase(suite, test);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? 0 : 1;
}
