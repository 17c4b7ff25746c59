// SPDX-License-Identifier: Apache-2.0
#include "store_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/*
 * cache/hashes: SLOTS entries of one line each, an entry in the slot that its
 * file's identity gives: the file never grows beyond that, and looking up is one
 * read. A new entry writes over the old one of its slot; the check tells a
 * mixture of two. It is the owner's to forge, as the whole store is.
 *
 * Any change of content sets ctime, except within the clock's grain and through
 * a mapping written before: so nothing changed in the last two seconds is kept.
 */
enum { SLOTS = 1024, KEY_LEN = 67, ENTRY_LEN = KEY_LEN + 1 + 64 + 1 + 16 + 1, CHUNK = 256 * 1024 };

static void key_make(char key[KEY_LEN + 1], const struct stat *st)
{
	unsigned long long ctime_ns = (unsigned long long)st->st_ctim.tv_sec * 1000000000 +
				      (unsigned long long)st->st_ctim.tv_nsec;

	snprintf(key, KEY_LEN + 1, "%016llx-%016llx-%016llx-%016llx",
		 (unsigned long long)st->st_dev, (unsigned long long)st->st_ino,
		 (unsigned long long)st->st_size, ctime_ns);
}

static void entry_make(char entry[ENTRY_LEN + 1], const char *key, const char *hex)
{
	char check[SHA256_HEX];
	int len = snprintf(entry, ENTRY_LEN + 1, "%s %s ", key, hex);

	sha256_hex_of(entry, (size_t)len, check);
	snprintf(entry + len, (size_t)(ENTRY_LEN + 1 - len), "%.16s\n", check);
}

static off_t slot_offset(const struct stat *st)
{
	/* Fibonacci hashing: neighbouring inodes are the usual case */
	uint64_t mixed = ((uint64_t)st->st_ino ^ (uint64_t)st->st_dev << 32) * 0x9e3779b97f4a7c15;

	return (off_t)(mixed >> 54) * ENTRY_LEN;
}
_Static_assert(SLOTS == 1 << (64 - 54), "slot_offset() gives one of SLOTS");

static int cache_open(struct store *store)
{
	struct error ignored;
	char where[4096];
	int folder_fd = store_folder_open(store, "cache", true, &ignored);

	if (folder_fd < 0)
		return -1;
	snprintf(where, sizeof(where), "%s/cache", store->dir);
	int fd = store_file_open(folder_fd, where, "hashes", O_RDWR | O_CREAT, store->owner, NULL,
				 &ignored);
	close(folder_fd);
	return fd;
}

static bool cache_lookup(int cache_fd, const struct stat *st, const char *key, char hex[65])
{
	char entry[ENTRY_LEN + 1], again[ENTRY_LEN + 1], found[65];

	if (pread(cache_fd, entry, ENTRY_LEN, slot_offset(st)) != ENTRY_LEN ||
	    memcmp(entry, key, KEY_LEN) != 0)
		return false;
	memcpy(found, entry + KEY_LEN + 1, 64);
	found[64] = '\0';
	entry_make(again, key, found);
	if (memcmp(entry, again, ENTRY_LEN) != 0)
		return false;
	memcpy(hex, found, 65);
	return true;
}

static bool is_settled(const struct stat *st)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return st->st_ctim.tv_sec + 2 < now.tv_sec;
}

static int hash_content(int fd, char hex[65], struct error *err)
{
	struct sha256 hash;
	unsigned char *chunk = malloc(CHUNK);
	off_t offset = 0;
	ssize_t got;

	if (chunk == NULL)
		abort();
	sha256_start(&hash);
	while ((got = pread(fd, chunk, CHUNK, offset)) != 0) {
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			break;
		sha256_add(&hash, chunk, (size_t)got);
		offset += got;
	}
	free(chunk);
	if (got < 0)
		return error_sys(err, "cannot read a file to take its hash");
	sha256_finish_hex(&hash, hex);
	return 0;
}

int store_hash_file(struct store *store, int fd, char hex[65], struct error *err)
{
	char key[KEY_LEN + 1], key_after[KEY_LEN + 1], entry[ENTRY_LEN + 1], fresh[65];
	struct stat st;

	if (fstat(fd, &st) < 0)
		return error_sys(err, "cannot look at a file to take its hash");
	if (!S_ISREG(st.st_mode))
		return error_set(err, ERROR_SYSTEM,
				 "cannot take the hash of what is not a regular file");
	int cache_fd = cache_open(store);
	key_make(key, &st);
	int rc = 0;
	if (cache_fd >= 0 && cache_lookup(cache_fd, &st, key, hex))
		goto out;
	rc = hash_content(fd, fresh, err);
	if (rc < 0)
		goto out;
	memcpy(hex, fresh, sizeof(fresh));
	if (cache_fd < 0 || !is_settled(&st) || fstat(fd, &st) < 0)
		goto out;
	key_make(key_after, &st);
	if (strcmp(key, key_after) == 0) {
		entry_make(entry, key, hex);
		(void)!pwrite(cache_fd, entry, ENTRY_LEN, slot_offset(&st));
	}
out:
	if (cache_fd >= 0)
		close(cache_fd);
	return rc;
}
