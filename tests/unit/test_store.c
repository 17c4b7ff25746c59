// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <jansson.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "store_internal.h"

static char folder[64], store_dir[96];
static struct error err;
static struct store store;

static void set_up(void)
{
	snprintf(folder, sizeof(folder), "/tmp/test_store.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(store_dir, sizeof(store_dir), "%s/a/b/sbox", folder);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st, (void)type, (void)at;
	return remove(path);
}

static void tear_down(void)
{
	store_close(&store);
	nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static const char *path_of(const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%s", store_dir, name);
	return path;
}

static void open_store(void)
{
	ck_assert_msg(store_open(&store, store_dir, geteuid(), &err) == 0, "%s", err.text);
}

static void append(const char *body)
{
	ck_assert_msg(store_append(&store, body, false, &err) == 0, "%s", err.text);
}

static char *read_file(const char *name, size_t *ret_len)
{
	FILE *file = fopen(path_of(name), "r");
	char *text = NULL;
	size_t room = 0;

	ck_assert_ptr_nonnull(file);
	ssize_t len = getdelim(&text, &room, '\xff', file); /* never in a log */
	fclose(file);
	*ret_len = len < 0 ? 0 : (size_t)len;
	return text;
}

static void write_file(const char *name, const char *text, size_t len)
{
	FILE *file = fopen(path_of(name), "w");

	ck_assert_ptr_nonnull(file);
	ck_assert_uint_eq(fwrite(text, 1, len, file), len);
	fclose(file);
}

/* Parses every line, follows the chain, and returns how many there are. */
static unsigned int check_chain(bool gaps_allowed)
{
	char want[65], *line = NULL;
	size_t room = 0;
	ssize_t len;
	unsigned int count = 0;
	json_int_t last = 0;
	FILE *file = fopen(path_of("log.jsonl"), "r");

	ck_assert_ptr_nonnull(file);
	memset(want, '0', 64);
	want[64] = '\0';
	for (; (len = getline(&line, &room, file)) > 0; count++) {
		json_t *record = json_loadb(line, (size_t)len, 0, NULL);

		ck_assert_msg(record != NULL, "line %u: %s", count + 1, line);
		json_int_t seq = json_integer_value(json_object_get(record, "seq"));
		ck_assert_str_eq(json_string_value(json_object_get(record, "prev")), want);
		ck_assert(gaps_allowed ? seq > last : seq == last + 1);
		last = seq;
		json_decref(record);
		sha256_hex_of(line, (size_t)len, want);
	}
	free(line);
	fclose(file);
	return count;
}

START_TEST(store_is_made_private)
{
	static const char *const made[] = {"", "lock", "log.jsonl", "head", "../../b"};
	struct stat st;

	umask(0777); /* must not matter */
	open_store();
	append("{\"type\":\"x\"}");
	for (size_t i = 0; i < sizeof(made) / sizeof(made[0]); i++) {
		ck_assert_int_eq(lstat(path_of(made[i]), &st), 0);
		ck_assert_uint_eq(st.st_mode & 07777, S_ISDIR(st.st_mode) ? 0700 : 0600);
	}
	ck_assert_uint_eq(check_chain(false), 1);
}
END_TEST

enum { WRITERS = 16, APPENDS = 50 };

static void writer(int number)
{
	char body[5000];

	open_store();
	for (int i = 0; i < APPENDS; i++) {
		int len = snprintf(body, sizeof(body), "{\"type\":\"x\",\"writer\":%d,\"fill\":\"",
				   number);

		memset(body + len, 'a' + number, (size_t)(i * 90));
		memcpy(body + len + i * 90, "\"}", 3);
		append(body);
	}
	_exit(0);
}

START_TEST(writers_do_not_interleave)
{
	int status;

	for (int i = 0; i < WRITERS; i++)
		if (fork() == 0)
			writer(i);
	for (int i = 0; i < WRITERS; i++) {
		ck_assert_int_gt(wait(&status), 0);
		ck_assert_int_eq(status, 0);
	}
	ck_assert_uint_eq(check_chain(false), WRITERS * APPENDS);
}
END_TEST

START_TEST(held_lock_is_named)
{
	open_store();
	int fd = open(path_of("lock"), O_RDWR);
	ck_assert_int_eq(flock(fd, LOCK_EX), 0);
	store_lock_wait_ms = 50;
	ck_assert_int_eq(store_append(&store, "{\"type\":\"x\"}", false, &err), -1);
	ck_assert_int_eq(err.kind, ERROR_AUDIT);
	ck_assert_ptr_nonnull(strstr(err.text, path_of("lock")));
	close(fd);
	append("{\"type\":\"x\"}");
}
END_TEST

/* A crash in the middle of the write, at every byte of the last record. */
START_TEST(torn_tail_is_cut_back)
{
	size_t len, whole;
	char *ignored;

	open_store();
	append("{\"type\":\"first\"}");
	append("{\"type\":\"second\"}");
	char *good = read_file("log.jsonl", &whole);
	size_t head_len;
	char *head = read_file("head", &head_len);
	append("{\"type\":\"torn\",\"text\":\"half of it is gone\"}");
	char *text = read_file("log.jsonl", &len);

	for (size_t cut = whole + 1; cut <= len; cut++) {
		bool is_whole = cut == len; /* then only the head was not written */

		write_file("log.jsonl", text, cut);
		write_file("head", head, head_len);
		append("{\"type\":\"after\"}");
		ck_assert_uint_eq(check_chain(false), 4);
		char *now = read_file("log.jsonl", &head_len);
		ck_assert_mem_eq(now, good, whole);
		ck_assert((strstr(now, "\"type\":\"torn\"") != NULL) == is_whole);
		ck_assert((strstr(now, "\"reason\":\"torn_tail\"") != NULL) == !is_whole);
		free(now);
		head_len = strlen(head);
	}
	/* what was cut is kept */
	char name[128], hash[65];
	sha256_hex_of(text + whole, 40, hash);
	snprintf(name, sizeof(name), "output/dropped-%s", hash);
	ignored = read_file(name, &head_len);
	ck_assert_uint_eq(head_len, 40);
	free(ignored);
	free(good);
	free(head);
	free(text);
}
END_TEST

/* Zeros where a power cut lost the data of a line that has its length. */
START_TEST(zeroed_tail_is_cut_back)
{
	size_t len;

	open_store();
	append("{\"type\":\"first\"}");
	append("{\"type\":\"second\",\"text\":\"some more of it\"}");
	char *text = read_file("log.jsonl", &len);
	memset(text + len - 20, 0, 10);
	write_file("log.jsonl", text, len);
	write_file("head", "", 0);
	free(text);
	append("{\"type\":\"after\"}");
	ck_assert_uint_eq(check_chain(false), 3);
}
END_TEST

START_TEST(damaged_head_is_rebuilt)
{
	size_t head_len, old_len;

	open_store();
	append("{\"type\":\"1\"}");
	char *old = read_file("head", &old_len);
	append("{\"type\":\"2\"}");
	char *head = read_file("head", &head_len);
	ck_assert_uint_eq(head_len, old_len);
	unsigned int count = 2;

	/* mixtures of two writes, in both directions, then short ones and nothing */
	for (size_t cut = 1; cut < head_len; cut += 7) {
		char mixed[256];

		memcpy(mixed, old, head_len);
		memcpy(mixed + cut, head + cut, head_len - cut);
		write_file("head", mixed, head_len);
		append("{\"type\":\"3\"}");
		free(head);
		head = read_file("head", &head_len);
		write_file("head", head, cut);
		append("{\"type\":\"4\"}");
		free(head);
		head = read_file("head", &head_len);
		unsigned int now = check_chain(false);
		ck_assert_uint_gt(now, count + 1);
		count = now;
	}
	ck_assert_int_eq(unlink(path_of("head")), 0);
	store_close(&store);
	open_store();
	append("{\"type\":\"5\"}");
	ck_assert_uint_eq(check_chain(false), count + 2);
	free(head);
	free(old);
}
END_TEST

/* Whole records were taken from the end: a number is not given twice. */
START_TEST(cut_log_shows_a_gap)
{
	size_t len, unused;

	open_store();
	append("{\"type\":\"1\"}");
	char *text = read_file("log.jsonl", &len);
	append("{\"type\":\"2\"}");
	append("{\"type\":\"3\"}");
	write_file("log.jsonl", text, len);
	free(text);
	append("{\"type\":\"4\"}");
	ck_assert_uint_eq(check_chain(true), 3);
	text = read_file("log.jsonl", &unused);
	ck_assert_ptr_nonnull(strstr(text, "\"seq\":4,"));
	ck_assert_ptr_nonnull(strstr(text, "\"reason\":\"log_shorter_than_head\""));
	free(text);
}
END_TEST

START_TEST(moved_log_is_followed)
{
	char aside[256];

	open_store();
	append("{\"type\":\"1\"}");
	snprintf(aside, sizeof(aside), "%s", path_of("log.1"));
	ck_assert_int_eq(rename(path_of("log.jsonl"), aside), 0);
	ck_assert_int_eq(unlink(path_of("head")), 0);
	append("{\"type\":\"2\"}");
	ck_assert_uint_eq(check_chain(false), 1);
}
END_TEST

/* Long lines and a long log: the end is found from the end. */
START_TEST(long_records_are_found)
{
	size_t len = 300000;
	char *body = malloc(len + 64);

	int start = sprintf(body, "{\"type\":\"x\",\"fill\":\"");
	memset(body + start, 'x', len);
	memcpy(body + start + len, "\"}", 3);
	open_store();
	append(body);
	append(body);
	write_file("head", "", 0);
	append(body);
	ck_assert_uint_eq(check_chain(false), 4);
	free(body);
}
END_TEST

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

START_TEST(kept_once_and_never_through_a_link)
{
	size_t len;

	open_store();
	ck_assert_int_eq(store_keep(&store, "scripts", "abc", "text", 4, &err), 0);
	ck_assert_int_eq(store_keep(&store, "scripts", "abc", "other", 5, &err), 0);
	char *text = read_file("scripts/abc", &len);
	ck_assert_uint_eq(len, 4);
	free(text);
	ck_assert_int_eq(symlink("/etc/passwd", path_of("scripts/link")), 0);
	ck_assert_int_eq(store_keep(&store, "scripts", "link", "x", 1, &err), -1);
	static const char *const bad[] = {"", ".", "..", ".x", "a/b", "a b", "\xff", "a\n"};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		ck_assert_int_eq(store_keep(&store, "scripts", bad[i], "x", 1, &err), -1);
		ck_assert_int_eq(store_keep(&store, bad[i], "x", "x", 1, &err), -1);
	}
}
END_TEST

static char undone[8][64];
static int undone_count;

static void note_undo(const char *line, void *ctx)
{
	(void)ctx;
	snprintf(undone[undone_count++], sizeof(undone[0]), "%s", line);
}

static void begin_run(const char *run)
{
	int fd;

	ck_assert_msg(store_run_begin(&store, run, &fd, &err) == 0, "%s", err.text);
	ck_assert_int_eq(store_run_undo(&store, run, "dir /a", &err), 0);
	ck_assert_int_eq(store_run_undo(&store, run, "cgroup /b", &err), 0);
	ck_assert_int_eq(store_run_undo(&store, run, "dir /a\nb", &err), -1);
}

static void die_in_run(const char *run)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		store_close(&store);
		open_store();
		begin_run(run);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}

START_TEST(only_dead_runs_are_swept)
{
	int fd;

	open_store();
	ck_assert_int_eq(store_run_sweep(&store, note_undo, NULL, &err), 0);
	die_in_run("DEAD");
	ck_assert_int_eq(store_run_begin(&store, "LIVE", &fd, &err), 0);
	ck_assert_int_eq(store_run_undo(&store, "LIVE", "dir /live", &err), 0);
	ck_assert(store_run_alive(&store, "LIVE"));
	ck_assert(!store_run_alive(&store, "DEAD"));
	ck_assert(!store_run_alive(&store, "ABSENT"));
	FILE *file = fopen(path_of("runs/DEAD.undo"), "a");
	fputs("dir /torn", file);
	fclose(file);

	ck_assert_int_eq(store_run_sweep(&store, note_undo, NULL, &err), 0);
	ck_assert_int_eq(undone_count, 2);
	ck_assert_str_eq(undone[0], "cgroup /b");
	ck_assert_str_eq(undone[1], "dir /a");
	ck_assert_int_eq(access(path_of("runs/DEAD.undo"), F_OK), -1);
	ck_assert_int_eq(access(path_of("runs/LIVE.undo"), F_OK), 0);
	store_run_finish(&store, "LIVE", fd);
	ck_assert_int_eq(access(path_of("runs/LIVE.undo"), F_OK), -1);
	ck_assert_int_eq(rmdir(path_of("runs")), 0);
	ck_assert_int_eq(store_run_begin(&store, "../x", &fd, &err), -1);
}
END_TEST

static void count_undo(const char *line, void *ctx)
{
	if (strcmp(line, "dir /live") == 0)
		_exit(3);
	++*(int *)ctx;
}

/* Runs come, live and die while several sweepers look: no live one is ever taken. */
static void busy(int number)
{
	char run[32];
	int fd, count = 0;

	open_store();
	for (int i = 0; i < 100; i++) {
		snprintf(run, sizeof(run), "R-%d-%d", number, i);
		if (store_run_begin(&store, run, &fd, &err) < 0)
			_exit(1);
		if (store_run_undo(&store, run, i % 2 ? "dir /dead" : "dir /live", &err) < 0)
			_exit(2);
		if (store_run_sweep(&store, count_undo, &count, &err) < 0)
			_exit(4);
		if (i % 2)
			close(fd); /* dies */
		else
			store_run_finish(&store, run, fd);
	}
	_exit(0);
}

START_TEST(sweepers_do_not_race)
{
	int status, count = 0;

	open_store();
	for (int i = 0; i < 6; i++)
		if (fork() == 0)
			busy(i);
	for (int i = 0; i < 6; i++) {
		ck_assert_int_gt(wait(&status), 0);
		ck_assert_int_eq(status, 0);
	}
	ck_assert_int_eq(store_run_sweep(&store, count_undo, &count, &err), 0);
	ck_assert_int_eq(rmdir(path_of("runs")), 0);
}
END_TEST

START_TEST(hash_is_cached_until_the_file_changes)
{
	char hex[65], want[65];
	size_t len;
	struct stat st;

	open_store();
	sha256_hex_of("hello", 5, want);
	write_file("program", "hello", 5);
	int fd = open(path_of("program"), O_RDONLY);
	ck_assert_int_eq(store_hash_file(&store, fd, hex, &err), 0);
	ck_assert_str_eq(hex, want);
	free(read_file("cache/hashes", &len));
	ck_assert_uint_eq(len, 0); /* changed a moment ago: not kept */

	int settled = open("/bin/sh", O_RDONLY);
	ck_assert_int_eq(store_hash_file(&store, settled, want, &err), 0);
	ck_assert_int_eq(stat(path_of("cache/hashes"), &st), 0);
	ck_assert_int_gt(st.st_size, 0);
	ck_assert_int_eq(store_hash_file(&store, settled, hex, &err), 0);
	ck_assert_str_eq(hex, want);

	/* it is really the cache that answers, and a damaged entry does not */
	char *text = read_file("cache/hashes", &len);
	write_file("cache/hashes", text, len - 1);
	ck_assert_int_eq(store_hash_file(&store, settled, hex, &err), 0);
	ck_assert_str_eq(hex, want);
	text[len - 30] ^= 1;
	write_file("cache/hashes", text, len);
	ck_assert_int_eq(store_hash_file(&store, settled, hex, &err), 0);
	ck_assert_str_eq(hex, want);
	free(text);
	ck_assert_int_eq(store_hash_file(&store, store.dir_fd, hex, &err), -1);
	close(settled);
	close(fd);
}
END_TEST

START_TEST(run_ids_sort_by_time)
{
	char last[27] = "", id[27];

	for (int i = 0; i < 20; i++) {
		run_id_make(id);
		ck_assert_uint_eq(strlen(id), 26);
		ck_assert_uint_eq(strspn(id, "0123456789ABCDEFGHJKMNPQRSTVWXYZ"), 26);
		ck_assert_int_lt(strcmp(last, id), 0);
		memcpy(last, id, sizeof(last));
		usleep(1500);
	}
	ck_assert_int_eq(last[0], '0');
}
END_TEST

START_TEST(default_folder)
{
	struct arena arena = {0};
	const char *dir = NULL;

	setenv("HOME", "/home/ana", 1);
	setenv("XDG_STATE_HOME", "/state", 1);
	ck_assert_int_eq(store_default_dir(&arena, 0, &dir, &err), 0);
	ck_assert_str_eq(dir, "/var/log/sbox");
	ck_assert_int_eq(store_default_dir(&arena, 1000, &dir, &err), 0);
	ck_assert_str_eq(dir, "/state/sbox");
	setenv("XDG_STATE_HOME", "relative", 1);
	ck_assert_int_eq(store_default_dir(&arena, 1000, &dir, &err), 0);
	ck_assert_str_eq(dir, "/home/ana/.local/state/sbox");
	unsetenv("HOME");
	ck_assert_int_eq(store_default_dir(&arena, 1000, &dir, &err), -1);
	ck_assert_int_eq(err.kind, ERROR_AUDIT);
	arena_free(&arena);
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
	Suite *suite = suite_create("store");
	TCase *test = tcase_create("store");
	SRunner *runner = srunner_create(suite);

	probe_mount();
	tcase_add_checked_fixture(test, set_up, tear_down);
	tcase_set_timeout(test, 60);
	tcase_add_test(test, store_is_made_private);
	tcase_add_test(test, writers_do_not_interleave);
	tcase_add_test(test, held_lock_is_named);
	tcase_add_test(test, torn_tail_is_cut_back);
	tcase_add_test(test, zeroed_tail_is_cut_back);
	tcase_add_test(test, damaged_head_is_rebuilt);
	tcase_add_test(test, cut_log_shows_a_gap);
	tcase_add_test(test, moved_log_is_followed);
	tcase_add_test(test, long_records_are_found);
	tcase_add_loop_test(test, odd_files_are_refused, 0, 3);
	tcase_add_test(test, odd_folders_are_refused);
	tcase_add_test(test, file_size_limit_is_an_error);
	if (can_mount) {
		tcase_add_test(test, full_disk_is_an_error);
		tcase_add_test(test, reserved_room_is_usable);
	}
	tcase_add_test(test, kept_once_and_never_through_a_link);
	tcase_add_test(test, only_dead_runs_are_swept);
	tcase_add_test(test, sweepers_do_not_race);
	tcase_add_test(test, hash_is_cached_until_the_file_changes);
	tcase_add_test(test, run_ids_sort_by_time);
	tcase_add_test(test, default_folder);
	suite_add_tcase(suite, test);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 && (can_mount || getenv("STRICT") == NULL) ? 0 : 1;
}
