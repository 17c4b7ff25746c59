// SPDX-License-Identifier: Apache-2.0
/*
 * The profile's lists as one tree: what each path is, what it hangs below,
 * which one decides, and the flags that its mount gets.
 */
#include <linux/mount.h>

#include "file_entries.h"
#include "host_fixture.h"

static const char *const flag_names = "erwnhpd"; /* by enum path_kind */

static struct file_entries entries;

/* "w/work h/work/.env": kinds, then the path. */
static void make(const char *lists, bool pins)
{
	char *copy = arena_strdup(&arena, lists), *save = NULL;

	setup();
	for (char *word = strtok_r(copy, " ", &save); word != NULL;
	     word = strtok_r(NULL, " ", &save)) {
		char *path = strchr(word, '/');

		for (char *kind = word; kind < path; kind++) {
			const char *at = strchr(flag_names, *kind);

			ck_assert_ptr_nonnull(at);
			add_folder((enum path_kind)(at - flag_names), path);
		}
	}
	file_entries_make(&arena, &host, pins, &entries);
}

/* The same, with "<" and the path above, and what else is known of each. */
static const char *shown(void)
{
	const char *text = "";

	for (size_t i = 0; i < entries.count; i++) {
		const struct file_entry *entry = &entries.items[i];
		char kinds[16] = "", *at = kinds;

		for (int kind = 0; kind < PATH_KIND_MAX; kind++)
			if ((entry->kinds & KIND(kind)) != 0)
				*at++ = flag_names[kind];
		text = arena_printf(
			&arena, "%s%s%s%s%s%s%s%s%s", text, i > 0 ? " " : "", kinds,
			entry->pin ? "+" : "", entry->path, entry->up != NULL ? "<" : "",
			entry->up != NULL ? entry->up->path : "",
			entry->redundant ? " (redundant)" : "", entry->hidden ? " (hidden)" : "");
	}
	return text;
}

static const struct {
	const char *lists;
	const char *wanted;
} tree_rows[] = {
	{"", ""},
	{"e/usr r/etc w/work", "r/etc e/usr w/work"},
	/* one entry a path */
	{"r/a r/a", "r/a"},
	{"e/a r/a w/a", "erw/a"},
	/* parents before children; '/' sorts before everything */
	{"r/a-b r/a/b r/a", "r/a r/a/b</a (redundant) r/a-b"},
	{"r/a/b r/a-b r/a", "r/a r/a/b</a (redundant) r/a-b"},
	{"r/a. r/a/z r/a0 r/a", "r/a r/a/z</a (redundant) r/a. r/a0"},
	{"r/ab r/a", "r/a r/ab"},
	/* what adds nothing: write holds exec, exec holds read */
	{"w/w e/w/e r/w/r", "w/w e/w/e</w (redundant) r/w/r</w (redundant)"},
	{"e/e r/e/r w/e/w", "e/e r/e/r</e (redundant) w/e/w</e"},
	{"r/r e/r/e r/r/e/x", "r/r e/r/e</r r/r/e/x</r/e (redundant)"},
	/* below one that adds nothing, the next above counts */
	{"r/r r/r/s e/r/s/t", "r/r r/r/s</r (redundant) e/r/s/t</r"},
	/* lists that take away always count */
	{"w/w n/w/n p/w/p h/w/h", "w/w h/w/h</w n/w/n</w p/w/p</w"},
	{"w/w np/w/x", "w/w np/w/x</w"},
	/* and what lies below them is given again */
	{"w/w p/w/p w/w/p/q", "w/w p/w/p</w w/w/p/q</w/p"},
	{"w/w n/w/n e/w/n/e", "w/w n/w/n</w e/w/n/e</w/n"},
	{"w/w n/w/n r/w/n/r", "w/w n/w/n</w r/w/n/r</w/n"},
	/* taking away where nothing is given hangs nowhere */
	{"n/n p/p h/h", "h/h n/n p/p"},
	{"p/a r/a/b", "p/a r/a/b"},
	/* hide beats everything below it */
	{"r/a h/a/b r/a/b/c w/a/b/c/d",
	 "r/a h/a/b</a r/a/b/c</a/b (hidden) w/a/b/c/d</a/b/c (hidden)"},
	{"h/a w/a/b", "h/a w/a/b (hidden)"},
	{"rh/a r/a/b", "rh/a r/a/b</a (hidden)"},
	{"h/ab r/abc", "h/ab r/abc"},
	/* devices */
	{"d/dev/kvm", "d/dev/kvm"},
	{"e/dev d/dev/kvm", "e/dev d/dev/kvm</dev"},
	/* the root itself */
	{"r/ w/work", "r/ w/work</"},
	{"e/ r/usr h/root", "e/ h/root</ r/usr</ (redundant)"},
};

START_TEST(entries_make_a_tree)
{
	make(tree_rows[_i].lists, false);
	ck_assert_str_eq(shown(), tree_rows[_i].wanted);
}
END_TEST

/* "+" is a folder that is bound onto itself to hold a protected name in its place. */
static const struct {
	const char *lists, *wanted;
} pin_rows[] = {
	{"w/w p/w/.git/hooks", "w/w +/w/.git</w p/w/.git/hooks</w/.git"},
	{"w/w p/w/a/b/c", "w/w +/w/a</w +/w/a/b</w/a p/w/a/b/c</w/a/b"},
	{"w/w p/w/x", "w/w p/w/x</w"},
	{"w/w p/w/a/b p/w/a/c", "w/w +/w/a</w p/w/a/b</w/a p/w/a/c</w/a"},
	{"w/w r/w/a p/w/a/b", "w/w r+/w/a</w p/w/a/b</w/a"},
	{"r/r p/r/a/b", "r/r p/r/a/b</r"},
	{"w/w p/elsewhere/a/b", "p/elsewhere/a/b w/w"},
	{"w/w w/w/in p/w/in/a/b", "w/w w+/w/in</w +/w/in/a</w/in p/w/in/a/b</w/in/a"},
	{"w/w h/w/a p/w/a/b", "w/w h+/w/a</w p/w/a/b</w/a (hidden)"},
	{"w/w p/w/a p/w/a/b", "w/w p+/w/a</w p/w/a/b</w/a"},
};

START_TEST(protected_names_are_pinned)
{
	make(pin_rows[_i].lists, true);
	ck_assert_str_eq(shown(), pin_rows[_i].wanted);
	make(pin_rows[_i].lists, false);
	for (size_t i = 0; i < entries.count; i++)
		ck_assert(!entries.items[i].pin);
}
END_TEST

/* Behind the name lies what would be taken for its continuation. */
START_TEST(protect_on_the_write_root_itself)
{
	static const char path[] = "/w\0x/y/z";

	add_folder(PATH_WRITE, path);
	add_folder(PATH_PROTECT, path);
	file_entries_make(&arena, &host, true, &entries);
	ck_assert_str_eq(shown(), "wp/w");
	ck_assert((file_entry_attributes(&entries.items[0]) & MOUNT_ATTR_RDONLY) != 0);
}
END_TEST

/* The entry that decides about a path, by its path; "-": it is not in the tree. */
static const struct {
	const char *lists, *path, *decides;
} lookup_rows[] = {
	{"e/usr", "/usr", "/usr"},
	{"e/usr", "/usr/bin/env", "/usr"},
	{"e/usr", "/usrx", "-"},
	{"e/usr", "/", "-"},
	{"e/usr", "/etc", "-"},
	{"r/", "/anything", "/"},
	{"e/usr r/usr/share", "/usr/share/x", "/usr"},
	{"r/usr e/usr/bin", "/usr/bin/env", "/usr/bin"},
	{"r/usr e/usr/bin", "/usr/lib", "/usr"},
	{"w/w h/w/s", "/w/s", "-"},
	{"w/w h/w/s", "/w/s/deep", "-"},
	{"w/w h/w/s", "/w/sx", "/w"},
	{"w/w h/w/s r/w/s/t", "/w/s/t", "-"},
	{"rh/a", "/a", "-"},
	{"w/w p/w/p", "/w/p/x", "/w"},
	{"w/w n/w/n", "/w/n", "/w"},
	{"p/p", "/p", "-"},
	{"n/n", "/n", "-"},
	{"d/dev/kvm", "/dev/kvm", "-"},
	{"w/w p/w/p r/w/p/r", "/w/p/r/x", "/w/p/r"},
};

START_TEST(the_deepest_entry_decides)
{
	make(lookup_rows[_i].lists, false);
	const struct file_entry *entry = file_entry_for(&entries, lookup_rows[_i].path);

	ck_assert_str_eq(entry != NULL ? entry->path : "-", lookup_rows[_i].decides);
}
END_TEST

enum { RO = MOUNT_ATTR_RDONLY, NX = MOUNT_ATTR_NOEXEC, DEV = 1 << 30 };

static const struct {
	const char *lists, *path;
	unsigned flags; /* besides nosuid, nodev; DEV: no nodev */
} flag_rows[] = {
	{"e/a", "/a", RO},
	{"r/a", "/a", RO | NX},
	{"w/a", "/a", 0},
	{"er/a", "/a", RO},
	{"rw/a", "/a", 0},
	{"wp/a", "/a", RO},
	{"wn/a", "/a", NX},
	{"wnp/a", "/a", RO | NX},
	{"en/a", "/a", RO | NX},
	{"d/dev/kvm", "/dev/kvm", NX | DEV},
	{"w/a p/a/b", "/a/b", RO},
	{"w/a n/a/b", "/a/b", NX},
	{"w/a np/a/b", "/a/b", RO | NX},
	{"e/a n/a/b", "/a/b", RO | NX},
	{"e/a p/a/b", "/a/b", RO},
	{"r/a p/a/b", "/a/b", RO | NX},
	{"r/a w/a/b", "/a/b", 0},
	{"r/a e/a/b", "/a/b", RO},
	/* as what lies above, through more than one */
	{"w/a p/a/b n/a/b/c", "/a/b/c", RO | NX},
	{"w/a n/a/b p/a/b/c", "/a/b/c", RO | NX},
	{"w/a p/a/b w/a/b/c", "/a/b/c", 0},
	{"w/a n/a/b e/a/b/c", "/a/b/c", RO},
	/* a pin is as the folder around it */
	{"w/a p/a/b/c", "/a/b", 0},
	{"wn/a p/a/b/c", "/a/b", NX},
	{"w/a n/a/b p/a/b/c/d", "/a/b/c", NX},
};

START_TEST(mount_flags)
{
	make(flag_rows[_i].lists, true);
	for (size_t i = 0; i < entries.count; i++) {
		unsigned flags = flag_rows[_i].flags;

		if (strcmp(entries.items[i].path, flag_rows[_i].path) != 0)
			continue;
		flags |= MOUNT_ATTR_NOSUID | ((flags & DEV) != 0 ? 0 : MOUNT_ATTR_NODEV);
		ck_assert_uint_eq(file_entry_attributes(&entries.items[i]), flags & ~(unsigned)DEV);
		return;
	}
	ck_abort_msg("no entry %s", flag_rows[_i].path);
}
END_TEST

START_TEST(below_is_by_whole_names)
{
	static const struct {
		const char *path, *folder;
		bool below;
	} rows[] = {{"/a/b", "/a", true},  {"/a", "/a", true},   {"/ab", "/a", false},
		    {"/a", "/a/b", false}, {"/", "/", true},     {"/a", "/", true},
		    {"/", "/a", false},    {"/a-b", "/a", false}};

	for (size_t i = 0; i < COUNT(rows); i++)
		ck_assert_msg(path_is_below(rows[i].path, rows[i].folder) == rows[i].below,
			      "%s below %s", rows[i].path, rows[i].folder);
}
END_TEST

/* Any order of the lists gives the same tree. */
START_TEST(the_order_of_the_lists_does_not_matter)
{
	static const char *const words[] = {"w/w",     "r/w/r", "e/usr", "h/w/h",
					    "p/w/a/b", "n/w/n", "r/w-x"};
	const char *first = NULL;

	for (size_t start = 0; start < COUNT(words); start++) {
		const char *lists = "";

		for (size_t i = 0; i < COUNT(words); i++)
			lists = arena_printf(&arena, "%s %s", lists,
					     words[(start * 5 + i) % COUNT(words)]);
		make(lists, true);
		if (first == NULL)
			first = shown();
		ck_assert_str_eq(shown(), first);
	}
}
END_TEST

static void add(TCase *tcase)
{
	tcase_add_loop_test(tcase, entries_make_a_tree, 0, ROWS(tree_rows));
	tcase_add_loop_test(tcase, protected_names_are_pinned, 0, ROWS(pin_rows));
	tcase_add_test(tcase, protect_on_the_write_root_itself);
	tcase_add_loop_test(tcase, the_deepest_entry_decides, 0, ROWS(lookup_rows));
	tcase_add_loop_test(tcase, mount_flags, 0, ROWS(flag_rows));
	tcase_add_test(tcase, below_is_by_whole_names);
	tcase_add_test(tcase, the_order_of_the_lists_does_not_matter);
}

int main(void)
{
	return run_suite("entries", add);
}
