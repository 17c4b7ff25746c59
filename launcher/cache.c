// SPDX-License-Identifier: Apache-2.0
#include "cache.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <time.h>
#include <unistd.h>

#include "sha256.h"

enum { LOCK_TRIES = 500, LOCK_PAUSE_NS = 10000000 }; /* five seconds in all */

const char *const cache_variables[] = {
	"XDG_CACHE_HOME=" CACHE_INSIDE,
	"PIP_CACHE_DIR=" CACHE_INSIDE "/pip",
	"UV_CACHE_DIR=" CACHE_INSIDE "/uv",
	"npm_config_cache=" CACHE_INSIDE "/npm",
	"YARN_CACHE_FOLDER=" CACHE_INSIDE "/yarn",
	"CARGO_HOME=" CACHE_INSIDE "/cargo",
	"GOCACHE=" CACHE_INSIDE "/go-build",
	"GOMODCACHE=" CACHE_INSIDE "/go-mod",
	"GRADLE_USER_HOME=" CACHE_INSIDE "/gradle",
	"CCACHE_DIR=" CACHE_INSIDE "/ccache",
	"DENO_DIR=" CACHE_INSIDE "/deno",
	NULL,
};

/* "build-0123456789abcdef": the name is for people, the hash decides. */
static const char *folder_name(struct arena *arena, const struct profile *profile)
{
	static const char *const modes[] = {"none", "allow", "host"};
	char hex[65], name[33], real[4096];
	struct sha256 hash;
	size_t len = 0;
	const char *path = realpath(profile->path, real) != NULL ? real : profile->path;

	sha256_start(&hash);
	sha256_add(&hash, path, strlen(path) + 1);
	sha256_add(&hash, modes[profile->network.mode], strlen(modes[profile->network.mode]) + 1);
	sha256_finish_hex(&hash, hex);
	for (const char *at = profile->name; *at != '\0' && len < sizeof(name) - 1; at++)
		name[len++] = strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "0123456789_-",
				     *at) != NULL
				      ? *at
				      : '_';
	name[len] = '\0';
	return arena_printf(arena, "%s-%.16s", name, hex);
}

void cache_probe(struct arena *arena, const struct profile *profile, const char *store,
		 struct host *host)
{
	struct statfs fs;

	if (profile->file.cache_bytes == 0 || store == NULL)
		return;
	host->cache.folder =
		arena_printf(arena, "%s/caches/%s", store, folder_name(arena, profile));
	host->cache.fact.path = arena_printf(arena, "%s/files", host->cache.folder);
	/* the store is there before its folders are */
	if (statfs(store, &fs) == 0)
		host->cache.fact.fs_type = (uint32_t)fs.f_type;
}

/* Its own folder, made when it is not there; never by way of a link. */
static int open_folder(int at_fd, const char *name)
{
	if (mkdirat(at_fd, name, 0700) != 0 && errno != EEXIST)
		return -1;
	int fd = openat(at_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	/* the program may have closed its folder to its owner */
	if (fd < 0 && errno == EACCES && fchmodat(at_fd, name, 0700, 0) == 0)
		fd = openat(at_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd;
}

static int open_folders(const struct host *host, struct cache *cache)
{
	const char *name = strrchr(host->cache.folder, '/') + 1;
	char *parent = strndup(host->cache.folder, (size_t)(name - host->cache.folder) - 1);
	int parent_fd = -1;

	if (parent == NULL)
		return -1;
	if (mkdir(parent, 0700) == 0 || errno == EEXIST)
		parent_fd = open(parent, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	free(parent);
	if (parent_fd < 0)
		return -1;
	cache->folder_fd = open_folder(parent_fd, name);
	close(parent_fd);
	if (cache->folder_fd < 0)
		return -1;
	cache->files_fd = open_folder(cache->folder_fd, "files");
	cache->lock_fd =
		openat(cache->folder_fd, "lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	return cache->files_fd < 0 || cache->lock_fd < 0 ? -1 : 0;
}

/* What the last run noted, or -1: it could not. */
static int64_t noted_bytes(const struct cache *cache)
{
	char text[32];
	int fd = openat(cache->folder_fd, "bytes", O_RDONLY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return -1;
	ssize_t len = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[len > 0 ? len : 0] = '\0';
	return len > 0 ? strtoll(text, NULL, 10) : -1;
}

static void note_bytes(const struct cache *cache, uint64_t bytes)
{
	char text[32];
	int len = snprintf(text, sizeof(text), "%" PRIu64 "\n", bytes);
	int fd = openat(cache->folder_fd, "bytes.new",
			O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0)
		return;
	/* without a note the next run counts, so a failure costs time only */
	if (write(fd, text, (size_t)len) == len)
		(void)!renameat(cache->folder_fd, "bytes.new", cache->folder_fd, "bytes");
	close(fd);
}

/* Nobody else uses it. */
static int make_room(struct cache *cache, uint64_t most, uint64_t *ret_emptied)
{
	int64_t noted = noted_bytes(cache);
	uint64_t bytes = (uint64_t)noted;

	if (noted < 0 && !cache_measure(cache->files_fd, &bytes))
		bytes = UINT64_MAX;
	if (bytes > most) {
		if (cache_empty(cache->files_fd) != 0)
			return -1;
		*ret_emptied = bytes;
	}
	return unlinkat(cache->folder_fd, "bytes", 0) != 0 && errno != ENOENT ? -1 : 0;
}

/* Whoever holds it alone is measuring or emptying, which passes. */
static int lock_shared(int fd)
{
	const struct timespec pause = {.tv_nsec = LOCK_PAUSE_NS};

	for (int i = 0; i < LOCK_TRIES; i++) {
		if (flock(fd, LOCK_SH | LOCK_NB) == 0)
			return 0;
		if (errno != EWOULDBLOCK && errno != EINTR)
			return -1;
		nanosleep(&pause, NULL);
	}
	return -1;
}

int cache_open(struct arena *arena, const struct profile *profile, struct host *host,
	       struct cache *ret_cache, struct error *err)
{
	struct cache cache = {-1, -1, -1};
	struct path_fact *fact = &host->cache.fact;
	struct stat st;

	if (host->cache.folder == NULL)
		return 0;
	if (open_folders(host, &cache) != 0)
		return error_sys(err, "[file] cache: cannot make %s", host->cache.folder);
	*ret_cache = cache;
	if (flock(cache.lock_fd, LOCK_EX | LOCK_NB) == 0 &&
	    make_room(&cache, profile->file.cache_bytes, &host->cache.emptied_bytes) != 0)
		return error_sys(err, "[file] cache: cannot empty %s", host->cache.folder);
	if (lock_shared(cache.lock_fd) != 0)
		return error_sys(err, "[file] cache: cannot lock %s/lock", host->cache.folder);
	if (fstat(cache.files_fd, &st) != 0)
		return error_sys(err, "[file] cache: cannot look at %s", fact->path);
	/* whatever the last program made of it */
	if ((st.st_mode & 07777) != 0700 && fchmod(cache.files_fd, 0700) != 0)
		return error_sys(err, "[file] cache: cannot open up %s", fact->path);
	/* it is opened again without following links */
	char real[PATH_MAX];
	if (realpath(fact->path, real) == NULL)
		return error_sys(err, "[file] cache: cannot look at %s", fact->path);
	fact->path = arena_strdup(arena, real);
	fact->mode = st.st_mode;
	fact->device = st.st_dev;
	fact->inode = st.st_ino;
	fact->uid = st.st_uid;
	fact->gid = st.st_gid;
	host->cache.made = true;
	return 0;
}

void cache_close(struct cache *cache)
{
	uint64_t bytes;

	if (cache->lock_fd >= 0 && flock(cache->lock_fd, LOCK_EX | LOCK_NB) == 0)
		note_bytes(cache, cache_measure(cache->files_fd, &bytes) ? bytes : UINT64_MAX >> 1);
	const int fds[] = {cache->files_fd, cache->folder_fd, cache->lock_fd};
	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
		if (fds[i] >= 0)
			close(fds[i]);
	*cache = (struct cache){-1, -1, -1};
}
