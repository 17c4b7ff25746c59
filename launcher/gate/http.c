// SPDX-License-Identifier: Apache-2.0
#include "http.h"

#include <string.h>
#include <strings.h>

enum { METHOD_MOST = 32, CHUNK_LINE_MOST = 256 };

struct line {
	const char *text;
	size_t len;
};

static bool is_token(unsigned char byte)
{
	return (byte >= '0' && byte <= '9') || ((byte | 0x20) >= 'a' && (byte | 0x20) <= 'z') ||
	       (byte != '\0' && strchr("!#$%&'*+-.^_`|~", byte) != NULL);
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

enum hello_kind http_recognize(const uint8_t *bytes, size_t len)
{
	size_t at = 0, start = 0;

	while (at < len && is_token(bytes[at]))
		if (++at - start > METHOD_MOST)
			return HELLO_BROKEN;
	if (at == len)
		return HELLO_MORE;
	if (at == start || bytes[at] != ' ')
		return HELLO_BROKEN;
	while (at < len && bytes[at] == ' ')
		at++;
	if (at == len)
		return HELLO_MORE;
	/* A path, "*", an URL, or the authority of CONNECT. */
	if (bytes[at] == '/' || bytes[at] == '*')
		return HELLO_NAMED;
	bool connect = len - start >= 7 && memcmp(bytes + start, "CONNECT", 7) == 0;
	size_t left = len - at < 4 ? len - at : 4;
	if (connect || (left > 0 && strncasecmp((const char *)bytes + at, "http", left) == 0))
		return !connect && left < 4 ? HELLO_MORE : HELLO_NAMED;
	return HELLO_BROKEN;
}

/* 1 and the line without its end; 0: no end yet; -1: a byte that belongs in no head. */
static int take_line(const uint8_t *bytes, size_t len, size_t *at, struct line *ret_line)
{
	const uint8_t *end = memchr(bytes + *at, '\n', len - *at);
	size_t size = end ? (size_t)(end - bytes) - *at : len - *at;

	if (end != NULL && size > 0 && end[-1] == '\r')
		size--;
	for (size_t i = *at; i < *at + size; i++) {
		bool last = end == NULL && i + 1 == len; /* the CR of a line end, perhaps */

		if ((bytes[i] < ' ' && bytes[i] != '\t' && !(bytes[i] == '\r' && last)) ||
		    bytes[i] == 0x7f)
			return -1;
	}
	if (end == NULL)
		return 0;
	*ret_line = (struct line){(const char *)bytes + *at, size};
	*at = (size_t)(end - bytes) + 1;
	return 1;
}

/* NAME, NAME:PORT, [V6]:PORT. USER@ before it is for clients and never sent (RFC 9110, 4.2.4), and
 * where it ends is anybody's guess: a name it is not. */
static void set_authority(struct hello *hello, const char *text, size_t len)
{
	const char *colon = memrchr(text, ':', len);
	if (colon != NULL && memchr(colon, ']', len - (size_t)(colon - text)) == NULL)
		len = (size_t)(colon - text);
	hello_set_name(hello, text, len);
}

static bool starts_with(const char *text, size_t len, const char *word)
{
	return len >= strlen(word) && strncasecmp(text, word, strlen(word)) == 0;
}

/* METHOD TARGET HTTP/1.x; false: broken. */
static bool read_request_line(const struct line *line, struct http_request *request)
{
	const char *end = line->text + line->len;
	const char *target = memchr(line->text, ' ', line->len);
	const char *version = memrchr(line->text, ' ', line->len);

	if (target == NULL || version == target)
		return false; /* HTTP/0.9: no host, and nobody's client */
	target++;
	size_t len = (size_t)(version - target), method = (size_t)(target - line->text) - 1;
	if (memchr(target, ' ', len) != NULL || memchr(line->text, '\t', line->len) != NULL)
		return false;
	version++;
	request->hidden = end - version == 8 && memcmp(version, "HTTP/2.0", 8) == 0;
	if (end - version != 8 || (memcmp(version, "HTTP/1.", 7) != 0 && !request->hidden))
		return false;
	request->leaves = method == 7 && memcmp(line->text, "CONNECT", 7) == 0;
	if (request->leaves) {
		set_authority(&request->hello, target, len);
		return true;
	}
	size_t scheme = starts_with(target, len, "http://")    ? 7
			: starts_with(target, len, "https://") ? 8
							       : 0;
	if (scheme > 0) {
		size_t size = 0;

		while (scheme + size < len && strchr("/?#", target[scheme + size]) == NULL)
			size++;
		set_authority(&request->hello, target + scheme, size);
	}
	return scheme > 0 || target[0] == '/' || (target[0] == '*' && len == 1);
}

static bool is_field(const struct line *name, const char *word)
{
	return name->len == strlen(word) && strncasecmp(name->text, word, name->len) == 0;
}

static bool read_length(const struct line *value, uint64_t *ret_number)
{
	uint64_t number = 0;

	if (value->len == 0 || value->len > 18)
		return false;
	for (size_t i = 0; i < value->len; i++) {
		if (value->text[i] < '0' || value->text[i] > '9')
			return false;
		number = number * 10 + (uint64_t)(value->text[i] - '0');
	}
	*ret_number = number;
	return true;
}

/* What was seen of each field that must not come twice. */
struct seen {
	bool host, length;
};

static bool read_host(const struct line *value, struct http_request *request, struct seen *seen)
{
	struct hello named = {0};

	if (seen->host || memchr(value->text, '@', value->len) != NULL)
		return false;
	seen->host = true;
	if (value->len == 0)
		return true;
	set_authority(&named, value->text, value->len);
	/* The target's authority wins (RFC 9112, 3.2.2); servers differ, so both have to agree. */
	if (request->hello.kind == HELLO_NAMED &&
	    strcasecmp(named.shown, request->hello.shown) != 0)
		return false;
	request->hello = named;
	return true;
}

static bool read_field(const struct line *line, struct http_request *request, struct seen *seen)
{
	const char *colon = memchr(line->text, ':', line->len);
	struct line name = {line->text, colon ? (size_t)(colon - line->text) : 0};

	if (name.len == 0)
		return false;
	for (size_t i = 0; i < name.len; i++)
		if (!is_token((unsigned char)name.text[i]))
			return false; /* also a folded line, and a blank before the colon */
	struct line value = {colon + 1, line->len - name.len - 1};
	while (value.len > 0 && is_blank(value.text[0])) {
		value.text++;
		value.len--;
	}
	while (value.len > 0 && is_blank(value.text[value.len - 1]))
		value.len--;

	if (is_field(&name, "host"))
		return read_host(&value, request, seen);
	if (is_field(&name, "content-length")) {
		bool first = !seen->length;

		seen->length = true;
		return first && read_length(&value, &request->body);
	}
	if (is_field(&name, "transfer-encoding")) {
		bool first = !request->chunked;

		request->chunked = true;
		return first && is_field(&value, "chunked");
	}
	if (is_field(&name, "upgrade"))
		request->leaves = true;
	return true;
}

/* The fields, up to and with the empty line: as take_line(). */
static int read_fields(const uint8_t *bytes, size_t len, size_t *at, struct http_request *request)
{
	struct seen seen = {0};
	struct line line;

	for (;;) {
		int rc = take_line(bytes, len, at, &line);

		if (rc <= 0)
			return rc;
		if (line.len == 0)
			return request->chunked && seen.length ? -1 : 1;
		if (!read_field(&line, request, &seen))
			return -1;
	}
}

void http_read_request(const uint8_t *bytes, size_t len, struct http_request *ret_request)
{
	struct http_request request = {.hello.kind = HELLO_PLAIN};
	size_t at = 0;
	struct line line;
	int rc = take_line(bytes, len, &at, &line);

	if (rc > 0)
		rc = read_request_line(&line, &request) ? 1 : -1;
	if (rc > 0)
		rc = read_fields(bytes, len, &at, &request);
	request.hello.size = at;
	if (rc < 0 || (rc == 0 && len >= HELLO_BYTES))
		request.hello.kind = HELLO_BROKEN;
	else if (rc == 0)
		request.hello.kind = HELLO_MORE;
	*ret_request = request;
}

static bool read_hex(const struct line *line, uint64_t *ret_number)
{
	uint64_t number = 0;
	size_t i = 0;

	for (; i < line->len && i < 15; i++) {
		char c = (char)(line->text[i] | 0x20);

		if (line->text[i] >= '0' && line->text[i] <= '9')
			number = number << 4 | (uint64_t)(line->text[i] - '0');
		else if (c >= 'a' && c <= 'f')
			number = number << 4 | (uint64_t)(c - 'a' + 10);
		else
			break;
	}
	*ret_number = number;
	return i > 0 && (i == line->len || line->text[i] == ';');
}

void http_read_chunk(const uint8_t *bytes, size_t len, struct http_chunk *ret_chunk)
{
	struct http_chunk chunk = {.kind = HELLO_PLAIN};
	struct http_request trailers = {0};
	struct line line;
	int rc = take_line(bytes, len, &chunk.size, &line);

	/* the same, however much of it has come */
	if (rc >= 0 && (rc > 0 ? chunk.size : len) > CHUNK_LINE_MOST)
		rc = -1;
	if (rc > 0)
		rc = read_hex(&line, &chunk.data) ? 1 : -1;
	if (rc > 0 && chunk.data == 0) {
		chunk.last = true;
		rc = read_fields(bytes, len, &chunk.size, &trailers);
	}
	if (rc < 0 || (rc == 0 && len >= HELLO_BYTES))
		chunk.kind = HELLO_BROKEN;
	else if (rc == 0)
		chunk.kind = HELLO_MORE;
	*ret_chunk = chunk;
}
