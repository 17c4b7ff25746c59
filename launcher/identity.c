// SPDX-License-Identifier: Apache-2.0
#include "identity.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "passwd.h"

static int open_lease_dir(struct error *err)
{
	static const char *const folders[] = {"/run/sbox", LEASE_DIR};
	struct stat st;

	const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	int fd = open(LEASE_DIR, flags);

	if (fd < 0 && errno == ENOENT) {
		for (size_t i = 0; i < 2; i++)
			if (mkdir(folders[i], 0700) != 0 && errno != EEXIST)
				return error_sys(err, "cannot make %s for uid leases", folders[i]);
		fd = open(LEASE_DIR, flags);
	}
	if (fd < 0 || fstat(fd, &st) != 0)
		return error_sys(err, "cannot open %s", LEASE_DIR);
	if (st.st_uid == 0 && (st.st_mode & 022) == 0)
		return fd;
	close(fd);
	return error_set(err, ERROR_SYSTEM, "%s is not root's alone: remove it", LEASE_DIR);
}

/* The lock counts only if the name still stands for the file that was locked. */
static int lock_lease(int dir_fd, const char *name, int flags)
{
	struct stat by_fd, by_name;
	int fd = openat(dir_fd, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC | flags, 0600);

	if (fd < 0)
		return -1;
	if (flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &by_fd) == 0 &&
	    fstatat(dir_fd, name, &by_name, AT_SYMLINK_NOFOLLOW) == 0 &&
	    by_fd.st_ino == by_name.st_ino)
		return fd;
	close(fd);
	return -1;
}

/* Leases whose holder is dead: their lock is free. */
static void sweep_leases(int dir_fd)
{
	int copy = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = copy >= 0 ? fdopendir(copy) : NULL;
	const struct dirent *entry;

	if (dir == NULL)
		return;
	while ((entry = readdir(dir)) != NULL) {
		if (entry->d_name[0] == '.')
			continue;
		int fd = lock_lease(dir_fd, entry->d_name, 0);
		if (fd < 0)
			continue;
		unlinkat(dir_fd, entry->d_name, 0);
		close(fd);
	}
	closedir(dir);
}

int identity_lease(uid_t *ret_uid, int *ret_lease_fd, struct error *err)
{
	uint32_t start;
	char name[16];
	int dir_fd = open_lease_dir(err);

	if (dir_fd < 0)
		return -1;
	sweep_leases(dir_fd);
	if (getrandom(&start, sizeof(start), 0) != (ssize_t)sizeof(start))
		start = (uint32_t)getpid();
	for (uint32_t i = 0; i < LEASE_COUNT; i++) {
		uid_t uid = LEASE_FIRST + (start + i) % LEASE_COUNT;

		snprintf(name, sizeof(name), "%u", uid);
		int fd = lock_lease(dir_fd, name, O_CREAT);
		if (fd < 0)
			continue;
		close(dir_fd);
		*ret_uid = uid;
		*ret_lease_fd = fd;
		return 0;
	}
	close(dir_fd);
	return error_set(err, ERROR_SYSTEM, "no uid is free to lease in %s", LEASE_DIR);
}

static int take_lease(struct identity *identity, int *ret_lease_fd, struct error *err)
{
	if (identity_lease(&identity->outer_uid, ret_lease_fd, err) != 0)
		return -1;
	identity->outer_gid = identity->outer_uid;
	identity->leased = true;
	return 0;
}

/* By /etc/passwd or by number. */
static int find_user(struct arena *arena, const char *name, struct identity *identity,
		     struct error *err)
{
	char *end;
	unsigned long number = strtoul(name, &end, 10);
	bool numeric = *name != '\0' && *end == '\0' && number < UINT32_MAX;
	struct passwd_entry entry = {.uid = (uid_t)number, .gid = (gid_t)number};
	bool known = numeric ? passwd_by_uid(arena, (uid_t)number, &entry)
			     : passwd_by_name(arena, name, &entry);

	if (!known && !numeric)
		return error_set(
			err, ERROR_PROFILE,
			"[privilege] user: no user \"%s\" in /etc/passwd (a number works too)",
			name);
	if (!known)
		entry = (struct passwd_entry){.uid = (uid_t)number, .gid = (gid_t)number};
	if (entry.uid == 0 || entry.gid == 0)
		return error_set(err, ERROR_PROFILE,
				 "[privilege] user: \"%s\" is root; name another user, or auto",
				 name);
	identity->outer_uid = entry.uid;
	identity->outer_gid = entry.gid;
	return 0;
}

int identity_take(struct arena *arena, const struct profile *profile, const struct host *host,
		  struct identity *ret_identity, int *ret_lease_fd, struct error *err)
{
	struct identity who = {.inner_uid = INNER_UID, .inner_gid = INNER_GID};

	*ret_lease_fd = -1;
	if (!host->can_become) {
		who.outer_uid = host->uid;
		who.outer_gid = host->gid;
		/* the plan has refused it before */
		if (host->uid == 0 && !host->mapped_root)
			return error_set(err, ERROR_MISSING, "the program would be root");
		/* init builds as uid 0 of a namespace in which that is the caller */
		*ret_identity = who;
		return 0;
	}
	bool automatic = strcmp(profile->privilege.user, "auto") == 0;
	int failed = automatic ? take_lease(&who, ret_lease_fd, err)
			       : find_user(arena, profile->privilege.user, &who, err);
	if (failed != 0)
		return -1;
	who.build_uid = who.outer_uid;
	who.build_gid = who.outer_gid;
	*ret_identity = who;
	return 0;
}

void identity_unlease(uid_t uid, int lease_fd)
{
	char path[64];

	if (lease_fd < 0)
		return;
	snprintf(path, sizeof(path), "%s/%u", LEASE_DIR, uid);
	unlink(path);
	close(lease_fd);
}

void identity_give(const struct identity *identity, int fd)
{
	/* root without CAP_CHOWN cannot, and the program has its open ends all the same */
	if (identity->outer_uid != geteuid() &&
	    fchown(fd, identity->outer_uid, identity->outer_gid) != 0)
		return;
}

void identity_release(const struct identity *identity, int lease_fd)
{
	identity_unlease(identity->outer_uid, lease_fd);
}
