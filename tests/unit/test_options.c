// SPDX-License-Identifier: Apache-2.0
/*
 * The command line: what is sbox's own, what is the program's, and what a slip
 * of the finger is told.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "options.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))
#define ROWS(table)  ((int)COUNT(table))

enum { WORDS = 12 };

static struct arena arena;
static struct options options;
static struct error err;
static char *argv[WORDS + 2];

/* "--json prog -x": sbox's arguments, by blanks; "''" is an empty one. */
static int parse(const char *line)
{
	char *copy = arena_strdup(&arena, line), *save = NULL;
	int argc = 0;

	argv[argc++] = (char *)"sbox";
	for (char *word = strtok_r(copy, " ", &save); word != NULL;
	     word = strtok_r(NULL, " ", &save)) {
		ck_assert_int_lt(argc, WORDS);
		argv[argc++] = strcmp(word, "''") == 0 ? (char *)"" : word;
	}
	argv[argc] = NULL;
	err = (struct error){0};
	return options_parse(&arena, argc, argv, &options, &err);
}

/* What was understood, as text: options that are set, then the verb or program. */
static const char *shown(void)
{
	const char *text = "";

	if (strcmp(options.profile, "agent") != 0)
		text = arena_printf(&arena, "%sprofile=%s ", text, options.profile);
	if (options.store_dir != NULL)
		text = arena_printf(&arena, "%sstore=%s ", text, options.store_dir);
	if (options.status_fd != -1)
		text = arena_printf(&arena, "%sfd=%d ", text, options.status_fd);
	for (size_t i = 0; i < options.override_count; i++)
		text = arena_printf(&arena, "%sset=%s ", text, options.overrides[i].text);
	for (size_t i = 0; i < options.label_count; i++)
		text = arena_printf(&arena, "%slabel=%s:%s ", text, options.labels[i].key,
				    options.labels[i].value);
	text = arena_printf(&arena, "%s%s%s%s%s%s|", text, options.json ? "json " : "",
			    options.strict ? "strict " : "", options.quiet ? "quiet " : "",
			    options.help ? "help " : "", options.version ? "version " : "");
	if (options.verb != NULL)
		text = arena_printf(&arena, "%s %s:", text, options.verb);
	for (int i = 0; i < options.argument_count; i++)
		text = arena_printf(&arena, "%s %s", text,
				    *options.arguments[i] != '\0' ? options.arguments[i] : "''");
	return text;
}

static const struct {
	const char *line, *wanted;
} good_rows[] = {
	{"prog", "| prog"},
	{"prog a b", "| prog a b"},
	{"/bin/prog", "| /bin/prog"},
	{"''", "| ''"},
	/* sbox's own end at the program's name */
	{"prog --json", "| prog --json"},
	{"prog --help", "| prog --help"},
	{"prog -- --json", "| prog -- --json"},
	{"prog check", "| prog check"},
	{"--json prog --strict -x", "json | prog --strict -x"},
	{"-- prog", "| prog"},
	{"-- --json", "| --json"},
	{"--json -- -x", "json | -x"},
	{"-- -- x", "| -- x"},
	{"-", "| -"},
	{"--json - --strict", "json | - --strict"},
	/* each option, in both forms */
	{"--json --strict --quiet p", "json strict quiet | p"},
	{"--profile web p", "profile=web | p"},
	{"--profile=web p", "profile=web | p"},
	{"--profile=./a=b.ini p", "profile=./a=b.ini | p"},
	{"--profile web --profile net p", "profile=net | p"},
	{"--store /s p", "store=/s | p"},
	{"--store=/s p", "store=/s | p"},
	{"--status-fd 2 p", "fd=2 | p"},
	{"--status-fd=1 p", "fd=1 | p"},
	{"--label k=v p", "label=k:v | p"},
	{"--label=k=v=w --label k= --label k=v p", "label=k:v=w label=k: label=k:v | p"},
	{"--set file.growth=1G p", "set=file.growth=1G | p"},
	{"--set=file.read+=/a --set time.wall=1s p", "set=file.read+=/a set=time.wall=1s | p"},
	{"--profile --json p", "profile=--json | p"},
	{"--set=a=1 --set=b=2 --set=c=3 --set=d=4 --set=e=5 p",
	 "set=a=1 set=b=2 set=c=3 set=d=4 set=e=5 | p"},
	/* these need no program */
	{"--help", "help |"},
	{"--version", "version |"},
	{"--json --help", "json help |"},
	{"--help prog", "help | prog"},
	/* verbs: only as the first word, and everything after is theirs */
	{"check agent", "| check: agent"},
	{"show agent --json", "| show: agent --json"},
	{"audit list --help", "| audit: list --help"},
	{"check", "| check:"},
	{"--json check agent", "json | check agent"},
	{"-- check agent", "| check agent"},
	{"run prog -x", "| prog -x"},
	{"run --json prog --strict", "json | prog --strict"},
	{"run check agent", "| check agent"},
	{"run -- --odd", "| --odd"},
	{"run run", "| run"},
	{"run --help", "help |"},
	{"checks", "| checks"},
	{"Check agent", "| Check agent"},
};

START_TEST(lines_are_understood)
{
	int failed = parse(good_rows[_i].line);

	ck_assert_msg(failed == 0, "%s: %s", good_rows[_i].line, err.text);
	ck_assert_str_eq(shown(), good_rows[_i].wanted);
	ck_assert_ptr_null(options.arguments[options.argument_count]);
	ck_assert_ptr_eq(options.original, argv);
}
END_TEST

static const struct {
	const char *line, *part;
} bad_rows[] = {
	{"", "no program to run: sbox --profile agent python3 x.py"},
	{"--json", "no program to run"},
	{"--", "no program to run"},
	{"run", "no program to run"},
	{"run --json --", "no program to run"},
	/* the nearest name */
	{"--jsn p", "unknown option --jsn, did you mean --json?"},
	{"--profil x p", "did you mean --profile?"},
	{"--statusfd 3 p", "did you mean --status-fd?"},
	{"--lable k=v p", "did you mean --label?"},
	{"--verison", "did you mean --version?"},
	{"--STRICT p", "did you mean --strict?"},
	{"--frobnicate p", "unknown option --frobnicate (options of the program go after its name"},
	{"-x p", "unknown option -x"},
	{"--frobnicate=1 p", "unknown option --frobnicate (options"},
	{"---json p", "unknown option ---json"},
	/* values */
	{"--profile", "--profile needs a value: --profile P"},
	{"--json --store", "--store needs a value: --store DIR"},
	{"--set", "--set needs a value: --set SECTION.KEY=V"},
	{"--label", "--label needs a value: --label K=V"},
	{"--status-fd", "--status-fd needs a value: --status-fd N"},
	{"--json=1 p", "--json takes no value"},
	{"--help=yes", "--help takes no value"},
	{"--quiet= p", "--quiet takes no value"},
	{"--label k p", "--label k: write it as KEY=VALUE"},
	{"--label =v p", "--label =v: write it as KEY=VALUE"},
	{"--label= p", "write it as KEY=VALUE"},
	{"--store s p", "--store s: write an absolute path"},
	{"--store= p", "write an absolute path"},
	{"--status-fd x p", "--status-fd x: write the number of an open descriptor"},
	{"--status-fd 3x p", "open descriptor"},
	{"--status-fd= p", "open descriptor"},
	{"--status-fd 0 p", "open descriptor"},
	{"--status-fd -1 p", "open descriptor"},
	{"--status-fd 99999999999999999999 p", "open descriptor"},
	{"--status-fd 1000 p", "open descriptor"},
};

START_TEST(slips_are_explained)
{
	options = (struct options){.profile = "untouched"};
	ck_assert_int_eq(parse(bad_rows[_i].line), -1);
	ck_assert_int_eq(err.kind, ERROR_USAGE);
	ck_assert_msg(strstr(err.text, bad_rows[_i].part) != NULL, "got \"%s\", wanted \"%s\"",
		      err.text, bad_rows[_i].part);
	ck_assert_ptr_null(strchr(err.text, '\n'));
	ck_assert_str_eq(options.profile, "untouched");
}
END_TEST

START_TEST(the_nearest_name_without_the_value)
{
	ck_assert_int_eq(parse("--profil=agent.ini p"), -1);
	ck_assert_msg(strstr(err.text, "did you mean --profile?") != NULL, "%s", err.text);
	ck_assert_int_eq(parse("--lable=ticket=4711 p"), -1);
	ck_assert_msg(strstr(err.text, "did you mean --label?") != NULL, "%s", err.text);
}
END_TEST

/* execve(2) with an empty argv: since 5.18 the kernel puts in a name. */
START_TEST(called_without_even_a_name)
{
	char *none[] = {NULL};

	ck_assert_int_eq(options_parse(&arena, 0, none, &options, &err), -1);
	ck_assert_int_eq(err.kind, ERROR_USAGE);
	ck_assert_ptr_nonnull(strstr(err.text, "not even a name"));
}
END_TEST

START_TEST(nothing_is_set_that_was_not_asked_for)
{
	ck_assert_int_eq(parse("p"), 0);
	ck_assert_str_eq(options.profile, "agent");
	ck_assert_int_eq(options.status_fd, -1);
	ck_assert(!options.json && !options.strict && !options.quiet);
	ck_assert(!options.help && !options.version);
	ck_assert_ptr_null(options.verb);
	ck_assert_ptr_null(options.store_dir);
	ck_assert_uint_eq(options.override_count, 0);
	ck_assert_uint_eq(options.label_count, 0);
}
END_TEST

START_TEST(help_has_everything)
{
	static const char *const names[] = {"--profile P",
					    "--json",
					    "--strict",
					    "--quiet",
					    "--status-fd N",
					    "--label K=V",
					    "--set SECTION.KEY=V",
					    "--store DIR",
					    "--help",
					    "--version",
					    "sbox run ",
					    "sbox check PROFILE",
					    "sbox show ",
					    "sbox audit "};
	const char *help = options_help(&arena);

	for (size_t i = 0; i < COUNT(names); i++)
		ck_assert_msg(strstr(help, names[i]) != NULL, "--help says nothing of %s",
			      names[i]);
	for (const char *line = help; *line != '\0'; line += strcspn(line, "\n") + 1)
		ck_assert_uint_le(strcspn(line, "\n"), 100);
	ck_assert_int_eq(help[strlen(help) - 1], '\n');
}
END_TEST

/* The other way round: what --help shows is understood. */
START_TEST(everything_in_help_is_understood)
{
	char *help = options_help(&arena), *save = NULL;
	int seen = 0;

	for (char *line = strtok_r(help, "\n", &save); line != NULL;
	     line = strtok_r(NULL, "\n", &save)) {
		char name[32], value[32];

		if (strncmp(line, "  --", 4) != 0)
			continue;
		seen++;
		ck_assert_int_ge(sscanf(line, " %31s %31s", name, value), 1);
		/* a wrong value is known by the option's own message, a flag takes it as program */
		int failed = parse(arena_printf(&arena, "%s /x p", name));
		ck_assert_msg(failed == 0 || strncmp(err.text, name, strlen(name)) == 0, "%s: %s",
			      name, err.text);
	}
	ck_assert_int_eq(seen, 10);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("options");
	TCase *tcase = tcase_create("options");
	SRunner *runner = srunner_create(suite);

	tcase_add_loop_test(tcase, lines_are_understood, 0, ROWS(good_rows));
	tcase_add_loop_test(tcase, slips_are_explained, 0, ROWS(bad_rows));
	tcase_add_test(tcase, the_nearest_name_without_the_value);
	tcase_add_test(tcase, called_without_even_a_name);
	tcase_add_test(tcase, nothing_is_set_that_was_not_asked_for);
	tcase_add_test(tcase, help_has_everything);
	tcase_add_test(tcase, everything_in_help_is_understood);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	arena_free(&arena);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
