// SPDX-License-Identifier: Apache-2.0
/*
 * The lines that denials name, put together and written into a profile's text: which covers
 * which, which are a person's to decide, and that all else in the file stays.
 */
#include <check.h>
#include <stdlib.h>
#include <unistd.h>

#include "explain.h"
#include "keys.h"

static struct arena arena;

static void begin(void)
{
	arena = (struct arena){0};
}

static void end(void)
{
	arena_free(&arena);
}

/* "[file] read = /data" */
static struct change change_of(const char *section, const char *key, const char *value)
{
	struct change change = {section, key, value, key_find(section, key)};

	ck_assert_msg(change.known != NULL, "[%s] %s", section, key);
	return change;
}

#define TEN     "0123456789"
#define HUNDRED TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN

static const struct {
	const char *before, *section, *key, *value, *after;
} edits[] = {
	{"", "file", "read", "/a", "[file]\nread = /a\n"},
	{"[file]\nread = /b\n", "file", "read", "/a", "[file]\nread = /b\nread = /a\n"},
	/* there already, in each way that a list is written */
	{"[file]\nread = /a\n", "file", "read", "/a", "[file]\nread = /a\n"},
	{"[file]\nread =\n /b\n\t/a\n", "file", "read", "/a", "[file]\nread =\n /b\n\t/a\n"},
	{"[file]\nread = -/a\n", "file", "read", "/a", "[file]\nread = -/a\n"},
	/* another key's value, and another section's, are not */
	{"[file]\nexec = /a\n", "file", "read", "/a", "[file]\nexec = /a\nread = /a\n"},
	{"[time]\nwall = 1m\n", "file", "read", "/a", "[time]\nwall = 1m\n\n[file]\nread = /a\n"},
	/* behind a list that goes on */
	{"[file]\nread = /b\n /c\nwrite = /d\n", "file", "read", "/a",
	 "[file]\nread = /b\n /c\nread = /a\nwrite = /d\n"},
	/* comments and blank lines stay with what they are about */
	{"; mine\n[file] ; paths\nread = /b ; why\n\n; the clock\n[time]\nwall = 1m\n", "file",
	 "write", "/a",
	 "; mine\n[file] ; paths\nread = /b ; why\nwrite = /a\n\n; the clock\n[time]\nwall = 1m\n"},
	/* one value only: the line is replaced */
	{"[time]\nwall = 1m\n", "time", "wall", "5m", "[time]\nwall = 5m\n"},
	{"[network]\n; off\nmode=none\n", "network", "mode", "host",
	 "[network]\n; off\nmode = host\n"},
	/* names that begin alike */
	{"[files]\nread = /a\n[file]\nreading = /a\n", "file", "read", "/a",
	 "[files]\nread = /a\n[file]\nreading = /a\nread = /a\n"},
	/* longer than a line may be */
	{"[file]\nwrite = /b\n", "file", "read", "/" HUNDRED HUNDRED "\xc3\xa9",
	 "[file]\nwrite = /b\nread = /" HUNDRED TEN TEN TEN TEN TEN TEN TEN TEN "012345678\\\n"
	 "       9" TEN "\xc3\xa9\n"},
	{"no end of line", "file", "read", "/a", "no end of line\n\n[file]\nread = /a\n"},
};

START_TEST(text_is_edited)
{
	const struct change change = change_of(edits[_i].section, edits[_i].key, edits[_i].value);

	ck_assert_str_eq(explain_edit(&arena, edits[_i].before, &change, 1), edits[_i].after);
	/* once more changes nothing */
	ck_assert_str_eq(explain_edit(&arena, edits[_i].after, &change, 1), edits[_i].after);
}
END_TEST

/* What is left of lines that denials name: "permit" texts, ended by NULL; "?": only looked at. */
static const struct {
	const char *permits[6], *changes, *left_out;
} choices[] = {
	{{"[file] read = /data/a", "[file] read = /data/b"},
	 "file.read=/data/a file.read=/data/b ",
	 ""},
	{{"[file] read = /data/a", "[file] read = /data/a"}, "file.read=/data/a ", ""},
	/* a wider path, and a wider right, cover the others; in either order */
	{{"[file] read = /data/a", "[file] read = /data", "[file] read = /data/b"},
	 "file.read=/data ",
	 ""},
	{{"[file] write = /data", "[file] exec = /data/t"}, "file.write=/data ", ""},
	{{"[file] exec = /data/t", "[file] write = /data"}, "file.write=/data ", ""},
	{{"[file] read = /data", "[file] exec = /data"}, "file.exec=/data ", ""},
	{{"[file] write = /data/a", "[file] read = /data"},
	 "file.write=/data/a file.read=/data ",
	 ""},
	{{"[file] read = /database", "[file] read = /data"},
	 "file.read=/database file.read=/data ",
	 ""},
	/* names of secrets, networks and protections are the caller's to decide */
	{{"[file] read = /data/.ssh/config"}, "", "file.read=/data/.ssh/config "},
	{{"[file] read = /data/x.pem", "[file] read = /data/x"},
	 "file.read=/data/x ",
	 "file.read=/data/x.pem "},
	{{"[file] exec = /data/tokenizer"}, "", "file.exec=/data/tokenizer "},
	{{"[network] allow = example.org:443"}, "", "network.allow=example.org:443 "},
	{{"[file] hide = !/data/a"}, "", "file.hide=!/data/a "},
	/* a home folder is wide */
	{{"[file] write = /home/ana"}, "", "file.write=/home/ana "},
	{{"[time] wall = 5m"}, "time.wall=5m ", ""},
	/* asked about only, or no line at all */
	{{"?[file] read = /data/a"}, "", ""},
	{{"never", "[file] read /a", "[file]read = /a", "[flie] read = /a", "[file] read=/a"},
	 "",
	 ""},
};

static const char *words(const struct change *changes, size_t count)
{
	const char *text = "";

	for (size_t i = 0; i < count; i++)
		text = arena_printf(&arena, "%s%s.%s=%s ", text, changes[i].section, changes[i].key,
				    changes[i].value);
	return text;
}

START_TEST(lines_are_put_together)
{
	const struct profile_context context = {.cwd = "/data/work",
						.home = "/home/ana",
						.user = "ana",
						.uid = getuid(),
						.store = "/home/ana/.local/state/sbox",
						.shipped_dir = "profiles"};
	json_t *denials = json_array();

	for (size_t i = 0; choices[_i].permits[i] != NULL; i++) {
		const char *permit = choices[_i].permits[i];
		bool looked = permit[0] == '?';

		json_array_append_new(denials, json_pack("{s:s, s:s}", "permit", permit + looked,
							 "op", looked ? "look" : "read"));
	}
	json_t *record_end = json_pack("{s:o}", "denials", denials);
	json_t *record_start = json_pack("{s:{s:s}, s:s}", "profile", "path", "profiles/base.ini",
					 "cwd", "/data/work");
	struct explain explain = {.arena = &arena, .start = record_start, .end = record_end};
	explain_find_changes(&explain, &context, false);
	ck_assert_str_eq(words(explain.changes, explain.change_count), choices[_i].changes);
	ck_assert_str_eq(words(explain.left_out, explain.left_out_count), choices[_i].left_out);
	/* all of them, when they are asked for */
	struct explain all = {.arena = &arena, .start = record_start, .end = record_end};
	explain_find_changes(&all, &context, true);
	ck_assert_uint_eq(all.left_out_count, 0);
	ck_assert_uint_ge(all.change_count, explain.change_count);
	json_decref(record_start);
	json_decref(record_end);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("explain");
	TCase *tcase = tcase_create("changes");

	tcase_add_checked_fixture(tcase, begin, end);
	tcase_add_loop_test(tcase, text_is_edited, 0, sizeof(edits) / sizeof(edits[0]));
	tcase_add_loop_test(tcase, lines_are_put_together, 0, sizeof(choices) / sizeof(choices[0]));
	suite_add_tcase(suite, tcase);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
