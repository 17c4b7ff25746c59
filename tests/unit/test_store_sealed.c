// SPDX-License-Identifier: Apache-2.0
/* The sealed store: keys that move on, MACs, and what a crash may do to them. */
#include "store_fixture.h"

/* Recomputes every MAC from the seal, as an outside holder would. */
static void check_macs(const struct store_seal *seal)
{
	struct store_key key = {.every = seal->every};
	struct store_line parsed;
	char mac[SHA256_HEX];
	size_t len;
	char *text = read_file("log.jsonl", &len), *line = text;

	ck_assert(store_key_from_hex(seal->key, key.key));
	for (char *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
		ck_assert(store_line_parse(line, (size_t)(end + 1 - line), &parsed));
		if (parsed.sealed == 0)
			continue;
		store_key_advance(&key, parsed.sealed - 1 - key.sealed);
		store_key_mac(key.key, line, (size_t)(parsed.covered - line), parsed.body,
			      (size_t)(end + 1 - parsed.body), mac);
		ck_assert_msg(memcmp(mac, parsed.mac, 64) == 0, "%.*s", (int)(end - line), line);
	}
	free(text);
}

static struct store_seal seal_store(uint64_t every)
{
	struct store_seal seal;

	ck_assert_msg(store_seal(&store, every, &seal, &err) == 0, "%s", err.text);
	return seal;
}

static const int epochs[] = {1, 2, 3, 7};

START_TEST(every_record_has_a_mac)
{
	append("{\"type\":\"before\"}");
	struct store_seal seal = seal_store((uint64_t)epochs[_i]);
	ck_assert_uint_eq(seal.seq, 2);
	for (int i = 0; i < 10; i++)
		append("{\"type\":\"x\"}");
	struct chain chain = follow_chain();
	ck_assert_uint_eq(chain.lines, 12);
	ck_assert_uint_eq(chain.sealed, 11);
	check_macs(&seal);
	ck_assert_int_eq(store_seal(&store, 1, &seal, &err), -1);
	ck_assert_ptr_nonnull(strstr(err.text, "sealed already"));
}
END_TEST

/* No key of an earlier epoch is left in the store, the seal's least of all. */
START_TEST(old_keys_are_gone)
{
	struct store_seal seal = seal_store(1);
	char before[SHA256_HEX];
	size_t len;

	memcpy(before, seal.key, sizeof(before));
	for (int i = 0; i < 5; i++) {
		char *text = read_file("key", &len);

		ck_assert_ptr_null(strstr(text, before));
		memcpy(before, strstr(text, "\"key\":\"") + 7, 64);
		free(text);
		append("{\"type\":\"x\"}");
		text = read_file("log.jsonl", &len);
		ck_assert_ptr_null(strstr(text, before));
		ck_assert_ptr_null(strstr(text, seal.key));
		free(text);
	}
}
END_TEST

/* A crash between a record and its key: the keys in between are computed. */
START_TEST(a_key_that_is_behind_catches_up)
{
	struct store_seal seal = seal_store((uint64_t)epochs[_i]);
	size_t len, unused;

	append("{\"type\":\"x\"}");
	char *key = read_file("key", &len);
	append("{\"type\":\"x\"}");
	append("{\"type\":\"x\"}");
	write_file("key", key, len);
	append("{\"type\":\"x\"}");
	check_macs(&seal);
	ck_assert_uint_eq(follow_chain().sealed, 5);
	/* and head too */
	write_file("key", key, len);
	write_file("head", "", 0);
	append("{\"type\":\"x\"}");
	check_macs(&seal);
	struct chain chain = follow_chain();
	ck_assert_uint_eq(chain.sealed, 7); /* log.recovered is sealed too */
	free(read_file("key", &unused));
	free(key);
}
END_TEST

/* A torn record at each byte: its number in the seal is used again, and nothing is lost. */
START_TEST(torn_tail_is_cut_back)
{
	struct store_seal seal = seal_store(1);
	size_t whole, len, head_len, key_len;

	append("{\"type\":\"x\"}");
	free(read_file("log.jsonl", &whole));
	char *head = read_file("head", &head_len);
	char *key = read_file("key", &key_len);
	append("{\"type\":\"torn\"}");
	char *text = read_file("log.jsonl", &len);
	for (size_t cut = whole + 1; cut <= len; cut++) {
		write_file("log.jsonl", text, cut);
		write_file("head", head, head_len);
		write_file("key", key, key_len);
		append("{\"type\":\"after\"}");
		check_macs(&seal);
		struct chain chain = follow_chain();
		ck_assert_uint_eq(chain.last, chain.lines);
		ck_assert_uint_eq(chain.sealed, chain.lines);
	}
	free(text);
	free(head);
	free(key);
}
END_TEST

/* Records were taken from the end, head included: the numbers show it for ever. */
START_TEST(a_cut_end_leaves_a_gap)
{
	size_t len, head_len;

	seal_store(1);
	append("{\"type\":\"1\"}");
	char *text = read_file("log.jsonl", &len);
	char *head = read_file("head", &head_len);
	append("{\"type\":\"2\"}");
	append("{\"type\":\"3\"}");
	write_file("log.jsonl", text, len);
	write_file("head", head, head_len);
	append("{\"type\":\"4\"}");
	struct chain chain = follow_chain();
	ck_assert_uint_eq(chain.lines, 3);
	ck_assert_uint_eq(chain.sealed, 5);
	free(text);
	free(head);
}
END_TEST

/* Nothing goes on unsealed. */
START_TEST(a_store_without_its_key_takes_no_record)
{
	size_t len, unused;

	seal_store(1);
	append("{\"type\":\"x\"}");
	char *key = read_file("key", &len);
	free(read_file("log.jsonl", &unused));
	unlink(path_of("key"));
	reopen();
	ck_assert_int_eq(store_append(&store, "{\"type\":\"x\"}", STORE_SYNC_EACH, &err), -1);
	ck_assert_ptr_nonnull(strstr(err.text, "/key: gone"));
	write_file("key", key, len - 1);
	chmod(path_of("key"), 0600);
	reopen();
	ck_assert_int_eq(store_append(&store, "{\"type\":\"x\"}", STORE_SYNC_EACH, &err), -1);
	ck_assert_ptr_nonnull(strstr(err.text, "/key: damaged"));
	write_file("key", key, len);
	append("{\"type\":\"x\"}");
	ck_assert_uint_eq(follow_chain().lines, 3);
	free(key);
}
END_TEST

/* A process that opened the store before it was sealed seals its next record. */
START_TEST(writers_notice_the_seal)
{
	struct store other;

	append("{\"type\":\"x\"}");
	ck_assert_int_eq(store_open(&other, store_dir, geteuid(), &err), 0);
	struct store_seal seal = seal_store(2);
	ck_assert_int_eq(store_append(&other, "{\"type\":\"y\"}", STORE_SYNC_NONE, &err), 0);
	append("{\"type\":\"x\"}");
	store_close(&other);
	check_macs(&seal);
	ck_assert_uint_eq(follow_chain().sealed, 3);
}
END_TEST

START_TEST(rotation_is_sealed)
{
	struct store_seal seal = seal_store(3);

	for (int i = 0; i < 20; i++) {
		store.policy.segment_bytes = i == 10 ? 1 : 0;
		append("{\"type\":\"x\"}");
	}
	struct chain chain = follow_chain();
	ck_assert_uint_eq(chain.files, 2);
	ck_assert_uint_eq(chain.sealed, 23);
	check_macs(&seal);
}
END_TEST

int main(void)
{
	TCase *test = tcase_create("sealed");

	tcase_add_checked_fixture(test, set_up, tear_down);
	tcase_set_timeout(test, 60);
	tcase_add_loop_test(test, every_record_has_a_mac, 0, 4);
	tcase_add_test(test, old_keys_are_gone);
	tcase_add_loop_test(test, a_key_that_is_behind_catches_up, 0, 4);
	tcase_add_test(test, torn_tail_is_cut_back);
	tcase_add_test(test, a_cut_end_leaves_a_gap);
	tcase_add_test(test, a_store_without_its_key_takes_no_record);
	tcase_add_test(test, writers_notice_the_seal);
	tcase_add_test(test, rotation_is_sealed);
	return run_suite("sealed store", test);
}
