// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "learn.h"
#include "watch.h"

/* From uses to lines, over made-up machines; names of credentials; the bytes of a watch. */

static struct arena arena;

/* ---- a machine: what is there, and where links lead ---- */

static const struct {
	const char *path;
	size_t entries; /* folders: names in it */
} folders[] = {{"/", 20},           {"/w", 10},       {"/w/build", 3},      {"/w/src", 4},
	       {"/data", 5},        {"/data/set", 6}, {"/data/big", 90000}, {"/home/u", 30},
	       {"/home/u/docs", 5}, {"/opt/tool", 2}, {"/tmp", 3},          {"/home/u/rel-1", 4}};
static const struct {
	const char *link, *target;
} links[] = {{"/home/u/cur", "/home/u/rel-1"}, {"/data/alias", "/opt/tool/real"}};

static const char *too_wide(void *about, const char *path)
{
	(void)about;
	return strcmp(path, "/") == 0 || strcmp(path, "/home/u") == 0 || strcmp(path, "/data") == 0
		       ? "too wide"
		       : NULL;
}

static const char *forbidden(void *about, const char *path, enum rank rank)
{
	(void)about;
	if (strstr(path, "/.ssh") != NULL)
		return "a credential";
	if (rank == RANK_WRITE && strncmp(path, "/w", 2) != 0 && strncmp(path, "/tmp", 4) != 0 &&
	    strncmp(path, "/data", 5) != 0)
		return "not writable";
	return NULL;
}

static bool may(void *about, const char *path, enum rank rank)
{
	(void)about;
	return rank == RANK_NONE ? strstr(path, "gone") == NULL
				 : strstr(path, "unreadable") == NULL;
}

static size_t entries(void *about, const char *folder)
{
	(void)about;
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		if (strcmp(folders[i].path, folder) == 0)
			return folders[i].entries;
	return 0;
}

static bool is_folder(void *about, const char *path)
{
	return entries(about, path) > 0;
}

static struct string_list names(void *about, const char *path)
{
	struct string_list list = {0};

	(void)about;
	*ARENA_PUSH(&arena, list.items, list.count) = path;
	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++) {
		size_t len = strlen(links[i].link);

		if (strncmp(path, links[i].link, len) == 0 &&
		    (path[len] == '/' || path[len] == '\0'))
			*ARENA_PUSH(&arena, list.items, list.count) =
				arena_printf(&arena, "%s%s", links[i].target, path + len);
	}
	return list;
}

static const struct given given[] = {{"/usr", RANK_EXEC, NULL},
				     {"/tmp", RANK_WRITE, NULL},
				     {"/home/u/.pyenv/versions", RANK_EXEC, "pyenv"}};

static struct uses uses;
static struct folded folded;

static void use(char want, char type, const char *path)
{
	struct use *one = ARENA_PUSH(&arena, uses.items, uses.count);

	*one = (struct use){.want = want, .type = type, .names = names(NULL, path)};
}

static void use_many(char want, const char *folder, int count)
{
	for (int i = 0; i < count; i++)
		use(want, 'f', arena_printf(&arena, "%s/f%d", folder, i));
}

/* "write /w, read /data/x": the lines in order. */
static const char *lines(void)
{
	static const char *const words[] = {"none", "read", "exec", "write"};
	const struct fold_world world = {&arena,    "/w", given,   3,         NULL, too_wide,
					 forbidden, may,  entries, is_folder, names};
	const char *text = "";

	memset(&folded, 0, sizeof(folded));
	fold(&world, &uses, &folded);
	for (size_t i = 0; i < folded.grant_count; i++)
		text = arena_printf(&arena, "%s%s%s%s %s", text, i > 0 ? ", " : "",
				    folded.grants[i].absent ? "-" : "",
				    words[folded.grants[i].rank], folded.grants[i].path);
	memset(&uses, 0, sizeof(uses));
	return text;
}

static const char *left(void)
{
	const char *text = "";

	for (size_t i = 0; i < folded.left_count; i++)
		text = arena_printf(&arena, "%s%s%s", text, i > 0 ? ", " : "", folded.left[i].path);
	return text;
}

static const struct {
	const char *uses; /* WANT TYPE PATH, separated by blanks */
	const char *lines, *left;
} rows[] = {
	{"rf/usr/lib/x xf/usr/bin/y", "", ""},
	{"rf/etc/x", "read /etc/x", ""},
	{"r-/etc/x l-/etc/y x-/etc/z", "", ""},
	{"rf/unreadable/x", "", ""},
	{"rf/gone", "-read /gone", ""},
	/* the folder that it was started in, as a whole */
	{"rf/w/x", "read /w", ""},
	{"ld/w", "", ""},
	{"gd/w", "read /w", ""},
	{"gd/data gd/w/src", "", ""},
	{"gd/w c-/w/new", "write /w", ""},
	{"lf/w/x", "read /w", ""},
	{"l-/w/x r-/w/y", "", ""},
	{"rd/w", "read /w", ""},
	{"c-/w/new", "write /w", ""},
	{"c-/w/build/new rf/w/x", "write /w/build, read /w", ""},
	{"n-/w/made c-/w/made/x xf/w/made/x", "write /w", ""},
	{"xf/w/a.out", "exec /w/a.out, read /w", ""},
	{"cf/w/log", "write /w/log, read /w", ""},
	{"df/w/build/x", "write /w/build, read /w", ""},
	{"d-/w/build/x n-/w/src/y", "write /w/src, read /w", ""},
	/* elsewhere */
	{"rd/data/set", "read /data/set", ""},
	{"rd/data", "", "/data"},
	{"rd/home/u rd/", "", "/home/u, /"},
	{"xf/opt/tool/a pf/opt/tool/b.so", "exec /opt/tool/a, exec /opt/tool/b.so", ""},
	{"rf/data/x xf/data/x", "exec /data/x", ""},
	{"lf/data/x", "read /data/x", ""},
	{"lf/data/x rf/data/x", "read /data/x", ""},
	{"ld/data/set", "", ""},
	{"ld/opt/tool", "read /opt/tool", ""},
	{"ld/opt/tool rf/opt/tool/x", "read /opt/tool/x", ""},
	{"ld/home/u/.pyenv", "", ""},
	{"ed/data/set", "read /data/set", ""},
	{"ed/data/set rf/data/set/x", "read /data/set/x", ""},
	{"c-/data/set/new", "write /data/set", ""},
	{"c-/data/new", "", "/data"},
	{"mf/data/x", "write /data/x", ""},
	{"c-/opt/tool/new", "", "/opt/tool/new"},
	{"c-/tmp/x rf/tmp/x xf/tmp/x", "", ""},
	/* never */
	{"rf/home/u/.ssh/id rf/w/.ssh/x", "", "/home/u/.ssh/id, /w/.ssh/x"},
	{"us/run/x", "", ""},
	/* links: the place and what it leads to */
	{"rf/data/alias", "read /data/alias", ""},
	{"xf/data/alias xf/opt/tool/real", "exec /data/alias", ""},
	{"rf/home/u/cur/a rf/home/u/cur/b rf/home/u/cur/c rf/home/u/cur/d", "read /home/u/cur", ""},
	{"xf/home/u/.pyenv/versions/3/bin/python", "", ""},
};

static void use_all(const char *text)
{
	while (*text != '\0') {
		size_t len = strcspn(text, " ");

		use(text[0], text[1], arena_strndup(&arena, text + 2, len - 2));
		text += len + (text[len] == ' ');
	}
}

START_TEST(uses_become_lines)
{
	use_all(rows[_i].uses);
	ck_assert_str_eq(lines(), rows[_i].lines);
	ck_assert_str_eq(left(), rows[_i].left);
}
END_TEST

START_TEST(most_of_a_folder_becomes_the_folder)
{
	use_many('r', "/data/set", 4);
	ck_assert_str_eq(lines(), "read /data/set");
	ck_assert_uint_eq(folded.grants[0].count, 4);
	/* too few of it, or of too many */
	use_many('r', "/data/set", 3);
	ck_assert_str_eq(lines(), "read /data/set/f0, read /data/set/f1, read /data/set/f2");
	use_many('r', "/data/big", 40);
	lines();
	ck_assert_uint_eq(folded.grant_count, 40);
	/* a folder that is too wide never, however much of it was used */
	use_many('r', "/home/u", 30);
	lines();
	ck_assert_uint_eq(folded.grant_count, 30);
}
END_TEST

START_TEST(what_a_hostile_program_opens_stays_bounded)
{
	use_many('r', "/data/big", 5000);
	lines();
	ck_assert_uint_le(folded.grant_count, FOLD_LINES_MAX);
	ck_assert_uint_eq(folded.left_count, FOLD_LEFT_MAX);
	ck_assert_uint_gt(folded.left_more, 0);
	use_many('l', "/data/big", 100);
	lines();
	ck_assert_uint_le(folded.grant_count, FOLD_LOOKED_MAX);
}
END_TEST

START_TEST(version_managers_are_named)
{
	use('x', 'f', "/home/u/.pyenv/versions/3/bin/python");
	use('r', 'f', "/home/u/.pyenv/versions/3/lib/os.py");
	ck_assert_str_eq(lines(), "");
	ck_assert_uint_eq(folded.toolchains.count, 1);
	ck_assert_str_eq(folded.toolchains.items[0], "pyenv");
}
END_TEST

START_TEST(lines_never_cover_each_other)
{
	use_many('r', "/data/set", 6);
	use_many('x', "/data/set", 2);
	use('r', 'd', "/w/src");
	use('c', '-', "/w/src/new");
	lines();
	for (size_t i = 0; i < folded.grant_count; i++)
		for (size_t j = 0; j < folded.grant_count; j++)
			ck_assert(i == j || !fold_covers(&folded.grants[i], &folded.grants[j]));
}
END_TEST

/* ---- credentials ---- */

static const struct {
	const char *path;
	bool secret;
} paths[] = {
	{"/home/u/.ssh", true},
	{"/home/u/.ssh/known_hosts", true},
	{"/home/u/.aws/credentials", true},
	{"/srv/x/.env", true},
	{"/srv/x/.env.production", true},
	{"/srv/x/.env.example", false},
	{"/srv/x/.environment", false},
	{"/home/u/.config/gh/hosts.yml", true},
	{"/home/u/.config/ghost", false},
	{"/home/u/.bash_history", true},
	{"/etc/shadow", true},
	{"/etc/ssh/ssh_host_rsa_key", true},
	{"/etc/ssh/ssh_host_rsa_key.pub", false},
	{"/home/u/lib/token.py", false},
	{"/home/u/lib/google/credentials.py", false},
	{"/home/u/keys/id_rsa", true},
	{"/home/u/keys/id_rsa.pub", false},
	{"/home/u/x.kdbx", true},
	{"/", false},
	{"", false},
};

START_TEST(names_of_credentials)
{
	ck_assert_int_eq(learn_is_secret(paths[_i].path), paths[_i].secret);
}
END_TEST

/* ---- bytes ---- */

START_TEST(uses_are_read)
{
	static const char bytes[] = "rf/a\nb\0/real\0\0"
				    "l-/c\0\0"
				    "B-80\0\0"
				    "S-shmget\0\0"
				    "E-7 12\0";

	ck_assert_int_eq(learn_read(&arena, bytes, sizeof(bytes), &uses), 0);
	ck_assert_uint_eq(uses.count, 2);
	ck_assert_str_eq(uses.items[0].names.items[0], "/a\nb");
	ck_assert_str_eq(uses.items[0].names.items[1], "/real");
	ck_assert_int_eq(uses.items[1].type, '-');
	ck_assert_str_eq(uses.ports.items[0], "80");
	ck_assert_str_eq(uses.calls.items[0], "shmget");
	ck_assert_uint_eq(uses.dropped, 7);
	ck_assert_uint_eq(uses.files, 12);
	/* cut anywhere it is not whole */
	for (size_t size = 0; size < sizeof(bytes); size++)
		ck_assert_int_eq(learn_read(&arena, bytes, size, &uses), -1);
	memset(&uses, 0, sizeof(uses));
}
END_TEST

START_TEST(bytes_that_are_no_uses)
{
	static const char relative[] = "rfa\0\0E-0 0\0", empty[] = "rf\0E-0 0\0",
			  after[] = "E-0 0\0\0l-/x\0", words[] = "E-many\0";

	ck_assert_int_eq(learn_read(&arena, relative, sizeof(relative), &uses), -1);
	ck_assert_int_eq(learn_read(&arena, empty, sizeof(empty), &uses), -1);
	ck_assert_int_eq(learn_read(&arena, after, sizeof(after), &uses), -1);
	ck_assert_int_eq(learn_read(&arena, words, sizeof(words), &uses), -1);
	memset(&uses, 0, sizeof(uses));
}
END_TEST

START_TEST(room_is_above_what_was_measured)
{
	ck_assert_uint_eq(learn_room(0, 2, 16), 16);
	ck_assert_uint_eq(learn_room(8, 2, 16), 16);
	ck_assert_uint_eq(learn_room(9, 2, 16), 32);
	for (uint64_t value = 1; value < 1ULL << 40; value = value * 3 + 1)
		ck_assert_uint_ge(learn_room(value, 2, 64), 2 * value - 1);
	ck_assert_uint_gt(learn_room(UINT64_MAX, 2, 64), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("learn");
	TCase *tcase = tcase_create("learn");
	SRunner *runner = srunner_create(suite);

	suite_add_tcase(suite, tcase);
	tcase_add_loop_test(tcase, uses_become_lines, 0, (int)(sizeof(rows) / sizeof(rows[0])));
	tcase_add_test(tcase, most_of_a_folder_becomes_the_folder);
	tcase_add_test(tcase, what_a_hostile_program_opens_stays_bounded);
	tcase_add_test(tcase, version_managers_are_named);
	tcase_add_test(tcase, lines_never_cover_each_other);
	tcase_add_loop_test(tcase, names_of_credentials, 0,
			    (int)(sizeof(paths) / sizeof(paths[0])));
	tcase_add_test(tcase, uses_are_read);
	tcase_add_test(tcase, bytes_that_are_no_uses);
	tcase_add_test(tcase, room_is_above_what_was_measured);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
