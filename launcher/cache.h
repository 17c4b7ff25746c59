// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_CACHE_H
#define SBOX_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "arena.h"
#include "error.h"
#include "host.h"
#include "profile.h"

/*
 * A folder that stays from one run of a profile to the next, for what tools download
 * and compile: STORE/caches/NAME-HASH, where the hash is of the profile's path and its
 * network mode. So no two profiles share one, nor a profile with and without a network,
 * nor two users, since a store is one user's.
 *
 *   lock    shared while a run uses the folder, exclusive to empty or measure it
 *   bytes   how large it was when the last run ended; not there while one is going on
 *   files/  what the program sees
 *
 * After a run whose supervisor was killed `bytes` is missing: the next one counts.
 */
#define CACHE_INSIDE      INNER_HOME_FOLDER "/.cache"
#define INNER_HOME_FOLDER "/home/sandbox"

struct cache {
	int lock_fd, folder_fd, files_fd; /* -1 */
};

/* Where it is, for show; makes nothing. */
void cache_probe(struct arena *arena, const struct profile *profile, const char *store,
		 struct host *host);
/* For a run: makes it, empties it when the last run left more than the profile allows. */
int cache_open(struct arena *arena, const struct profile *profile, struct host *host,
	       struct cache *ret_cache, struct error *err);
/* After everything in the sandbox is dead. Another run that still uses it measures later. */
void cache_close(struct cache *cache);

/* cache_walk.c: bytes on disk below a folder; false: something could not be looked into. */
bool cache_measure(int folder_fd, uint64_t *ret_bytes);
/* Removes everything in a folder, however deep and whatever its permissions are. */
int cache_empty(int folder_fd);

/* NAME=VALUE for tools that do not go by XDG_CACHE_HOME; NULL ends the list. */
extern const char *const cache_variables[];

#endif
