// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_SHA256_H
#define SBOX_SHA256_H

#include <nettle/sha2.h>
#include <stddef.h>
#include <stdint.h>

/* SHA-256 in pieces or at once. The struct may be copied to fork a running hash. */

enum { SHA256_BYTES = 32, SHA256_HEX = 65 };

struct sha256 {
	struct sha256_ctx state;
};

void sha256_start(struct sha256 *hash);
void sha256_add(struct sha256 *hash, const void *data, size_t len);
/* The hash is then as new. */
void sha256_finish(struct sha256 *hash, uint8_t ret_digest[SHA256_BYTES]);
void sha256_finish_hex(struct sha256 *hash, char ret_hex[SHA256_HEX]);

void sha256_of(const void *data, size_t len, uint8_t ret_digest[SHA256_BYTES]);
void sha256_hex_of(const void *data, size_t len, char ret_hex[SHA256_HEX]);
/* 64 lower-case digits and a NUL. */
void sha256_to_hex(const uint8_t digest[SHA256_BYTES], char ret_hex[SHA256_HEX]);

#endif
