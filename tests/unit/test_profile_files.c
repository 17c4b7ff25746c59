// SPDX-License-Identifier: Apache-2.0
/* Which file is read, what it extends, and whose it may be. */
#include "profile_fixture.h"

/* ---- extends ---- */

static void put_family(void)
{
	put("shipped/base.ini", "[file]\nexec = /usr\nread = /etc/a\nhide = /h\n[process]\n"
				"memory = 1G\n[environment]\nset = A=1\n  B=1\n");
	put("shipped/mid.ini", "[profile]\nextends = base\n[process]\nmemory = 2G\n"
			       "processes = 7\n[file]\nread = /etc/b\n[environment]\nset = A=2\n");
}

START_TEST(extends_merges)
{
	put_family();
	load_well(put("t.ini", "[file]\nread = /etc/c\nhide =\nhide = /mine\n"
			       "[profile]\nextends = mid, base\n"));
	ck_assert_str_eq(dumped("file", "read"), "/etc/a\n/etc/b\n/etc/c");
	ck_assert_str_eq(dumped("file", "hide"), "/mine");
	ck_assert_str_eq(dumped("file", "exec"), "/usr");
	/* base counts once, before mid, though it is named after */
	ck_assert_str_eq(dumped("process", "memory"), "2G");
	ck_assert_str_eq(dumped("environment", "set"), "A=2\nB=1");
	ck_assert_str_eq(profile_origin(&arena, &profile, KEY_PROCESS_PROCESSES), "mid.ini:5");
	assert_round_trip();
}
END_TEST

START_TEST(extends_by_path)
{
	put_family();
	make_folder("sub", 0755);
	put("sub/p.ini", "[profile]\nextends = ../q.ini\n[process]\nprocesses = 1\n");
	put("q.ini", "[profile]\nextends = base\n[process]\nprocesses = 2\n");
	load_well(put("t.ini", "[profile]\nextends = ./sub/p.ini\n"));
	ck_assert_uint_eq(profile.process.processes, 1);
	ck_assert_uint_eq(profile.process.memory_bytes, 1ULL << 30);
}
END_TEST

START_TEST(extends_empty_section_lists)
{
	put_family();
	load_well(put("t.ini", "[profile]\nextends = base\n[file]\nread =\n\t/x\n"));
	ck_assert_str_eq(dumped("file", "read"), "/etc/a\n/x");
	load_well(put("t.ini", "[profile]\nextends = base\n[file]\nread =\n"));
	ck_assert_str_eq(dumped("file", "read"), "");
}
END_TEST

START_TEST(extends_errors)
{
	put("shipped/bad.ini", "[process]\n\nmemory = x\n");
	ck_assert_int_eq(load_text("[profile]\nextends = bda\n"), -1);
	assert_error("unknown", 2, "[profile] extends: \"bda\" is not a profile in ");
	assert_error("unknown", 2, "did you mean bad?");
	ck_assert_int_eq(load_text("[profile]\nextends = ./gone.ini\n"), -1);
	assert_error("gone", 2, "gone.ini cannot be opened: No such file");
	ck_assert_int_eq(err.errnum, ENOENT);
	ck_assert_int_eq(load_text("[profile]\nextends = bad\n"), -1);
	assert_error("bad parent", 3, "[process] memory: \"x\" is not a size");
	ck_assert_str_eq(err.file, in_top("shipped/bad.ini"));
}
END_TEST

START_TEST(extends_cycles)
{
	put("a.ini", "[profile]\nextends = ./b.ini\n");
	put("b.ini", "[profile]\nextends =\n  ./a.ini\n");
	ck_assert_int_eq(load(in_top("a.ini")), -1);
	assert_error("cycle", 3, "goes round in a circle: ");
	ck_assert_ptr_nonnull(strstr(err.text, "/a.ini -> "));
	ck_assert_ptr_nonnull(strstr(err.text, "/b.ini -> "));
	ck_assert_str_eq(err.file, arena_printf(&arena, "%s/./b.ini", top));
	ck_assert_int_eq(load_text("[profile]\nextends = ./t.ini\n"), -1);
	assert_error("self", 2, "goes round in a circle");
}
END_TEST

START_TEST(extends_depth)
{
	for (int i = 1; i <= 9; i++)
		put(arena_printf(&arena, "d%d.ini", i),
		    arena_printf(&arena, "[profile]\nextends = %s\n",
				 i > 1 ? arena_printf(&arena, "./d%d.ini", i - 1) : ""));
	ck_assert_int_eq(load(in_top("d8.ini")), 0);
	ck_assert_int_eq(load(in_top("d9.ini")), -1);
	assert_error("depth", 2, "8 deep");
}
END_TEST

START_TEST(hash_of_all_bytes)
{
	static const char parent[] = "[file]\n", child[] = "[profile]\nextends = base\n";
	const char *sets[] = {"process.memory=1G"};
	char want[SHA256_HEX];
	const char *all = arena_printf(&arena, "%s%s", child, parent);

	put("shipped/base.ini", parent);
	put("t.ini", child);
	sha256_hex_of(all, strlen(all), want);
	load_well(in_top("t.ini"));
	ck_assert_str_eq(profile.sha256, want);
	all = arena_printf(&arena, "%s%s%s", child, parent, sets[0]);
	sha256_hex_of(all, strlen(all) + 1, want);
	ck_assert_int_eq(load_with(in_top("t.ini"), sets, 1), 0);
	ck_assert_str_eq(profile.sha256, want);
}
END_TEST

/* ---- lookup ---- */

static void put_named(const char *name, int processes)
{
	put(name, arena_printf(&arena, "[process]\nprocesses = %d\n", processes));
}

START_TEST(lookup_order)
{
	put_named("shipped/p.ini", 3);
	load_well("p");
	ck_assert_uint_eq(profile.process.processes, 3);
	ck_assert_ptr_null(note);
	put_named("system/p.ini", 2);
	load_well("p.ini");
	ck_assert_uint_eq(profile.process.processes, 2);
	ck_assert_str_eq(profile.name, "p");
	ck_assert_str_eq(note, arena_printf(&arena,
					    "sbox: p: using %s/system/p.ini, not the shipped "
					    "%s/shipped/p.ini",
					    top, top));
	put_named("user/p.ini", 1);
	load_well("p");
	ck_assert_uint_eq(profile.process.processes, 1);
	context.user_dir = NULL;
	load_well("p");
	ck_assert_uint_eq(profile.process.processes, 2);
}
END_TEST

START_TEST(lookup_never_in_cwd)
{
	put_named("work/p.ini", 9);
	ck_assert_int_eq(load("p"), -1);
	assert_error("cwd", 0, "(write ./p.ini to use the one in this folder)");
	put_named("shipped/p.ini", 3);
	load_well("p");
	ck_assert_uint_eq(profile.process.processes, 3);
	ck_assert_str_eq(note, arena_printf(&arena,
					    "sbox: p: using %s/shipped/p.ini, not ./p.ini (write "
					    "./p.ini to use that one)",
					    top));
	load_well("./p.ini");
	ck_assert_uint_eq(profile.process.processes, 9);
	ck_assert_ptr_null(note);
	ck_assert_str_eq(profile.name, "p");
	/* a folder of that name is no other meaning */
	ck_assert_int_eq(unlink(in_top("work/p.ini")), 0);
	make_folder("work/p", 0755);
	load_well("p");
	ck_assert_ptr_null(note);
	/* the profile folder is the current one */
	context.cwd = in_top("shipped");
	load_well("p");
	ck_assert_ptr_null(note);
}
END_TEST

START_TEST(lookup_missing_names)
{
	static const char *const names[] = {"agnet", "", ".", "..", ".ini", "x y"};

	put_named("shipped/agent.ini", 1);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		ck_assert_int_eq(load(names[i]), -1);
		assert_error(names[i], 0,
			     arena_printf(&arena,
					  "is not a profile in %s/user, %s/system, %s/shipped", top,
					  top, top));
	}
	load("agnet");
	assert_error("agnet", 0, "did you mean agent?");
	ck_assert_int_eq(load("./gone"), -1);
	assert_error("gone", 0, "cannot be opened: No such file");
	ck_assert_str_eq(err.file, "./gone");
}
END_TEST

/* ---- whose file it is ---- */

START_TEST(owner_and_mode)
{
	const char *path = put("t.ini", "");

	ck_assert_int_eq(chmod(path, 0664), 0);
	ck_assert_int_eq(load(path), -1);
	assert_error("group", 0, "can be written by its group: chmod go-w");
	ck_assert_int_eq(chmod(path, 0646), 0);
	ck_assert_int_eq(load(path), -1);
	assert_error("others", 0, "can be written by everyone: chmod go-w");
	ck_assert_int_eq(chmod(path, 0600), 0);
	ck_assert_int_eq(load(path), 0);
	/* somebody else's: root gives the file away, a user becomes somebody else */
	if (geteuid() == 0)
		ck_assert_int_eq(chown(path, 12345, 12345), 0);
	else
		context.uid = geteuid() + 1;
	ck_assert_int_eq(load(path), -1);
	assert_error("owner", 0, "belongs to uid ");
	if (geteuid() == 0) {
		context.uid = 12345;
		ck_assert_int_eq(load(path), 0);
	}
}
END_TEST

START_TEST(owner_of_parents)
{
	put("shipped/base.ini", "");
	put("t.ini", "[profile]\nextends = base\n");
	ck_assert_int_eq(chmod(in_top("shipped/base.ini"), 0666), 0);
	ck_assert_int_eq(load(in_top("t.ini")), -1);
	assert_error("parent", 2, "base.ini can be written by everyone");
}
END_TEST

START_TEST(folder_mode)
{
	make_folder("open", 0777);
	make_folder("closed", 0755);
	const char *path = put("open/t.ini", "");

	ck_assert_int_eq(load(path), -1);
	assert_error("folder", 0, "can be written by everyone: chmod o-w it");
	ck_assert_int_eq(chmod(in_top("open"), 01777), 0);
	ck_assert_int_eq(load(path), 0);
	/* a link is looked at from both ends */
	ck_assert_int_eq(chmod(in_top("open"), 0777), 0);
	ck_assert_int_eq(symlink(path, in_top("closed/t.ini")), 0);
	ck_assert_int_eq(load(in_top("closed/t.ini")), -1);
	assert_error("link", 0, "can be written by everyone");
}
END_TEST

START_TEST(not_a_file)
{
	make_folder("folder.ini", 0755);
	ck_assert_int_eq(mkfifo(in_top("fifo.ini"), 0644), 0);
	ck_assert_int_eq(load(in_top("folder.ini")), -1);
	assert_error("folder", 0, "is not a regular file");
	ck_assert_int_eq(load(in_top("fifo.ini")), -1);
	assert_error("fifo", 0, "is not a regular file");
	ck_assert_int_eq(load("/dev/null"), -1);
	assert_error("device", 0, "is not a regular file");
}
END_TEST

static void add_tests(TCase *tcase)
{
	tcase_add_test(tcase, extends_merges);
	tcase_add_test(tcase, extends_by_path);
	tcase_add_test(tcase, extends_empty_section_lists);
	tcase_add_test(tcase, extends_errors);
	tcase_add_test(tcase, extends_cycles);
	tcase_add_test(tcase, extends_depth);
	tcase_add_test(tcase, hash_of_all_bytes);
	tcase_add_test(tcase, lookup_order);
	tcase_add_test(tcase, lookup_never_in_cwd);
	tcase_add_test(tcase, lookup_missing_names);
	tcase_add_test(tcase, owner_and_mode);
	tcase_add_test(tcase, owner_of_parents);
	tcase_add_test(tcase, folder_mode);
	tcase_add_test(tcase, not_a_file);
}

int main(void)
{
	return run_suite("profile files", add_tests);
}
