// SPDX-License-Identifier: Apache-2.0
#include "roots.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sha256.h"

struct lease {
	struct arena *arena;
	int dir_fd;        /* STORE/roots */
	const char *mode;  /* "none", "allow", "host" */
	const char *rules; /* allow: which rules, as "allow-HASH"; else NULL */
};

static const char *const modes[] = {"none", "allow", "host"};

static int open_lock(const struct lease *lease, const struct stat *st, const char *policy,
		     const char *suffix, int flags)
{
	const char *name = arena_printf(lease->arena, "%lx-%lx.%s%s", (unsigned long)st->st_dev,
					(unsigned long)st->st_ino, policy, suffix);

	return openat(lease->dir_fd, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | flags, 0600);
}

/* Kept open, and so locked, until the process ends. */
static int hold(const struct lease *lease, const struct stat *st, const char *suffix)
{
	const char *const policies[] = {lease->mode, lease->rules};

	for (size_t i = 0; i < 2 && policies[i] != NULL; i++) {
		int fd = open_lock(lease, st, policies[i], suffix, O_CREAT);

		/* somebody tests it at this moment: the test does not last */
		if (fd < 0 || flock(fd, LOCK_SH) != 0)
			return -1;
	}
	return 0;
}

/* A lock that nobody ever took is not there. */
static bool is_locked(int fd)
{
	if (fd < 0)
		return errno != ENOENT;
	bool held = flock(fd, LOCK_EX | LOCK_NB) != 0;
	close(fd);
	return held;
}

/* A run with other rules: one of the files DEVICE-INODE.allow-HASH that is not ours. */
static bool other_rules_hold(const struct lease *lease, const struct stat *st, const char *suffix)
{
	const char *start = arena_printf(lease->arena, "%lx-%lx.allow-", (unsigned long)st->st_dev,
					 (unsigned long)st->st_ino);
	const char *own = arena_printf(lease->arena, "%lx-%lx.%s%s", (unsigned long)st->st_dev,
				       (unsigned long)st->st_ino, lease->rules, suffix);
	int copy = openat(lease->dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = copy >= 0 ? fdopendir(copy) : NULL;
	const struct dirent *entry;
	bool held = dir == NULL;

	while (!held && (entry = readdir(dir)) != NULL) {
		const char *dot = strchr(entry->d_name, '.');
		const char *rest = dot != NULL ? strchr(dot + 1, '.') : NULL;

		if (strncmp(entry->d_name, start, strlen(start)) == 0 &&
		    strcmp(rest != NULL ? rest : "", suffix) == 0 &&
		    strcmp(entry->d_name, own) != 0)
			held = is_locked(openat(lease->dir_fd, entry->d_name,
						O_RDWR | O_CLOEXEC | O_NOFOLLOW));
	}
	if (dir != NULL)
		closedir(dir);
	return held;
}

/* The network mode of another policy whose run holds it, or NULL. */
static const char *holder(const struct lease *lease, const struct stat *st, const char *suffix)
{
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		if (strcmp(modes[i], lease->mode) != 0 &&
		    is_locked(open_lock(lease, st, modes[i], suffix, 0)))
			return modes[i];
	return lease->rules != NULL && other_rules_hold(lease, st, suffix) ? "allow and other rules"
									   : NULL;
}

static int refuse(const struct lease *lease, const char *path, const char *other, struct error *err)
{
	return error_set(err, ERROR_MISSING,
			 "[file] write: %s is in use by a run with network mode %s, which this one "
			 "(%s) could reach through it; wait for it, or use another folder",
			 path, other, lease->mode);
}

/* All locks are taken before any is tested: of two runs that start at once at most one goes on. */
static int lease_root(const struct lease *lease, const char *path, bool test, struct error *err)
{
	const char *suffix = "";
	struct stat st;

	for (char *at = arena_strdup(lease->arena, path);; suffix = ".below") {
		if (stat(at, &st) != 0)
			return error_sys(err, "cannot look at %s", at);
		if (!test && hold(lease, &st, suffix) != 0)
			return error_sys(err, "cannot lease %s for this run's network policy", at);
		const char *other = test ? holder(lease, &st, "") : NULL;
		if (test && other == NULL && suffix[0] == '\0')
			other = holder(lease, &st, ".below");
		if (other != NULL)
			return refuse(lease, path, other, err);
		char *slash = strrchr(at, '/');
		if (slash == at && at[1] == '\0')
			return 0;
		slash[slash == at] = '\0';
	}
}

/* Runs with the same rules reach the same. */
static const char *rules_name(struct arena *arena, const struct profile *profile)
{
	const struct string_list *lists[] = {&profile->network.allow, &profile->network.deny,
					     &profile->network.resolve, &profile->network.listen};
	struct sha256 hash;
	char hex[65];

	sha256_start(&hash);
	for (size_t l = 0; l < sizeof(lists) / sizeof(lists[0]); l++) {
		for (size_t i = 0; i < lists[l]->count; i++)
			sha256_add(&hash, lists[l]->items[i], strlen(lists[l]->items[i]) + 1);
		sha256_add(&hash, "", 1);
	}
	sha256_add(&hash, profile->network.sni == SNI_OPTIONAL ? "o" : "r", 1);
	sha256_finish_hex(&hash, hex);
	return arena_printf(arena, "allow-%.16s", hex);
}

int roots_lease(struct arena *arena, struct store *store, const struct path_facts *roots,
		const struct profile *profile, struct error *err)
{
	struct lease lease = {.arena = arena, .mode = modes[profile->network.mode]};

	if (profile->network.mode == NETWORK_ALLOW)
		lease.rules = rules_name(arena, profile);

	if (roots->count == 0)
		return 0;
	if (mkdirat(store->dir_fd, "roots", 0700) != 0 && errno != EEXIST)
		return error_sys(err, "cannot make %s/roots", store->dir);
	lease.dir_fd =
		openat(store->dir_fd, "roots", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (lease.dir_fd < 0)
		return error_sys(err, "cannot open %s/roots", store->dir);
	int failed = 0;
	for (int test = 0; test < 2 && failed == 0; test++)
		for (size_t i = 0; i < roots->count && failed == 0; i++)
			failed = lease_root(&lease, roots->items[i].path, test == 1, err);
	close(lease.dir_fd);
	return failed;
}
