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

/* A hash on its way. */
struct store_hashing {
	struct sha256 hash;
	struct stat st; /* of the file, before the first byte was read */
	int fd, cache_fd;
	off_t offset;
	unsigned char chunk[CHUNK];
};

/* As it was when the hash was begun, as far as a file system can tell. */
static bool is_unchanged(const struct store_hashing *hashing)
{
	char before[KEY_LEN + 1], now[KEY_LEN + 1];
	struct stat st;

	if (fstat(hashing->fd, &st) < 0)
		return false;
	key_make(before, &hashing->st);
	key_make(now, &st);
	return strcmp(before, now) == 0;
}

static void keep_in_cache(const struct store_hashing *hashing, const char *hex)
{
	char key[KEY_LEN + 1], entry[ENTRY_LEN + 1];

	if (hashing->cache_fd < 0 || !is_settled(&hashing->st) || !is_unchanged(hashing))
		return;
	key_make(key, &hashing->st);
	entry_make(entry, key, hex);
	(void)!pwrite(hashing->cache_fd, entry, ENTRY_LEN, slot_offset(&hashing->st));
}

static void hashing_free(struct store_hashing *hashing)
{
	close(hashing->fd);
	if (hashing->cache_fd >= 0)
		close(hashing->cache_fd);
	free(hashing);
}

static struct store_hashing *hashing_new(int fd, int cache_fd, const struct stat *st)
{
	struct store_hashing *hashing = malloc(sizeof(*hashing));

	if (hashing == NULL)
		abort();
	hashing->fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	hashing->cache_fd = cache_fd;
	hashing->st = *st;
	hashing->offset = 0;
	sha256_start(&hashing->hash);
	return hashing;
}

int store_hash_begin(struct store *store, int fd, char hex[65], struct store_hashing **ret,
		     struct error *err)
{
	char key[KEY_LEN + 1];
	struct stat st;

	*ret = NULL;
	if (fstat(fd, &st) < 0)
		return error_sys(err, "cannot look at a file to take its hash");
	if (!S_ISREG(st.st_mode))
		return error_set(err, ERROR_SYSTEM,
				 "cannot take the hash of what is not a regular file");
	int cache_fd = cache_open(store);
	key_make(key, &st);
	if (cache_fd >= 0 && cache_lookup(cache_fd, &st, key, hex)) {
		close(cache_fd);
		return 0;
	}
	*ret = hashing_new(fd, cache_fd, &st);
	return 0;
}

bool store_hash_can_wait(const struct store_hashing *hashing)
{
	return hashing->st.st_size > CHUNK && is_settled(&hashing->st);
}

bool store_hash_more(struct store_hashing *hashing)
{
	ssize_t got;

	do
		got = pread(hashing->fd, hashing->chunk, CHUNK, hashing->offset);
	while (got < 0 && errno == EINTR);
	if (got > 0) {
		sha256_add(&hashing->hash, hashing->chunk, (size_t)got);
		hashing->offset += got;
	} else if (got < 0) {
		hashing->offset = -1;
	}
	return got > 0;
}

int store_hash_end(struct store_hashing *hashing, bool *ret_unchanged, char hex[65],
		   struct error *err)
{
	int rc = 0;

	while (hashing->offset >= 0 && store_hash_more(hashing))
		;
	*ret_unchanged = is_unchanged(hashing);
	if (hashing->offset < 0) {
		rc = error_sys(err, "cannot read a file to take its hash");
	} else {
		sha256_finish_hex(&hashing->hash, hex);
		keep_in_cache(hashing, hex);
	}
	hashing_free(hashing);
	return rc;
}

int store_hash_file(struct store *store, int fd, char hex[65], struct error *err)
{
	struct store_hashing *hashing;
	bool unchanged;

	if (store_hash_begin(store, fd, hex, &hashing, err) < 0)
		return -1;
	return hashing != NULL ? store_hash_end(hashing, &unchanged, hex, err) : 0;
}
