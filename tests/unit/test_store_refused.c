// SPDX-License-Identifier: Apache-2.0
/* Where a store is not to be, and disks that take no more. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "store_log_fixture.h"

static void expect_refused(const char *part)
{
	store_close(&store);
	int rc = store_open(&store, store_dir, geteuid(), &err);
	ck_assert_msg(rc == -1, "opened, but: %s", part);
	ck_assert_int_eq(err.kind, ERROR_AUDIT);
	ck_assert_msg(strstr(err.text, part) != NULL, "%s", err.text);
	ck_assert_ptr_nonnull(strstr(err.text, store_dir));
}

static const char *const own_files[] = {"log.jsonl", "head", "lock"};

START_TEST(odd_files_are_refused)
{
	const char *name = own_files[_i];
	char aside[256];

	open_store();
	append("{\"type\":\"x\"}");
	snprintf(aside, sizeof(aside), "%s/aside", folder);
	ck_assert_int_eq(link(path_of(name), aside), 0);
	expect_refused("hard link");
	ck_assert_int_eq(unlink(path_of(name)), 0);
	ck_assert_int_eq(symlink(aside, path_of(name)), 0);
	expect_refused("symbolic link");
	unlink(path_of(name));
	ck_assert_int_eq(mkfifo(path_of(name), 0600), 0);
	expect_refused("not a regular file");
	unlink(path_of(name));
	ck_assert_int_eq(mkdir(path_of(name), 0700), 0);
	expect_refused("");
	rmdir(path_of(name));
	ck_assert_int_eq(rename(aside, path_of(name)), 0);
	chmod(path_of(name), 0620);
	expect_refused("can be written by others");
	chmod(path_of(name), 0600);
	if (geteuid() == 0) {
		ck_assert_int_eq(chown(path_of(name), 1, 0), 0);
		expect_refused("belongs to another user");
		ck_assert_int_eq(chown(path_of(name), 0, 0), 0);
	}
	open_store();
}
END_TEST

START_TEST(odd_folders_are_refused)
{
	char aside[256];

	open_store();
	store_close(&store);
	ck_assert_int_eq(store_open(&store, store_dir, geteuid() + 1, &err), -1);
	ck_assert_ptr_nonnull(strstr(err.text, "belongs to user"));
	chmod(store_dir, 0755);
	expect_refused("lets others in");
	chmod(store_dir, 01777);
	expect_refused("lets others in");
	chmod(store_dir, 0700);
	chmod(path_of(".."), 0777);
	expect_refused("everybody can write");
	chmod(path_of(".."), 0700);
	snprintf(aside, sizeof(aside), "%s/aside", folder);
	ck_assert_int_eq(rename(store_dir, aside), 0);
	ck_assert_int_eq(symlink(aside, store_dir), 0);
	expect_refused("symbolic link");
	strcat(store_dir, "/");
	expect_refused("symbolic link");
	store_dir[strlen(store_dir) - 1] = '\0';
	unlink(store_dir);
	ck_assert_int_eq(mknod(store_dir, S_IFREG | 0600, 0), 0);
	expect_refused("not a folder");
	ck_assert_int_eq(store_open(&store, "relative", geteuid(), &err), -1);
}
END_TEST

START_TEST(file_size_limit_is_an_error)
{
	size_t len, unused;
	struct rlimit limit;

	open_store();
	append("{\"type\":\"1\"}");
	free(read_file("log.jsonl", &len));
	signal(SIGXFSZ, SIG_IGN); /* as the launcher does */
	getrlimit(RLIMIT_FSIZE, &limit);
	rlim_t was = limit.rlim_cur;
	limit.rlim_cur = len + 30;
	setrlimit(RLIMIT_FSIZE, &limit);
	ck_assert_int_eq(store_append(&store, "{\"type\":\"2\"}", true, &err), -1);
	ck_assert_int_eq(err.kind, ERROR_AUDIT);
	ck_assert_int_eq(err.errnum, EFBIG);
	ck_assert_ptr_nonnull(strstr(err.text, "ulimit -f"));
	ck_assert_int_eq(store_reserve(&store, 65536, &err), -1);
	limit.rlim_cur = was;
	setrlimit(RLIMIT_FSIZE, &limit);
	free(read_file("log.jsonl", &unused));
	ck_assert_uint_eq(unused, len);
	append("{\"type\":\"2\"}");
	ck_assert_uint_eq(check_chain(false), 2);
}
END_TEST

static void write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	if (fd >= 0)
		(void)!write(fd, text, strlen(text));
	close(fd);
}

/* A small file system of our own, also for an ordinary user. False: not on this machine. */
static bool mount_small(void)
{
	char map[64];
	uid_t uid = geteuid();
	gid_t gid = getegid();

	if (unshare(uid == 0 ? CLONE_NEWNS : CLONE_NEWNS | CLONE_NEWUSER) < 0)
		return false;
	if (uid != 0) {
		snprintf(map, sizeof(map), "%u %u 1", uid, uid);
		write_text("/proc/self/uid_map", map);
		write_text("/proc/self/setgroups", "deny");
		snprintf(map, sizeof(map), "%u %u 1", gid, gid);
		write_text("/proc/self/gid_map", map);
	}
	mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL);
	return mount("tmpfs", folder, "tmpfs", 0, "size=512k") == 0;
}

static void fill_disk(void)
{
	static char block[4096];
	int fd = open(path_of("fill"), O_WRONLY | O_CREAT | O_APPEND, 0600);

	while (write(fd, block, sizeof(block)) > 0)
		continue;
	ck_assert_int_eq(errno, ENOSPC);
	close(fd);
}

static bool can_mount;

START_TEST(full_disk_is_an_error)
{
	char body[20000];

	memset(body, 'x', sizeof(body));
	memcpy(body, "{\"type\":\"", 9);
	memcpy(body + sizeof(body) - 3, "\"}", 3);
	ck_assert(mount_small());
	open_store();
	append("{\"type\":\"1\"}");
	fill_disk();
	ck_assert_int_eq(store_append(&store, body, true, &err), -1);
	ck_assert_int_eq(err.kind, ERROR_AUDIT);
	ck_assert_int_eq(err.errnum, ENOSPC);
	ck_assert_ptr_nonnull(strstr(err.text, path_of("log.jsonl")));
	ck_assert_ptr_nonnull(strstr(err.text, "free space"));
	ck_assert_uint_eq(check_chain(false), 1);
	ck_assert_int_eq(store_reserve(&store, 4096, &err), -1);
	unlink(path_of("fill"));
	append(body);
	ck_assert_uint_eq(check_chain(false), 2);
	store_close(&store);
	umount2(folder, MNT_DETACH);
}
END_TEST

/* Two runs at once, each with its own room; then the disk fills up; both ends get in. */
START_TEST(reserved_room_is_usable)
{
	struct store other;
	char body[20000];

	memset(body, 'x', sizeof(body));
	memcpy(body, "{\"type\":\"", 9);
	memcpy(body + sizeof(body) - 3, "\"}", 3);
	ck_assert(mount_small());
	open_store();
	ck_assert_int_eq(store_open(&other, store_dir, geteuid(), &err), 0);
	append("{\"type\":\"1\"}");
	ck_assert_msg(store_reserve(&store, sizeof(body), &err) == 0, "%s", err.text);
	ck_assert_msg(store_reserve(&other, sizeof(body), &err) == 0, "%s", err.text);
	fill_disk();
	append(body);
	fill_disk();
	ck_assert_msg(store_append(&other, body, true, &err) == 0, "%s", err.text);
	fill_disk();
	ck_assert_int_eq(store_append(&store, body, true, &err), -1);
	ck_assert_uint_eq(check_chain(false), 3);
	store_close(&other);
	store_close(&store);
	umount2(folder, MNT_DETACH);
}
END_TEST

static void probe_mount(void)
{
	int status;

	snprintf(folder, sizeof(folder), "/tmp/test_store.XXXXXX");
	if (mkdtemp(folder) == NULL)
		return;
	pid_t pid = fork();
	if (pid == 0)
		_exit(mount_small() ? 0 : 1);
	waitpid(pid, &status, 0);
	can_mount = status == 0;
	rmdir(folder);
	if (!can_mount)
		printf("SKIP full_disk_is_an_error, reserved_room_is_usable: no user and mount "
		       "namespace here\n");
}

int main(void)
{
	probe_mount();
	TCase *test = new_case("store");

	tcase_add_loop_test(test, odd_files_are_refused, 0, 3);
	tcase_add_test(test, odd_folders_are_refused);
	tcase_add_test(test, file_size_limit_is_an_error);
	if (can_mount) {
		tcase_add_test(test, full_disk_is_an_error);
		tcase_add_test(test, reserved_room_is_usable);
	}
	int failed = run_suite(test);
	return failed == 0 && (can_mount || getenv("STRICT") == NULL) ? 0 : 1;
}
