// SPDX-License-Identifier: Apache-2.0
/* A store in a folder of its own for each test of test_store_*.c. */
#ifndef SBOX_STORE_FIXTURE_H
#define SBOX_STORE_FIXTURE_H

#include <check.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store_internal.h"
#include "store_segment.h"

static char folder[64], store_dir[96];
static struct error err;
static struct store store;

static inline void set_up(void)
{
	snprintf(folder, sizeof(folder), "/tmp/test_store.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(store_dir, sizeof(store_dir), "%s/sbox", folder);
	ck_assert_msg(store_open(&store, store_dir, geteuid(), &err) == 0, "%s", err.text);
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

static inline void reopen(void)
{
	struct store_policy policy = store.policy;

	store_close(&store);
	ck_assert_msg(store_open(&store, store_dir, geteuid(), &err) == 0, "%s", err.text);
	store.policy = policy;
}

static inline void append(const char *body)
{
	ck_assert_msg(store_append(&store, body, STORE_SYNC_NONE, &err) == 0, "%s", err.text);
}

static inline char *read_file(const char *name, size_t *ret_len)
{
	FILE *file = fopen(path_of(name), "r");
	struct stat st;

	ck_assert_msg(file != NULL && fstat(fileno(file), &st) == 0, "%s", name);
	char *text = calloc(1, (size_t)st.st_size + 1);
	ck_assert_ptr_nonnull(text);
	*ret_len = fread(text, 1, (size_t)st.st_size, file);
	fclose(file);
	return text;
}

static inline void write_file(const char *name, const char *text, size_t len)
{
	FILE *file = fopen(path_of(name), "w");

	ck_assert_ptr_nonnull(file);
	ck_assert_uint_eq(fwrite(text, 1, len, file), len);
	fclose(file);
}

/* What a store holds, in all of its files: the chain must be whole. */
struct chain {
	unsigned int lines, files;
	uint64_t first, last, sealed;
	char hash[SHA256_HEX];
	char types[4096]; /* the first letters of each type and a blank */
};

static inline void follow_line(struct chain *chain, const char *line, size_t len)
{
	struct store_line parsed;

	ck_assert_msg(store_line_parse(line, len, &parsed), "%.*s", (int)len, line);
	if (chain->lines++ == 0)
		chain->first = parsed.seq;
	else
		ck_assert_msg(memcmp(parsed.prev, chain->hash, 64) == 0, "%.*s", (int)len, line);
	ck_assert_uint_gt(parsed.seq, chain->last);
	if (parsed.sealed > 0)
		ck_assert_uint_gt(parsed.sealed, chain->sealed);
	chain->sealed = parsed.sealed > 0 ? parsed.sealed : chain->sealed;
	chain->last = parsed.seq;
	sha256_hex_of(line, len, chain->hash);
	const char *type = strstr(parsed.body, "\"type\":\"") + 8;
	size_t at = strlen(chain->types);

	if (at + 20 < sizeof(chain->types))
		snprintf(chain->types + at, 20, "%.*s ", (int)strcspn(type, "\""), type);
}

static inline struct chain follow_chain(void)
{
	struct chain chain = {0};
	struct store_segments segments;
	size_t len;

	ck_assert_int_eq(store_segments_list(&store, &segments, &err), 0);
	chain.files = (unsigned int)segments.count;
	for (size_t i = 0; i < segments.count; i++) {
		char *text = read_file(segments.item[i].name, &len), *line = text;

		for (char *end; line != NULL && (end = strchr(line, '\n')) != NULL; line = end + 1)
			follow_line(&chain, line, (size_t)(end + 1 - line));
		ck_assert(line == NULL || *line == '\0');
		free(text);
	}
	store_segments_free(&segments);
	return chain;
}

static inline int run_suite(const char *name, TCase *test)
{
	Suite *suite = suite_create(name);
	SRunner *runner = srunner_create(suite);

	suite_add_tcase(suite, test);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? 0 : 1;
}

#endif
