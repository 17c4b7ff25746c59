// SPDX-License-Identifier: Apache-2.0
/* What may be written, --set, and the profiles that come with sbox. */
#include "profile_fixture.h"

/* ---- what may be written ---- */

static const struct cwd_row {
	const char *cwd, *error; /* NULL: may be written */
} cwd_rows[] = {
	{"/", "the whole system"},
	{"/usr", "a system folder"},
	{"/usr/local/src/x", "a system folder"},
	{"/etc/sbox", "a system folder"},
	{"/boot/x", "a system folder"},
	{"/dev/shm", "a system folder"},
	{"/proc/1", "a system folder"},
	{"/sys/fs", "a system folder"},
	{"/lib64", "a system folder"},
	{"/run", "a system folder"},
	{"/var", "a system folder"},
	{"/opt", "a system folder"},
	{"/srv", "a system folder"},
	{"/tmp", "shared by everyone"},
	{"/var/tmp", "shared by everyone"},
	{"/home", "above the home folders"},
	{"/root", "a home folder"},
	{"/home/other", "a home folder"},
	{"/home/somebody", "a home folder"},
	{"/data/people/me", "your home folder"},
	{"/data/people", "above your home folder"},
	{"/data", "above your home folder"},
	{"/state/sbox", "where the audit records are kept"},
	{"/state/sbox/2026", "where the audit records are kept"},
	{"/state", "where the audit records are kept"},
	{"/tmp/x", NULL},
	{"/var/tmp/x", NULL},
	{"/var/www", NULL},
	{"/home/somebody/project", NULL},
	{"/data/people/me/project", NULL},
	{"/root/project", NULL},
	{"/srv/x", NULL},
	{"/opt/x", NULL},
	{"/library", NULL},
	{"/usrx", NULL},
	{"/state/sboxes", NULL},
};

START_TEST(cwd_rule)
{
	const struct cwd_row *row = &cwd_rows[_i];

	context.cwd = row->cwd;
	context.home = "/data/people/me";
	context.store = "/state/sbox";
	int rc = load(put("t.ini", "[file]\n\nwrite = ${cwd}\n"));

	ck_assert_msg((rc < 0) == (row->error != NULL), "%s: %s", row->cwd, err.text);
	if (row->error != NULL)
		assert_error(
			row->cwd, 3,
			arena_printf(&arena,
				     "[file] write: ${cwd} is %s, which is %s: make a folder and "
				     "run it there, or name the path in the profile",
				     row->cwd, row->error));
	/* Nothing is said when the folder is not to be written. */
	ck_assert_int_eq(load_text("[file]\nread = ${cwd}\nhide = ${cwd}/x\n"), 0);
	ck_assert_int_eq(load_text("[time]\nwall = 1s\n"), 0);
}
END_TEST

START_TEST(cwd_rule_by_links)
{
	/* home is a link to where the folder really is */
	ck_assert_int_eq(symlink(in_top("work"), in_top("home")), 0);
	context.home = in_top("home");
	ck_assert_int_eq(load_text("[file]\nwrite = ${cwd}/out\n"), -1);
	assert_error("home link", 2, "which is your home folder");
	context.home = NULL;
	ck_assert_int_eq(load_text("[file]\nwrite = ${cwd}/out\n"), 0);
}
END_TEST

START_TEST(cwd_rule_after_clearing)
{
	put("shipped/base.ini", "[file]\nwrite = ${cwd}\n");
	put("t.ini", "[profile]\nextends = base\n[file]\nwrite =\nwrite = /data\n");
	context.cwd = "/";
	ck_assert_int_eq(load("base"), -1);
	ck_assert_int_eq(load(in_top("t.ini")), 0);
	ck_assert_str_eq(dumped("file", "write"), "/data");
}
END_TEST

START_TEST(store_is_not_writable)
{
	const char *rows[] = {in_top("store"), in_top("store/x"), top, "/tmp"};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		ck_assert_int_eq(load_text(arena_printf(&arena, "[file]\nwrite = %s\n", rows[i])),
				 -1);
		assert_error(rows[i], 2, "the audit records are kept in ");
	}
	ck_assert_int_eq(symlink(in_top("store"), in_top("link")), 0);
	ck_assert_int_eq(load_text(arena_printf(&arena, "[file]\nwrite = %s/link\n", top)), -1);
	assert_error("link", 2, "the audit records are kept in ");
	make_folder("store/sub", 0700);
	ck_assert_int_eq(symlink(in_top("store/sub"), in_top("deep")), 0);
	ck_assert_int_eq(load_text(arena_printf(&arena, "[file]\nwrite = %s/deep\n", top)), -1);
	assert_error("deep link", 2, "the audit records are kept in ");
	ck_assert_int_eq(symlink("/proc", in_top("proc")), 0);
	ck_assert_int_eq(load_text(arena_printf(&arena, "[file]\nwrite = %s/proc\n", top)), -1);
	assert_error("link", 2, "the kernel's");
}
END_TEST

START_TEST(profile_protects_itself)
{
	put("work/parent.ini", "[file]\nread = /x\n");
	put("work/t.ini", "[profile]\nextends = ./parent.ini\n[file]\nwrite = ${cwd}\n"
			  "protect = -${cwd}/t.ini\n");
	load_well("./t.ini");
	ck_assert_uint_eq(profile.file.protect.count, 2);
	const struct path_rule *rules = profile.file.protect.items;

	ck_assert_str_eq(rules[0].path, in_top("work/t.ini"));
	ck_assert(!rules[0].optional);
	ck_assert_str_eq(rules[1].path, in_top("work/parent.ini"));
	ck_assert(!rules[1].optional);
	ck_assert_int_eq(rules[1].line, 0);
	ck_assert_ptr_nonnull(strstr(rules[1].file, "parent.ini"));
	load_well(put("t.ini", "[file]\nwrite = ${cwd}\n"));
	ck_assert_uint_eq(profile.file.protect.count, 0);
}
END_TEST

/* ---- --set ---- */

static const struct set_row {
	const char *set, *error, *section, *key, *dump;
} set_rows[] = {
	{"process.memory=1G", NULL, "process", "memory", "1G"},
	{"process.memory=", NULL, "process", "memory", ""},
	{"file.read=/b", NULL, "file", "read", "/b"},
	{"file.read+=/b", NULL, "file", "read", "/a\n/b"},
	{"file.read=", NULL, "file", "read", ""},
	{"file.read+=", NULL, "file", "read", "/a"},
	{"file.read+=!/a", NULL, "file", "read", ""},
	{"file.read+=!-/a", NULL, "file", "read", ""},
	{"file.read+=!/b", "\"/b\" is not in the list, so it cannot be taken out", "", "", ""},
	{"file.read+=!", "a path is missing", "", "", ""},
	{"file.cache=1G", NULL, "file", "cache", "1G"},
	{"file.cache=0", "would leave nothing to run with (empty: no limit)", "", "", ""},
	{"file.toolchains=pyenv, nvm", NULL, "file", "toolchains", "pyenv\nnvm"},
	{"file.toolchains=@all", NULL, "file", "toolchains", "@all"},
	{"file.toolchains=pyemv", "is not a version manager; did you mean pyenv?", "", "", ""},
	{"file.toolchains=*", "is not a version manager", "", "", ""},
	{"file.read= -/b ", NULL, "file", "read", "-/b"},
	{"environment.keep=A, B_*", NULL, "environment", "keep", "A\nB_*"},
	{"environment.set+=X=1=2", NULL, "environment", "set", "X=1=2"},
	{"privilege.syscalls+=!ptrace", NULL, "privilege", "syscalls", "@default\n!ptrace"},
	{"privilege.syscalls=read", NULL, "privilege", "syscalls", "read"},
	{"profile.description=a ;b\\", NULL, "profile", "description", "a ${0x3b}b${0x5c}"},
	{"file.write=b", "--set file.write=b: \"b\" is not an absolute path", "", "", ""},
	{"file.write=/", "--set file.write=/: \"/\" is the whole system", "", "", ""},
	{"process.memory=80x", "--set process.memory=80x: \"80x\" is not a size", "", "", ""},
	{"process.memory+=1G", "memory is one value, not a list: write =", "", "", ""},
	{"process.memroy=1G", "[process] has no key memroy; did you mean memory?", "", "", ""},
	{"process.zzzz=1G", "[process] has no key zzzz: see", "", "", ""},
	{"proces.memory=1G", "no section proces; did you mean process?", "", "", ""},
	{"zzzzzz.memory=1G", "no section zzzzzz: see", "", "", ""},
	{"memory=1G", "--set memory=1G: is not SECTION.KEY=VALUE", "", "", ""},
	{"process.memory", "is not SECTION.KEY=VALUE", "", "", ""},
	{"=1G", "is not SECTION.KEY=VALUE", "", "", ""},
	{"", "is not SECTION.KEY=VALUE", "", "", ""},
	{"profile.extends=base", "extends works in a file only", "", "", ""},
	{"file.read=/a\n/b", "a control byte: write it as ${0x0a}", "", "", ""},
	{"environment.keep=*", "would pass every variable on", "", "", ""},
};

START_TEST(overrides)
{
	const struct set_row *row = &set_rows[_i];
	const char *path = put("t.ini", "[file]\nread = /a\n");
	int rc = load_with(path, &row->set, 1);

	ck_assert_msg((rc < 0) == (row->error != NULL), "%s: %s", row->set, err.text);
	if (row->error != NULL) {
		assert_error(row->set, 0, row->error);
		return;
	}
	ck_assert_str_eq(dumped(row->section, row->key), row->dump);
	ck_assert_str_eq(profile_origin(&arena, &profile, key_id(key_find(row->section, row->key))),
			 "--set");
	assert_round_trip();
}
END_TEST

START_TEST(overrides_in_order)
{
	const char *sets[] = {"file.read=/b", "file.read+=/c", "time.wall=1s", "time.wall=2s"};

	ck_assert_int_eq(load_with(put("t.ini", "[file]\nread = /a\n"), sets, 4), 0);
	ck_assert_str_eq(dumped("file", "read"), "/b\n/c");
	ck_assert_str_eq(dumped("time", "wall"), "2s");
	ck_assert_str_eq(profile.file.read.items[1].file, "--set");
}
END_TEST

/* ---- the profiles that come with it ---- */

static const char *const shipped[] = {"base", "agent", "strict", "python",
				      "node", "build", "fetch",  "review"};

static void copy_shipped(const char *name)
{
	char text[16384];
	const char *path = arena_printf(&arena, "profiles/%s.ini", name);
	FILE *file = fopen(path, "r");

	ck_assert_msg(file != NULL, "%s: run the tests from the source folder", path);
	size_t size = fread(text, 1, sizeof(text), file);

	ck_assert_uint_lt(size, sizeof(text));
	fclose(file);
	put_bytes(arena_printf(&arena, "shipped/%s.ini", name), text, size);
}

static void copy_all_shipped(void)
{
	for (size_t i = 0; i < sizeof(shipped) / sizeof(shipped[0]); i++)
		copy_shipped(shipped[i]);
}

START_TEST(shipped_profiles)
{
	copy_all_shipped();
	load_well(shipped[_i]);
	ck_assert_str_ne(profile.description, "");
	ck_assert_uint_gt(profile.file.exec.count, 0);
	ck_assert_uint_eq(profile.network.allow.count, 0);
	ck_assert_int_eq(profile.network.mode,
			 strcmp(shipped[_i], "fetch") == 0 ? NETWORK_ALLOW : NETWORK_NONE);
	ck_assert_uint_eq(profile.privilege.capabilities.count, 0);
	for (size_t i = 0; i < profile.file.read.count; i++)
		ck_assert_ptr_null(strstr(profile.file.read.items[i].path, "private"));
	assert_round_trip();
}
END_TEST

START_TEST(agent_profile)
{
	copy_all_shipped();
	load_well("agent");
	ck_assert_str_eq(dumped("file", "write"), in_top("work"));
	ck_assert_str_eq(dumped("process", "memory"), "2G");
	ck_assert_str_eq(dumped("process", "processes"), "256");
	ck_assert_str_eq(dumped("process", "on_missing"), "reduce");
	ck_assert_str_eq(dumped("time", "wall"), "10m");
	ck_assert_str_eq(dumped("audit", "denials"), "full");
	ck_assert_ptr_nonnull(strstr(dumped("file", "protect"), "/.git/hooks"));
	/* Whatever is optional in a workspace must not stop a run in an empty one. */
	for (size_t i = 0; i < profile.file.protect.count; i++)
		ck_assert(profile.file.protect.items[i].optional);
	for (size_t i = 0; i < profile.file.hide.count; i++)
		ck_assert(profile.file.hide.items[i].optional);
	context.cwd = "/";
	ck_assert_int_eq(load("agent"), -1);
	assert_error("agent in /", 13, "${cwd} is /");
}
END_TEST

START_TEST(strict_profile)
{
	copy_all_shipped();
	context.cwd = "/";
	load_well("strict");
	ck_assert_uint_eq(profile.file.write.count, 0);
	ck_assert_int_eq(profile.file.scratch_exec, NO);
	ck_assert_str_eq(dumped("time", "wall"), "5s");
	ck_assert_str_eq(dumped("time", "cpu"), "5s");
	ck_assert_str_eq(dumped("process", "processes"), "64");
	ck_assert_str_eq(dumped("process", "memory"), "256M");
}
END_TEST

/* What extends agent has all that it holds back. */
START_TEST(shipped_profiles_on_agent)
{
	static const char *const names[] = {"python", "node", "build", "fetch", "review"};

	copy_all_shipped();
	load_well("agent");
	size_t protects = profile.file.protect.count, hides = profile.file.hide.count;
	load_well(names[_i]);
	ck_assert_uint_eq(profile.file.protect.count, protects);
	ck_assert_uint_ge(profile.file.hide.count, hides);
	ck_assert_uint_eq(profile.file.write.count, 1);
	ck_assert_int_eq(profile.file.on_missing, ON_MISSING_REFUSE);
	ck_assert_int_eq(profile.network.on_missing, ON_MISSING_REFUSE);
	ck_assert_uint_ne(profile.process.memory_bytes, 0);
	ck_assert_uint_ne(profile.time.wall_ms, 0);
}
END_TEST

/* The line that agent.ini names for a repository whose settings may be changed. */
START_TEST(an_inherited_path_is_taken_out)
{
	copy_all_shipped();
	load_well("agent");
	size_t count = profile.file.protect.count;
	load_well(put("t.ini", "[profile]\nextends = agent\n[file]\n"
			       "protect = !${cwd}/.git/config\n          /x\n"));
	ck_assert_uint_eq(profile.file.protect.count, count);
	ck_assert_ptr_null(strstr(dumped("file", "protect"), "/.git/config"));
	ck_assert_ptr_nonnull(strstr(dumped("file", "protect"), "/.git/hooks"));
	assert_round_trip();
	ck_assert_int_eq(load(put("t.ini", "[file]\nprotect = !/x\n")), -1);
	assert_error("nothing to take out", 2, "is not in the list");
}
END_TEST

/* Every default, and nothing else. */
START_TEST(reference_profile)
{
	load_well(put("t.ini", "[profile]\ndescription = every key with its default: to read, not "
			       "to run\n"));
	const char *defaults = profile_dump(&arena, &profile);
	copy_shipped("reference");
	load_well("reference");
	ck_assert_str_eq(profile_dump(&arena, &profile), defaults);
}
END_TEST

static void add_tests(TCase *tcase)
{
	tcase_add_loop_test(tcase, cwd_rule, 0, ROWS(cwd_rows));
	tcase_add_test(tcase, cwd_rule_by_links);
	tcase_add_test(tcase, cwd_rule_after_clearing);
	tcase_add_test(tcase, store_is_not_writable);
	tcase_add_test(tcase, profile_protects_itself);
	tcase_add_loop_test(tcase, overrides, 0, ROWS(set_rows));
	tcase_add_test(tcase, overrides_in_order);
	tcase_add_loop_test(tcase, shipped_profiles, 0, ROWS(shipped));
	tcase_add_test(tcase, agent_profile);
	tcase_add_test(tcase, strict_profile);
	tcase_add_loop_test(tcase, shipped_profiles_on_agent, 0, 5);
	tcase_add_test(tcase, an_inherited_path_is_taken_out);
	tcase_add_test(tcase, reference_profile);
}

int main(void)
{
	return run_suite("profile rules", add_tests);
}
