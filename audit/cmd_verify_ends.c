// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "cmd_verify.h"

static const char zeros[] = "0000000000000000000000000000000000000000000000000000000000000000";

static void note_pruned(struct verify *verify, const json_t *record)
{
	const json_t *segments = json_object_get(record, "segments");
	const json_t *segment;
	size_t i;

	json_array_foreach(segments, i, segment)
	{
		const char *hash = json_string_value(json_object_get(segment, "last_hash"));
		json_int_t seq = json_integer_value(json_object_get(segment, "last_seq"));

		if (hash == NULL || seq <= 0)
			continue;
		struct pruned *pruned =
			ARENA_PUSH(&verify->arena, verify->pruned, verify->pruned_count);
		*pruned = (struct pruned){.last_seq = (uint64_t)seq,
					  .last_hash = arena_strdup(&verify->arena, hash)};
	}
}

static void note_recovered(struct verify *verify, const char *where, const json_t *record)
{
	const char *reason = json_string_value(json_object_get(record, "reason"));
	json_int_t dropped = json_integer_value(json_object_get(record, "dropped_bytes"));

	verify_find(verify, NOTE, "%s: log.recovered: %s, %jd bytes dropped", where,
		    reason == NULL ? "?"
				   : text_value(&verify->arena, json_object_get(record, "reason")),
		    (intmax_t)dropped);
}

/* The last record before this file; a file whose predecessor is here was checked by its link. */
static void check_opened(struct verify *verify, const char *where, const struct cmd_line *line,
			 const json_t *record)
{
	const char *previous = json_string_value(json_object_get(record, "previous"));
	const struct store_segment *segments = verify->log.segments.item;

	if (line->segment == 0 || previous == NULL || line->offset != 0)
		return;
	if (strcmp(previous, segments[line->segment - 1].name) != 0)
		verify_find(verify, INTEGRITY, "%s: written after %s, which is gone", where,
			    text_member(&verify->arena, record, "previous"));
}

void verify_log_record(struct verify *verify, const struct cmd_line *line, const char *body)
{
	static const char empty[] = "{";
	const char *where = verify_line_where(verify, line);
	size_t left = (size_t)(line->text + line->len - body);
	char *text = arena_alloc(&verify->arena, left + 1);

	/* the store's own members are known already */
	memcpy(text, empty, 1);
	memcpy(text + 1, body, left);
	json_t *record = json_loadb(text, left + 1, JSON_REJECT_DUPLICATES, NULL);
	const char *type = json_string_value(json_object_get(record, "type"));

	if (type == NULL)
		verify_find(verify, INTEGRITY, "%s: not a record", where);
	else if (strcmp(type, "log.pruned") == 0)
		note_pruned(verify, record);
	else if (strcmp(type, "log.recovered") == 0)
		note_recovered(verify, where, record);
	else if (strcmp(type, "log.opened") == 0)
		check_opened(verify, where, line, record);
	else if (strcmp(type, "log.closed") == 0)
		verify->successor = text_member(&verify->arena, record, "next");
	json_decref(record);
}

/* The number from which on all should be there. */
static uint64_t check_beginning(struct verify *verify)
{
	if (verify->records == 0 ||
	    (verify->first_seq == 1 && strcmp(verify->first_prev, zeros) == 0))
		return verify->first_seq;
	for (size_t i = 0; i < verify->pruned_count; i++)
		if (verify->pruned[i].last_seq + 1 == verify->first_seq &&
		    strcmp(verify->pruned[i].last_hash, verify->first_prev) == 0)
			return verify->first_seq;
	verify_find(
		verify, INTEGRITY,
		"%s:1: begins with seq %ju, and no log.pruned says that what was before it went",
		verify->log.segments.item[0].name, (uintmax_t)verify->first_seq);
	return 1;
}

/* The chain breaks where a line was taken out and where one was changed; the numbers tell. */
static void check_count(struct verify *verify, uint64_t first)
{
	uint64_t there = verify->records + verify->no_records + verify->lost;
	uint64_t wanted = verify->seq - first + 1;

	if (verify->seq >= first && wanted > there)
		verify_find(verify, COMPLETENESS, "seq %ju to %ju: %ju records of these are gone",
			    (uintmax_t)first, (uintmax_t)verify->seq, (uintmax_t)(wanted - there));
}

/* A head that does not name the last line: which of the two is behind? */
static void check_head(struct verify *verify)
{
	const struct store_tail *head = &verify->head;

	if (!verify->has_head) {
		if (verify->records > 0)
			verify_find(verify, COMPLETENESS,
				    "head: gone or damaged: records taken from the end would not "
				    "show");
	} else if (head->seq > verify->seq) {
		verify_find(verify, COMPLETENESS,
			    "the end: head says that the last record is seq %ju, but it is seq %ju",
			    (uintmax_t)head->seq, (uintmax_t)verify->seq);
	} else if (!verify->head_is_met) {
		verify_find(verify, INTEGRITY,
			    "seq %ju%s: is not the record that head was written after",
			    (uintmax_t)head->seq, head->seq == verify->seq ? ", the last one" : "");
	} else if (head->seq < verify->seq) {
		verify_find(verify, NOTE,
			    "head is %ju records behind: a crash or power cut, or they were "
			    "appended by hand",
			    (uintmax_t)(verify->seq - head->seq));
	}
}

static void check_key_of_seal(struct verify *verify, const struct store_key *file)
{
	struct store_key key = verify->key;

	if (file->sealed < key.sealed - key.sealed % key.every || file->every != key.every ||
	    (file->sealed - key.sealed) / key.every > 1000000)
		return;
	if (file->sealed > key.sealed)
		store_key_advance(&key, file->sealed - key.sealed);
	if (memcmp(key.key, file->key, sizeof(key.key)) != 0)
		verify_find(verify, COMPLETENESS,
			    "key: is not the seal's key of epoch %ju: put there by somebody, so "
			    "records taken from the end would not show",
			    (uintmax_t)(file->sealed / file->every));
}

static void check_key(struct verify *verify)
{
	struct store_key file;
	bool is_known = store_key_parse(verify->log.key.text, verify->log.key.len, &file);

	if (!is_known && (verify->sealed > 0 || verify->log.key.len > 0 || verify->has_seal))
		verify_find(verify, COMPLETENESS,
			    "key: gone or damaged: records taken from the end would not show");
	if (!is_known)
		return;
	if (file.sealed > verify->sealed)
		verify_find(
			verify, COMPLETENESS,
			"the end: the key is that of sealed record %ju, but the last one is %ju",
			(uintmax_t)file.sealed + 1, (uintmax_t)verify->sealed);
	else if (file.sealed < verify->sealed)
		verify_find(verify, NOTE, "key is %ju records behind: a crash or power cut",
			    (uintmax_t)(verify->sealed - file.sealed));
	if (verify->has_seal && verify->key.sealed < verify->sealed)
		store_key_advance(&verify->key, verify->sealed - verify->key.sealed);
	if (verify->has_seal)
		check_key_of_seal(verify, &file);
}

static bool is_pruned(struct verify *verify, const struct point *point)
{
	for (size_t i = 0; i < verify->pruned_count; i++)
		if (verify->pruned[i].last_seq == point->seq)
			return strcmp(verify->pruned[i].last_hash, point->hash) == 0;
	return point->seq < verify->first_seq && !point->is_expected;
}

static void check_points(struct verify *verify)
{
	for (size_t i = 0; i < verify->points.count; i++) {
		const struct point *point = &verify->points.item[i];

		if (point->is_met)
			continue;
		if (is_pruned(verify, point))
			verify->points.skipped++;
		else
			verify_find(verify, COMPLETENESS, "seq %ju of %s is not in the log",
				    (uintmax_t)point->seq,
				    point->is_expected ? "--expect" : "--anchors");
	}
	if (verify->has_anchors && verify->points.count == 0)
		verify_find(
			verify, COMPLETENESS,
			"--anchors: none is of this store: name the folder it was in with --was");
}

static void check_runs(struct verify *verify)
{
	const struct open_runs *runs = &verify->runs;

	for (size_t i = 0; i < runs->room; i++) {
		if ((unsigned char)runs->slot[i][0] <= ' ')
			continue;
		const char *run = arena_strndup(&verify->arena, runs->slot[i], 26);

		if (store_run_alive(&verify->log.store, run))
			verify->running_count++;
		else
			*ARENA_PUSH(&verify->arena, verify->unfinished, verify->unfinished_count) =
				run;
	}
}

void verify_ends(struct verify *verify)
{
	uint64_t first = check_beginning(verify);

	if (verify->records > 0)
		check_count(verify, first);
	check_head(verify);
	check_key(verify);
	if (verify->has_seal && verify->seq < verify->seal.seq)
		verify_find(verify, COMPLETENESS, "the log ends before it was sealed (seq %ju)",
			    (uintmax_t)verify->seal.seq);
	check_points(verify);
	check_runs(verify);
}
