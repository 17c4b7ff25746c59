// SPDX-License-Identifier: Apache-2.0
#include "store_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "json.h"
#include "render_parts.h"

/* The seal's own hash tells seals apart without giving one away. */
static char *seal_body(struct arena *arena, const struct store_key *key)
{
	char id[SHA256_HEX];
	struct json json;

	sha256_hex_of(key->key, sizeof(key->key), id);
	json_begin(&json, arena);
	json_object_begin(&json);
	render_text(&json, "type", "log.key");
	render_time(&json, "time", store_now_ns());
	render_number(&json, "every", key->every);
	render_text(&json, "seal_sha256", id);
	json_object_end(&json);
	return json_finish(&json);
}

/* On disk before the first record that needs it. */
static int key_make(struct store *store, const struct store_key *key, struct error *err)
{
	store->key_fd = store_file_open(store->dir_fd, store->dir, "key", O_RDWR | O_CREAT,
					store->owner, NULL, err);
	if (store->key_fd < 0 || store_key_write(store, key, err) < 0)
		return -1;
	if (fsync(store->key_fd) < 0 || fsync(store->dir_fd) < 0)
		return store_fail(err, "audit store %s/key: cannot sync", store->dir);
	return 0;
}

static int seal_locked(struct store *store, uint64_t every, struct store_seal *ret,
		       struct error *err)
{
	struct store_tail tail;
	struct arena arena = {0};
	struct store_seal seal = {.every = every};

	if (store_tail_find(store, &tail, err) < 0)
		return -1;
	if (tail.key.every > 0 || store_key_is_there(store))
		return error_set(err, ERROR_AUDIT, "audit store %s: sealed already", store->dir);
	tail.key.every = every;
	if (getrandom(tail.key.key, SHA256_BYTES, 0) != SHA256_BYTES)
		return store_fail(err, "audit store: no random number");
	seal.seq = tail.seq + 1;
	memcpy(seal.prev, tail.hash, sizeof(seal.prev));
	sha256_to_hex(tail.key.key, seal.key);
	int rc = key_make(store, &tail.key, err);
	if (rc == 0)
		rc = store_line_append(store, &tail, seal_body(&arena, &tail.key), true, err);
	if (rc < 0)
		unlinkat(store->dir_fd, "key", 0);
	else if (fdatasync(store->key_fd) == 0)
		*ret = seal;
	explicit_bzero(&tail.key, sizeof(tail.key));
	arena_free(&arena);
	return rc;
}

int store_seal(struct store *store, uint64_t every, struct store_seal *ret, struct error *err)
{
	if (store_lock(store, err) < 0)
		return -1;
	int rc = seal_locked(store, every, ret, err);
	store_unlock(store);
	return rc;
}
