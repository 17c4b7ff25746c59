// SPDX-License-Identifier: Apache-2.0
#include "cmd.h"

#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 7, PROGRAM_WIDTH = 48 };

/* One run: what of its records is shown. */
struct row {
	const char *run; /* as in the record, for comparing */
	bool has_end;
	const char *state;
	const char *column[COLUMNS]; /* time, run, user, profile, program, end, duration */
	json_t *json;                /* the same for --json */
};

enum column { TIME, RUN, USER, PROFILE, PROGRAM, END, DURATION };

struct rows {
	struct arena arena;
	struct row *row;
	size_t count;
};

/* "2026-11-29 22:18:55": seconds are enough in a table. */
static const char *short_time(struct arena *arena, const json_t *record)
{
	const char *time = text_member(arena, record, "time");

	if (strlen(time) < 20)
		return time;
	return arena_printf(arena, "%.10s %.8s", time, time + 11);
}

static const char *user_name(struct arena *arena, const json_t *record)
{
	const json_t *who = json_object_get(record, "who");
	const json_t *user = json_object_get(who, "user");

	return json_is_null(user) ? text_member(arena, who, "real_uid") : text_value(arena, user);
}

static const char *cut(struct arena *arena, const char *text, size_t width)
{
	const char *end = text;

	if (text_width(text) <= width)
		return text;
	for (size_t seen = 0; seen < width; end++)
		seen += ((unsigned char)*end & 0xc0) != 0x80;
	while (end > text && ((unsigned char)*--end & 0xc0) == 0x80)
		continue;
	return arena_printf(arena, "%.*s…", (int)(end - text), text);
}

static struct row *find_row(struct rows *rows, const char *run)
{
	/* from the end: a run's two records are near to each other */
	for (size_t i = rows->count; i > 0; i--)
		if (strcmp(rows->row[i - 1].run, run) == 0)
			return &rows->row[i - 1];
	static const char *const members[] = {"run",  "time",  "user", "real_uid", "profile",
					      "argv", "state", "end",  "wall_ns"};
	struct row *row = ARENA_PUSH(&rows->arena, rows->row, rows->count);
	*row = (struct row){.run = arena_strdup(&rows->arena, run), .json = json_object()};
	for (int i = 0; i < COLUMNS; i++)
		row->column[i] = "-";
	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
		json_object_set_new(row->json, members[i], json_null());
	return row;
}

/* A member of --json: copied from the record, so that nothing is lost; it was null so far. */
static void copy(struct row *row, const char *key, const json_t *value)
{
	if (value != NULL)
		json_object_set(row->json, key, (json_t *)value);
}

static void add_start(struct arena *arena, struct row *row, const json_t *record)
{
	const json_t *profile = json_object_get(record, "profile");
	const json_t *argv = json_object_get(record, "argv");

	row->column[TIME] = short_time(arena, record);
	row->column[RUN] = text_member(arena, record, "run");
	row->column[USER] = user_name(arena, record);
	row->column[PROFILE] = text_member(arena, profile, "name");
	row->column[PROGRAM] = cut(arena, text_arguments(arena, argv), PROGRAM_WIDTH);
	copy(row, "run", json_object_get(record, "run"));
	copy(row, "time", json_object_get(record, "time"));
	copy(row, "user", json_object_get(json_object_get(record, "who"), "user"));
	copy(row, "real_uid", json_object_get(json_object_get(record, "who"), "real_uid"));
	copy(row, "profile", json_object_get(profile, "name"));
	copy(row, "argv", argv);
}

static void add_end(struct arena *arena, struct row *row, const json_t *record)
{
	const json_t *wall = json_object_get(json_object_get(record, "usage"), "wall_ns");

	row->has_end = true;
	row->column[RUN] = text_member(arena, record, "run");
	row->column[END] = text_end(arena, record);
	row->column[DURATION] = text_duration(arena, wall);
	copy(row, "run", json_object_get(record, "run"));
	copy(row, "end", json_object_get(record, "end"));
	copy(row, "wall_ns", wall);
}

static void add_record(struct rows *rows, const json_t *record)
{
	const char *type = json_string_value(json_object_get(record, "type"));
	const char *run = json_string_value(json_object_get(record, "run"));

	if (run == NULL)
		return;
	if (strcmp(type, "run.start") == 0)
		add_start(&rows->arena, find_row(rows, run), record);
	else if (strcmp(type, "run.end") == 0)
		add_end(&rows->arena, find_row(rows, run), record);
}

/* Leaves the rows that were asked for: without those that ended, and the last `limit`. */
static void select_rows(struct rows *rows, struct cmd_log *log, const struct cmd_options *options)
{
	size_t kept = 0;

	for (size_t i = 0; i < rows->count; i++) {
		struct row *row = &rows->row[i];

		if (options->unfinished && row->has_end) {
			json_decref(row->json);
			continue;
		}
		row->state = cmd_run_state(log, row->run, row->has_end);
		if (!row->has_end)
			row->column[END] = row->state;
		rows->row[kept++] = *row;
	}
	rows->count = kept;
	for (; options->limit > 0 && rows->count > options->limit; rows->count--)
		json_decref((rows->row++)->json);
}

static void print_json(const struct rows *rows)
{
	for (size_t i = 0; i < rows->count; i++) {
		struct row *row = &rows->row[i];

		json_object_set_new(row->json, "state", json_string(row->state));
		json_dumpf(row->json, stdout, JSON_COMPACT | JSON_ENSURE_ASCII);
		putchar('\n');
	}
}

static void print_line(const char *const column[COLUMNS], const size_t width[COLUMNS])
{
	for (int c = 0; c < COLUMNS; c++) {
		int pad = c == COLUMNS - 1 ? 0 : (int)(width[c] + 2 - text_width(column[c]));

		printf("%s%*s", column[c], pad, "");
	}
	putchar('\n');
}

static void print_table(const struct rows *rows)
{
	static const char *const title[COLUMNS] = {"TIME (UTC)", "RUN", "USER",    "PROFILE",
						   "PROGRAM",    "END", "DURATION"};
	size_t width[COLUMNS];

	for (int c = 0; c < COLUMNS; c++) {
		width[c] = text_width(title[c]);
		for (size_t i = 0; i < rows->count; i++) {
			size_t needed = text_width(rows->row[i].column[c]);

			width[c] = needed > width[c] ? needed : width[c];
		}
	}
	print_line(title, width);
	for (size_t i = 0; i < rows->count; i++)
		print_line(rows->row[i].column, width);
}

int cmd_list(const struct cmd_options *options)
{
	struct rows rows = {0};
	struct cmd_log log;

	if (cmd_log_open(&log, options->store_dir, &rows.arena) < 0)
		return EXIT_BAD;
	for (json_t *record; (record = cmd_log_next(&log)) != NULL; json_decref(record))
		add_record(&rows, record);
	select_rows(&rows, &log, options);
	if (options->json)
		print_json(&rows);
	else
		print_table(&rows);
	int rc = log.bad > 0 ? EXIT_BAD : EXIT_OK;
	for (size_t i = 0; i < rows.count; i++)
		json_decref(rows.row[i].json);
	cmd_log_close(&log);
	arena_free(&rows.arena);
	return rc;
}
