// SPDX-License-Identifier: Apache-2.0
/* Kept files, the marks of runs, hashes, names. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <time.h>

#include "store_log_fixture.h"

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

int main(void)
{
	TCase *test = new_case("store");

	tcase_add_test(test, kept_once_and_never_through_a_link);
	tcase_add_test(test, only_dead_runs_are_swept);
	tcase_add_test(test, sweepers_do_not_race);
	tcase_add_test(test, hash_is_cached_until_the_file_changes);
	tcase_add_test(test, run_ids_sort_by_time);
	tcase_add_test(test, default_folder);
	return run_suite(test);
}
