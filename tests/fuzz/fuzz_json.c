// SPDX-License-Identifier: Apache-2.0
/* The JSON writer: whatever is written, jansson reads back the same, and no terminal acts on it. */
#include "fuzz.h"

#include <jansson.h>

#include "base64.h"
#include "json.h"
#include "utf8.h"

enum { VALUES = 64 };

struct value {
	char kind; /* s string, t text, b base64, n number, y yes, 0 null */
	char *key, *bytes;
	size_t len;
	uint64_t number;
};

static void check_calm(const char *text)
{
	const unsigned char *at = (const unsigned char *)text;
	size_t left = strlen(text);

	while (left > 0) {
		uint32_t point = 0;
		size_t size = utf8_decode(at, left, &point);

		REQUIRE(size > 0 && !utf8_is_active(point));
		at += size;
		left -= size;
	}
}

static void write_value(struct json *json, const struct value *value)
{
	if (value->kind == 's')
		json_put_string(json, value->bytes, value->len);
	else if (value->kind == 't')
		json_put_text(json, value->bytes);
	else if (value->kind == 'b')
		json_put_base64(json, value->bytes, value->len);
	else if (value->kind == 'n')
		json_put_number(json, value->number);
	else if (value->kind == 'y')
		json_put_bool(json, value->number & 1);
	else
		json_put_null(json);
}

static void check_base64(const json_t *text, const char *prefix, const char *bytes, size_t len)
{
	size_t skip = strlen(prefix), size = json_string_length(text) - skip;
	char *decoded = malloc(size + 1);

	REQUIRE(json_is_string(text) && memcmp(json_string_value(text), prefix, skip) == 0);
	REQUIRE(base64_decode(decoded, json_string_value(text) + skip, size) == (ssize_t)len);
	REQUIRE(memcmp(decoded, bytes, len) == 0);
	free(decoded);
}

static void check_value(const json_t *read, const struct value *value)
{
	size_t len = value->kind == 't' ? strlen(value->bytes) : value->len;

	switch (value->kind) {
	case 's':
	case 't':
		if (utf8_valid(value->bytes, len)) {
			REQUIRE(json_is_string(read) && json_string_length(read) == len);
			REQUIRE(memcmp(json_string_value(read), value->bytes, len) == 0);
		} else {
			REQUIRE(json_is_object(read) && json_object_size(read) == 1);
			check_base64(json_object_get(read, "base64"), "", value->bytes, len);
		}
		break;
	case 'b':
		check_base64(read, "", value->bytes, len);
		break;
	case 'n':
		REQUIRE(json_is_integer(read) &&
			(uint64_t)json_integer_value(read) == value->number);
		break;
	case 'y':
		REQUIRE(json_is_boolean(read) && json_is_true(read) == (value->number & 1));
		break;
	default:
		REQUIRE(json_is_null(read));
	}
}

static void check_key(const char *read, const char *key)
{
	size_t len = strlen(key);

	if (utf8_valid(key, len) && strncmp(key, "base64:", 7) != 0) {
		REQUIRE(strcmp(read, key) == 0);
	} else {
		json_t *text = json_string(read);

		check_base64(text, "base64:", key, len);
		json_decref(text);
	}
}

/* Base64 that is not what an encoder writes is refused. */
static void check_decoder(const char *text, size_t len)
{
	char *decoded = malloc(len + 1), *again = malloc(len + 8);
	ssize_t size = base64_decode(decoded, text, len);

	if (size >= 0) {
		REQUIRE(BASE64_LEN((size_t)size) == len);
		base64_encode(again, decoded, (size_t)size);
		REQUIRE(memcmp(again, text, len) == 0);
	}
	free(again);
	free(decoded);
}

static size_t read_values(struct fuzz_input *input, struct value values[VALUES])
{
	size_t count = 0;

	while (count < VALUES && fuzz_left(input) > 0) {
		struct value *value = &values[count++];

		value->kind = "stbny0"[fuzz_byte(input) % 6];
		value->key = fuzz_piece(input, '\0', NULL);
		value->bytes = fuzz_piece(input, '\xff', &value->len);
		/* jansson's integers are signed */
		value->number = 0;
		memcpy(&value->number, value->bytes, value->len < 7 ? value->len : 7);
		check_decoder(value->bytes, value->len);
	}
	return count;
}

/* An array, so that a key may come twice. */
static char *write_all(struct arena *arena, const struct value *values, size_t count)
{
	struct json json;

	json_begin(&json, arena);
	json_array_begin(&json);
	for (size_t i = 0; i < count; i++) {
		json_object_begin(&json);
		json_put_key(&json, values[i].key);
		write_value(&json, &values[i]);
		json_object_end(&json);
	}
	json_array_end(&json);
	return json_finish(&json);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct fuzz_input input = {bytes, bytes + len};
	struct value values[VALUES];
	struct arena arena = {0};
	size_t count = read_values(&input, values);
	const char *text = write_all(&arena, values, count);
	json_t *read = json_loads(text, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);

	check_calm(text);
	REQUIRE(read != NULL && json_array_size(read) == count);
	for (size_t i = 0; i < count; i++) {
		json_t *object = json_array_get(read, i);
		void *member = json_object_iter(object);

		REQUIRE(json_object_size(object) == 1);
		check_key(json_object_iter_key(member), values[i].key);
		check_value(json_object_iter_value(member), &values[i]);
		free(values[i].key);
		free(values[i].bytes);
	}
	json_decref(read);
	arena_free(&arena);
	return 0;
}
