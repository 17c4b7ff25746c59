// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host_fixture.h"
#include "toolchain.h"

/* The table's promises, the names that are hidden, and where roots are found; on real folders. */

static bool has_word(const char *words, const char *word)
{
	size_t len = strlen(word);

	for (const char *at = words; at != NULL && *at != '\0';) {
		size_t here = strcspn(at, " ");

		if (here == len && memcmp(at, word, len) == 0)
			return true;
		at += here + (at[here] == ' ');
	}
	return false;
}

START_TEST(rows_are_sound)
{
	const struct toolchain *row = &toolchain_table[_i];
	/* what a manager downloads, is configured with or keeps passwords in */
	static const char *const never[] = {".",         "..",       "registry", "cache",
					    ".cache",    "pkgs",     "config",   "config.toml",
					    ".npmrc",    ".condarc", "etc",      "credentials",
					    "downloads", "tmp",      "var",      ".git"};

	ck_assert_ptr_eq(toolchain_named(row->name), row);
	ck_assert_ptr_nonnull(row->mark);
	ck_assert_str_ne(row->shown, "");
	ck_assert_msg(row->passed == false || row->variable != NULL, "%s", row->name);
	for (size_t i = 0; i < sizeof(never) / sizeof(never[0]); i++)
		ck_assert_msg(!has_word(row->shown, never[i]), "%s shows %s", row->name, never[i]);
	ck_assert_ptr_null(strstr(row->shown, ".."));
	ck_assert_ptr_null(strchr(row->shown, '*'));
	ck_assert_int_ne(row->shown[0], '/');
}
END_TEST

static const struct {
	const char *name;
	bool executable, secret;
} secrets[] = {
	{"npmrc", false, true},        {".npmrc", true, true},      {"pip.conf", false, true},
	{"settings.xml", false, true}, {"deploy.key", false, true}, {"API-Token.txt", false, true},
	{"my_password", false, true},  {"id_ed25519", true, true},  {".netrc", false, true},
	{"tokenizer", true, false},    {"python3", true, false},    {"pyvenv.cfg", false, false},
	{"bin", true, false},          {"keyring", true, false},    {".key", false, false},
	{"LICENSE", false, false},     {"README.md", false, false}, {"secret-tool", true, false},
};

START_TEST(names_of_secrets)
{
	ck_assert_msg(toolchain_is_secret(secrets[_i].name, secrets[_i].executable) ==
			      secrets[_i].secret,
		      "%s", secrets[_i].name);
}
END_TEST

/* ---- finding ---- */

static char base[64];
static struct profile_context context;

static void make(const char *path)
{
	char whole[256];

	for (const char *at = path; at != NULL;) {
		at = strchr(at, '/');
		snprintf(whole, sizeof(whole), "%s/%.*s", base,
			 at != NULL ? (int)(at - path) : (int)strlen(path), path);
		mkdir(whole, 0755);
		at = at != NULL ? at + 1 : NULL;
	}
}

/* `path` below the test's folder, or "": only the system's. */
static void find(const char *path, const char *names)
{
	static const char *items[1];

	items[0] = names;
	profile = (struct profile){.file.toolchains = {.items = items, .count = 1}};
	host = (struct host){.path = *path != '\0' ? arena_printf(&arena, "%s/%s", base, path)
						   : ""};
	context = (struct profile_context){.home = arena_printf(&arena, "%s/home", base)};
	ck_assert_int_eq(toolchain_find(&arena, &context, &profile, NULL, &host, &err), 0);
}

static void folders(void)
{
	strcpy(base, "/tmp/sbox-toolchain-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(base));
	unsetenv("PYENV_ROOT");
	unsetenv("NVM_DIR");
	unsetenv("VIRTUAL_ENV");
	make("home/.pyenv/versions/3.11/bin");
	make("home/.pyenv/shims");
	make("home/.nvm/versions/node/v20/bin");
	make("opt/nvm/versions/node/v18/bin");
	make("home/versions");
}

static void remove_folders(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", base);
	ck_assert_int_eq(system(command), 0);
}

START_TEST(only_the_system_on_path_finds_nothing)
{
	find("", "@all");
	ck_assert_uint_eq(host.toolchain_count, 0);
}
END_TEST

START_TEST(path_leads_to_all_that_is_usual)
{
	find("home/.pyenv/shims", "@all");
	ck_assert_uint_eq(host.toolchain_count, 2);
	ck_assert_str_eq(host.toolchains[0].toolchain->name, "pyenv");
	ck_assert_ptr_null(host.toolchains[0].fault);
	ck_assert_str_eq(host.toolchains[1].toolchain->name, "nvm");
	/* shims, versions; .nvm/versions */
	ck_assert_uint_eq(host.paths[PATH_EXEC].count, 3);
}
END_TEST

START_TEST(only_what_is_asked_for)
{
	find("home/.pyenv/shims", "nvm");
	ck_assert_uint_eq(host.toolchain_count, 1);
	ck_assert_str_eq(host.toolchains[0].toolchain->name, "nvm");
}
END_TEST

START_TEST(an_unusual_place_by_path)
{
	find("opt/nvm/versions/node/v18/bin", "nvm");
	ck_assert_uint_eq(host.toolchain_count, 2);
	ck_assert_ptr_nonnull(strstr(host.toolchains[1].root, "/opt/nvm"));
	ck_assert_str_eq(host.toolchains[1].why, "PATH");
}
END_TEST

START_TEST(the_home_folder_is_refused)
{
	setenv("PYENV_ROOT", arena_printf(&arena, "%s/home", base), 1);
	find("", "pyenv");
	ck_assert_str_eq(host.toolchains[0].why, "PYENV_ROOT");
	ck_assert_str_eq(host.toolchains[0].fault, "your home folder");
	for (size_t i = 0; i < host.paths[PATH_EXEC].count; i++)
		ck_assert_ptr_nonnull(strstr(host.paths[PATH_EXEC].items[i].path, "/.pyenv/"));
}
END_TEST

START_TEST(dots_in_a_variable_are_refused)
{
	setenv("PYENV_ROOT", arena_printf(&arena, "%s/home/.pyenv/..", base), 1);
	find("", "pyenv");
	ck_assert_ptr_nonnull(host.toolchains[0].fault);
	ck_assert_uint_eq(host.paths[PATH_EXEC].count, 0);
}
END_TEST

START_TEST(words_for_show)
{
	find("home/.pyenv/shims", "pyenv");
	ck_assert_str_eq(toolchain_list(&arena, &host, true),
			 arena_printf(&arena, "pyenv %s/home/.pyenv (~/.pyenv)", base));
	ck_assert_str_eq(toolchain_list(&arena, &host, false), "");
}
END_TEST

#define MANUAL "man/sbox.ini.5"

START_TEST(manual_has_the_table)
{
	static char page[1 << 17];
	FILE *file = fopen(MANUAL, "r");

	ck_assert_ptr_nonnull(file);
	page[fread(page, 1, sizeof(page) - 1, file)] = '\0';
	fclose(file);
	const char *begin = strstr(page, ".\\\" BEGIN TOOLCHAINS");
	const char *end = strstr(page, ".\\\" END TOOLCHAINS");
	const char *table = toolchain_manual(&arena);

	ck_assert(begin != NULL && end != NULL && begin < end);
	begin = strchr(begin, '\n') + 1;
	if (getenv("REGENERATE") != NULL) {
		file = fopen(MANUAL, "w");
		ck_assert_ptr_nonnull(file);
		fprintf(file, "%.*s%s%s", (int)(begin - page), page, table, end);
		ck_assert_int_eq(fclose(file), 0);
		return;
	}
	ck_assert_msg(strlen(table) == (size_t)(end - begin) &&
			      strncmp(table, begin, strlen(table)) == 0,
		      "%s is not what the table says: REGENERATE=1 build/tests/unit/test_toolchain",
		      MANUAL);
}
END_TEST

static void add(TCase *tcase)
{
	tcase_add_checked_fixture(tcase, folders, remove_folders);
	tcase_add_loop_test(tcase, rows_are_sound, 0, (int)toolchain_count);
	tcase_add_loop_test(tcase, names_of_secrets, 0, COUNT(secrets));
	tcase_add_test(tcase, only_the_system_on_path_finds_nothing);
	tcase_add_test(tcase, path_leads_to_all_that_is_usual);
	tcase_add_test(tcase, only_what_is_asked_for);
	tcase_add_test(tcase, an_unusual_place_by_path);
	tcase_add_test(tcase, the_home_folder_is_refused);
	tcase_add_test(tcase, dots_in_a_variable_are_refused);
	tcase_add_test(tcase, words_for_show);
	tcase_add_test(tcase, manual_has_the_table);
}

int main(void)
{
	return run_suite("toolchain", add);
}
