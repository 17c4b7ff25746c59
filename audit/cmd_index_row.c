// SPDX-License-Identifier: Apache-2.0
#include "cmd_read.h"

#include <stdlib.h>

#include "cmd_time.h"
#include "record.h"

enum { LOOKED_AT = 512 }; /* bytes of an argument: more than fit into the column */

static uint8_t narrow(size_t width)
{
	return width > UINT8_MAX ? UINT8_MAX : (uint8_t)width;
}

/* Text of a column; what the row before has is used again. */
static void put_text(struct index *index, const char *text, struct index_seen *seen,
		     struct index_ref *ret)
{
	if (seen == NULL || strlen(text) >= sizeof(seen->text)) {
		index_put(&index->text, text, strlen(text), ret);
		return;
	}
	if (seen->ref.len == 0 || strcmp(seen->text, text) != 0) {
		index_put(&index->text, text, strlen(text), &seen->ref);
		strcpy(seen->text, text);
	}
	*ret = seen->ref;
}

/* The command, as far as it fits. */
const char *index_program_text(struct arena *arena, const json_t *argv, size_t columns)
{
	const char *text = "";
	const json_t *argument;
	size_t i;

	json_array_foreach((json_t *)argv, i, argument)
	{
		struct bytes bytes = text_bytes(arena, argument);

		bytes.len = bytes.len > LOOKED_AT ? LOOKED_AT : bytes.len;
		text = arena_printf(arena, i == 0 ? "%s%s" : "%s %s", text,
				    text_argument(arena, bytes));
		if (text_width(text) > columns)
			break;
	}
	return text[0] == '\0' ? "-" : text_cut(arena, text, columns);
}

/* key NUL value NUL, as bytes. */
static void put_labels(struct index *index, struct index_row *row, const json_t *labels)
{
	char *all = NULL;
	size_t len = 0;
	const char *key;
	json_t *value;
	FILE *out = json_object_size(labels) > 0 ? open_memstream(&all, &len) : NULL;

	if (out == NULL)
		return;
	json_object_foreach((json_t *)labels, key, value)
	{
		struct bytes bytes = text_bytes(&index->arena, value);

		fwrite(key, 1, strlen(key) + 1, out);
		fwrite(bytes.data, 1, bytes.len, out);
		fputc('\0', out);
	}
	fclose(out);
	index_put(&index->text, all, len, &row->labels);
	free(all);
}

/* Members without the braces, ready to stand between others. */
static void put_members(struct index *index, json_t *object, struct index_ref *ret)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	if (out == NULL)
		abort();
	json_write(out, object, false);
	fclose(out);
	index_put(&index->json, text + 1, len - 2, ret);
	free(text);
	json_decref(object);
}

static void write_kept(FILE *out, char letter, const char *where, const json_t *object)
{
	const char *name = kept_name(object);

	if (name != NULL && name[0] != '\0')
		fprintf(out, "%c%s%c%s%c", letter, where, 0, name, 0);
}

static void write_kept_stream(FILE *out, const char *where, struct span value)
{
	json_t *stream = scan_parse(scan_find(value, "kept"));

	if (json_is_string(stream) && json_string_length(stream) > 0)
		fprintf(out, "%c%s%c%s%c", INDEX_KEPT_OUTPUT, where, 0, json_string_value(stream),
			0);
	json_decref(stream);
}

/* Program text and output, so that a search opens what is there and nothing else. */
static void put_kept(struct index *index, const struct index_fields *fields, struct index_ref *ret)
{
	json_t *files = scan_parse(fields->files), *file;
	char *all = NULL;
	size_t len = 0, i;
	FILE *out = open_memstream(&all, &len);

	if (out == NULL)
		abort();
	json_array_foreach(files, i, file)
	{
		write_kept(out, INDEX_KEPT_SCRIPT, text_member(&index->arena, file, "kind"), file);
	}
	json_decref(files);
	write_kept_stream(out, "stdout", fields->out);
	write_kept_stream(out, "stderr", fields->err);
	write_kept_stream(out, "stdin", fields->in);
	fclose(out);
	if (len > 0)
		index_put(&index->text, all, len, ret);
	free(all);
}

/* As they are in the record: a search reads them closer together than the log has them. */
static void put_search(struct index *index, const struct index_fields *fields,
		       struct index_ref *ret)
{
	const struct span parts[] = {
		{"\"execs\":", 8}, fields->execs, {",\"denials\":", 11}, fields->denials};
	char *all = NULL;
	size_t len = 0;
	FILE *out = fields->execs.at != NULL && fields->denials.at != NULL
			    ? open_memstream(&all, &len)
			    : NULL;

	if (out == NULL)
		return;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		fwrite_unlocked(parts[i].at, 1, parts[i].len, out);
	fclose(out);
	index_put(&index->json, all, len, ret);
	free(all);
}

static void set(json_t *object, const char *key, json_t *value)
{
	json_object_set_new(object, key, value != NULL ? value : json_null());
}

void index_row_start(struct index *index, struct index_row *row, const struct index_fields *fields)
{
	struct arena *arena = &index->arena;
	struct span uid = scan_find(fields->who, "real_uid");
	json_t *user = scan_parse(scan_find(fields->who, "user"));
	json_t *profile = scan_parse(scan_find(fields->profile, "name"));
	json_t *argv = scan_parse(fields->argv), *labels = scan_parse(fields->labels);
	bool has_name = user != NULL && !json_is_null(user);
	const char *user_text = has_name ? text_value(arena, user)
					 : arena_printf(arena, "%.*s", (int)(uid.len & 15), uid.at);
	const char *profile_text = text_value(arena, profile);
	const char *program = index_program_text(arena, argv, INDEX_PROGRAM_WIDTH);

	row->flags |= INDEX_HAS_START;
	row->start_ns = time_parse(fields->time);
	row->real_uid = (uint32_t)scan_number(uid, UINT32_MAX);
	row->user_width = narrow(text_width(user_text));
	row->profile_width = narrow(text_width(profile_text));
	row->program_width = narrow(text_width(program));
	put_text(index, scan_number(uid, UINT64_MAX) == UINT64_MAX && !has_name ? "-" : user_text,
		 &index->user, &row->user);
	put_text(index, profile_text, &index->profile, &row->profile);
	put_text(index, program, NULL, &row->program);
	put_labels(index, row, labels);
	put_kept(index, fields, &row->start_kept);
	json_t *object = json_object();
	set(object, "time", scan_parse(fields->time));
	set(object, "user", user);
	set(object, "real_uid", scan_parse(uid));
	set(object, "profile", profile);
	set(object, "argv", argv);
	set(object, "labels", labels);
	put_members(index, object, &row->start_json);
}

static uint8_t kind_of(const json_t *end)
{
	const char *name = json_string_value(json_object_get(end, "kind"));
	uint8_t kind = 0;

	while (name != NULL && kind < END_KIND_MAX && strcmp(end_kind_names[kind], name) != 0)
		kind++;
	return name == NULL ? END_KIND_MAX : kind;
}

/* What a list needs of them: the rest is in the record. */
static json_t *short_denials(const json_t *denials)
{
	static const char *const members[] = {"boundary", "op", "object", "count"};
	json_t *list = json_array(), *denial;
	size_t i;

	json_array_foreach((json_t *)denials, i, denial)
	{
		json_t *copy = json_object();

		for (size_t m = 0; m < sizeof(members) / sizeof(members[0]); m++)
			set(copy, members[m], json_incref(json_object_get(denial, members[m])));
		json_array_append_new(list, copy);
	}
	return list;
}

static uint64_t sum(uint64_t a, uint64_t b)
{
	return a == UNKNOWN ? b : b == UNKNOWN ? a : a + b;
}

static void read_usage(struct index_row *row, const struct index_fields *fields)
{
	row->wall_ns = scan_number(scan_find(fields->usage, "wall_ns"), UNKNOWN);
	row->cpu_ns = sum(scan_number(scan_find(fields->usage, "user_ns"), UNKNOWN),
			  scan_number(scan_find(fields->usage, "sys_ns"), UNKNOWN));
	row->memory_bytes = scan_number(scan_find(fields->usage, "peak_memory_bytes"), UNKNOWN);
	row->output_bytes = sum(scan_number(scan_find(fields->out, "bytes"), UNKNOWN),
				scan_number(scan_find(fields->err, "bytes"), UNKNOWN));
}

void index_row_end(struct index *index, struct index_row *row, const struct index_fields *fields)
{
	static const char *const of_usage[] = {"wall_ns", "user_ns", "sys_ns", "peak_memory_bytes"};
	json_t *end = scan_parse(fields->end), *denials = scan_parse(fields->denials);
	const json_t *code = json_object_get(end, "code");

	row->flags |= INDEX_HAS_END;
	if (json_is_true(json_object_get(end, "core_dumped")))
		row->flags |= INDEX_IS_CORE;
	row->end_ns = time_parse(fields->time);
	row->kind = kind_of(end);
	row->code = json_is_integer(code) ? (int32_t)json_integer_value(code) : -1;
	row->denials = (uint32_t)json_array_size(denials);
	read_usage(row, fields);
	json_t *object = json_object();
	set(object, "end", end);
	for (size_t i = 0; i < sizeof(of_usage) / sizeof(of_usage[0]); i++)
		set(object, of_usage[i], scan_parse(scan_find(fields->usage, of_usage[i])));
	set(object, "stdout_bytes", scan_parse(scan_find(fields->out, "bytes")));
	set(object, "stderr_bytes", scan_parse(scan_find(fields->err, "bytes")));
	set(object, "denials", short_denials(denials));
	set(object, "denials_dropped", scan_parse(fields->dropped));
	json_decref(denials);
	put_members(index, object, &row->end_json);
	put_search(index, fields, &row->end_search);
	put_kept(index, fields, &row->end_kept);
}
