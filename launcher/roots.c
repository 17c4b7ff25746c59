// SPDX-License-Identifier: Apache-2.0
#include "roots.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

struct lease {
	struct arena *arena;
	int dir_fd; /* STORE/roots */
	const char *mine, *other;
};

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
	int fd = open_lock(lease, st, lease->mine, suffix, O_CREAT);

	/* somebody tests it at this moment: the test does not last */
	return fd >= 0 && flock(fd, LOCK_SH) == 0 ? 0 : -1;
}

/* Whether a run of the other policy holds it. A lock that nobody ever took is not there. */
static bool is_held(const struct lease *lease, const struct stat *st, const char *suffix)
{
	int fd = open_lock(lease, st, lease->other, suffix, 0);

	if (fd < 0)
		return errno != ENOENT;
	bool held = flock(fd, LOCK_EX | LOCK_NB) != 0;
	close(fd);
	return held;
}

static int refuse(const struct lease *lease, const char *path, struct error *err)
{
	return error_set(err, ERROR_MISSING,
			 "[file] write: %s is in use by a run with network mode %s, which this one "
			 "(%s) could reach through it; wait for it, or use another folder",
			 path, lease->other, lease->mine);
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
		if (test && (is_held(lease, &st, "") ||
			     (suffix[0] == '\0' && is_held(lease, &st, ".below"))))
			return refuse(lease, path, err);
		char *slash = strrchr(at, '/');
		if (slash == at && at[1] == '\0')
			return 0;
		slash[slash == at] = '\0';
	}
}

int roots_lease(struct arena *arena, struct store *store, const struct path_facts *roots,
		bool host_network, struct error *err)
{
	struct lease lease = {.arena = arena,
			      .mine = host_network ? "host" : "none",
			      .other = host_network ? "none" : "host"};

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
