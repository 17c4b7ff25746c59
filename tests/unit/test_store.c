// SPDX-License-Identifier: Apache-2.0
/* The log: writers, the lock, and what a crash leaves. */
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>

#include "store_log_fixture.h"

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

/* Whoever stopped in the middle of a sync for all holds nobody up, and nothing is lost. */
START_TEST(stopped_leader_is_not_waited_for)
{
	open_store();
	append("{\"type\":\"1\"}");
	int fd = open(path_of("head"), O_RDWR);
	ck_assert_int_eq(flock(fd, LOCK_EX), 0);
	ck_assert_msg(store_append(&store, "{\"type\":\"2\"}", STORE_SYNC_GROUP, &err) == 0, "%s",
		      err.text);
	close(fd);
	ck_assert_uint_eq(check_chain(false), 2);
}
END_TEST

/* Alone, a writer syncs while it holds the lock; where somebody syncs for all, it joins them. */
START_TEST(only_a_lone_writer_syncs_under_the_lock)
{
	open_store();
	ck_assert_int_eq(store_append(&store, "{\"type\":\"1\"}", STORE_SYNC_EACH, &err), 0);
	ck_assert_ptr_null(store.shared); /* mapped by those who meet */
	int fd = open(path_of("head"), O_RDWR);
	ck_assert_int_eq(flock(fd, LOCK_EX), 0);
	ck_assert_int_eq(store_append(&store, "{\"type\":\"2\"}", STORE_SYNC_EACH, &err), 0);
	ck_assert_ptr_nonnull(store.shared);
	close(fd);
	ck_assert_uint_eq(check_chain(false), 2);
}
END_TEST

/* One that is killed there wakes nobody: the next one takes its place. */
START_TEST(killed_leader_is_replaced)
{
	open_store();
	append("{\"type\":\"1\"}");
	pid_t pid = fork();
	if (pid == 0) {
		int fd = open(path_of("head"), O_RDWR);

		flock(fd, LOCK_EX);
		usleep(150000);
		_exit(0);
	}
	usleep(50000);
	uint64_t begun = store_now_ns();
	ck_assert_int_eq(store_append(&store, "{\"type\":\"2\"}", STORE_SYNC_GROUP, &err), 0);
	ck_assert_uint_lt(store_now_ns() - begun, 900000000);
	waitpid(pid, NULL, 0);
}
END_TEST

/* The lock is held for longer than the wait, but the log grows all the time. */
START_TEST(busy_lock_is_waited_for)
{
	open_store();
	append("{\"type\":\"1\"}");
	int fd = open(path_of("lock"), O_RDWR);
	ck_assert_int_eq(flock(fd, LOCK_EX), 0);
	pid_t pid = fork();
	if (pid == 0) {
		for (int i = 0; i < 30; i++) {
			futimens(store.head_fd, NULL);
			usleep(20000);
		}
		_exit(0);
	}
	close(fd); /* the child's copy holds it now */
	store_lock_wait_ms = 200;
	ck_assert_msg(store_append(&store, "{\"type\":\"2\"}", false, &err) == 0, "%s", err.text);
	store_lock_wait_ms = 10000;
	waitpid(pid, NULL, 0);
}
END_TEST

/* An alarm that the caller had set before stays set, and a wait for the lock costs none of it. */
START_TEST(alarm_of_the_caller_stays)
{
	open_store();
	int fd = open(path_of("lock"), O_RDWR);
	ck_assert_int_eq(flock(fd, LOCK_EX), 0);
	alarm(100);
	store_lock_wait_ms = 50;
	ck_assert_int_eq(store_append(&store, "{\"type\":\"x\"}", false, &err), -1);
	store_lock_wait_ms = 10000;
	ck_assert_uint_gt(alarm(0), 90);
	close(fd);
}
END_TEST

int main(void)
{
	TCase *test = new_case("store");

	tcase_add_test(test, store_is_made_private);
	tcase_add_test(test, writers_do_not_interleave);
	tcase_add_test(test, held_lock_is_named);
	tcase_add_test(test, torn_tail_is_cut_back);
	tcase_add_test(test, zeroed_tail_is_cut_back);
	tcase_add_test(test, damaged_head_is_rebuilt);
	tcase_add_test(test, cut_log_shows_a_gap);
	tcase_add_test(test, moved_log_is_followed);
	tcase_add_test(test, long_records_are_found);
	tcase_add_test(test, stopped_leader_is_not_waited_for);
	tcase_add_test(test, only_a_lone_writer_syncs_under_the_lock);
	tcase_add_test(test, killed_leader_is_replaced);
	tcase_add_test(test, busy_lock_is_waited_for);
	tcase_add_test(test, alarm_of_the_caller_stays);
	return run_suite(test);
}
