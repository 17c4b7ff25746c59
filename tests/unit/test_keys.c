// SPDX-License-Identifier: Apache-2.0
/* The key table agrees with itself, and the manual page with the key table. */
#include <check.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "keys.h"
#include "nearest.h"
#include "profile_internal.h"
#include "sha256.h"

#define MANUAL "man/sbox.ini.5"

static struct arena arena;

START_TEST(table_is_complete)
{
	const struct key *key = &key_table[_i];

	ck_assert_ptr_nonnull(key->section);
	ck_assert_ptr_nonnull(key->name);
	ck_assert_int_lt(key->type, KEY_TYPE_MAX);
	ck_assert_msg(strlen(key->help) > 10, "%s has no help", key->name);
	ck_assert_msg(key->help[strlen(key->help) - 1] != '.', "%s: help ends in .", key->name);
	ck_assert_uint_lt(key->offset, sizeof(struct profile));
	ck_assert_uint_le(strlen(key->section), PROFILE_SECTION_BYTES);
	ck_assert_msg(strspn(key->name, "abcdefghijklmnopqrstuvwxyz_") == strlen(key->name),
		      "%s: a key is lower case", key->name);
	ck_assert_msg((key->type == KEY_WORD) == (key->words[0] != '\0'), "%s: words", key->name);
}
END_TEST

START_TEST(table_is_unique)
{
	const struct key *key = &key_table[_i];
	bool closed = false;

	ck_assert_ptr_eq(key_find(key->section, key->name), key);
	ck_assert_str_ne(key->name, key_extends.name);
	/* A section is one block of rows. */
	for (int i = _i + 1; i < KEY_MAX; i++) {
		bool same = strcmp(key_table[i].section, key->section) == 0;

		ck_assert_msg(!same || !closed, "[%s] is in two blocks", key->section);
		closed |= !same;
		ck_assert_uint_ne(key_table[i].offset, key->offset);
	}
}
END_TEST

/* Every word is read as its place in the list, and nothing else is a word. */
START_TEST(words_are_read)
{
	const struct key *key = &key_table[_i];
	const char *word;
	size_t len;
	int value = -1;

	for (size_t i = 0; key->type == KEY_WORD && (word = value_word_at(key->words, i, &len));
	     i++) {
		ck_assert_uint_gt(len, 0);
		ck_assert_ptr_null(
			value_word(key->words, arena_strndup(&arena, word, len), &value));
		ck_assert_int_eq(value, (int)i);
	}
	ck_assert_ptr_nonnull(value_word(key->words, "nonesuch", &value));
}
END_TEST

/* The enums of profile.h in the order of the words. */
START_TEST(words_match_enums)
{
	static const struct {
		enum key_id id;
		const char *word;
		int value;
	} rows[] = {
		{KEY_FILE_WRITES, "keep", WRITES_KEEP},
		{KEY_FILE_WRITES, "discard", WRITES_DISCARD},
		{KEY_FILE_WRITES, "review", WRITES_REVIEW},
		{KEY_FILE_SCRATCH_EXEC, "no", NO},
		{KEY_FILE_SCRATCH_EXEC, "yes", YES},
		{KEY_FILE_HOME, "private", HOME_PRIVATE},
		{KEY_FILE_HOME, "none", HOME_NONE},
		{KEY_NETWORK_MODE, "none", NETWORK_NONE},
		{KEY_NETWORK_MODE, "allow", NETWORK_ALLOW},
		{KEY_NETWORK_MODE, "host", NETWORK_HOST},
		{KEY_PROCESS_ON_MISSING, "refuse", ON_MISSING_REFUSE},
		{KEY_PROCESS_ON_MISSING, "reduce", ON_MISSING_REDUCE},
		{KEY_PROCESS_ON_MISSING, "allow", ON_MISSING_ALLOW},
		{KEY_TIME_ON_TIMEOUT, "kill", ON_TIMEOUT_KILL},
		{KEY_TIME_ON_TIMEOUT, "freeze", ON_TIMEOUT_FREEZE},
		{KEY_AUDIT_SCRIPTS, "keep", SCRIPTS_KEEP},
		{KEY_AUDIT_SCRIPTS, "hash", SCRIPTS_HASH},
		{KEY_AUDIT_EXECS, "no", NO},
		{KEY_AUDIT_EXECS, "yes", YES},
		{KEY_AUDIT_DENIALS, "full", DENIALS_FULL},
		{KEY_AUDIT_DENIALS, "calls", DENIALS_CALLS},
		{KEY_AUDIT_DENIALS, "off", DENIALS_OFF},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int value = -1;

		ck_assert_ptr_null(value_word(key_table[rows[i].id].words, rows[i].word, &value));
		ck_assert_msg(value == rows[i].value, "%s is %d", rows[i].word, value);
	}
}
END_TEST

START_TEST(nearest_names)
{
	static const struct {
		const char *section, *wanted, *want;
	} rows[] = {
		{"process", "memroy", "memory"},
		{"process", "Memory", "memory"},
		{"process", "openfiles", "open_files"},
		{"process", "mem", "memory"},
		{"file", "wrtie", "write"},
		{"file", "writ", "write"},
		{"file", "frobnicate", NULL},
		{"file", "", NULL},
		{"time", "wal", "wall"},
		{"nonesuch", "wall", NULL},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		ck_assert_pstr_eq(key_nearest(rows[i].section, rows[i].wanted), rows[i].want);
	ck_assert_str_eq(key_nearest_section("netwrok"), "network");
	ck_assert_str_eq(key_nearest_section("env"), "environment");
}
END_TEST

START_TEST(sha256_vectors)
{
	char hex[SHA256_HEX];
	struct sha256 hash;

	sha256_hex_of("abc", 3, hex);
	ck_assert_str_eq(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	sha256_start(&hash);
	sha256_finish_hex(&hash, hex);
	ck_assert_str_eq(hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	sha256_add(&hash, "a", 1);
	sha256_add(&hash, "bc", 2);
	sha256_finish_hex(&hash, hex);
	ck_assert_str_eq(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}
END_TEST

static char *read_all(const char *path)
{
	FILE *file = fopen(path, "r");
	char *text = arena_alloc(&arena, 256 * 1024);

	ck_assert_msg(file != NULL, "%s: run the tests from the source folder", path);
	ck_assert_uint_lt(fread(text, 1, 256 * 1024 - 1, file), 256 * 1024 - 1);
	fclose(file);
	return text;
}

/* REGENERATE=1 writes the page anew. */
START_TEST(manual_has_the_keys)
{
	const char *page = read_all(MANUAL);
	const char *begin = strstr(page, ".\\\" BEGIN KEYS"), *end = strstr(page, ".\\\" END KEYS");
	const char *keys = keys_manual(&arena);

	ck_assert(begin != NULL && end != NULL && begin < end);
	begin = strchr(begin, '\n') + 1;
	if (getenv("REGENERATE") != NULL) {
		FILE *file = fopen(MANUAL, "w");

		ck_assert_ptr_nonnull(file);
		fprintf(file, "%.*s%s%s", (int)(begin - page), page, keys, end);
		ck_assert_int_eq(fclose(file), 0);
		return;
	}
	ck_assert_msg(strlen(keys) == (size_t)(end - begin) &&
			      strncmp(keys, begin, strlen(keys)) == 0,
		      "%s is not what the key table says: REGENERATE=1 build/tests/unit/test_keys",
		      MANUAL);
}
END_TEST

#define REFERENCE "profiles/reference.ini"

START_TEST(reference_has_the_keys)
{
	const char *now = keys_reference(&arena);

	if (getenv("REGENERATE") != NULL) {
		FILE *file = fopen(REFERENCE, "w");

		ck_assert_ptr_nonnull(file);
		fputs(now, file);
		ck_assert_int_eq(fclose(file), 0);
		return;
	}
	ck_assert_msg(strcmp(read_all(REFERENCE), now) == 0,
		      "%s is not what the key table says: REGENERATE=1 build/tests/unit/test_keys",
		      REFERENCE);
}
END_TEST

START_TEST(schema_has_each_key)
{
	json_error_t error;
	json_t *schema = json_loads(keys_schema(&arena), 0, &error);
	json_t *sections = json_object_get(schema, "properties");

	ck_assert_msg(schema != NULL, "%s", error.text);
	for (size_t i = 0; i < KEY_MAX; i++) {
		const struct key *key = &key_table[i];
		json_t *section = json_object_get(sections, key->section);
		json_t *entry = json_object_get(json_object_get(section, "properties"), key->name);

		ck_assert_msg(entry != NULL, "%s.%s", key->section, key->name);
		ck_assert_str_eq(json_string_value(json_object_get(entry, "description")),
				 key->help);
		ck_assert_str_eq(json_string_value(json_object_get(entry, "type")),
				 key_is_list(key) ? "array" : "string");
		ck_assert(json_is_false(json_object_get(section, "additionalProperties")));
	}
	json_decref(schema);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("keys");
	TCase *tcase = tcase_create("keys");
	SRunner *runner = srunner_create(suite);

	suite_add_tcase(suite, tcase);
	tcase_add_loop_test(tcase, table_is_complete, 0, KEY_MAX);
	tcase_add_loop_test(tcase, table_is_unique, 0, KEY_MAX);
	tcase_add_loop_test(tcase, words_are_read, 0, KEY_MAX);
	tcase_add_test(tcase, words_match_enums);
	tcase_add_test(tcase, nearest_names);
	tcase_add_test(tcase, sha256_vectors);
	tcase_add_test(tcase, manual_has_the_keys);
	tcase_add_test(tcase, reference_has_the_keys);
	tcase_add_test(tcase, schema_has_each_key);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	arena_free(&arena);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
