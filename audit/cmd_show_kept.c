// SPDX-License-Identifier: Apache-2.0
#include "cmd_show.h"

#include "cmd_read.h"

/* The record holds the hash, and the chain the record; the file beside it is anybody's who can
 * write to the store. */
static struct bytes read_kept(struct show *show, const json_t *object)
{
	bool is_changed;
	struct bytes text = kept_of(show->arena, show->store, object, &is_changed);

	if (text.data == NULL)
		puts("  [no longer in the store]");
	else if (is_changed)
		puts("  [CHANGED in the store: what follows is not what was kept]");
	show->is_changed = show->is_changed || is_changed;
	return text;
}

static void show_files(struct show *show, const json_t *files)
{
	const json_t *file;
	size_t i;

	json_array_foreach((json_t *)files, i, file)
	{
		bool cut = json_is_true(json_object_get(file, "truncated"));

		if (kept_name(file) == NULL)
			continue;
		printf("\n%s %s%s\n", text_member(show->arena, file, "kind"),
		       text_member(show->arena, file, "path"), cut ? " (its beginning)" : "");
		text_print_block(show->arena, read_kept(show, file));
	}
}

/* The kept file holds the head, then the tail. */
static void show_cut(struct show *show, struct bytes text, size_t head_len)
{
	if (head_len > text.len)
		head_len = text.len;
	text_print_block(show->arena, (struct bytes){text.data, head_len});
	puts("  [cut here]");
	text_print_block(show->arena, (struct bytes){text.data + head_len, text.len - head_len});
}

static void show_stream(struct show *show, const json_t *end, const char *key)
{
	const json_t *stream = json_object_get(end, key);
	json_int_t head_len = json_integer_value(json_object_get(stream, "head_bytes"));

	printf("\n%s  %s bytes  sha256 %s\n", key, text_member(show->arena, stream, "bytes"),
	       text_member(show->arena, stream, "sha256"));
	if (kept_name(stream) == NULL) {
		if (head_len > 0)
			puts("  [could not be kept]");
		return;
	}
	struct bytes text = read_kept(show, stream);
	if (text.data != NULL && json_is_true(json_object_get(stream, "truncated")) &&
	    head_len >= 0)
		show_cut(show, text, (size_t)head_len);
	else
		text_print_block(show->arena, text);
}

void show_kept(struct show *show, const json_t *start, const json_t *end)
{
	show_files(show, json_object_get(start, "files"));
	show_files(show, json_object_get(end, "files"));
	if (end == NULL)
		return;
	show_stream(show, end, "stdout");
	show_stream(show, end, "stderr");
	show_stream(show, end, "stdin");
}
