// SPDX-License-Identifier: Apache-2.0
#include "base64.h"

#include <stdint.h>
#include <string.h>

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void base64_encode(char *out, const void *bytes, size_t len)
{
	const unsigned char *in = bytes;

	for (size_t at = 0; at < len; at += 3, out += 4) {
		size_t left = len - at;
		uint32_t group = (uint32_t)in[at] << 16;

		if (left > 1)
			group |= (uint32_t)in[at + 1] << 8;
		if (left > 2)
			group |= in[at + 2];
		out[0] = digits[group >> 18];
		out[1] = digits[group >> 12 & 63];
		out[2] = left > 1 ? digits[group >> 6 & 63] : '=';
		out[3] = left > 2 ? digits[group & 63] : '=';
	}
}

static int digit_value(char digit)
{
	const char *at = memchr(digits, digit, 64);

	return at == NULL ? -1 : (int)(at - digits);
}

/* Four digits to 1-3 bytes; returns how many, or -1. */
static int decode_group(unsigned char *out, const char *text, int padding)
{
	uint32_t group = 0;

	for (int i = 0; i < 4; i++) {
		int value = i >= 4 - padding ? 0 : digit_value(text[i]);

		if (value < 0)
			return -1;
		group = group << 6 | (uint32_t)value;
	}
	/* one text for one value: no stray bits below the padding */
	if ((padding == 1 && (group & 0xff) != 0) || (padding == 2 && (group & 0xffff) != 0))
		return -1;
	for (int i = 0; i < 3 - padding; i++)
		out[i] = (unsigned char)(group >> (16 - 8 * i));
	return 3 - padding;
}

ssize_t base64_decode(void *out, const char *text, size_t len)
{
	unsigned char *to = out;

	if (len % 4 != 0)
		return -1;
	for (size_t at = 0; at < len; at += 4) {
		int padding = 0;

		if (at + 4 == len && text[at + 3] == '=')
			padding = text[at + 2] == '=' ? 2 : 1;
		int size = decode_group(to, text + at, padding);
		if (size < 0)
			return -1;
		to += size;
	}
	return to - (unsigned char *)out;
}
