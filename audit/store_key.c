// SPDX-License-Identifier: Apache-2.0
#include "store_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <nettle/hmac.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * The file `key` holds the key of the next record. It is always written over in place, with
 * the same length, so that the old key is nowhere else in the file system; the device may
 * still have it (copy-on-write, wear levelling), and until the kernel writes the page back
 * so has the disk.
 *
 * Records that one key is used for are an epoch. Epochs are counted in records, not in time:
 * the number of a sealed record says which one it belongs to, so that none is ever empty and
 * none can be left out unnoticed.
 *
 * A record comes first and its key's successor second. A crash between the two leaves the
 * file behind the log; the keys in between can be computed, and are, by the next append.
 */
enum { KEY_SIZE = 161 };

static const char label[] = "sbox audit: next key";

void store_key_mac(const uint8_t key[SHA256_BYTES], const char *start, size_t start_len,
		   const char *rest, size_t rest_len, char ret_hex[SHA256_HEX])
{
	struct hmac_sha256_ctx hmac;
	uint8_t digest[SHA256_BYTES];

	hmac_sha256_set_key(&hmac, SHA256_BYTES, key);
	hmac_sha256_update(&hmac, start_len, (const uint8_t *)start);
	hmac_sha256_update(&hmac, rest_len, (const uint8_t *)rest);
	hmac_sha256_digest(&hmac, SHA256_BYTES, digest);
	sha256_to_hex(digest, ret_hex);
	explicit_bzero(&hmac, sizeof(hmac));
}

void store_key_evolve(uint8_t key[SHA256_BYTES])
{
	struct hmac_sha256_ctx hmac;

	hmac_sha256_set_key(&hmac, SHA256_BYTES, key);
	hmac_sha256_update(&hmac, sizeof(label) - 1, (const uint8_t *)label);
	hmac_sha256_digest(&hmac, SHA256_BYTES, key);
	explicit_bzero(&hmac, sizeof(hmac));
}

void store_key_advance(struct store_key *key, uint64_t count)
{
	uint64_t before = key->sealed / key->every;

	key->sealed += count;
	for (uint64_t epoch = before; epoch < key->sealed / key->every; epoch++)
		store_key_evolve(key->key);
}

static void format(char text[KEY_SIZE + 1], const struct store_key *key)
{
	char hex[SHA256_HEX], check[SHA256_HEX];

	sha256_to_hex(key->key, hex);
	int len = snprintf(text, KEY_SIZE + 1, "{\"every\":%20llu,\"sealed\":%20llu,\"key\":\"%s\"",
			   (unsigned long long)key->every, (unsigned long long)key->sealed, hex);
	sha256_hex_of(text, (size_t)len, check);
	len += snprintf(text + len, (size_t)(KEY_SIZE + 1 - len), ",\"check\":\"%.16s\"}\n", check);
	if (len != KEY_SIZE)
		abort();
	explicit_bzero(hex, sizeof(hex));
}

bool store_key_from_hex(const char *hex, uint8_t ret[SHA256_BYTES])
{
	static const char digits[] = "0123456789abcdef";

	for (int i = 0; i < 2 * SHA256_BYTES; i++) {
		const char *digit = hex[i] != '\0' ? strchr(digits, hex[i]) : NULL;

		if (digit == NULL)
			return false;
		ret[i / 2] = (uint8_t)(ret[i / 2] << 4 | (digit - digits));
	}
	return true;
}

bool store_key_parse(const char *text, size_t len, struct store_key *ret)
{
	char copy[KEY_SIZE + 1], again[KEY_SIZE + 1], hex[SHA256_HEX] = "";
	unsigned long long every, sealed;
	struct store_key key = {0};

	if (len != KEY_SIZE)
		return false;
	memcpy(copy, text, KEY_SIZE);
	copy[KEY_SIZE] = '\0';
	if (sscanf(copy, "{\"every\":%20llu,\"sealed\":%20llu,\"key\":\"%64[0-9a-f]\"", &every,
		   &sealed, hex) != 3 ||
	    every == 0 || sealed > STORE_SEQ_MAX || !store_key_from_hex(hex, key.key))
		return false;
	key.every = every;
	key.sealed = sealed;
	format(again, &key);
	if (memcmp(copy, again, KEY_SIZE) != 0)
		return false;
	*ret = key;
	return true;
}

bool store_key_is_there(const struct store *store)
{
	return faccessat(store->dir_fd, "key", F_OK, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT;
}

int store_key_read(struct store *store, struct store_key *ret, struct error *err)
{
	char text[KEY_SIZE + 1];

	if (store->key_fd < 0)
		store->key_fd = store_file_open(store->dir_fd, store->dir, "key", O_RDWR,
						store->owner, NULL, err);
	if (store->key_fd < 0 && err->errnum == ENOENT)
		return error_set(err, ERROR_AUDIT,
				 "audit store %s/key: gone, though the log is sealed: put it back, "
				 "or move the store away",
				 store->dir);
	if (store->key_fd < 0)
		return -1;
	ssize_t len = pread(store->key_fd, text, sizeof(text), 0);
	bool is_good = len >= 0 && store_key_parse(text, (size_t)len, ret);
	explicit_bzero(text, sizeof(text));
	if (is_good)
		return 0;
	return error_set(err, ERROR_AUDIT,
			 "audit store %s/key: damaged: put it back, or move the store away",
			 store->dir);
}

int store_key_write(struct store *store, const struct store_key *key, struct error *err)
{
	char text[KEY_SIZE + 1];

	format(text, key);
	ssize_t done = pwrite(store->key_fd, text, KEY_SIZE, 0);
	explicit_bzero(text, sizeof(text));
	if (done == KEY_SIZE)
		return 0;
	errno = done < 0 ? errno : EIO;
	return store_fail(err, "audit store %s/key: cannot write over the old key", store->dir);
}
