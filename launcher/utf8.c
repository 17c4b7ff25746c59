// SPDX-License-Identifier: Apache-2.0
#include "utf8.h"

size_t utf8_decode(const unsigned char *text, size_t len, uint32_t *ret_point)
{
	static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
	unsigned char first = text[0];
	size_t size = first < 0x80             ? 1
		      : (first & 0xe0) == 0xc0 ? 2
		      : (first & 0xf0) == 0xe0 ? 3
		      : (first & 0xf8) == 0xf0 ? 4
					       : 0;

	if (size == 0 || size > len)
		return 0;
	uint32_t point = size == 1 ? first : first & (0x7fu >> size);
	for (size_t i = 1; i < size; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return 0;
		point = point << 6 | (text[i] & 0x3f);
	}
	if (point < smallest[size] || point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff))
		return 0;
	*ret_point = point;
	return size;
}

bool utf8_valid(const void *bytes, size_t len)
{
	const unsigned char *text = bytes;
	uint32_t point;

	for (size_t at = 0; at < len;) {
		size_t size = utf8_decode(text + at, len - at, &point);

		if (size == 0)
			return false;
		at += size;
	}
	return true;
}

bool utf8_is_active(uint32_t point)
{
	static const struct {
		uint32_t first, last;
	} ranges[] = {
		{0x0000, 0x001f}, {0x007f, 0x009f}, {0x00ad, 0x00ad},   {0x061c, 0x061c},
		{0x180e, 0x180e}, {0x200b, 0x200f}, {0x2028, 0x202e},   {0x2060, 0x206f},
		{0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0xe007f},
	};

	if (point >= 0x20 && point < 0x7f)
		return false;
	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
		if (point >= ranges[i].first && point <= ranges[i].last)
			return true;
	return false;
}
