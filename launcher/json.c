// SPDX-License-Identifier: Apache-2.0
#include "json.h"

#include <stdio.h>
#include <string.h>

#include "base64.h"
#include "utf8.h"

/* Room for `more` bytes and a NUL; returns where they go. */
static char *reserve(struct json *json, size_t more)
{
	if (json->room - json->len <= more) {
		size_t room = json->room * 2 + more + 1;

		json->text = arena_grow(json->arena, json->text, json->len, room);
		json->room = room;
	}
	return json->text + json->len;
}

static void put(struct json *json, const void *bytes, size_t len)
{
	memcpy(reserve(json, len), bytes, len);
	json->len += len;
}

static void put_char(struct json *json, char c)
{
	*reserve(json, 1) = c;
	json->len++;
}

static void value_begin(struct json *json)
{
	if (json->need_comma)
		put_char(json, ',');
	json->need_comma = true;
}

static void nest(struct json *json, char bracket)
{
	value_begin(json);
	put_char(json, bracket);
	json->need_comma = false;
}

static void unnest(struct json *json, char bracket)
{
	put_char(json, bracket);
	json->need_comma = true;
}

void json_begin(struct json *json, struct arena *arena)
{
	*json = (struct json){.arena = arena, .room = 8192};
	json->text = arena_alloc(arena, json->room);
}

char *json_finish(struct json *json)
{
	*reserve(json, 1) = '\0';
	return json->text;
}

void json_object_begin(struct json *json)
{
	nest(json, '{');
}

void json_object_end(struct json *json)
{
	unnest(json, '}');
}

void json_array_begin(struct json *json)
{
	nest(json, '[');
}

void json_array_end(struct json *json)
{
	unnest(json, ']');
}

static void put_escape(struct json *json, uint32_t point)
{
	static const char short_form[] = "\bb\tt\nn\ff\rr\"\"\\\\";
	char text[16];

	for (size_t i = 0; i < sizeof(short_form) - 1; i += 2)
		if (point == (unsigned char)short_form[i]) {
			put_char(json, '\\');
			put_char(json, short_form[i + 1]);
			return;
		}
	if (point < 0x10000)
		snprintf(text, sizeof(text), "\\u%04x", (unsigned int)point);
	else
		snprintf(text, sizeof(text), "\\u%04x\\u%04x",
			 (unsigned int)(0xd800 + ((point - 0x10000) >> 10)),
			 (unsigned int)(0xdc00 + ((point - 0x10000) & 0x3ff)));
	put(json, text, strlen(text));
}

static bool is_plain(unsigned char c)
{
	return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

/* How many bytes at the beginning stand for themselves: nearly always all of them. */
static size_t plain_length(const unsigned char *text, size_t len)
{
	size_t at = 0;

	while (at < len && is_plain(text[at]))
		at++;
	return at;
}

/* The one escaper: everything between quotes passes here. The bytes are UTF-8. */
static void put_quoted(struct json *json, const unsigned char *text, size_t len)
{
	size_t done = 0;

	put_char(json, '"');
	for (size_t at = plain_length(text, len); at < len;) {
		uint32_t point = text[at];
		size_t size = is_plain(text[at]) ? 1 : utf8_decode(text + at, len - at, &point);

		if (point == '"' || point == '\\' || utf8_is_active(point)) {
			put(json, text + done, at - done);
			put_escape(json, point);
			done = at + size;
		}
		at += size;
	}
	put(json, text + done, len - done);
	put_char(json, '"');
}

static bool is_text(const void *bytes, size_t len)
{
	size_t plain = plain_length(bytes, len);

	return utf8_valid((const char *)bytes + plain, len - plain);
}

static void put_base64(struct json *json, const char *prefix, const void *bytes, size_t len)
{
	put_char(json, '"');
	put(json, prefix, strlen(prefix));
	base64_encode(reserve(json, BASE64_LEN(len)), bytes, len);
	json->len += BASE64_LEN(len);
	put_char(json, '"');
}

void json_put_key(struct json *json, const char *key)
{
	static const char prefix[] = "base64:";
	size_t len = strlen(key);

	value_begin(json);
	if (is_text(key, len) && strncmp(key, prefix, sizeof(prefix) - 1) != 0)
		put_quoted(json, (const unsigned char *)key, len);
	else
		put_base64(json, prefix, key, len);
	put_char(json, ':');
	json->need_comma = false;
}

void json_put_base64(struct json *json, const void *bytes, size_t len)
{
	value_begin(json);
	put_base64(json, "", bytes, len);
}

void json_put_string(struct json *json, const void *bytes, size_t len)
{
	if (is_text(bytes, len)) {
		value_begin(json);
		put_quoted(json, bytes, len);
		return;
	}
	json_object_begin(json);
	json_put_key(json, "base64");
	json_put_base64(json, bytes, len);
	json_object_end(json);
}

void json_put_text(struct json *json, const char *text)
{
	if (text == NULL)
		json_put_null(json);
	else
		json_put_string(json, text, strlen(text));
}

static void put_word(struct json *json, const char *word)
{
	value_begin(json);
	put(json, word, strlen(word));
}

void json_put_number(struct json *json, uint64_t number)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)number);
	put_word(json, text);
}

void json_put_bool(struct json *json, bool value)
{
	put_word(json, value ? "true" : "false");
}

void json_put_null(struct json *json)
{
	put_word(json, "null");
}
