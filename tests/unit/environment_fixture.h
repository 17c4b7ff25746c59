// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_ENVIRONMENT_FIXTURE_H
#define SBOX_ENVIRONMENT_FIXTURE_H

/* Folders with programs: "in" and "cwd", which a profile shows, and "out", which it does not. */
#include <ftw.h>
#include <unistd.h>

#include "host_fixture.h"

static char base[] = "/tmp/sbox-environment-XXXXXX"; /* of all tests, removed at the end */

static inline const char *in_base(const char *name)
{
	return arena_printf(&arena, "%s/%s", base, name);
}

static inline void put_program(const char *name, mode_t mode)
{
	FILE *file = fopen(in_base(name), "w");

	ck_assert_ptr_nonnull(file);
	fputs("#!/bin/sh\n", file);
	ck_assert_int_eq(fclose(file), 0);
	ck_assert_int_eq(chmod(in_base(name), mode), 0);
}

static inline void make_folders(void)
{
	static const char *const folders[] = {"in", "in/sub", "in/gone", "out", "cwd"};

	for (size_t i = 0; i < COUNT(folders); i++)
		ck_assert_int_eq(mkdir(in_base(folders[i]), 0755), 0);
	put_program("in/tool", 0755);
	put_program("in/both", 0755);
	put_program("in/text", 0644);
	put_program("in/python3", 0755);
	put_program("out/both", 0755);
	put_program("out/only-out", 0755);
	put_program("cwd/local", 0755);
	ck_assert_int_eq(mkdir(in_base("in/folder"), 0755), 0);
	ck_assert_int_eq(symlink("../out/only-out", in_base("in/leads-out")), 0);
	ck_assert_int_eq(symlink("../in/tool", in_base("out/leads-in")), 0);
	ck_assert_int_eq(symlink("nowhere", in_base("in/dangling")), 0);
	ck_assert_int_eq(symlink("in", in_base("link-to-in")), 0);
	ck_assert_int_eq(symlink("out", in_base("link-to-out")), 0);
}

static inline int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

#endif
