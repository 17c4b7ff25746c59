// SPDX-License-Identifier: Apache-2.0
#include "cmd_scan.h"

static bool is_space(char letter)
{
	return letter == ' ' || letter == '\t' || letter == '\n' || letter == '\r';
}

static void skip_space(struct scan *scan)
{
	while (scan->at < scan->end && is_space(*scan->at))
		scan->at++;
}

static bool fail(struct scan *scan)
{
	scan->is_bad = true;
	return false;
}

static bool skip_letter(struct scan *scan, char letter)
{
	skip_space(scan);
	if (scan->at == scan->end || *scan->at != letter)
		return fail(scan);
	scan->at++;
	return true;
}

/* An odd number of backslashes in front of a quote escapes it. */
static bool is_escaped(const char *from, const char *quote)
{
	size_t count = 0;

	while (quote - count > from && quote[-(ptrdiff_t)count - 1] == '\\')
		count++;
	return count % 2 == 1;
}

/* From the opening quote to behind the closing one. */
static bool skip_string(struct scan *scan)
{
	const char *from = scan->at + 1, *quote = from;

	while (quote < scan->end &&
	       (quote = memchr(quote, '"', (size_t)(scan->end - quote))) != NULL) {
		if (!is_escaped(from, quote)) {
			scan->at = quote + 1;
			return true;
		}
		quote++;
	}
	return fail(scan);
}

/* From an opening bracket of either kind to behind the one that closes it. */
static bool skip_nested(struct scan *scan)
{
	int depth = 0;

	while (scan->at < scan->end) {
		char letter = *scan->at;

		if (letter == '"') {
			if (!skip_string(scan))
				return false;
			continue;
		}
		scan->at++;
		depth += (letter == '{' || letter == '[') - (letter == '}' || letter == ']');
		if (depth == 0)
			return true;
	}
	return fail(scan);
}

static bool skip_value(struct scan *scan)
{
	const char *from = scan->at;

	if (scan->at == scan->end)
		return fail(scan);
	if (*scan->at == '"')
		return skip_string(scan);
	if (*scan->at == '{' || *scan->at == '[')
		return skip_nested(scan);
	while (scan->at < scan->end && strchr(",]}", *scan->at) == NULL && !is_space(*scan->at))
		scan->at++;
	return scan->at > from || fail(scan);
}

struct scan scan_object(struct span object)
{
	struct scan scan = {.at = object.at, .is_bad = object.at == NULL};

	if (scan.is_bad)
		return scan;
	scan.end = object.at + object.len;
	skip_letter(&scan, '{');
	return scan;
}

bool scan_member(struct scan *scan, struct span *ret_key, struct span *ret_value)
{
	if (scan->is_bad)
		return false;
	skip_space(scan);
	if (scan->at < scan->end && *scan->at == ',')
		scan->at++;
	skip_space(scan);
	if (scan->at < scan->end && *scan->at == '}')
		return false;
	if (scan->at == scan->end || *scan->at != '"')
		return fail(scan);
	const char *key = scan->at + 1;
	if (!skip_string(scan))
		return false;
	*ret_key = (struct span){key, (size_t)(scan->at - 1 - key)};
	if (!skip_letter(scan, ':'))
		return false;
	skip_space(scan);
	ret_value->at = scan->at;
	if (!skip_value(scan))
		return false;
	ret_value->len = (size_t)(scan->at - ret_value->at);
	return true;
}

struct span scan_find(struct span object, const char *key)
{
	struct scan scan = scan_object(object);
	struct span found = {0}, name, value;

	while (scan_member(&scan, &name, &value))
		if (span_is(name, key))
			found = value;
	return found;
}

uint64_t scan_number(struct span value, uint64_t otherwise)
{
	uint64_t number = 0;

	if (value.at == NULL || value.len == 0 || value.len > 19)
		return otherwise;
	for (size_t i = 0; i < value.len; i++) {
		if (value.at[i] < '0' || value.at[i] > '9')
			return otherwise;
		number = number * 10 + (uint64_t)(value.at[i] - '0');
	}
	return number;
}

json_t *scan_parse(struct span value)
{
	if (value.at == NULL)
		return NULL;
	return json_loadb(value.at, value.len, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
}
