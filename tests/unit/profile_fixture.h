// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_PROFILE_FIXTURE_H
#define SBOX_PROFILE_FIXTURE_H

/*
 * The profile reader under test: text in, error text and line (or the dump)
 * out. Every file lives in a folder of its own below /tmp; facts about the
 * caller are made up, so that root and an ordinary user see the same results.
 */
#include <check.h>
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profile.h"
#include "profile_internal.h"
#include "sha256.h"

static struct arena arena;
static char base[] = "/tmp/sbox-profile-XXXXXX"; /* of all tests, removed at the end */
static char top[sizeof(base) + 8];               /* of this test */
static struct profile_context context;
static struct profile profile;
static struct error err;
static const char *note;

#define ROWS(table) (int)(sizeof(table) / sizeof((table)[0]))

static inline const char *in_top(const char *name)
{
	return arena_printf(&arena, "%s/%s", top, name);
}

static inline void make_folder(const char *name, mode_t mode)
{
	ck_assert_int_eq(mkdir(in_top(name), 0755), 0);
	ck_assert_int_eq(chmod(in_top(name), mode), 0);
}

static inline const char *put_bytes(const char *name, const char *bytes, size_t size)
{
	const char *path = in_top(name);
	FILE *file = fopen(path, "w");

	ck_assert_ptr_nonnull(file);
	ck_assert_uint_eq(fwrite(bytes, 1, size, file), size);
	ck_assert_int_eq(fclose(file), 0);
	ck_assert_int_eq(chmod(path, 0644), 0);
	return path;
}

static inline const char *put(const char *name, const char *text)
{
	return put_bytes(name, text, strlen(text));
}

static inline void setup(void)
{
	snprintf(top, sizeof(top), "%s/XXXXXX", base);
	ck_assert_ptr_nonnull(mkdtemp(top));
	ck_assert_int_eq(chmod(top, 0755), 0);
	make_folder("user", 0755);
	make_folder("system", 0755);
	make_folder("shipped", 0755);
	make_folder("work", 0755);
	make_folder("store", 0700);
	context = (struct profile_context){
		.cwd = in_top("work"),
		.home = "/home/somebody",
		.user = "somebody",
		.uid = geteuid(),
		.store = in_top("store"),
		.user_dir = in_top("user"),
		.system_dir = in_top("system"),
		.shipped_dir = in_top("shipped"),
	};
}

static inline int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static inline int load_with(const char *name, const char *const *sets, size_t count)
{
	struct profile_override overrides[8] = {{NULL}};

	for (size_t i = 0; i < count; i++)
		overrides[i].text = sets[i];
	memset(&err, 0, sizeof(err));
	note = NULL;
	return profile_load(&arena, &context, name, overrides, count, &profile, &note, &err);
}

static inline int load(const char *name)
{
	return load_with(name, NULL, 0);
}

static inline void load_well(const char *name)
{
	char text[2048];

	if (load(name) == 0)
		return;
	error_format(&err, text, sizeof(text));
	ck_abort_msg("%s", text);
}

/* Loads it from a file t.ini outside of every profile folder. */
static inline int load_text(const char *text)
{
	return load(put("t.ini", text));
}

/* The dump's block of one key, without the name: "a\nb". */
static inline const char *dumped(const char *section, const char *name)
{
	char *dump = profile_dump(&arena, &profile);
	char *at = strstr(dump, arena_printf(&arena, "[%s]\n", section));
	const char *head = arena_printf(&arena, "\n%s =", name);
	struct text out = {.arena = &arena};

	ck_assert_ptr_nonnull(at);
	at = strstr(at, head);
	ck_assert_ptr_nonnull(at);
	at += strlen(head);
	do {
		at += strspn(at, " ");
		size_t len = strcspn(at, "\n");

		if (out.len > 0)
			text_puts(&out, "\n");
		text_add(&out, at, len);
		at += len + 1;
	} while (*at == ' ');
	return text_string(&out);
}

static inline void assert_error(const char *what, int line, const char *part)
{
	ck_assert_msg(err.kind == ERROR_PROFILE, "%s: no error, wanted: %s", what, part);
	ck_assert_msg(strstr(err.text, part) != NULL, "%s: got \"%s\", wanted \"%s\"", what,
		      err.text, part);
	ck_assert_msg(err.line == line, "%s: line %d, wanted %d (%s)", what, err.line, line,
		      err.text);
	ck_assert_ptr_null(strchr(err.text, '\n'));
}

/* Reads the dump back: the same text, and the same fields. */
static inline void assert_round_trip(void)
{
	const char *dump = profile_dump(&arena, &profile);

	for (const char *line = dump; *line != '\0'; line += strcspn(line, "\n") + 1)
		ck_assert_uint_le(strcspn(line, "\n"), PROFILE_LINE_BYTES);
	load_well(put("dump.ini", dump));
	ck_assert_str_eq(profile_dump(&arena, &profile), dump);
}

/* main() of a test file: all of what `add` adds. Also a failed test leaves nothing behind. */
static inline int run_suite(const char *name, void (*add)(TCase *tcase))
{
	Suite *suite = suite_create(name);
	TCase *tcase = tcase_create(name);
	SRunner *runner = srunner_create(suite);

	if (mkdtemp(base) == NULL || chmod(base, 0755) < 0)
		return EXIT_FAILURE;
	tcase_add_checked_fixture(tcase, setup, NULL);
	tcase_set_timeout(tcase, 60);
	suite_add_tcase(suite, tcase);
	add(tcase);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	nftw(base, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

#endif
