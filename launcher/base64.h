// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_BASE64_H
#define SBOX_BASE64_H

#include <stddef.h>
#include <sys/types.h>

/* RFC 4648 with padding. Neither function writes a NUL. */
#define BASE64_LEN(len) (((len) + 2) / 3 * 4)

void base64_encode(char *out, const void *bytes, size_t len);
/* `out` needs room for len / 4 * 3 bytes. Returns how many were written, or -1
 * when the text is not canonical base64. */
ssize_t base64_decode(void *out, const char *text, size_t len);

#endif
