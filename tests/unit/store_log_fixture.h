// SPDX-License-Identifier: Apache-2.0
/* A store that is not made yet, and its log, for test_store*.c. */
#ifndef SBOX_STORE_LOG_FIXTURE_H
#define SBOX_STORE_LOG_FIXTURE_H

#include <check.h>
#include <ftw.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store_internal.h"

static char folder[64], store_dir[96];
static struct error err;
static struct store store;

static inline void set_up(void)
{
	snprintf(folder, sizeof(folder), "/tmp/test_store.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(store_dir, sizeof(store_dir), "%s/a/b/sbox", folder);
}

static inline int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st, (void)type, (void)at;
	return remove(path);
}

static inline void tear_down(void)
{
	store_close(&store);
	nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static inline const char *path_of(const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%s", store_dir, name);
	return path;
}

static inline void open_store(void)
{
	ck_assert_msg(store_open(&store, store_dir, geteuid(), &err) == 0, "%s", err.text);
}

static inline void append(const char *body)
{
	ck_assert_msg(store_append(&store, body, false, &err) == 0, "%s", err.text);
}

static inline char *read_file(const char *name, size_t *ret_len)
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

static inline void write_file(const char *name, const char *text, size_t len)
{
	FILE *file = fopen(path_of(name), "w");

	ck_assert_ptr_nonnull(file);
	ck_assert_uint_eq(fwrite(text, 1, len, file), len);
	fclose(file);
}

/* Parses every line, follows the chain, and returns how many there are. */
static inline unsigned int check_chain(bool gaps_allowed)
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

static inline TCase *new_case(const char *name)
{
	TCase *test = tcase_create(name);

	tcase_add_checked_fixture(test, set_up, tear_down);
	tcase_set_timeout(test, 60);
	return test;
}

static inline int run_suite(TCase *test)
{
	Suite *suite = suite_create("store");
	SRunner *runner = srunner_create(suite);

	suite_add_tcase(suite, test);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? 0 : 1;
}

#endif
