// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base64.h"
#include "json.h"
#include "utf8.h"

static struct arena arena;

static char *write_string(const void *bytes, size_t len)
{
	struct json json;

	json_begin(&json, &arena);
	json_put_string(&json, bytes, len);
	return json_finish(&json);
}

static const struct {
	const char *bytes, *text;
} strings[] = {
	{"", "\"\""},
	{"plain", "\"plain\""},
	{"a\"b\\c/", "\"a\\\"b\\\\c/\""},
	{"\n\r\t\b\f", "\"\\n\\r\\t\\b\\f\""},
	{"\033]0;owned\a", "\"\\u001b]0;owned\\u0007\""},
	{"\x7f", "\"\\u007f\""},
	{"\xc2\x80\xc2\x9b\xc2\x9f\xc2\xa0", "\"\\u0080\\u009b\\u009f\xc2\xa0\""},
	{"\xe2\x80\xa8\xe2\x80\xa9", "\"\\u2028\\u2029\""},
	{"\xe2\x80\xae\xe2\x81\xa6", "\"\\u202e\\u2066\""},
	{"\xf3\xa0\x81\x81", "\"\\udb40\\udc41\""},
	{"gr\xc3\xbc\xc3\x9f\xf0\x9f\x98\x80", "\"gr\xc3\xbc\xc3\x9f\xf0\x9f\x98\x80\""},
	/* not UTF-8: a stray byte, a lone surrogate, an overlong slash, beyond U+10FFFF, cut */
	{"\xff", "{\"base64\":\"/w==\"}"},
	{"\xed\xa0\x80", "{\"base64\":\"7aCA\"}"},
	{"\xc0\xaf", "{\"base64\":\"wK8=\"}"},
	{"\xf4\x90\x80\x80", "{\"base64\":\"9JCAgA==\"}"},
	{"ab\xc3", "{\"base64\":\"YWLD\"}"},
	{"\x9b"
	 "31m",
	 "{\"base64\":\"mzMxbQ==\"}"},
};

START_TEST(strings_are_escaped)
{
	ck_assert_str_eq(write_string(strings[_i].bytes, strlen(strings[_i].bytes)),
			 strings[_i].text);
}
END_TEST

static const struct {
	const char *key, *text;
} keys[] = {
	{"job", "{\"job\":1}"},
	{"a\nb", "{\"a\\nb\":1}"},
	{"\xff", "{\"base64:/w==\":1}"},
	{"base64:x", "{\"base64:YmFzZTY0Ong=\":1}"},
};

START_TEST(keys_are_lossless)
{
	struct json json;

	json_begin(&json, &arena);
	json_object_begin(&json);
	json_put_key(&json, keys[_i].key);
	json_put_number(&json, 1);
	json_object_end(&json);
	ck_assert_str_eq(json_finish(&json), keys[_i].text);
}
END_TEST

START_TEST(values_nest)
{
	struct json json;

	json_begin(&json, &arena);
	json_object_begin(&json);
	json_put_key(&json, "a");
	json_array_begin(&json);
	json_put_number(&json, UINT64_MAX);
	json_put_bool(&json, true);
	json_put_null(&json);
	json_array_begin(&json);
	json_array_end(&json);
	json_object_begin(&json);
	json_object_end(&json);
	json_array_end(&json);
	json_put_key(&json, "b");
	json_put_text(&json, NULL);
	json_put_key(&json, "c");
	json_put_bool(&json, false);
	json_object_end(&json);
	ck_assert_str_eq(json_finish(&json), "{\"a\":[18446744073709551615,true,null,[],{}],"
					     "\"b\":null,\"c\":false}");
}
END_TEST

/* The bytes that a parsed value stands for; from malloc. */
static unsigned char *decode(const json_t *value, size_t *ret_len)
{
	const json_t *base64 = json_object_get(value, "base64");
	const json_t *text = base64 != NULL ? base64 : value;
	size_t len = json_string_length(text);
	unsigned char *bytes = malloc(len + 1);

	ck_assert(json_is_string(text));
	memcpy(bytes, json_string_value(text), len);
	if (base64 != NULL) {
		ssize_t size = base64_decode(bytes, json_string_value(text), len);

		ck_assert_int_ge(size, 0);
		len = (size_t)size;
	}
	*ret_len = len;
	return bytes;
}

static void check_round_trip(const unsigned char *bytes, size_t len)
{
	json_error_t error;
	size_t got;
	char *text = write_string(bytes, len);
	json_t *value = json_loads(text, JSON_DECODE_ANY | JSON_ALLOW_NUL, &error);

	ck_assert_msg(value != NULL, "%s: %s", error.text, text);
	for (const char *c = text; *c != '\0'; c++)
		ck_assert((unsigned char)*c >= 0x20 && *c != 0x7f);
	unsigned char *back = decode(value, &got);
	ck_assert_uint_eq(got, len);
	ck_assert_mem_eq(back, bytes, len);
	free(back);
	json_decref(value);
	arena_free(&arena);
}

START_TEST(random_bytes_come_back)
{
	unsigned char bytes[64];

	srand(20261129);
	for (int round = 0; round < 5000; round++) {
		size_t len = (size_t)rand() % sizeof(bytes);

		/* half of the rounds from few bytes, so that valid sequences turn up */
		for (size_t i = 0; i < len; i++)
			bytes[i] = round % 2 ? (unsigned char)rand()
					     : (unsigned char)"\0a\"\\\xc2\x9b\xe2\x80\xa8\xed"
							      "\xa0\xf3"[rand() % 12];
		check_round_trip(bytes, len);
	}
}
END_TEST

START_TEST(every_code_point_comes_back)
{
	for (unsigned int point = 0; point < 0x110000; point += point < 0x2100 ? 1 : 509) {
		unsigned char bytes[4];
		size_t len = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
		static const unsigned char lead[] = {0, 0, 0xc0, 0xe0, 0xf0};

		for (size_t i = len - 1; i > 0; i--)
			bytes[i] = 0x80 | (point >> 6 * (len - 1 - i) & 0x3f);
		bytes[0] = (unsigned char)(lead[len] | point >> 6 * (len - 1));
		check_round_trip(bytes, len);
	}
}
END_TEST

static const char *const not_base64[] = {"a",        "ab=",   "a===", "a=b=",     "ab c",
					 "YWL=YWLD", "////=", "/x==", "YWK=YQ==", "YWF="};

START_TEST(base64_is_canonical)
{
	char out[16];

	ck_assert_int_eq(base64_decode(out, not_base64[_i], strlen(not_base64[_i])), -1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("json");
	TCase *test = tcase_create("json");
	SRunner *runner = srunner_create(suite);

	tcase_set_timeout(test, 60);
	tcase_add_loop_test(test, strings_are_escaped, 0, sizeof(strings) / sizeof(strings[0]));
	tcase_add_loop_test(test, keys_are_lossless, 0, sizeof(keys) / sizeof(keys[0]));
	tcase_add_test(test, values_nest);
	tcase_add_test(test, random_bytes_come_back);
	tcase_add_test(test, every_code_point_comes_back);
	tcase_add_loop_test(test, base64_is_canonical, 0,
			    sizeof(not_base64) / sizeof(not_base64[0]));
	suite_add_tcase(suite, test);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	arena_free(&arena);
	return failed == 0 ? 0 : 1;
}
