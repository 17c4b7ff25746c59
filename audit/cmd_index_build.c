// SPDX-License-Identifier: Apache-2.0
#include "cmd_index.h"

#include <search.h>
#include <stdlib.h>

#include "record.h"
#include "sha256.h"

enum { ARENA_RECORDS = 256 };

/*
 * Runs whose end was not seen yet, by id: an open-addressed table of row
 * numbers. Few on a log that is mostly read, as many as run at once otherwise.
 */
struct open_runs {
	uint64_t *slot; /* row number + 1; 0 is free, UINT64_MAX was taken out */
	uint64_t size, used;
};

static uint64_t hash_run(const char *run)
{
	uint64_t hash = 14695981039346656037u;

	for (int i = 0; i < INDEX_RUN; i++)
		hash = (hash ^ (unsigned char)run[i]) * 1099511628211u;
	return hash ^ hash >> 29;
}

static void open_runs_put(struct open_runs *runs, const struct index *index, uint64_t number);

static void open_runs_grow(struct open_runs *runs, const struct index *index)
{
	struct open_runs larger = {.size = runs->size == 0 ? 1024 : runs->size * 2};

	larger.slot = calloc(larger.size, sizeof(*larger.slot));
	if (larger.slot == NULL)
		abort();
	for (uint64_t i = 0; i < runs->size; i++)
		if (runs->slot[i] != 0 && runs->slot[i] != UINT64_MAX)
			open_runs_put(&larger, index, runs->slot[i] - 1);
	free(runs->slot);
	*runs = larger;
}

static void open_runs_put(struct open_runs *runs, const struct index *index, uint64_t number)
{
	if (runs->used * 2 >= runs->size)
		open_runs_grow(runs, index);
	uint64_t at = hash_run(index->rows[number].run) & (runs->size - 1);
	while (runs->slot[at] != 0)
		at = (at + 1) & (runs->size - 1);
	runs->slot[at] = number + 1;
	runs->used++;
}

/* Takes it out; UINT64_MAX when there is none. */
static uint64_t open_runs_take(struct open_runs *runs, const struct index *index, const char *run)
{
	if (runs->size == 0)
		return UINT64_MAX;
	for (uint64_t at = hash_run(run) & (runs->size - 1); runs->slot[at] != 0;
	     at = (at + 1) & (runs->size - 1)) {
		uint64_t number = runs->slot[at] - 1;

		if (runs->slot[at] == UINT64_MAX ||
		    memcmp(index->rows[number].run, run, INDEX_RUN) != 0)
			continue;
		runs->slot[at] = UINT64_MAX;
		return number;
	}
	return UINT64_MAX;
}

/* Also a row whose end was written by one who did not come to write the head. */
static bool is_open(const struct index *index, const struct index_row *row)
{
	const struct index_head *head = &index->head;

	return !(row->flags & INDEX_HAS_END) || row->end.segment > head->segment ||
	       (row->end.segment == head->segment && row->end.offset >= head->covered);
}

static void find_open_runs(struct open_runs *runs, struct index *index)
{
	for (uint64_t i = 0; i < index->head.rows; i++)
		if (is_open(index, &index->rows[i])) {
			index->rows[i].flags &= INDEX_HAS_START;
			open_runs_put(runs, index, i);
		}
}

static void copy_run(char run[INDEX_RUN], struct span value)
{
	memset(run, '?', INDEX_RUN);
	for (size_t i = 0; value.at != NULL && i + 2 < value.len && i < INDEX_RUN; i++) {
		char letter = value.at[i + 1];
		bool is_plain = (letter >= '0' && letter <= '9') ||
				((letter | 32) >= 'a' && (letter | 32) <= 'z');

		run[i] = is_plain ? letter : '?';
	}
}

/* False when the line is no record. */
static bool find_fields(struct span line, struct index_fields *ret)
{
	const struct {
		const char *name;
		struct span *field;
	} wanted[] = {
		{"type", &ret->type},     {"run", &ret->run},
		{"time", &ret->time},     {"who", &ret->who},
		{"argv", &ret->argv},     {"profile", &ret->profile},
		{"labels", &ret->labels}, {"end", &ret->end},
		{"usage", &ret->usage},   {"denials", &ret->denials},
		{"stdout", &ret->out},    {"stderr", &ret->err},
		{"seq", &ret->seq},       {"denials_dropped", &ret->dropped},
		{"stdin", &ret->in},      {"files", &ret->files},
		{"execs", &ret->execs},
	};
	struct scan scan = scan_object(line);
	struct span key, value;

	while (scan_member(&scan, &key, &value))
		for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
			if (span_is(key, wanted[i].name))
				*wanted[i].field = value;
	return !scan.is_bad && line.at[line.len - 1] == '\n' && ret->type.at != NULL &&
	       scan_number(ret->seq, UINT64_MAX) != UINT64_MAX;
}

static void add_start(struct index *index, struct open_runs *runs,
		      const struct index_fields *fields, struct index_place place)
{
	struct index_row *row = index_row_add(index);

	row->kind = END_KIND_MAX;
	row->wall_ns = row->cpu_ns = row->memory_bytes = row->output_bytes = UNKNOWN;
	copy_run(row->run, fields->run);
	row->start = place;
	index_row_start(index, row, fields);
	open_runs_put(runs, index, index->head.rows - 1);
}

static void add_end(struct index *index, struct open_runs *runs, const struct index_fields *fields,
		    struct index_place place)
{
	char run[INDEX_RUN];

	copy_run(run, fields->run);
	uint64_t number = open_runs_take(runs, index, run);
	struct index_row *row = number != UINT64_MAX ? &index->rows[number] : index_row_add(index);
	memcpy(row->run, run, INDEX_RUN);
	row->end = place;
	index_row_end(index, row, fields);
	if (number != UINT64_MAX)
		index_row_changed(index, number);
}

static void add_line(struct index *index, struct open_runs *runs, const struct cmd_line *line)
{
	struct span text = {line->text, line->len};
	struct index_fields fields = {0};

	if (!find_fields(text, &fields)) {
		index->head.bad++;
		fprintf(stderr, "sbox-audit: %s/%s: the line at byte %ju is no record\n",
			index->log->store.dir, index->log->segments.item[line->segment].name,
			(uintmax_t)line->offset);
		return;
	}
	struct index_place place = {index->first_seqs[line->segment], line->offset,
				    (uint32_t)line->len};
	if (span_is(fields.type, "\"run.start\"") && fields.run.at != NULL)
		add_start(index, runs, &fields, place);
	else if (span_is(fields.type, "\"run.end\"") && fields.run.at != NULL)
		add_end(index, runs, &fields, place);
	/* a block of the arena costs more than a record does */
	if (++index->arena_records % ARENA_RECORDS == 0)
		arena_free(&index->arena);
}

/* A last line whose end is missing is still being written, or torn: it is not counted as seen. */
static bool is_whole(const struct index *index, const struct cmd_line *line)
{
	return line->text[line->len - 1] == '\n' || line->segment + 1 < index->log->segments.count;
}

/* By its last line an index is known to belong to this log. */
static bool remember_last(struct index *index)
{
	struct index_head *head = &index->head;
	struct cmd_line line;
	size_t at = 0;

	while (index->first_seqs[at] != head->segment)
		at++;
	if (!cmd_log_seek(index->log, index->log->segments.item[at].name,
			  head->covered - head->last_len) ||
	    !cmd_log_line(index->log, &line))
		return false;
	sha256_hex_of(line.text, line.len, head->last_sha256);
	return true;
}

/* Reads on from where the index ends. */
static bool go_on(struct index *index)
{
	struct index_head *head = &index->head;
	struct cmd_log *log = index->log;
	struct cmd_line line;
	char hex[SHA256_HEX];
	size_t at = 0;

	if (head->last_len == 0)
		return cmd_log_seek(log, NULL, 0);
	if (log->segments.count == 0 || index->first_seqs[0] != head->oldest)
		return false;
	while (at < log->segments.count && index->first_seqs[at] != head->segment)
		at++;
	if (at == log->segments.count || head->covered < head->last_len ||
	    !cmd_log_seek(log, log->segments.item[at].name, head->covered - head->last_len) ||
	    !cmd_log_line(log, &line) || line.len != head->last_len)
		return false;
	sha256_hex_of(line.text, line.len, hex);
	return strcmp(hex, head->last_sha256) == 0;
}

bool index_build(struct index *index)
{
	struct index_head *head = &index->head;
	struct open_runs runs = {0};
	struct cmd_line line;

	if (!go_on(index))
		return false;
	find_open_runs(&runs, index);
	while (cmd_log_line(index->log, &line) && is_whole(index, &line)) {
		add_line(index, &runs, &line);
		head->segment = index->first_seqs[line.segment];
		head->covered = line.offset + line.len;
		head->last_len = line.len;
		index->is_changed = true;
	}
	free(runs.slot);
	head->oldest = index->first_seqs[0];
	return !index->is_changed || head->last_len == 0 || remember_last(index);
}
