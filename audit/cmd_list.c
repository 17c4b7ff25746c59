// SPDX-License-Identifier: Apache-2.0
#include "cmd_read.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "record.h"
#include "render_parts.h"

enum column { TIME, RUN, USER, PROFILE, PROGRAM, END, DURATION, COLUMNS };
enum { CELL = 64 };

/* One line: text that the index has, and text made here. */
struct line {
	struct bytes cell[COLUMNS];
	size_t width[COLUMNS];
	char time[TIME_TEXT_SIZE], end[CELL], duration[CELL];
	uint64_t day;     /* of time, when it has one */
	uint64_t end_key; /* what end says */
};

static void put_cell(struct line *line, enum column column, const char *text)
{
	line->cell[column] = (struct bytes){text, strlen(text)};
	line->width[column] = strlen(text);
}

static void put_ref(struct line *line, const struct index *index, enum column column,
		    struct index_ref ref, size_t width)
{
	line->cell[column] = index_text(index, ref);
	line->width[column] = width;
	if (line->cell[column].len == 0)
		put_cell(line, column, "-");
}

static void end_text(char text[CELL], const struct index_row *row)
{
	bool by_signal = row->kind == END_SIGNALED || row->kind == END_CANCELLED;
	const char *name = row->kind < END_KIND_MAX ? end_kind_names[row->kind] : "unknown";
	const char *signal = by_signal ? sigabbrev_np(row->code) : NULL;

	if (signal != NULL)
		snprintf(text, CELL, "%s SIG%s", name, signal);
	else if (row->code >= 0)
		snprintf(text, CELL, "%s %" PRId32, name, row->code);
	else
		snprintf(text, CELL, "%s", name);
}

static void put_two(char *at, uint64_t number)
{
	at[0] = (char)('0' + number / 10);
	at[1] = (char)('0' + number % 10);
}

/* "2026-11-29 22:18:55": seconds are enough in a table. Most lines have the day of the one before.
 */
static void time_text(struct line *line, uint64_t time_ns)
{
	uint64_t seconds = time_ns / 1000000000, day = seconds / 86400 + 1;

	if (line->day != day) {
		render_time_text(line->time, time_ns);
		line->time[10] = ' ';
		line->time[19] = '\0';
		line->day = day;
	}
	put_two(line->time + 11, seconds / 3600 % 24);
	put_two(line->time + 14, seconds / 60 % 60);
	put_two(line->time + 17, seconds % 60);
}

static void make_line(const struct index *index, const struct index_row *row, struct line *line)
{
	put_cell(line, TIME, "-");
	if (row->start_ns != 0) {
		time_text(line, row->start_ns);
		put_cell(line, TIME, line->time);
	}
	line->cell[RUN] = (struct bytes){row->run, INDEX_RUN};
	line->width[RUN] = INDEX_RUN;
	put_ref(line, index, USER, row->user, row->user_width);
	put_ref(line, index, PROFILE, row->profile, row->profile_width);
	put_ref(line, index, PROGRAM, row->program, row->program_width);
	if (row->flags & INDEX_HAS_END) {
		uint64_t key = (uint64_t)row->kind << 32 | (uint32_t)row->code;

		if (line->end_key != key + 1)
			end_text(line->end, row);
		line->end_key = key + 1;
		text_duration_into(line->duration, row->wall_ns);
		put_cell(line, END, line->end);
		put_cell(line, DURATION, line->duration);
	} else {
		put_cell(line, END, index_state(index, row));
		put_cell(line, DURATION, "-");
	}
}

static void print_line(const struct line *line, const size_t width[COLUMNS])
{
	for (int c = 0; c < COLUMNS; c++) {
		fwrite_unlocked(line->cell[c].data, 1, line->cell[c].len, stdout);
		for (size_t pad = line->width[c]; c + 1 < COLUMNS && pad < width[c] + 2; pad++)
			putchar_unlocked(' ');
	}
	putchar_unlocked('\n');
}

/* The widths first: what is made here is short, and of known width. */
static void find_widths(const struct index *index, const uint64_t *rows, uint64_t count,
			size_t width[COLUMNS])
{
	for (uint64_t i = 0; i < count; i++) {
		const struct index_row *row = &index->rows[rows[i]];
		const size_t widths[] = {row->user_width, row->profile_width, row->program_width};

		for (int c = 0; c < 3; c++)
			if (widths[c] > width[USER + c])
				width[USER + c] = widths[c];
	}
}

static void print_table(const struct index *index, const uint64_t *rows, uint64_t count)
{
	static const char *const title[COLUMNS] = {"TIME (UTC)", "RUN", "USER",    "PROFILE",
						   "PROGRAM",    "END", "DURATION"};
	size_t width[COLUMNS] = {19, INDEX_RUN, 4, 7, 7, 16, 8};
	struct line line = {0};

	find_widths(index, rows, count, width);
	for (int c = 0; c < COLUMNS; c++)
		put_cell(&line, (enum column)c, title[c]);
	print_line(&line, width);
	for (uint64_t i = 0; i < count; i++) {
		make_line(index, &index->rows[rows[i]], &line);
		print_line(&line, width);
	}
}

static void print_members(const struct index *index, struct index_ref ref, const char *instead)
{
	struct bytes members = index_json(index, ref);

	if (members.len == 0)
		members = (struct bytes){instead, strlen(instead)};
	fwrite_unlocked(members.data, 1, members.len, stdout);
}

void list_print_json(const struct index *index, const struct index_row *row)
{
	fputs_unlocked("{\"run\":\"", stdout);
	fwrite_unlocked(row->run, 1, INDEX_RUN, stdout);
	fputs_unlocked("\",\"state\":\"", stdout);
	fputs_unlocked(index_state(index, row), stdout);
	fputs_unlocked("\",", stdout);
	print_members(index, row->start_json,
		      "\"time\":null,\"user\":null,\"real_uid\":null,\"profile\":null,"
		      "\"argv\":null,\"labels\":null");
	putchar_unlocked(',');
	print_members(index, row->end_json,
		      "\"end\":null,\"wall_ns\":null,\"user_ns\":null,\"sys_ns\":null,"
		      "\"peak_memory_bytes\":null,\"stdout_bytes\":null,\"stderr_bytes\":null,"
		      "\"denials\":[],\"denials_dropped\":null");
	fputs_unlocked("}\n", stdout);
}

int list_main(int argc, char **argv)
{
	struct arena arena = {0};
	struct query query;
	struct index index;
	struct cmd_log log;
	uint64_t count;
	int rc = query_parse("list", TAKES_FILTERS | TAKES_JSON, argc, argv, &query);

	if (rc != EXIT_OK)
		return rc;
	if (index_open(&index, &log, query.store_dir, &arena) < 0)
		return EXIT_BAD;
	setvbuf(stdout, NULL, _IOFBF, 1 << 18);
	uint64_t *rows = query_rows(&query, &index, &count);
	if (!query.json)
		print_table(&index, rows, count);
	for (uint64_t i = 0; query.json && i < count; i++)
		list_print_json(&index, &index.rows[rows[i]]);
	free(rows);
	rc = index_status(&index);
	index_close(&index);
	arena_free(&arena);
	return rc;
}
