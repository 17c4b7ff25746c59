// SPDX-License-Identifier: Apache-2.0
#include "store_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * runs/ID.lock and runs/ID.undo. Whether a supervisor lives is asked of the
 * kernel: it holds a flock on its lock file, which goes with it however it ends.
 * Lock files come to be, and dead ones are taken over, only under the store's
 * own lock, so that nobody meets one that is not yet held.
 *
 * No folder for each run: removing one costs ext4 a fifth of a millisecond.
 */

enum { RUN_NAME_SIZE = 160 };

/* Opens runs/RUN.SUFFIX; ret_made may be NULL. */
static int run_file_open(const struct store *store, const char *run, const char *suffix, int flags,
			 bool *ret_made, struct error *err)
{
	char name[RUN_NAME_SIZE], where[4096];

	if (store_check_name(run, err) < 0)
		return -1;
	int runs_fd = store_folder_open(store, "runs", flags & O_CREAT, err);
	if (runs_fd < 0)
		return -1;
	snprintf(name, sizeof(name), "%s.%s", run, suffix);
	snprintf(where, sizeof(where), "%s/runs", store->dir);
	int fd = store_file_open(runs_fd, where, name, flags, store->owner, ret_made, err);
	close(runs_fd);
	return fd;
}

static void run_file_remove(const struct store *store, const char *run, const char *suffix)
{
	char path[RUN_NAME_SIZE + 8];

	snprintf(path, sizeof(path), "runs/%s.%s", run, suffix);
	unlinkat(store->dir_fd, path, 0);
}

/* Short of a reader that asks whether the run lives, nobody else can hold it. */
static int lock_own(int fd)
{
	for (int tries = 0; tries < 1000; tries++) {
		if (flock(fd, LOCK_EX | LOCK_NB) == 0)
			return 0;
		if (errno != EWOULDBLOCK && errno != EINTR)
			return -1;
		usleep(1000);
	}
	return -1;
}

static int begin_locked(struct store *store, const char *run, struct error *err)
{
	bool made = false;
	int fd = run_file_open(store, run, "lock", O_RDWR | O_CREAT, &made, err);

	if (fd < 0)
		return -1;
	if (made && lock_own(fd) == 0)
		return fd;
	errno = made ? errno : EEXIST;
	store_fail(err, "audit store %s/runs/%s.lock: cannot lock", store->dir, run);
	close(fd);
	return -1;
}

int store_run_begin(struct store *store, const char *run, int *ret_fd, struct error *err)
{
	if (store_check_name(run, err) < 0 || store_lock(store, err) < 0)
		return -1;
	int fd = begin_locked(store, run, err);
	store_unlock(store);
	if (fd < 0)
		return -1;
	*ret_fd = fd;
	return 0;
}

int store_run_undo(struct store *store, const char *run, const char *line, struct error *err)
{
	char text[4608];
	int len = snprintf(text, sizeof(text), "%s\n", line);

	if (len < 0 || (size_t)len >= sizeof(text) || strchr(line, '\n') != NULL)
		return error_set(err, ERROR_AUDIT,
				 "audit store: what is to be undone later cannot be written down: "
				 "a newline in its path, or too long");
	int fd = run_file_open(store, run, "undo", O_WRONLY | O_APPEND | O_CREAT, NULL, err);
	if (fd < 0)
		return -1;
	int rc = store_write_all(fd, text, (size_t)len);
	if (rc < 0)
		store_fail(err, "audit store %s/runs/%s.undo: cannot write", store->dir, run);
	close(fd);
	return rc;
}

/* The lock goes last. Who takes it over before it is gone finds nothing left to undo. */
void store_run_finish(struct store *store, const char *run, int fd)
{
	run_file_remove(store, run, "undo");
	close(fd);
	run_file_remove(store, run, "lock");
}

bool store_run_alive(struct store *store, const char *run)
{
	struct error ignored;
	int fd = run_file_open(store, run, "lock", O_RDONLY, NULL, &ignored);

	if (fd < 0)
		return false;
	bool alive = flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
	close(fd);
	return alive;
}

/* Takes over a dead run: its lock is then ours. -1: it lives, or somebody else took it. */
static int take_over(struct store *store, const char *run)
{
	struct error ignored;
	struct stat st;
	int fd = run_file_open(store, run, "lock", O_RDONLY, NULL, &ignored);

	if (fd < 0)
		return -1;
	if (flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &st) == 0 && st.st_nlink > 0)
		return fd;
	close(fd);
	return -1;
}

static char *read_undo(struct store *store, const char *run)
{
	struct error ignored;
	struct stat st;
	int fd = run_file_open(store, run, "undo", O_RDONLY, NULL, &ignored);

	if (fd < 0)
		return NULL;
	char *text = fstat(fd, &st) == 0 ? calloc(1, (size_t)st.st_size + 1) : NULL;
	ssize_t len = text == NULL ? -1 : read(fd, text, (size_t)st.st_size);
	close(fd);
	if (len < 0) {
		free(text);
		return NULL;
	}
	text[len] = '\0';
	return text;
}

/* Last line first. A line that is not whole names nothing that can be trusted. */
static void undo_lines(char *text, void (*undo)(const char *line, void *ctx), void *ctx)
{
	char *end = strrchr(text, '\n');

	while (end != NULL) {
		*end = '\0';
		char *before = strrchr(text, '\n');
		const char *line = before != NULL ? before + 1 : text;

		if (line[0] != '\0')
			undo(line, ctx);
		end = before;
	}
}

static void sweep_run(struct store *store, const char *run,
		      void (*undo)(const char *line, void *ctx), void *ctx)
{
	struct error ignored;

	if (store_lock(store, &ignored) < 0)
		return;
	int fd = take_over(store, run);
	store_unlock(store);
	if (fd < 0)
		return;
	/* the store's lock is free again: undoing may take its time */
	char *text = read_undo(store, run);
	if (text != NULL)
		undo_lines(text, undo, ctx);
	free(text);
	store_run_finish(store, run, fd);
}

int store_run_sweep(struct store *store, void (*undo)(const char *line, void *ctx), void *ctx,
		    struct error *err)
{
	int runs_fd = store_folder_open(store, "runs", false, err);

	if (runs_fd < 0)
		return err->errnum == ENOENT ? 0 : -1;
	DIR *dir = fdopendir(runs_fd);
	if (dir == NULL) {
		close(runs_fd);
		return store_fail(err, "audit store %s/runs: cannot list", store->dir);
	}
	for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
		char *suffix = strrchr(entry->d_name, '.');

		if (suffix == NULL || strcmp(suffix, ".lock") != 0)
			continue;
		*suffix = '\0';
		if (!store_run_alive(store, entry->d_name))
			sweep_run(store, entry->d_name, undo, ctx);
	}
	closedir(dir);
	return 0;
}
