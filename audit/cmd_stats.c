// SPDX-License-Identifier: Apache-2.0
#include "cmd_read.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd_tally.h"
#include "record.h"

enum { SHOWN = 10, ARENA_TEXTS = 1024 };

/* What is counted over the runs that were asked for. */
struct stats {
	uint64_t runs, finished, running, unfinished, denied_runs, output_bytes;
	uint64_t first_ns, last_ns;
	struct tally ends, users, profiles, denials;
	struct tally denial_texts; /* as they are in the index */
	uint64_t *values[3];       /* wall, cpu, memory, where known */
	uint64_t counts[3];
};

enum { WALL, CPU, MEMORY };

static void add_value(struct stats *stats, int which, uint64_t value)
{
	if (value != UNKNOWN)
		stats->values[which][stats->counts[which]++] = value;
}

/* Many runs are refused the same: parsed once, with how often it came. */
static void keep_denials(struct stats *stats, const struct index *index,
			 const struct index_row *row)
{
	static const char before[] = "\"denials\":", behind[] = ",\"denials_dropped\":";
	struct bytes members = index_json(index, row->end_json);
	/* a quote in a string has a backslash in front: neither is found within one */
	const char *from = memmem(members.data, members.len, before, sizeof(before) - 1);
	const char *to = memmem(members.data, members.len, behind, sizeof(behind) - 1);

	if (from == NULL || to == NULL || to < from + sizeof(before) - 1)
		return;
	from += sizeof(before) - 1;
	tally_add(&stats->denial_texts, (struct bytes){from, (size_t)(to - from)}, 1);
}

static void count_denials(struct stats *stats, const struct tally_item *item, struct arena *arena)
{
	json_t *denials = json_loadb(item->text, item->len, JSON_ALLOW_NUL, NULL);
	const json_t *denial;
	size_t i;

	json_array_foreach(denials, i, denial)
	{
		const json_t *count = json_object_get(denial, "count");
		const char *what = arena_printf(
			arena, "%s %s %s", text_member(arena, denial, "boundary"),
			text_member(arena, denial, "op"), text_member(arena, denial, "object"));
		uint64_t times =
			json_integer_value(count) > 0 ? (uint64_t)json_integer_value(count) : 1;

		tally_add(&stats->denials, (struct bytes){what, strlen(what)}, times * item->count);
	}
	json_decref(denials);
}

static void count_end(struct stats *stats, const struct index *index, const struct index_row *row)
{
	const char *name = row->kind < END_KIND_MAX ? end_kind_names[row->kind] : "unknown";

	if (!(row->flags & INDEX_HAS_END)) {
		bool runs = strcmp(index_state(index, row), "running") == 0;

		stats->running += runs;
		stats->unfinished += !runs;
		return;
	}
	stats->finished++;
	stats->output_bytes += row->output_bytes == UNKNOWN ? 0 : row->output_bytes;
	if (row->kind == END_EXITED && row->code != 0)
		name = "exited, not with 0";
	tally_add(&stats->ends, (struct bytes){name, strlen(name)}, 1);
	add_value(stats, WALL, row->wall_ns);
	add_value(stats, CPU, row->cpu_ns);
	add_value(stats, MEMORY, row->memory_bytes);
}

static void count_row(struct stats *stats, const struct index *index, const struct index_row *row)
{
	uint64_t at_ns = row->start_ns != 0 ? row->start_ns : row->end_ns;

	stats->runs++;
	if (stats->first_ns == 0 || at_ns < stats->first_ns)
		stats->first_ns = at_ns;
	if (at_ns > stats->last_ns)
		stats->last_ns = at_ns;
	tally_add(&stats->users, index_text(index, row->user), 1);
	tally_add(&stats->profiles, index_text(index, row->profile), 1);
	count_end(stats, index, row);
	if (row->denials == 0)
		return;
	stats->denied_runs++;
	keep_denials(stats, index, row);
}

/* By one byte after the other; one that is the same in all costs only the counting. */
static void sort_values(uint64_t *values, uint64_t count)
{
	uint64_t *other = malloc((count + 1) * sizeof(*other)), *given = values, *made = other;

	if (other == NULL)
		abort();
	for (unsigned int shift = 0; shift < 64 && count > 0; shift += 8) {
		uint64_t places[257] = {0};

		for (uint64_t i = 0; i < count; i++)
			places[(values[i] >> shift & 255) + 1]++;
		if (places[(values[0] >> shift & 255) + 1] == count)
			continue;
		for (int i = 1; i < 257; i++)
			places[i] += places[i - 1];
		for (uint64_t i = 0; i < count; i++)
			other[places[values[i] >> shift & 255]++] = values[i];
		uint64_t *swap = values;
		values = other;
		other = swap;
	}
	if (values != given)
		memcpy(given, values, count * sizeof(*values));
	free(made);
}

/* The value that so many thousandths are not above. */
static uint64_t quantile(const struct stats *stats, int which, uint64_t thousandths)
{
	uint64_t count = stats->counts[which];

	return count == 0 ? UNKNOWN : stats->values[which][(count - 1) * thousandths / 1000];
}

static const struct {
	const char *name;
	uint64_t thousandths;
} quantiles[] = {{"p50", 500}, {"p90", 900}, {"p99", 990}, {"max", 1000}};

static void print_tally(const char *title, struct tally *tally)
{
	size_t count = tally_sort(tally);

	if (count > 0)
		printf("\n%s\n", title);
	for (size_t i = 0; i < count && i < SHOWN; i++)
		printf("  %10" PRIu64 "  %s\n", tally->items[i].count, tally->items[i].text);
	if (count > SHOWN)
		printf("  %10s  and %zu others\n", "", count - SHOWN);
}

static void size_text(char text[32], uint64_t bytes)
{
	static const char units[] = "BKMGTP";
	double value = (double)bytes;
	int unit = 0;

	for (; value >= 1024 && units[unit + 1] != '\0'; unit++)
		value /= 1024;
	if (bytes == UNKNOWN)
		snprintf(text, 32, "-");
	else
		snprintf(text, 32, unit == 0 ? "%.0f%c" : "%.1f%c", value, units[unit]);
}

static void print_values(const struct stats *stats, const char *title, int which)
{
	char text[32];

	printf("%-8s", title);
	for (size_t i = 0; i < sizeof(quantiles) / sizeof(quantiles[0]); i++) {
		uint64_t value = quantile(stats, which, quantiles[i].thousandths);

		if (which == MEMORY)
			size_text(text, value);
		else
			text_duration_into(text, value);
		printf("  %s %-10s", quantiles[i].name, text);
	}
	putchar('\n');
}

static void print_stats(struct stats *stats)
{
	char size[32];

	size_text(size, stats->output_bytes);
	printf("runs      %" PRIu64 ": %" PRIu64 " finished, %" PRIu64 " running, %" PRIu64
	       " unfinished\n",
	       stats->runs, stats->finished, stats->running, stats->unfinished);
	printf("denials   in %" PRIu64 " runs\noutput    %s\n\n", stats->denied_runs, size);
	print_values(stats, "time", WALL);
	print_values(stats, "cpu", CPU);
	print_values(stats, "memory", MEMORY);
	print_tally("ends", &stats->ends);
	print_tally("profiles", &stats->profiles);
	print_tally("users", &stats->users);
	print_tally("refused, at least so often", &stats->denials);
}

static json_t *tally_json(struct tally *tally)
{
	size_t count = tally_sort(tally);
	json_t *object = json_object();

	for (size_t i = 0; i < count; i++)
		json_object_set_new(object, tally->items[i].text,
				    json_integer((json_int_t)tally->items[i].count));
	return object;
}

static json_t *values_json(const struct stats *stats, int which)
{
	json_t *object = json_object();

	for (size_t i = 0; i < sizeof(quantiles) / sizeof(quantiles[0]); i++) {
		uint64_t value = quantile(stats, which, quantiles[i].thousandths);

		json_object_set_new(object, quantiles[i].name,
				    value == UNKNOWN ? json_null()
						     : json_integer((json_int_t)value));
	}
	return object;
}

static void print_json(struct stats *stats)
{
	json_t *object = json_pack(
		"{s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "runs",
		(json_int_t)stats->runs, "finished", (json_int_t)stats->finished, "running",
		(json_int_t)stats->running, "unfinished", (json_int_t)stats->unfinished,
		"denied_runs", (json_int_t)stats->denied_runs, "output_bytes",
		(json_int_t)stats->output_bytes, "wall_ns", values_json(stats, WALL), "cpu_ns",
		values_json(stats, CPU), "peak_memory_bytes", values_json(stats, MEMORY), "ends",
		tally_json(&stats->ends), "profiles", tally_json(&stats->profiles), "users",
		tally_json(&stats->users), "denials", tally_json(&stats->denials));

	json_write_line(object);
	json_decref(object);
}

static void count_all(struct stats *stats, const struct query *query, const struct index *index)
{
	struct arena arena = {0};
	uint64_t count;
	uint64_t *rows = query_rows(query, index, &count);

	for (int i = 0; i < 3; i++) {
		stats->values[i] = malloc((count + 1) * sizeof(uint64_t));
		if (stats->values[i] == NULL)
			abort();
	}
	for (uint64_t i = 0; i < count; i++)
		count_row(stats, index, &index->rows[rows[i]]);
	size_t texts = tally_sort(&stats->denial_texts);
	for (size_t i = 0; i < texts; i++) {
		count_denials(stats, &stats->denial_texts.items[i], &arena);
		if (i % ARENA_TEXTS == 0)
			arena_free(&arena);
	}
	for (int i = 0; i < 3; i++)
		sort_values(stats->values[i], stats->counts[i]);
	arena_free(&arena);
	free(rows);
}

int stats_main(int argc, char **argv)
{
	struct arena arena = {0};
	struct stats stats = {0};
	struct query query;
	struct index index;
	struct cmd_log log;
	int rc = query_parse("stats", TAKES_FILTERS | TAKES_JSON, argc, argv, &query);

	if (rc != EXIT_OK)
		return rc;
	if (index_open(&index, &log, query.store_dir, &arena) < 0)
		return EXIT_BAD;
	count_all(&stats, &query, &index);
	if (query.json)
		print_json(&stats);
	else
		print_stats(&stats);
	for (int i = 0; i < 3; i++)
		free(stats.values[i]);
	tally_free(&stats.ends);
	tally_free(&stats.users);
	tally_free(&stats.profiles);
	tally_free(&stats.denials);
	tally_free(&stats.denial_texts);
	rc = index_status(&index);
	index_close(&index);
	arena_free(&arena);
	return rc;
}
