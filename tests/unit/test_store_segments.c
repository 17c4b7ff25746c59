// SPDX-License-Identifier: Apache-2.0
/* Rotation, retention, shared syncs. */
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>

#include "store_fixture.h"

static void fill(int records)
{
	for (int i = 0; i < records; i++)
		append("{\"type\":\"x\",\"fill\":\"0123456789012345678901234567890123456789\"}");
}

START_TEST(grows_into_linked_files)
{
	store.policy.segment_bytes = 1000;
	fill(40);
	struct chain chain = follow_chain();
	ck_assert_uint_gt(chain.files, 4);
	ck_assert_uint_eq(chain.first, 1);
	ck_assert_uint_eq(chain.last, chain.lines);
	ck_assert_uint_eq(chain.lines, 40 + 2 * (chain.files - 1));
	ck_assert_ptr_nonnull(strstr(chain.types, "log.closed log.opened x"));

	/* the names on both sides of the first border */
	size_t len;
	char *old = read_file("log-00000000000000000001.jsonl", &len);
	char *next = strstr(old, "\"next\":\"");
	ck_assert_ptr_nonnull(next);
	char name[64];
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(next + 8, "\""), next + 8);
	char *new = read_file(name, &len);
	ck_assert_ptr_nonnull(strstr(new, "\"previous\":\"log-00000000000000000001.jsonl\""));
	free(old);
	free(new);
}
END_TEST

START_TEST(a_file_that_is_old_is_closed)
{
	struct store_tail tail;

	store.policy.segment_ms = 1000 * 3600;
	fill(2);
	ck_assert_uint_eq(follow_chain().files, 1);
	ck_assert_int_gt(store_head_read(&store, &tail, &err), 0);
	tail.since -= 3601;
	store_head_write(&store, &tail);
	fill(1);
	ck_assert_uint_eq(follow_chain().files, 2);
	fill(1);
	ck_assert_uint_eq(follow_chain().files, 2);
}
END_TEST

/* A process that has the old file open goes on in the new one. */
START_TEST(other_writers_follow)
{
	struct store other;

	ck_assert_int_eq(store_open(&other, store_dir, geteuid(), &err), 0);
	store.policy.segment_bytes = 600;
	for (int i = 0; i < 20; i++) {
		fill(1);
		ck_assert_int_eq(store_append(&other, "{\"type\":\"y\"}", STORE_SYNC_GROUP, &err),
				 0);
	}
	store_close(&other);
	struct chain chain = follow_chain();
	ck_assert_uint_eq(chain.lines, 40 + 2 * (chain.files - 1));
}
END_TEST

/* What a crash leaves after each step of a rotation: see store_rotate.c. */
START_TEST(a_rotation_may_stop_anywhere)
{
	size_t old_len, new_len, head_len, closed_len;

	fill(5);
	char *before = read_file("log.jsonl", &old_len);
	char *head = read_file("head", &head_len);
	store.policy.segment_bytes = 1;
	fill(1);
	char *old = read_file("log-00000000000000000001.jsonl", &closed_len);
	char *new = read_file("log.jsonl", &new_len);
	new_len = (size_t)(strchr(new, '\n') + 1 - new); /* log.opened alone */
	store.policy.segment_bytes = 0;

	unlink(path_of("log.jsonl"));
	unlink(path_of("log-00000000000000000001.jsonl"));
	write_file("head", head, head_len);
	switch (_i) {
	case 0: /* log.next, and not all of it */
		write_file("log.next", new, new_len / 2);
		write_file("log.jsonl", before, old_len);
		break;
	case 1: /* log.closed too, and head was not written */
		write_file("log.next", new, new_len);
		write_file("log.jsonl", old, closed_len);
		break;
	case 2: /* the first rename */
		write_file("log.next", new, new_len);
		write_file("log-00000000000000000001.jsonl", old, closed_len);
		break;
	case 3: /* the second one */
		write_file("log.jsonl", new, new_len);
		write_file("log-00000000000000000001.jsonl", old, closed_len);
		break;
	default:
		ck_abort();
	}
	chmod(path_of("log.jsonl"), 0600);
	chmod(path_of("log.next"), 0600);
	chmod(path_of("log-00000000000000000001.jsonl"), 0600);
	struct chain early = follow_chain(); /* a reader finds a whole chain at once */
	ck_assert_uint_ge(early.lines, 5);
	reopen();
	fill(1);
	struct chain chain = follow_chain();
	ck_assert_uint_eq(chain.last, chain.lines);
	ck_assert_uint_ge(chain.lines, early.lines + 1);
	ck_assert_uint_eq(chain.files, _i < 2 ? 1 : 2);
	store.policy.segment_bytes = 1;
	fill(2);
	chain = follow_chain();
	ck_assert_uint_eq(chain.last, chain.lines);
	free(before);
	free(head);
	free(old);
	free(new);
}
END_TEST

static void keep(const char *dir, const char *name, size_t size, time_t age)
{
	static char bytes[65536];
	char path[128];
	struct timespec times[2] = {{.tv_sec = time(NULL) - age}, {.tv_sec = time(NULL) - age}};

	ck_assert_int_eq(store_keep(&store, dir, name, bytes, size, &err), 0);
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	ck_assert_int_eq(utimensat(AT_FDCWD, path_of(path), times, 0), 0);
}

static bool is_there(const char *name)
{
	return access(path_of(name), F_OK) == 0;
}

static struct store_pruned prune(uint64_t ms, uint64_t bytes, bool dry_run)
{
	struct store_pruned pruned;

	ck_assert_msg(store_prune(&store, ms, bytes, dry_run, &pruned, &err) == 0, "%s", err.text);
	return pruned;
}

START_TEST(old_output_goes_first)
{
	keep("output", "old", 8192, 100);
	keep("scripts", "older", 4096, 200);
	keep("output", "new", 8192, 1);
	store.policy.segment_bytes = 1000;
	fill(30);
	unsigned int files = follow_chain().files;

	/* nothing to do: no record */
	ck_assert_uint_eq(prune(1000 * 3600, 1 << 30, false).files, 0);
	ck_assert_ptr_null(strstr(follow_chain().types, "log.pruned"));
	/* by age, first only said */
	ck_assert_uint_eq(prune(50000, 0, true).files, 2);
	ck_assert(is_there("output/old"));
	struct store_pruned pruned = prune(50000, 0, false);
	ck_assert_uint_eq(pruned.files, 2);
	ck_assert_uint_eq(pruned.bytes, 8192 + 4096);
	ck_assert(!is_there("output/old") && !is_there("scripts/older") && is_there("output/new"));
	ck_assert_ptr_nonnull(strstr(follow_chain().types, "log.pruned"));
	/* by size: the rest of the output, and no record as long as that is enough */
	pruned = prune(0, 8000, false);
	ck_assert_uint_eq(pruned.files, 1);
	ck_assert_uint_eq(pruned.segments, 0);
	ck_assert_uint_ge(follow_chain().files, files);
}
END_TEST

START_TEST(records_go_last_and_are_named)
{
	size_t len;

	store.policy.segment_bytes = 1000;
	fill(40);
	struct chain before = follow_chain();
	struct store_pruned pruned = prune(0, 2500, false);
	ck_assert_uint_gt(pruned.segments, 2);
	struct chain after = follow_chain();
	ck_assert_uint_gt(after.first, 1);
	ck_assert_uint_gt(after.last, before.last);
	ck_assert_uint_le(pruned.left_bytes, 2500);
	/* the record names the last line that went */
	char *text = read_file("log.jsonl", &len), want[64];
	snprintf(want, sizeof(want), "\"last_seq\":%llu,", (unsigned long long)after.first - 1);
	ck_assert_msg(strstr(text, want) != NULL, "%s: %s", want, text);
	free(text);
	/* never the file that grows */
	prune(0, 1, false);
	fill(1);
	ck_assert_uint_le(follow_chain().files, 2);
}
END_TEST

START_TEST(kept_again_is_young_again)
{
	keep("scripts", "used", 4096, 1000);
	ck_assert_int_eq(store_keep(&store, "scripts", "used", "x", 1, &err), 0);
	ck_assert_uint_eq(prune(500000, 0, false).files, 0);
}
END_TEST

START_TEST(limits_are_read)
{
	static const struct {
		const char *text;
		bool is_good;
		uint64_t ms, bytes;
	} rows[] = {
		{"30d, 5G", true, 30ULL * 86400000, 5ULL << 30},
		{"5G,30d", true, 30ULL * 86400000, 5ULL << 30},
		{" 1h ", true, 3600000, 0},
		{"64M", true, 0, 64ULL << 20},
		{"", true, 0, 0},
		{"all", true, 0, 0},
		{"30d, 1h", false, 0, 0},
		{"1G 2G", false, 0, 0},
		{"1G, 2G", false, 0, 0},
		{"0G", false, 0, 0},
		{"5", false, 0, 0},
		{"30d,", false, 0, 0},
		{",5G", false, 0, 0},
		{"5GG", false, 0, 0},
		{"-5G", false, 0, 0},
		{"99999999999999999999G", false, 0, 0},
		{"9999999999999T", false, 0, 0},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t ms = 7, bytes = 7;
		const char *wrong = store_parse_limits(rows[i].text, &ms, &bytes);

		ck_assert_msg((wrong == NULL) == rows[i].is_good, "%s", rows[i].text);
		ck_assert_uint_eq(ms, rows[i].is_good ? rows[i].ms : 7);
		ck_assert_uint_eq(bytes, rows[i].is_good ? rows[i].bytes : 7);
	}
}
END_TEST

enum { WRITERS = 8, APPENDS = 40 };

static void write_shared(void)
{
	struct store own;

	if (store_open(&own, store_dir, geteuid(), &err) < 0)
		_exit(1);
	own.policy.segment_bytes = 5000;
	for (int i = 0; i < APPENDS; i++)
		if (store_append(&own, "{\"type\":\"x\"}", STORE_SYNC_GROUP, &err) < 0)
			_exit(2);
	_exit(0);
}

START_TEST(writers_share_a_sync)
{
	int status;

	for (int i = 0; i < WRITERS; i++)
		if (fork() == 0)
			write_shared();
	for (int i = 0; i < WRITERS; i++) {
		ck_assert_int_gt(wait(&status), 0);
		ck_assert_int_eq(status, 0);
	}
	struct chain chain = follow_chain();
	ck_assert_uint_eq(chain.lines, WRITERS * APPENDS + 2 * (chain.files - 1));
	ck_assert_uint_eq(chain.last, chain.lines);
}
END_TEST

START_TEST(ancestors_are_checked)
{
	char inner[128];

	store_close(&store);
	snprintf(store_dir, sizeof(store_dir), "%s/a/b/c/sbox", folder);
	ck_assert_int_eq(store_open(&store, store_dir, geteuid(), &err), 0);
	store_close(&store);
	snprintf(inner, sizeof(inner), "%s/a", folder);
	chmod(inner, 0777);
	ck_assert_int_eq(store_open(&store, store_dir, geteuid(), &err), -1);
	ck_assert_ptr_nonnull(strstr(err.text, "everybody can write"));
	chmod(inner, 01777); /* nobody else can rename in it */
	ck_assert_int_eq(store_open(&store, store_dir, geteuid(), &err), 0);
	store_close(&store);
	if (geteuid() == 0) {
		ck_assert_int_eq(chown(inner, 1, 0), 0);
		ck_assert_int_eq(store_open(&store, store_dir, geteuid(), &err), -1);
		ck_assert_ptr_nonnull(strstr(err.text, "somebody else"));
	}
}
END_TEST

/* A /dev of our own with a log in it; -1: not on this machine. */
static int own_log(void)
{
	struct sockaddr_un name = {.sun_family = AF_UNIX, .sun_path = "/dev/log"};
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);

	if (unshare(geteuid() == 0 ? CLONE_NEWNS : CLONE_NEWNS | CLONE_NEWUSER) < 0 ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("tmpfs", "/dev", "tmpfs", 0, NULL) < 0 ||
	    bind(fd, (struct sockaddr *)&name, sizeof(name)) < 0)
		return -1;
	return fd;
}

START_TEST(anchors_reach_the_log)
{
	char line[STORE_ANCHOR_ROOM] = "", want[256];

	store.policy.has_anchor = true;
	append("{\"type\":\"x\"}"); /* wherever it goes, it is no error */
	int fd = own_log();
	if (fd < 0) {
		printf("SKIP anchors_reach_the_log: no mount namespace here\n");
		return;
	}
	append("{\"type\":\"x\"}");
	ck_assert_int_gt(recv(fd, line, sizeof(line) - 1, 0), 0);
	snprintf(want, sizeof(want), ": audit anchor seq=2 hash=%s store=%s", store.last_hash,
		 store_dir);
	ck_assert_msg(strstr(line, want) != NULL, "%s", line);
	/* a log that takes nothing more: nobody waits for it */
	for (int i = 0; i < 600; i++)
		append("{\"type\":\"x\"}");
	ck_assert_uint_eq(follow_chain().lines, 602);
	close(fd);
}
END_TEST

int main(void)
{
	TCase *test = tcase_create("segments");

	tcase_add_checked_fixture(test, set_up, tear_down);
	tcase_set_timeout(test, 60);
	tcase_add_test(test, grows_into_linked_files);
	tcase_add_test(test, a_file_that_is_old_is_closed);
	tcase_add_test(test, other_writers_follow);
	tcase_add_loop_test(test, a_rotation_may_stop_anywhere, 0, 4);
	tcase_add_test(test, old_output_goes_first);
	tcase_add_test(test, records_go_last_and_are_named);
	tcase_add_test(test, kept_again_is_young_again);
	tcase_add_test(test, limits_are_read);
	tcase_add_test(test, writers_share_a_sync);
	tcase_add_test(test, ancestors_are_checked);
	tcase_add_test(test, anchors_reach_the_log);
	return run_suite("store segments", test);
}
