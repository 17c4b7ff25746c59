// SPDX-License-Identifier: Apache-2.0
#include "store.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store_internal.h"

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void store_close(struct store *store)
{
	if (store->dir == NULL)
		return;
	store_sync_close(store);
	close_fd(&store->key_fd);
	close_fd(&store->reserve_fd);
	close_fd(&store->head_fd);
	close_fd(&store->log_fd);
	close_fd(&store->lock_fd);
	close_fd(&store->dir_fd);
	store->dir = NULL;
}

/* A slash at the end would have O_NOFOLLOW follow a link. */
static int copy_path(char path[PATH_MAX], const char *dir, struct error *err)
{
	size_t len = strlen(dir);

	if (dir[0] != '/')
		return error_set(err, ERROR_AUDIT, "audit store \"%s\": not an absolute path", dir);
	while (len > 1 && dir[len - 1] == '/')
		len--;
	if (len >= PATH_MAX)
		return error_set(err, ERROR_AUDIT, "audit store: the path is too long (%zu bytes)",
				 len);
	memcpy(path, dir, len);
	path[len] = '\0';
	return 0;
}

/* mkdir that survives a power cut: the parent's new entry is synced. */
static int make_folder(const char *path)
{
	char parent[PATH_MAX];
	const char *slash = strrchr(path, '/');

	if (mkdir(path, 0700) < 0)
		return errno == EEXIST ? 0 : -1;
	chmod(path, 0700); /* whatever the umask */
	snprintf(parent, sizeof(parent), "%.*s", slash == path ? 1 : (int)(slash - path), path);
	int fd = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0) {
		fsync(fd);
		close(fd);
	}
	return 0;
}

static int make_path(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		int rc = make_folder(path);
		*slash = '/';
		if (rc < 0)
			return -1;
	}
	return make_folder(path);
}

static int check_folder(int dir_fd, const char *dir, uid_t owner, struct error *err)
{
	struct stat st;

	if (fstat(dir_fd, &st) < 0)
		return store_fail(err, "audit store %s", dir);
	if (st.st_uid != owner)
		return error_set(err, ERROR_AUDIT,
				 "audit store %s: refused: belongs to user %u, not %u: name "
				 "another store",
				 dir, st.st_uid, owner);
	if (st.st_mode & 077)
		return error_set(err, ERROR_AUDIT,
				 "audit store %s: refused: its mode %04o lets others in: chmod 700 "
				 "%s",
				 dir, st.st_mode & 07777, dir);
	return store_check_ancestors(dir_fd, dir, owner, err);
}

static int open_folder(struct store *store, bool make, struct error *err)
{
	int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	char path[PATH_MAX];

	if (copy_path(path, store->dir, err) < 0)
		return -1;
	store->dir_fd = open(path, flags);
	if (store->dir_fd < 0 && errno == ENOENT && make) {
		if (make_path(path) < 0)
			return store_fail(err, "audit store %s: cannot make", store->dir);
		store->dir_fd = open(path, flags);
	}
	if (store->dir_fd < 0 && errno == ENOTDIR)
		return error_set(err, ERROR_AUDIT,
				 "audit store %s: refused: not a folder, or a symbolic link: "
				 "move it away",
				 store->dir);
	if (store->dir_fd < 0)
		return store_fail(err, "audit store %s: cannot open", store->dir);
	return 0;
}

static struct store closed_store(const char *dir, uid_t owner)
{
	return (struct store){.dir = dir,
			      .dir_fd = -1,
			      .lock_fd = -1,
			      .log_fd = -1,
			      .head_fd = -1,
			      .reserve_fd = -1,
			      .key_fd = -1,
			      .owner = owner,
			      .policy = {.sync = STORE_SYNC_EACH}};
}

int store_log_open(struct store *store, struct error *err)
{
	bool made = false;

	close_fd(&store->log_fd);
	close_fd(&store->head_fd);
	store->log_fd = store_file_open(store->dir_fd, store->dir, "log.jsonl", O_RDWR | O_APPEND,
					store->owner, NULL, err);
	if (store->log_fd < 0 && err->errnum == ENOENT) {
		/* finishes a rotation that was cut short; usually there is none */
		renameat(store->dir_fd, "log.next", store->dir_fd, "log.jsonl");
		store->log_fd =
			store_file_open(store->dir_fd, store->dir, "log.jsonl",
					O_RDWR | O_APPEND | O_CREAT, store->owner, &made, err);
	}
	if (store->log_fd < 0)
		return -1;
	store->head_fd = store_file_open(store->dir_fd, store->dir, "head", O_RDWR | O_CREAT,
					 store->owner, NULL, err);
	if (store->head_fd < 0)
		return -1;
	if (made && fsync(store->dir_fd) < 0)
		return store_fail(err, "audit store %s: cannot sync", store->dir);
	return 0;
}

int store_open(struct store *store, const char *dir, uid_t owner, struct error *err)
{
	struct store fresh = closed_store(dir, owner);

	if (open_folder(&fresh, true, err) < 0 || check_folder(fresh.dir_fd, dir, owner, err) < 0)
		goto fail;
	fresh.lock_fd =
		store_file_open(fresh.dir_fd, dir, "lock", O_RDWR | O_CREAT, owner, NULL, err);
	if (fresh.lock_fd < 0 || store_log_open(&fresh, err) < 0)
		goto fail;
	*store = fresh;
	return 0;
fail:
	store_close(&fresh);
	return -1;
}

/* Halfway through a rotation the new segment has not got its name yet: see store_rotate.c. */
int store_log_reopen_to_read(struct store *store, struct error *err)
{
	static const char *const names[] = {"log.jsonl", "log.next", "log.jsonl"};

	close_fd(&store->log_fd);
	for (int i = 0; i < 3; i++) {
		store->log_fd = store_file_open(store->dir_fd, store->dir, names[i], O_RDONLY,
						store->owner, NULL, err);
		if (store->log_fd >= 0)
			return 0;
		if (err->errnum != ENOENT)
			return -1;
	}
	/* with a head file this was a store, and what is left of it can be read */
	return faccessat(store->dir_fd, "head", F_OK, AT_SYMLINK_NOFOLLOW) == 0 ? 0 : -1;
}

int store_open_to_read(struct store *store, const char *dir, struct error *err)
{
	struct store fresh = closed_store(dir, 0);
	struct error ignored;
	struct stat st;

	if (open_folder(&fresh, false, err) < 0)
		goto fail;
	if (fstat(fresh.dir_fd, &st) < 0) {
		store_fail(err, "audit store %s", dir);
		goto fail;
	}
	fresh.owner = st.st_uid;
	if (store_log_reopen_to_read(&fresh, err) < 0)
		goto fail;
	/* without it (the folder was copied) there is no writer to wait for either */
	fresh.lock_fd =
		store_file_open(fresh.dir_fd, dir, "lock", O_RDONLY, fresh.owner, NULL, &ignored);
	*store = fresh;
	return 0;
fail:
	store_close(&fresh);
	return -1;
}
