// SPDX-License-Identifier: Apache-2.0
/* An audit store that keeps nothing, linked in the place of audit/store*.c: what tests/bench/audit
 * compares a run with. Not a part of sbox. */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "sha256.h"
#include "store.h"

int store_open(struct store *store, const char *dir, uid_t owner, struct error *err)
{
	(void)err;
	mkdir(dir, 0700);
	/* the leases of workspaces are in there, and stay */
	*store = (struct store){.dir = dir,
				.dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC),
				.owner = owner};
	return store->dir_fd < 0 ? -1 : 0;
}

void store_close(struct store *store)
{
	(void)store;
}

const char *store_parse_limits(const char *text, uint64_t *ret_ms, uint64_t *ret_bytes)
{
	(void)text;
	*ret_ms = *ret_bytes = 0;
	return NULL;
}

int store_append(struct store *store, const char *body, enum store_sync sync, struct error *err)
{
	(void)store, (void)body, (void)sync, (void)err;
	return 0;
}

int store_sync(struct store *store, struct error *err)
{
	(void)store, (void)err;
	return 0;
}

int store_reserve(struct store *store, size_t bytes, struct error *err)
{
	(void)store, (void)bytes, (void)err;
	return 0;
}

int store_keep(struct store *store, const char *dir, const char *name, const void *data, size_t len,
	       struct error *err)
{
	(void)store, (void)dir, (void)name, (void)data, (void)len, (void)err;
	return 0;
}

bool store_is_kept(struct store *store, const char *dir, const char *name)
{
	(void)store, (void)dir, (void)name;
	return true;
}

int store_run_begin(struct store *store, const char *run, int *ret_fd, struct error *err)
{
	(void)store, (void)run, (void)err;
	*ret_fd = -1;
	return 0;
}

int store_run_undo(struct store *store, const char *run, const char *line, struct error *err)
{
	(void)store, (void)run, (void)line, (void)err;
	return 0;
}

void store_run_finish(struct store *store, const char *run, int fd)
{
	(void)store, (void)run, (void)fd;
}

int store_run_sweep(struct store *store, void (*undo)(const char *line, void *ctx), void *ctx,
		    struct error *err)
{
	(void)store, (void)undo, (void)ctx, (void)err;
	return 0;
}

void store_prune_when_due(struct store *store)
{
	(void)store;
}

/* Which code runs is found out with or without a store: a lookup in a warm cache. */
int store_hash_file(struct store *store, int fd, char hex[65], struct error *err)
{
	(void)store, (void)fd, (void)err;
	memset(hex, '0', 64);
	hex[64] = '\0';
	return 0;
}

int store_hash_begin(struct store *store, int fd, char hex[65], struct store_hashing **ret,
		     struct error *err)
{
	*ret = NULL;
	return store_hash_file(store, fd, hex, err);
}

bool store_hash_can_wait(const struct store_hashing *hashing)
{
	(void)hashing;
	return false;
}

bool store_hash_more(struct store_hashing *hashing)
{
	(void)hashing;
	return false;
}

int store_hash_end(struct store_hashing *hashing, bool *ret_unchanged, char hex[65],
		   struct error *err)
{
	(void)hashing, (void)ret_unchanged, (void)hex, (void)err;
	return 0;
}

int store_default_dir(struct arena *arena, uid_t euid, const char **ret, struct error *err)
{
	(void)arena, (void)euid;
	*ret = NULL;
	return error_set(err, ERROR_AUDIT, "name a store");
}
