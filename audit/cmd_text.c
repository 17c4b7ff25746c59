// SPDX-License-Identifier: Apache-2.0
#include "cmd.h"

#include <inttypes.h>
#include <string.h>

#include "base64.h"
#include "utf8.h"

struct bytes text_bytes(struct arena *arena, const json_t *value)
{
	const json_t *base64 = json_object_get(value, "base64");

	if (json_is_string(value))
		return (struct bytes){json_string_value(value), json_string_length(value)};
	if (!json_is_string(base64))
		return (struct bytes){0};
	char *data = arena_alloc(arena, json_string_length(base64) + 1);
	ssize_t len = base64_decode(data, json_string_value(base64), json_string_length(base64));
	if (len < 0)
		return (struct bytes){0};
	return (struct bytes){data, (size_t)len};
}

enum style { STYLE_VALUE, STYLE_LINE, STYLE_QUOTED };

/* The escape for what stands at `at`, or "" when it is shown as it is. Sets the bytes it takes. */
static const char *escape(struct bytes bytes, size_t at, enum style style, char buf[16],
			  size_t *ret_size)
{
	static const char letters[] = "\033e\nn\rr\tt";
	unsigned char byte = (unsigned char)bytes.data[at];
	uint32_t point = 0;

	*ret_size = utf8_decode((const unsigned char *)bytes.data + at, bytes.len - at, &point);
	buf[0] = '\0';
	if (*ret_size == 0) {
		*ret_size = 1;
		snprintf(buf, 16, "\\x%02x", byte);
		return buf;
	}
	if (style == STYLE_LINE && point == '\t')
		return buf;
	if ((point == '\\' && style != STYLE_LINE) || (point == '\'' && style == STYLE_QUOTED)) {
		snprintf(buf, 16, "\\%c", (char)point);
		return buf;
	}
	if (!utf8_is_active(point))
		return buf;
	for (size_t i = 0; i < sizeof(letters) - 1; i += 2)
		if (point == (unsigned char)letters[i]) {
			snprintf(buf, 16, "\\%c", letters[i + 1]);
			return buf;
		}
	snprintf(buf, 16,
		 point < 0x80      ? "\\x%02" PRIx32
		 : point < 0x10000 ? "\\u%04" PRIx32
				   : "\\U%08" PRIx32,
		 point);
	return buf;
}

static char *make_safe(struct arena *arena, struct bytes bytes, enum style style)
{
	char *text = arena_alloc(arena, bytes.len * 10 + 1), buf[16];
	size_t len = 0, size;

	for (size_t at = 0; at < bytes.len; at += size) {
		const char *instead = escape(bytes, at, style, buf, &size);

		if (instead[0] != '\0')
			len += (size_t)sprintf(text + len, "%s", instead);
		else {
			memcpy(text + len, bytes.data + at, size);
			len += size;
		}
	}
	text[len] = '\0';
	return text;
}

const char *text_value(struct arena *arena, const json_t *value)
{
	struct bytes bytes = text_bytes(arena, value);

	if (json_is_integer(value))
		return arena_printf(arena, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
	if (json_is_boolean(value))
		return json_is_true(value) ? "yes" : "no";
	return bytes.data == NULL ? "-" : make_safe(arena, bytes, STYLE_VALUE);
}

const char *text_member(struct arena *arena, const json_t *object, const char *key)
{
	return text_value(arena, json_object_get(object, key));
}

static bool has_only(struct bytes bytes, const char *accepted)
{
	for (size_t i = 0; i < bytes.len; i++)
		if (bytes.data[i] == '\0' || strchr(accepted, bytes.data[i]) == NULL)
			return false;
	return true;
}

const char *text_argument(struct arena *arena, struct bytes bytes)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_./:=,@%+-";

	if (bytes.data == NULL)
		return "-";
	if (bytes.len > 0 && has_only(bytes, plain))
		return make_safe(arena, bytes, STYLE_VALUE);
	const char *quoted = make_safe(arena, bytes, STYLE_QUOTED);
	bool is_escaped = strlen(quoted) != bytes.len;
	return arena_printf(arena, is_escaped ? "$'%s'" : "'%s'", quoted);
}

const char *text_arguments(struct arena *arena, const json_t *argv)
{
	const char *text = "";
	const json_t *argument;
	size_t i;

	json_array_foreach((json_t *)argv, i, argument) text =
		arena_printf(arena, i == 0 ? "%s%s" : "%s %s", text,
			     text_argument(arena, text_bytes(arena, argument)));
	return text[0] == '\0' ? "-" : text;
}

const char *text_line(struct arena *arena, struct bytes bytes)
{
	return make_safe(arena, bytes, STYLE_LINE);
}

void text_print_block(struct arena *arena, struct bytes bytes)
{
	while (bytes.len > 0) {
		const char *newline = memchr(bytes.data, '\n', bytes.len);
		struct bytes line = {bytes.data,
				     newline == NULL ? bytes.len : (size_t)(newline - bytes.data)};

		printf("  | %s\n", make_safe(arena, line, STYLE_LINE));
		if (newline == NULL)
			return;
		bytes.data += line.len + 1;
		bytes.len -= line.len + 1;
	}
}

/* The digits of a number; gives the place behind them. */
static char *put_digits(char *at, uint64_t number, int least)
{
	char digits[20];
	int count = 0;

	for (; number > 0 || count < least; number /= 10)
		digits[count++] = (char)('0' + number % 10);
	while (count > 0)
		*at++ = digits[--count];
	return at;
}

void text_duration_into(char text[DURATION_SIZE], uint64_t nanoseconds)
{
	uint64_t ms = nanoseconds / 1000000, seconds = ms / 1000;
	char *at = text;

	if (nanoseconds == UINT64_MAX) {
		strcpy(text, "-");
	} else if (ms < 1000) {
		strcpy(put_digits(at, ms, 1), " ms");
	} else if (seconds < 60) {
		at = put_digits(at, seconds, 1);
		*at++ = '.';
		strcpy(put_digits(at, ms % 1000, 3), " s");
	} else {
		bool has_hours = seconds >= 3600;

		at = put_digits(at, has_hours ? seconds / 3600 : seconds / 60, 1);
		*at++ = has_hours ? 'h' : 'm';
		at = put_digits(at, has_hours ? seconds / 60 % 60 : seconds % 60, 2);
		strcpy(at, has_hours ? "m" : "s");
	}
}

const char *text_duration(struct arena *arena, const json_t *nanoseconds)
{
	char text[DURATION_SIZE];
	bool is_known = json_is_integer(nanoseconds) && json_integer_value(nanoseconds) >= 0;

	text_duration_into(text, is_known ? (uint64_t)json_integer_value(nanoseconds) : UINT64_MAX);
	return arena_strdup(arena, text);
}

const char *text_end(struct arena *arena, const json_t *record)
{
	const json_t *end = json_object_get(record, "end");
	const json_t *signal = json_object_get(end, "signal");
	const json_t *code = json_object_get(end, "code");
	const char *kind = text_member(arena, end, "kind");

	if (json_is_string(signal))
		return arena_printf(arena, "%s %s", kind, text_value(arena, signal));
	if (json_is_integer(code))
		return arena_printf(arena, "%s %s", kind, text_value(arena, code));
	return kind;
}

size_t text_width(const char *text)
{
	size_t width = 0;

	for (; *text != '\0'; text++)
		width += ((unsigned char)*text & 0xc0) != 0x80;
	return width;
}

const char *text_cut(struct arena *arena, const char *text, size_t width)
{
	const char *end = text;

	if (text_width(text) <= width)
		return text;
	for (size_t seen = 0; seen < width; end++)
		seen += ((unsigned char)*end & 0xc0) != 0x80;
	while (end > text && ((unsigned char)*--end & 0xc0) == 0x80)
		continue;
	return arena_printf(arena, "%.*s…", (int)(end - text), text);
}
