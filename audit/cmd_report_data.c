// SPDX-License-Identifier: Apache-2.0
#include "cmd_report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cmd_tally.h"
#include "record.h"

/*
 * Columns, not rows: an array of numbers each, texts as numbers in a list, times
 * as the difference to the one before. 100,000 runs are about 10 MB.
 */

enum { PROGRAM_WIDTH = 240, ARENA_ROWS = 256 };

/* Kinds that no record has, behind those of enum end_kind. */
enum { KIND_OTHER = END_KIND_MAX, KIND_RUNNING, KIND_UNFINISHED };

struct columns {
	struct report *report;
	struct arena arena; /* of some rows */
	struct tally users, profiles, programs, denials;
	FILE *refused; /* the column d */
	char *refused_text;
	size_t refused_len;
};

static const struct index_row *row_at(const struct columns *columns, uint64_t i)
{
	return &columns->report->index->rows[columns->report->rows[i]];
}

/* The members of --json as an object; to be released. */
static json_t *members(struct columns *columns, struct index_ref ref)
{
	struct bytes bytes = index_json(columns->report->index, ref);
	const char *text = arena_printf(&columns->arena, "{%.*s}", (int)bytes.len, bytes.data);

	return json_loads(text, JSON_ALLOW_NUL, NULL);
}

static const char *program_of(struct columns *columns, const struct index_row *row)
{
	json_t *start = members(columns, row->start_json);
	const char *text =
		index_program_text(&columns->arena, json_object_get(start, "argv"), PROGRAM_WIDTH);

	json_decref(start);
	return text;
}

typedef int64_t (*value_of)(struct columns *columns, const struct index_row *row);

static int64_t known(uint64_t value, uint64_t unit)
{
	return value == UNKNOWN ? -1 : (int64_t)(value / unit);
}

static int64_t wall_of(struct columns *columns, const struct index_row *row)
{
	(void)columns;
	return row->flags & INDEX_HAS_END ? known(row->wall_ns, 1000) : -1;
}

static int64_t memory_of(struct columns *columns, const struct index_row *row)
{
	(void)columns;
	return row->flags & INDEX_HAS_END ? known(row->memory_bytes, 1024) : -1;
}

static int64_t output_of(struct columns *columns, const struct index_row *row)
{
	(void)columns;
	return row->flags & INDEX_HAS_END ? known(row->output_bytes, 1) : -1;
}

static int64_t kind_of(struct columns *columns, const struct index_row *row)
{
	if (row->flags & INDEX_HAS_END)
		return row->kind;
	return strcmp(index_state(columns->report->index, row), "running") == 0 ? KIND_RUNNING
										: KIND_UNFINISHED;
}

static int64_t code_of(struct columns *columns, const struct index_row *row)
{
	(void)columns;
	return row->flags & INDEX_HAS_END ? row->code : -1;
}

static int64_t user_of(struct columns *columns, const struct index_row *row)
{
	struct bytes text = index_text(columns->report->index, row->user);

	return (int64_t)tally_add(&columns->users, text, 1);
}

static int64_t profile_of(struct columns *columns, const struct index_row *row)
{
	struct bytes text = index_text(columns->report->index, row->profile);

	return (int64_t)tally_add(&columns->profiles, text, 1);
}

static int64_t program_number(struct columns *columns, const struct index_row *row)
{
	const char *text = program_of(columns, row);

	return (int64_t)tally_add(&columns->programs, (struct bytes){text, strlen(text)}, 1);
}

static void put_column(struct columns *columns, const char *name, value_of value)
{
	FILE *out = columns->report->out;

	fprintf(out, ",\"%s\":[", name);
	for (uint64_t i = 0; i < columns->report->count; i++) {
		fprintf(out, i > 0 ? ",%" PRId64 : "%" PRId64, value(columns, row_at(columns, i)));
		if (i % ARENA_ROWS == 0)
			arena_free(&columns->arena);
	}
	putc(']', out);
}

static void put_times(struct columns *columns)
{
	FILE *out = columns->report->out;
	int64_t before_ms = 0;

	fputs(",\"t\":[", out);
	for (uint64_t i = 0; i < columns->report->count; i++) {
		const struct index_row *row = row_at(columns, i);
		uint64_t at_ns = row->start_ns != 0 ? row->start_ns : row->end_ns;
		int64_t at_ms = (int64_t)(at_ns / 1000000);

		fprintf(out, i > 0 ? ",%" PRId64 : "%" PRId64, at_ms - before_ms);
		before_ms = at_ms;
	}
	putc(']', out);
}

static void put_runs(struct columns *columns)
{
	FILE *out = columns->report->out;

	fputs(",\"run\":\"", out);
	for (uint64_t i = 0; i < columns->report->count; i++)
		fwrite(row_at(columns, i)->run, 1, INDEX_RUN, out);
	putc('"', out);
}

/* Its number among the refusals: the same boundary, call and object. */
static uint64_t denial_number(struct columns *columns, const json_t *denial)
{
	struct arena *arena = &columns->arena;
	const json_t *object = json_object_get(denial, "object");
	const char *text = arena_printf(
		arena, "%s\n%s\n%s", text_member(arena, denial, "boundary"),
		text_member(arena, denial, "op"),
		object == NULL || json_is_null(object) ? "" : text_value(arena, object));

	return tally_add(&columns->denials, (struct bytes){text, strlen(text)}, 1);
}

static void add_refused(struct columns *columns, uint64_t i)
{
	const struct index_row *row = row_at(columns, i);
	const json_t *denial;
	size_t at;

	if (row->denials == 0)
		return;
	json_t *end = members(columns, row->end_json);
	fprintf(columns->refused, "%s[%" PRIu64, ftell(columns->refused) > 0 ? "," : "", i);
	json_array_foreach(json_object_get(end, "denials"), at, denial)
		fprintf(columns->refused, ",%" PRIu64 ",%" JSON_INTEGER_FORMAT,
			denial_number(columns, denial),
			json_integer_value(json_object_get(denial, "count")));
	putc(']', columns->refused);
	json_decref(end);
	if (i % ARENA_ROWS == 0)
		arena_free(&columns->arena);
}

static void put_refused(struct columns *columns)
{
	columns->refused = open_memstream(&columns->refused_text, &columns->refused_len);
	if (columns->refused == NULL)
		abort();
	for (uint64_t i = 0; i < columns->report->count; i++)
		add_refused(columns, i);
	fclose(columns->refused);
	fprintf(columns->report->out, ",\"d\":[%s]", columns->refused_text);
	free(columns->refused_text);
}

/* As a list of three for a refusal, else as a string; all are safe text. */
static json_t *tally_value(const char *text, bool is_denial)
{
	const char *second = is_denial ? strchr(text, '\n') + 1 : NULL;
	const char *third = is_denial ? strchr(second, '\n') + 1 : NULL;

	if (!is_denial)
		return json_string(text);
	json_t *list = json_array();
	json_array_append_new(list, json_stringn(text, (size_t)(second - 1 - text)));
	json_array_append_new(list, json_stringn(second, (size_t)(third - 1 - second)));
	json_array_append_new(list, third[0] == '\0' ? json_null() : json_string(third));
	return list;
}

static void put_list(struct columns *columns, const char *name, struct tally *tally, bool is_denial)
{
	size_t count = tally_sort_by_number(tally);
	FILE *out = columns->report->out;

	fprintf(out, ",\"%s\":[", name);
	for (size_t i = 0; i < count; i++) {
		json_t *value = tally_value(tally->items[i].text, is_denial);

		if (i > 0)
			putc(',', out);
		json_write(out, value, true);
		json_decref(value);
	}
	putc(']', out);
	tally_free(tally);
}

static void put_facts(struct columns *columns)
{
	struct report *report = columns->report;
	const char *dir = report->index->log->store.dir;
	char host[65] = "";
	json_t *kinds = json_array();

	gethostname(host, sizeof(host) - 1);
	for (int i = 0; i < END_KIND_MAX; i++)
		json_array_append_new(kinds, json_string(end_kind_names[i]));
	json_array_append_new(kinds, json_string("unknown"));
	json_array_append_new(kinds, json_string("running"));
	json_array_append_new(kinds, json_string("unfinished"));
	json_t *facts = json_pack(
		"{s:I, s:I, s:I, s:s, s:s, s:s, s:o, s:I}", "n", (json_int_t)report->count, "total",
		(json_int_t)report->total, "made", (json_int_t)time(NULL) * 1000, "version",
		SBOX_VERSION, "store", text_line(&columns->arena, (struct bytes){dir, strlen(dir)}),
		"host", text_line(&columns->arena, (struct bytes){host, strlen(host)}), "kinds",
		kinds, "details", (json_int_t)report->details);
	bool is_first = true;
	const char *key;
	json_t *value;
	json_object_foreach(facts, key, value)
	{
		fprintf(report->out, "%s\"%s\":", is_first ? "" : ",", key);
		json_write(report->out, value, true);
		is_first = false;
	}
	json_decref(facts);
}

void report_columns(struct report *report)
{
	struct columns columns = {.report = report};
	static const struct {
		const char *name;
		value_of value;
	} all[] = {{"w", wall_of}, {"m", memory_of}, {"o", output_of},  {"k", kind_of},
		   {"x", code_of}, {"u", user_of},   {"p", profile_of}, {"g", program_number}};

	putc('{', report->out);
	put_facts(&columns);
	put_times(&columns);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		put_column(&columns, all[i].name, all[i].value);
	put_refused(&columns);
	put_list(&columns, "users", &columns.users, false);
	put_list(&columns, "profiles", &columns.profiles, false);
	put_list(&columns, "programs", &columns.programs, false);
	put_list(&columns, "denials", &columns.denials, true);
	put_runs(&columns);
	putc('}', report->out);
	arena_free(&columns.arena);
}
