// SPDX-License-Identifier: Apache-2.0
#include "cmd_report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd_tally.h"
#include "record.h"

/*
 * Some runs in full: those that went wrong, and the newest. What is kept of
 * their output is cut to its ends, and all of it together to TEXT_MAX.
 */

enum { PART = 16 * 1024, TEXT_MAX = 24 * 1024 * 1024, ARENA_RUNS = 16 };

struct details {
	struct report *report;
	struct arena arena; /* of some runs */
	struct tally enforced;
	uint64_t text_bytes;
};

/* Lines stay lines, everything active is shown as in show. */
static json_t *safe_text(struct details *details, struct bytes text)
{
	char *all = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&all, &len);

	if (out == NULL)
		abort();
	while (text.len > 0) {
		const char *newline = memchr(text.data, '\n', text.len);
		size_t line = newline == NULL ? text.len : (size_t)(newline - text.data);

		fputs(text_line(&details->arena, (struct bytes){text.data, line}), out);
		if (newline != NULL)
			putc('\n', out);
		line += newline != NULL;
		text.data += line;
		text.len -= line;
	}
	fclose(out);
	json_t *string = json_stringn(all, len);
	details->text_bytes += len;
	free(all);
	return string;
}

static struct bytes read_kept(struct details *details, const json_t *object, bool *ret_is_changed)
{
	*ret_is_changed = false;
	if (details->text_bytes >= TEXT_MAX)
		return (struct bytes){0};
	return kept_of(&details->arena, &details->report->index->log->store, object,
		       ret_is_changed);
}

/* The first and the last of what the stream said; null when there is nothing to show. */
static json_t *stream_text(struct details *details, const json_t *stream)
{
	bool is_changed;
	struct bytes kept = read_kept(details, stream, &is_changed);
	json_int_t bytes = json_integer_value(json_object_get(stream, "bytes"));
	json_int_t head_bytes = json_integer_value(json_object_get(stream, "head_bytes"));

	if (kept.data == NULL)
		return json_null();
	bool is_whole = kept.len <= 2 * PART && (uint64_t)bytes <= kept.len;
	size_t head = is_whole                               ? kept.len
		      : head_bytes >= 0 && head_bytes < PART ? (size_t)head_bytes
							     : PART;
	head = head < kept.len ? head : kept.len;
	size_t tail = is_whole ? 0 : kept.len - head < PART ? kept.len - head : PART;
	json_int_t cut = bytes - (json_int_t)(head + tail);
	return json_pack("{s:o, s:o, s:I, s:b}", "head",
			 safe_text(details, (struct bytes){kept.data, head}), "tail",
			 safe_text(details, (struct bytes){kept.data + kept.len - tail, tail}),
			 "cut", cut > 0 ? cut : 0, "changed", (int)is_changed);
}

static void add_scripts(struct details *details, json_t *list, const json_t *record)
{
	json_t *file;
	size_t i;

	json_array_foreach(json_object_get(record, "files"), i, file)
	{
		bool is_changed;
		struct bytes kept = read_kept(details, file, &is_changed);

		if (kept.data == NULL)
			continue;
		kept.len = kept.len < 2 * PART ? kept.len : 2 * PART;
		json_array_append_new(list, json_pack("{s:O?, s:O?, s:o, s:b}", "kind",
						      json_object_get(file, "kind"), "path",
						      json_object_get(file, "path"), "text",
						      safe_text(details, kept), "changed",
						      (int)is_changed));
	}
}

/* Mostly the same in all runs: written once. -1 when there is none. */
static json_int_t take_enforced(struct details *details, json_t *start)
{
	json_t *enforced = json_object_get(start, "enforced");
	char *text =
		enforced != NULL ? json_dumps(enforced, JSON_COMPACT | JSON_ENSURE_ASCII) : NULL;

	if (text == NULL)
		return -1;
	uint64_t number = tally_add(&details->enforced, (struct bytes){text, strlen(text)}, 1);
	free(text);
	json_object_del(start, "enforced");
	return (json_int_t)number;
}

static json_t *or_null(json_t *value)
{
	return value != NULL ? value : json_null();
}

static void put_run(struct details *details, const struct index_row *row)
{
	struct report *report = details->report;
	json_t *start = index_record(report->index, &row->start);
	json_t *end = index_record(report->index, &row->end);
	json_t *scripts = json_array();

	add_scripts(details, scripts, start);
	add_scripts(details, scripts, end);
	json_int_t enforced = take_enforced(details, start);
	json_t *text = json_pack("{s:o, s:o, s:o}", "stdout",
				 stream_text(details, json_object_get(end, "stdout")), "stderr",
				 stream_text(details, json_object_get(end, "stderr")), "stdin",
				 stream_text(details, json_object_get(end, "stdin")));
	json_t *object =
		json_pack("{s:o, s:o, s:o, s:o, s:I}", "start", or_null(start), "end", or_null(end),
			  "scripts", scripts, "text", text, "enforced", enforced);
	fprintf(report->out, "<script type=\"application/json\" id=\"run-%.*s\">", INDEX_RUN,
		row->run);
	json_write(report->out, object, true);
	fputs("</script>\n", report->out);
	json_decref(object);
}

static bool went_wrong(const struct index_row *row)
{
	return row->denials > 0 || !(row->flags & INDEX_HAS_END) || row->kind != END_EXITED ||
	       row->code != 0;
}

/* A flag for each row that is shown in full: at most half of them for what went wrong. */
static bool *choose(const struct report *report)
{
	bool *chosen = calloc(report->count + 1, sizeof(*chosen));
	uint64_t left = report->details;

	if (chosen == NULL)
		abort();
	for (uint64_t i = report->count; i > 0 && left > report->details / 2; i--) {
		chosen[i - 1] = went_wrong(&report->index->rows[report->rows[i - 1]]);
		left -= chosen[i - 1];
	}
	for (uint64_t i = report->count; i > 0 && left > 0; i--) {
		left -= !chosen[i - 1];
		chosen[i - 1] = true;
	}
	return chosen;
}

static void put_enforced(struct details *details)
{
	size_t count = tally_sort_by_number(&details->enforced);

	for (size_t i = 0; i < count; i++) {
		json_t *list = json_loads(details->enforced.items[i].text, 0, NULL);

		fprintf(details->report->out,
			"<script type=\"application/json\" id=\"enforced-%zu\">", i);
		json_write(details->report->out, list, true);
		fputs("</script>\n", details->report->out);
		json_decref(list);
	}
}

void report_details(struct report *report)
{
	struct details details = {.report = report};
	bool *chosen = choose(report);

	for (uint64_t i = report->count; i > 0; i--) {
		if (chosen[i - 1])
			put_run(&details, &report->index->rows[report->rows[i - 1]]);
		if (i % ARENA_RUNS == 0)
			arena_free(&details.arena);
	}
	put_enforced(&details);
	arena_free(&details.arena);
	tally_free(&details.enforced);
	free(chosen);
}
