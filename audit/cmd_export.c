// SPDX-License-Identifier: Apache-2.0
#include "cmd_export.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "record.h"
#include "render_parts.h"

enum { ARENA_ROWS = 64, CELL = 64 };

/* RFC 4180. What a spreadsheet would take for a formula gets an apostrophe in front. */
static void put_text(const char *text, bool is_last)
{
	putchar_unlocked('"');
	if (text[0] != '\0' && strchr("=+-@", text[0]) != NULL && text[1] != '\0')
		putchar_unlocked('\'');
	for (; *text != '\0'; text++) {
		if (*text == '"')
			putchar_unlocked('"');
		putchar_unlocked(*text);
	}
	fputs_unlocked(is_last ? "\"\r\n" : "\",", stdout);
}

static void put_time(uint64_t time_ns)
{
	char text[TIME_TEXT_SIZE] = "";

	if (time_ns != 0)
		render_time_text(text, time_ns);
	put_text(text, false);
}

static void put_number(uint64_t number, bool is_last)
{
	if (number != UNKNOWN)
		printf("%" PRIu64, number);
	fputs_unlocked(is_last ? "\r\n" : ",", stdout);
}

static const char *copy(struct arena *arena, struct bytes bytes)
{
	return arena_strndup(arena, bytes.data, bytes.len);
}

static const char *command(struct export *export, const struct index_row *row)
{
	struct bytes members = index_json(export->index, row->start_json);
	char *text = arena_printf(&export->arena, "{%.*s}", (int)members.len, members.data);
	json_t *start = json_loads(text, JSON_ALLOW_NUL, NULL);
	const char *line = text_arguments(&export->arena, json_object_get(start, "argv"));

	json_decref(start);
	return line;
}

static void csv_header(void)
{
	fputs("run,state,start_time,end_time,user,real_uid,profile,command,end,code,wall_ns,"
	      "cpu_ns,peak_memory_bytes,output_bytes,denials\r\n",
	      stdout);
}

static void csv_row(struct export *export, const struct index_row *row)
{
	const struct index *index = export->index;
	bool has_end = (row->flags & INDEX_HAS_END) != 0;
	bool has_start = (row->flags & INDEX_HAS_START) != 0;

	put_text(arena_strndup(&export->arena, row->run, INDEX_RUN), false);
	put_text(index_state(index, row), false);
	put_time(row->start_ns);
	put_time(row->end_ns);
	put_text(copy(&export->arena, index_text(index, row->user)), false);
	put_number(has_start ? row->real_uid : UNKNOWN, false);
	put_text(copy(&export->arena, index_text(index, row->profile)), false);
	put_text(has_start ? command(export, row) : "", false);
	put_text(!has_end                   ? ""
		 : row->kind < END_KIND_MAX ? end_kind_names[row->kind]
					    : "unknown",
		 false);
	put_number(has_end && row->code >= 0 ? (uint64_t)row->code : UNKNOWN, false);
	put_number(has_end ? row->wall_ns : UNKNOWN, false);
	put_number(has_end ? row->cpu_ns : UNKNOWN, false);
	put_number(has_end ? row->memory_bytes : UNKNOWN, false);
	put_number(has_end ? row->output_bytes : UNKNOWN, false);
	put_number(has_end ? row->denials : UNKNOWN, true);
}

static void export_rows(struct export *export, const uint64_t *rows, uint64_t count, bool as_csv)
{
	if (as_csv)
		csv_header();
	for (uint64_t i = 0; i < count && !ferror(stdout); i++) {
		const struct index_row *row = &export->index->rows[rows[i]];

		if (as_csv)
			csv_row(export, row);
		else
			export_ocsf(export, row);
		if (i % ARENA_ROWS == 0)
			arena_free(&export->arena);
	}
	arena_free(&export->arena);
}

int export_main(int argc, char **argv)
{
	struct arena arena = {0};
	struct query query;
	struct index index;
	struct cmd_log log;
	struct export export = {.index = &index};
	uint64_t count;
	int rc = query_parse("export", TAKES_FILTERS | TAKES_EXPORT, argc, argv, &query);

	if (rc == EXIT_OK && query.ocsf == query.csv)
		rc = query_error("export", "takes --ocsf or --csv", "");
	if (rc != EXIT_OK)
		return rc;
	if (index_open(&index, &log, query.store_dir, &arena) < 0)
		return EXIT_BAD;
	setvbuf(stdout, NULL, _IOFBF, 1 << 18);
	uint64_t *rows = query_rows(&query, &index, &count);
	export_rows(&export, rows, count, query.csv);
	free(rows);
	rc = index_status(&index);
	index_close(&index);
	arena_free(&arena);
	return rc;
}
