// SPDX-License-Identifier: Apache-2.0
#include "sha256.h"

void sha256_start(struct sha256 *hash)
{
	nettle_sha256_init(&hash->state);
}

void sha256_add(struct sha256 *hash, const void *data, size_t len)
{
	nettle_sha256_update(&hash->state, len, data);
}

void sha256_finish(struct sha256 *hash, uint8_t ret_digest[SHA256_BYTES])
{
	nettle_sha256_digest(&hash->state, SHA256_BYTES, ret_digest);
}

void sha256_finish_hex(struct sha256 *hash, char ret_hex[SHA256_HEX])
{
	uint8_t digest[SHA256_BYTES];

	sha256_finish(hash, digest);
	sha256_to_hex(digest, ret_hex);
}

void sha256_of(const void *data, size_t len, uint8_t ret_digest[SHA256_BYTES])
{
	struct sha256 hash;

	sha256_start(&hash);
	sha256_add(&hash, data, len);
	sha256_finish(&hash, ret_digest);
}

void sha256_hex_of(const void *data, size_t len, char ret_hex[SHA256_HEX])
{
	uint8_t digest[SHA256_BYTES];

	sha256_of(data, len, digest);
	sha256_to_hex(digest, ret_hex);
}

void sha256_to_hex(const uint8_t digest[SHA256_BYTES], char ret_hex[SHA256_HEX])
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < SHA256_BYTES; i++) {
		ret_hex[2 * i] = digits[digest[i] >> 4];
		ret_hex[2 * i + 1] = digits[digest[i] & 15];
	}
	ret_hex[SHA256_HEX - 1] = '\0';
}
