// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_CHILD_DOCTORS_TREE_H
#define SBOX_CHILD_DOCTORS_TREE_H

/* Lists of steps that build the tree, whose last one fails. */
#include "child_fixture.h"

enum { BAD_FLAG = 1U << 31 };

static void set_ino(struct step *step, uint64_t inode)
{
	step->value[0] = 1;
	step->value[1] = inode;
}

static void source_is_not_there(void)
{
	put(STEP_SOURCE)->source = "/tmp/sbox/nowhere";
}

static void source_is_a_link(void)
{
	put(STEP_SOURCE)->source = "/proc/self/cwd";
}

static void source_was_replaced(void)
{
	struct step *step = put(STEP_SOURCE);

	step->source = "/usr";
	set_ino(step, 1234567890123);
}

static void source_is_another_device(void)
{
	struct step *step = put(STEP_DEVICE);

	step->source = "/dev/null";
	step->flags = 4711;
}

static void source_with_unknown_flag(void)
{
	struct step *step = put(STEP_SOURCE);

	step->source = "/usr";
	step->value[2] = BAD_FLAG;
}

static const char *const no_names[] = {NULL};
static const char *const folders[] = {"proc", "dev", "dev/pts", NULL};
static const char *const no_links[][2] = {{NULL, NULL}};
static const struct skeleton no_skeleton = {no_names, no_names, no_links};
static const struct skeleton skeleton = {folders, no_names, no_links};

static inline struct step *put_root_with(const struct skeleton *content, const char *path)
{
	put(STEP_NEW_ROOT);
	put(STEP_SKELETON)->skeleton = content;
	put(STEP_DEVPTS);
	struct step *step = put(STEP_SHOW_ROOT);

	step->text = "1048576";
	step->source = "100";
	step->path = path;
	return step;
}

static inline void put_root(const char *path)
{
	put_root_with(&skeleton, path);
}

static void root_of_no_size(void)
{
	put_root_with(&skeleton, base)->text = "much";
}

static void root_smaller_than_it_is(void)
{
	put_root_with(&skeleton, base)->source = "3";
}

static void skeleton_folder_without_parent(void)
{
	static const char *const names[] = {"a/b", NULL};
	static const struct skeleton content = {names, no_names, no_links};

	put(STEP_NEW_ROOT);
	put(STEP_SKELETON)->skeleton = &content;
}

static void skeleton_file_without_parent(void)
{
	static const char *const names[] = {"a/b", NULL};
	static const struct skeleton content = {no_names, names, no_links};

	put(STEP_NEW_ROOT);
	put(STEP_SKELETON)->skeleton = &content;
}

static void skeleton_link_without_parent(void)
{
	static const char *const links[][2] = {{"a/b", "c"}, {NULL, NULL}};
	static const struct skeleton content = {no_names, no_names, links};

	put(STEP_NEW_ROOT);
	put(STEP_SKELETON)->skeleton = &content;
}

static void root_is_nowhere(void)
{
	put_root("/tmp/sbox/nowhere");
}

static void folder_without_parent(void)
{
	put_root(base);
	put(STEP_DIRECTORY)->path = "a/b";
}

static void folder_of_an_unmapped_owner(void)
{
	put_root(base);
	struct step *step = put(STEP_DIRECTORY);

	step->path = "a";
	step->value[1] = 12345;
}

static void link_without_parent(void)
{
	put_root(base);
	struct step *step = put(STEP_LINK);

	step->path = "a/b";
	step->text = "c";
}

static void content_without_parent(void)
{
	put_root(base);
	put(STEP_CONTENT)->path = "a/b";
}

/* Of the machine's pid namespace, which is not the test's own. */
static void proc_of_somebody_else(void)
{
	put(STEP_PROC);
}

static void terminals_without_a_folder(void)
{
	put_root_with(&no_skeleton, base);
}

static void attach_nowhere(void)
{
	put(STEP_SOURCE)->source = "/usr/bin";
	put_root(base);
	put(STEP_ATTACH)->path = "usr";
}

/* The stage of the layers is fixed below /tmp, where this root is not. */
static void layer_without_a_stage(void)
{
	put_root(base);
	put(STEP_OVERLAY)->path = "work";
}

static void layers_done_without_any(void)
{
	put_root(base);
	put(STEP_OVERLAYS_DONE);
}

static void bind_what_is_not_there(void)
{
	put_root(base);
	put(STEP_SELF_BIND)->path = "a";
}

static void bind_what_was_replaced(void)
{
	put_root(base);
	put(STEP_DIRECTORY)->path = "a";
	struct step *step = put(STEP_SELF_BIND);

	step->path = "a";
	set_ino(step, 1234567890123);
}

static void bind_with_unknown_flag(void)
{
	put_root(base);
	put(STEP_DIRECTORY)->path = "a";
	struct step *step = put(STEP_SELF_BIND);

	step->path = "a";
	step->value[2] = BAD_FLAG;
}

static void bind_across_a_link(void)
{
	put_root(base);
	put(STEP_DIRECTORY)->path = "a";
	struct step *step = put(STEP_LINK);

	step->path = "b";
	step->text = "a";
	put(STEP_SELF_BIND)->path = "b/x";
}

static void cover_what_is_not_there(void)
{
	put_root(base);
	put(STEP_COVER)->path = "a";
}

static void cover_across_a_link(void)
{
	put_root(base);
	struct step *step = put(STEP_LINK);

	step->path = "a";
	step->text = "/etc";
	step = put(STEP_COVER);
	step->path = "a/passwd";
	step->flags = 1;
}

#endif
