// SPDX-License-Identifier: Apache-2.0
/* Any value survives dump and parse; no bytes crash the reader. */
#include "profile_fixture.h"

/* ---- any value survives dump and parse ---- */

static unsigned int state = 1;

static unsigned int random_below(unsigned int limit)
{
	state = state * 1103515245 + 12345;
	return (state >> 16) % limit;
}

/* Any byte but NUL; half of them from those with a meaning. */
static char *random_bytes(size_t len)
{
	static const char special[] = " \t;#\\$${{}}0x*?[],-=:/.\"'\n\r\xff\x80";
	char *text = arena_alloc(&arena, len + 1);

	for (size_t i = 0; i < len; i++)
		text[i] = random_below(2) ? special[random_below(sizeof(special) - 1)]
					  : (char)(1 + random_below(255));
	return text;
}

static bool is_clean(const char *path)
{
	return strstr(path, "//") == NULL && strstr(path, "/./") == NULL &&
	       strstr(path, "/../") == NULL && path[strlen(path) - 1] != '/' &&
	       (strlen(path) < 2 || strcmp(path + strlen(path) - 2, "/.") != 0) &&
	       (strlen(path) < 3 || strcmp(path + strlen(path) - 3, "/..") != 0);
}

static const char *random_path(size_t len)
{
	char *path;

	do {
		path = random_bytes(len);
		path[0] = '/';
		for (size_t i = 1; i < len; i++)
			if (path[i] == '/' &&
			    (path[i - 1] == '/' || path[i - 1] == '.' || i + 1 == len))
				path[i] = 'x';
	} while (!is_clean(path));
	return path;
}

static void random_lists(struct path_rule *rules, size_t count, const char **strings)
{
	for (size_t i = 0; i < count; i++) {
		size_t len = i == 0 ? 4095 : 2 + random_below(i % 3 == 0 ? 600 : 30);

		rules[i].path = random_path(len);
		rules[i].optional = random_below(2);
		strings[i] = random_bytes(1 + random_below(300));
	}
}

START_TEST(random_round_trip)
{
	enum { COUNT = 12 };
	struct path_rule rules[COUNT];
	const char *redact[COUNT], *set[COUNT];

	state = (unsigned int)_i + 1;
	load_well(put("t.ini", ""));
	random_lists(rules, COUNT, redact);
	for (size_t i = 0; i < COUNT; i++)
		set[i] = arena_printf(&arena, "N%zu=%s", i, random_bytes(random_below(300)));
	profile.description = random_bytes(1 + random_below(500));
	profile.file.read = (struct path_list){rules, COUNT};
	profile.audit.redact = (struct string_list){redact, COUNT};
	profile.environment.set = (struct string_list){set, COUNT};
	struct profile want = profile;

	assert_round_trip();
	ck_assert_str_eq(profile.description, want.description);
	ck_assert_uint_eq(profile.file.read.count, COUNT);
	for (size_t i = 0; i < COUNT; i++) {
		ck_assert_str_eq(profile.file.read.items[i].path, rules[i].path);
		ck_assert(profile.file.read.items[i].optional == rules[i].optional);
		ck_assert_str_eq(profile.environment.set.items[i], set[i]);
	}
	for (size_t i = 0; i < profile.audit.redact.count; i++)
		ck_assert_str_eq(profile.audit.redact.items[i], want.audit.redact.items[i]);
}
END_TEST

START_TEST(path_length)
{
	for (int len = 4090; len < 4100; len++) {
		struct text text = {.arena = &arena};

		text_puts(&text, "[file]\nread = /");
		for (int i = 1; i < len; i++)
			text_puts(&text, i % 150 ? "x" : "\\\n x");
		ck_assert_int_eq(load_text(text_string(&text)), len <= 4095 ? 0 : -1);
		if (len > 4095)
			assert_error("long path", 2, "4095 is the most");
	}
}
END_TEST

/* Random bytes never crash the reader, and what it accepts reads back the same. */
START_TEST(random_files)
{
	static const char *const parts[] = {
		"[file]", "[time]",  "[environment]",
		"\n",     "\n",      "\n  ",
		" = ",    "read",    "write",
		"wall",   "set",     "/a",
		"-/b",    "A=b",     "1s",
		"${cwd}", "${0x20}", "\\",
		" ;",     "#",       "]",
		",",      "\t",      "${",
		"}",      "\r\n",    "extends",
		"\x01",   "*",       "[profile]\nextends = ",
	};

	state = (unsigned int)_i + 1;
	for (int round = 0; round < 300; round++) {
		struct text text = {.arena = &arena};
		unsigned int count = random_below(30);

		text_puts(&text, random_below(2) ? "[file]\nread = /a" : "");
		for (unsigned int i = 0; i < count; i++)
			text_puts(&text, parts[random_below(sizeof(parts) / sizeof(parts[0]))]);
		if (load_text(text_string(&text)) == 0)
			assert_round_trip();
		else
			ck_assert_int_eq(err.kind, ERROR_PROFILE);
	}
}
END_TEST

static void add_tests(TCase *tcase)
{
	tcase_add_loop_test(tcase, random_round_trip, 0, 20);
	tcase_add_test(tcase, path_length);
	tcase_add_loop_test(tcase, random_files, 0, 4);
}

int main(void)
{
	return run_suite("profile random", add_tests);
}
