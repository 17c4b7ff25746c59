// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_UTF8_H
#define SBOX_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Length in bytes of the code point at `text`, or 0 when there is none: overlong
 * forms, surrogates and everything above U+10FFFF are not UTF-8. len must not be 0.
 */
size_t utf8_decode(const unsigned char *text, size_t len, uint32_t *ret_point);
bool utf8_valid(const void *bytes, size_t len);

/*
 * Code points that somebody downstream acts on instead of showing them: controls
 * (C0, DEL, C1), line separators, marks that reorder text, invisible tags.
 */
bool utf8_is_active(uint32_t point);

#endif
