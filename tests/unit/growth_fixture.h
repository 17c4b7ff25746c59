// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_GROWTH_FIXTURE_H
#define SBOX_GROWTH_FIXTURE_H

#include "growth.h"

#include <check.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

static const uint64_t mb = 1 << 20;

static char base[64];  /* roots are below; on a file system of its own where possible */
static char plain[64]; /* the same on the disk: links to /proc for unlinked files */
static struct growth growth;
static struct growth_found found;
static struct error err;
static uint64_t bytes, files, left;

static inline const char *path(const char *name)
{
	static char text[256];

	snprintf(text, sizeof(text), "%s/%s", base, name);
	return text;
}

static inline void put_proc(const char *name, const char *text)
{
	int fd = open(name, O_WRONLY | O_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_gt(write(fd, text, strlen(text)), 0);
	close(fd);
}

/* Others write to the same disk: exact figures need a file system of the test's own. */
static inline bool own_fs(const char *test)
{
	char map[32];
	unsigned uid = geteuid(), gid = getegid();

	if (uid != 0 && unshare(CLONE_NEWUSER) < 0) {
		printf("skip: %s: no user namespaces\n", test);
		return false;
	}
	if (uid != 0) {
		snprintf(map, sizeof(map), "0 %u 1", uid);
		put_proc("/proc/self/uid_map", map);
		put_proc("/proc/self/setgroups", "deny");
		snprintf(map, sizeof(map), "0 %u 1", gid);
		put_proc("/proc/self/gid_map", map);
	}
	ck_assert_int_eq(unshare(CLONE_NEWNS), 0);
	mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL);
	ck_assert_int_eq(mount("none", base, "tmpfs", 0, "size=256M"), 0);
	return true;
}

static inline void make(const char *name, size_t size)
{
	int fd = open(path(name), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	ck_assert_int_ge(fd, 0);
	ck_assert(size == 0 || posix_fallocate(fd, 0, size) == 0);
	close(fd);
}

static inline void start(uint64_t limit_bytes, uint64_t limit_files)
{
	int fd;

	mkdir(path("root"), 0755);
	mkdir(path("outside"), 0755);
	usleep(20000); /* what is from before is from before, by the clock of file times */
	fd = open(path("root"), O_PATH | O_CLOEXEC);
	ck_assert_int_eq(growth_init(&growth, &fd, 1, limit_bytes, limit_files, &err), 0);
}

static inline enum growth_verdict confirm(int proc_fd)
{
	enum growth_verdict verdict;

	do {
		verdict = growth_confirm(&growth, proc_fd, 100, &found);
	} while (verdict == GROWTH_MORE);
	return verdict;
}

static inline bool suspect(void)
{
	return growth_suspect(&growth, &bytes, &files, &left);
}

static inline void setup(void)
{
	strcpy(base, "/tmp/sbox-test-XXXXXX");
	strcpy(plain, "/tmp/sbox-test-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(base));
	ck_assert_ptr_nonnull(mkdtemp(plain));
}

static inline void teardown(void)
{
	char command[192];

	growth_free(&growth);
	umount2(base, MNT_DETACH);
	snprintf(command, sizeof(command), "rm -rf '%s' '%s'", base, plain);
	ck_assert_int_eq(system(command), 0);
}

#endif
