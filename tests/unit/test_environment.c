// SPDX-License-Identifier: Apache-2.0
/*
 * The program's environment and the program itself, found as they will be seen
 * inside: a folder "in" that a profile shows, a folder "out" that it does not.
 */
#include "environment_fixture.h"
#include "run.h"

static struct run *run;
static struct options options;
static struct file_entries entries;
static char *arguments[2];

static void setup_run(void)
{
	setup();
	clearenv();
	run = arena_alloc(&arena, sizeof(*run));
	options = (struct options){.arguments = arguments, .argument_count = 1};
	add_folder(PATH_EXEC, in_base("in"));
	add_folder(PATH_EXEC, in_base("cwd"));
	add_folder(PATH_HIDE, in_base("in/gone"));
	file_entries_make(&arena, &host, true, &entries);
	host.cwd = in_base("cwd");
	run->arena = &arena;
	run->options = &options;
	run->profile = profile;
	run->host = host;
	run->arm.entries = &entries;
}

/* "in:out" with each name below the base, others as they are. */
static const char *path_of(const char *names)
{
	const char *text = "";

	for (const char *at = names;; at++) {
		size_t len = strcspn(at, ":");
		bool ours = len > 0 && *at != '/' && *at != '.';

		text = arena_printf(&arena, "%s%s%s%.*s", text, ours ? base : "", ours ? "/" : "",
				    (int)len, at);
		at += len;
		if (*at == '\0')
			return text;
		text = arena_printf(&arena, "%s:", text);
	}
}

/* ---- PATH ---- */

#define USUAL "/usr/local/bin:/usr/bin:/bin"

static const struct {
	const char *path, *inside;
} path_rows[] = {
	{"in", "in"},
	{"in:out", "in"},
	{"out:in", "in"},
	{"in:cwd", "in:cwd"},
	{"cwd:out:in/sub:in", "cwd:in/sub:in"},
	{"out", USUAL},
	{"", USUAL},
	{":", USUAL},
	{"in:", "in"},
	{":in", "in"},
	{"in::cwd", "in:cwd"},
	/* the current folder by any name is the caller's, not the program's */
	{".:in", "in"},
	{"./in:in", "in"},
	{"..", USUAL},
	/* not there, hidden, a file */
	{"in/absent:in", "in"},
	{"in/gone:in", "in"},
	/* what a link leads to decides, the link's name stays */
	{"link-to-in:link-to-out", "link-to-in"},
	{"in:in", "in:in"},
};

START_TEST(path_keeps_what_is_visible)
{
	run->host.path = path_of(path_rows[_i].path);
	ck_assert_str_eq(environment_path(run), path_of(path_rows[_i].inside));
}
END_TEST

/* ---- the other variables ---- */

static const char *value_of(char *const *environment, const char *name)
{
	const char *found = NULL;
	size_t len = strlen(name);

	for (; *environment != NULL; environment++)
		if (strncmp(*environment, name, len) == 0 && (*environment)[len] == '=') {
			ck_assert_msg(found == NULL, "%s is there twice", name);
			found = *environment + len + 1;
		}
	return found;
}

static size_t count_of(char *const *environment)
{
	size_t count = 0;

	while (environment[count] != NULL)
		count++;
	return count;
}

static void keep(const char *const *names, size_t count)
{
	run->profile.environment.keep = (struct string_list){(const char **)names, count};
}

static void set(const char *const *lines, size_t count)
{
	run->profile.environment.set = (struct string_list){(const char **)lines, count};
}

START_TEST(nothing_of_the_callers_by_itself)
{
	setenv("SECRET", "x", 1);
	setenv("LD_PRELOAD", "/evil.so", 1);
	setenv("HOME", "/home/caller", 1);
	setenv("USER", "caller", 1);
	char *const *environment = environment_make(run);

	ck_assert_uint_eq(count_of(environment), 5);
	ck_assert_str_eq(value_of(environment, "PATH"), USUAL);
	ck_assert_str_eq(value_of(environment, "HOME"), "/home/sandbox");
	ck_assert_str_eq(value_of(environment, "USER"), "sandbox");
	ck_assert_str_eq(value_of(environment, "LOGNAME"), "sandbox");
	ck_assert_str_eq(value_of(environment, "SHELL"), "/bin/sh");
}
END_TEST

START_TEST(no_home_without_one)
{
	run->profile.file.home = HOME_NONE;
	ck_assert_str_eq(value_of(environment_make(run), "HOME"), "/nonexistent");
}
END_TEST

/* Of these variables of the caller, which does a keep pattern let through? */
static const struct {
	const char *pattern, *kept; /* names, each after a blank */
} keep_rows[] = {
	{"LANG", " LANG"},
	{"LC_*", " LC_ALL LC_TIME"},
	{"LC_ALL*", " LC_ALL"},
	{"LC_", ""},
	{"LA", ""},
	{"LANGUAGES", ""},
	{"lang", ""},
	{"EMPTY", " EMPTY"},
	{"EMPTY*", " EMPTY"},
	{"*", " LANG LANGUAGE LC_ALL LC_TIME EMPTY"},
	{"LANG*", " LANG LANGUAGE"},
	{"LANG=C", ""},
	{"LANG=*", ""},
	{"ABSENT", ""},
	{"*LANG", ""},
};

START_TEST(keep_is_by_name)
{
	static const char *const names[] = {"LANG", "LANGUAGE", "LC_ALL", "LC_TIME", "EMPTY"};
	const char *kept = "";

	for (size_t i = 0; i < COUNT(names); i++)
		setenv(names[i], strcmp(names[i], "EMPTY") == 0 ? "" : "C", 1);
	keep(&keep_rows[_i].pattern, 1);
	char *const *environment = environment_make(run);

	for (size_t i = 0; i < COUNT(names); i++)
		if (value_of(environment, names[i]) != NULL)
			kept = arena_printf(&arena, "%s %s", kept, names[i]);
	ck_assert_str_eq(kept, keep_rows[_i].kept);
}
END_TEST

START_TEST(set_beats_keep_beats_the_defaults)
{
	static const char *const kept[] = {"HOME", "A", "B", "B"};
	static const char *const lines[] = {"B=set", "USER=other", "NEW=1",
					    "NEW=2", "EMPTY=",     "EQUALS=a=b"};

	setenv("HOME", "/home/caller", 1);
	setenv("A", "kept", 1);
	setenv("B", "kept", 1);
	keep(kept, COUNT(kept));
	set(lines, COUNT(lines));
	char *const *environment = environment_make(run);

	ck_assert_str_eq(value_of(environment, "HOME"), "/home/caller");
	ck_assert_str_eq(value_of(environment, "A"), "kept");
	ck_assert_str_eq(value_of(environment, "B"), "set");
	ck_assert_str_eq(value_of(environment, "USER"), "other");
	ck_assert_str_eq(value_of(environment, "NEW"), "2");
	ck_assert_str_eq(value_of(environment, "EMPTY"), "");
	ck_assert_str_eq(value_of(environment, "EQUALS"), "a=b");
	ck_assert_uint_eq(count_of(environment), 10);
}
END_TEST

START_TEST(names_that_begin_alike_are_different)
{
	static const char *const lines[] = {"US=1", "USER_ID=2", "SHELLS=3"};

	set(lines, COUNT(lines));
	char *const *environment = environment_make(run);

	ck_assert_str_eq(value_of(environment, "USER"), "sandbox");
	ck_assert_str_eq(value_of(environment, "US"), "1");
	ck_assert_str_eq(value_of(environment, "USER_ID"), "2");
	ck_assert_uint_eq(count_of(environment), 8);
}
END_TEST

/* What a caller can pass to execve(2) although it is no assignment. */
START_TEST(broken_assignments_are_left_out)
{
	static char *broken[] = {(char *)"NOEQUALS", (char *)"",    (char *)"=odd",
				 (char *)"A=1",      (char *)"A=2", NULL};
	static const char *const all[] = {"NOEQUALS", "A"};

	environ = broken;
	keep(all, COUNT(all));
	char *const *environment = environment_make(run);

	ck_assert_uint_eq(count_of(environment), 6);
	ck_assert_str_eq(value_of(environment, "A"), "2");
	environ = NULL;
	ck_assert_uint_eq(count_of(environment_make(run)), 5);
}
END_TEST

/* ---- the program ---- */

static const struct {
	const char *name, *path, *found;
} found_rows[] = {
	{"tool", "in", "in/tool"},
	{"tool", "out:in", "in/tool"},
	/* a PATH entry that is not visible inside is passed over */
	{"both", "out:in", "in/both"},
	{"both", "in:out", "in/both"},
	{"tool", "in/sub:in", "in/tool"},
	{"tool", "link-to-in", "link-to-in/tool"},
	{"./local", "in", "cwd/./local"},
	{"sub/../local", "in", NULL},
	{"../in/tool", "out", "cwd/../in/tool"},
};

START_TEST(programs_are_found)
{
	const char *found = NULL;

	arguments[0] = arena_strdup(&arena, found_rows[_i].name);
	run->host.path = path_of(found_rows[_i].path);
	int failed = program_find(run, &found, &err);

	ck_assert_msg((failed == 0) == (found_rows[_i].found != NULL), "%s: %s", arguments[0],
		      failed == 0 ? found : err.text);
	if (failed == 0)
		ck_assert_str_eq(found, in_base(found_rows[_i].found));
}
END_TEST

/* "%" stands for the base, in what is asked for and in what is answered. */
static const char *filled(const char *text)
{
	const char *percent = strchr(text, '%');

	if (percent == NULL)
		return text;
	return filled(
		arena_printf(&arena, "%.*s%s%s", (int)(percent - text), text, base, percent + 1));
}

static const struct {
	const char *name, *path;
	enum error_kind kind;
	const char *part;
} lost_rows[] = {
	{"", "in", ERROR_NOT_FOUND, "name is empty"},
	{"absent", "in", ERROR_NOT_FOUND, "absent: not found on the PATH inside (%/in)"},
	{"absent", "out", ERROR_NOT_FOUND, "not found on the PATH inside (" USUAL ")"},
	{"text", "in", ERROR_NOT_FOUND, "text: not found on the PATH"},
	{"folder", "in", ERROR_NOT_FOUND, "folder: not found on the PATH"},
	{"dangling", "in", ERROR_NOT_FOUND, "dangling: not found on the PATH"},
	{"local", ".:in", ERROR_NOT_FOUND, "local: not found on the PATH"},
	/* there, but outside: the line that shows it */
	{"only-out", "in:out", ERROR_NOT_FOUND,
	 "only-out: %/out/only-out exists but is not visible inside; to show it: [file] exec = "
	 "%/out"},
	{"%/out/only-out", "in", ERROR_NOT_FOUND, "to show it: [file] exec = %/out"},
	{"leads-out", "in", ERROR_NOT_FOUND, "to show it: [file] exec = %/out"},
	{"%/in/leads-out", "in", ERROR_NOT_FOUND, "to show it: [file] exec = %/out"},
	/* python is a frequent one */
	{"python", "in", ERROR_NOT_FOUND, "python: not found, but python3 is there: sbox python3"},
	{"python", "out", ERROR_NOT_FOUND, "python: not found on the PATH"},
	{"profiles", "in", ERROR_NOT_FOUND, "profiles: a verb only as the first argument: sbox"},
	{"python2", "in", ERROR_NOT_FOUND, "python2: not found on the PATH"},
	/* by path */
	{"./absent", "in", ERROR_NOT_FOUND, "./absent: No such file or directory"},
	{"%/in/tool/x", "in", ERROR_NOT_FOUND, "Not a directory"},
	{"%/in/dangling", "in", ERROR_NOT_FOUND, "No such file"},
	{"%/in/text", "in", ERROR_NOT_EXECUTABLE,
	 "not executable (chmod +x, or name the interpreter"},
	{"%/in/folder", "in", ERROR_NOT_EXECUTABLE, "is a folder"},
	{"%/in/folder/", "in", ERROR_NOT_EXECUTABLE, "is a folder"},
	{"/dev/null", "in", ERROR_NOT_EXECUTABLE, "/dev/null: not executable"},
};

START_TEST(what_is_not_found_is_explained)
{
	const char *found = "untouched";

	arguments[0] = arena_strdup(&arena, filled(lost_rows[_i].name));
	run->host.path = path_of(lost_rows[_i].path);
	ck_assert_int_eq(program_find(run, &found, &err), -1);
	assert_contains(err.text, filled(lost_rows[_i].part));
	ck_assert_int_eq(err.kind, lost_rows[_i].kind);
	ck_assert_ptr_null(strchr(err.text, '\n'));
	ck_assert_str_eq(found, "untouched");
}
END_TEST

START_TEST(without_a_current_folder)
{
	const char *found = NULL;

	run->host.cwd = NULL;
	arguments[0] = arena_strdup(&arena, "./local");
	ck_assert_int_eq(program_find(run, &found, &err), -1);
	assert_contains(err.text, "the current folder is gone; write the whole path");
	arguments[0] = arena_strdup(&arena, in_base("cwd/local"));
	ck_assert_int_eq(program_find(run, &found, &err), 0);
}
END_TEST

static void add(TCase *tcase)
{
	tcase_add_unchecked_fixture(tcase, make_folders, NULL);
	tcase_add_checked_fixture(tcase, setup_run, NULL);
	tcase_add_loop_test(tcase, path_keeps_what_is_visible, 0, ROWS(path_rows));
	tcase_add_test(tcase, nothing_of_the_callers_by_itself);
	tcase_add_test(tcase, no_home_without_one);
	tcase_add_loop_test(tcase, keep_is_by_name, 0, ROWS(keep_rows));
	tcase_add_test(tcase, set_beats_keep_beats_the_defaults);
	tcase_add_test(tcase, names_that_begin_alike_are_different);
	tcase_add_test(tcase, broken_assignments_are_left_out);
	tcase_add_loop_test(tcase, programs_are_found, 0, ROWS(found_rows));
	tcase_add_loop_test(tcase, what_is_not_found_is_explained, 0, ROWS(lost_rows));
	tcase_add_test(tcase, without_a_current_folder);
}

int main(void)
{
	if (mkdtemp(base) == NULL || chmod(base, 0755) != 0)
		return EXIT_FAILURE;
	int status = run_suite("environment", add);
	nftw(base, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	return status;
}
