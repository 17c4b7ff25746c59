// SPDX-License-Identifier: Apache-2.0
#include "store_internal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "json.h"
#include "render_parts.h"
#include "store_prune.h"

/* What goes: the first `file_count` kept files and the first `segment_count` segments. */
struct choice {
	struct store_contents contents;
	size_t file_count, segment_count;
	uint64_t output_files, output_bytes, script_files, script_bytes, segment_bytes;
	uint64_t left_bytes;
	const char *reason;
};

static void choose_file(struct choice *choice)
{
	const struct store_kept *file = &choice->contents.files[choice->file_count++];

	choice->left_bytes -= file->bytes;
	if (file->is_script) {
		choice->script_files++;
		choice->script_bytes += file->bytes;
	} else {
		choice->output_files++;
		choice->output_bytes += file->bytes;
	}
}

static void choose_segment(struct choice *choice)
{
	const struct store_segment *segment =
		&choice->contents.segments.item[choice->segment_count++];

	choice->left_bytes -= segment->bytes;
	choice->segment_bytes += segment->bytes;
}

/* Never the last one: it is log.jsonl. */
static bool has_segment(const struct choice *choice)
{
	return choice->segment_count + 1 < choice->contents.segments.count;
}

static void choose(struct choice *choice, uint64_t keep_ms, uint64_t keep_bytes)
{
	const struct store_contents *contents = &choice->contents;
	int64_t oldest = (int64_t)(store_now_ns() / 1000000000) - (int64_t)(keep_ms / 1000);

	choice->left_bytes = contents->bytes;
	while (keep_ms > 0 && choice->file_count < contents->file_count &&
	       contents->files[choice->file_count].changed < oldest)
		choose_file(choice);
	while (keep_ms > 0 && has_segment(choice) &&
	       contents->segments.item[choice->segment_count].changed < oldest)
		choose_segment(choice);
	choice->reason = choice->file_count + choice->segment_count > 0 ? "age" : NULL;
	if (keep_bytes == 0 || choice->left_bytes <= keep_bytes)
		return;
	while (choice->left_bytes > keep_bytes && choice->file_count < contents->file_count)
		choose_file(choice);
	while (choice->left_bytes > keep_bytes && has_segment(choice))
		choose_segment(choice);
	if (choice->reason == NULL && choice->file_count + choice->segment_count > 0)
		choice->reason = "size";
	else if (choice->reason != NULL)
		choice->reason = "age,size";
}

static void render_kept(struct json *json, const char *key, uint64_t files, uint64_t bytes)
{
	json_put_key(json, key);
	json_object_begin(json);
	render_number(json, "files", files);
	render_number(json, "bytes", bytes);
	json_object_end(json);
}

/* The last record of a segment is what the next one's first line was written after. */
static int render_segment(struct json *json, struct store *store, const struct choice *choice,
			  size_t index, struct error *err)
{
	const struct store_segment *segment = &choice->contents.segments.item[index];
	char prev[SHA256_HEX];
	uint64_t next_seq;

	if (store_segment_start(store, &segment[1], &next_seq, prev, err) < 0)
		return -1;
	json_object_begin(json);
	render_text(json, "name", segment->name);
	render_number(json, "bytes", segment->bytes);
	render_number(json, "first_seq", segment->first_seq);
	render_number(json, "last_seq", next_seq - 1);
	render_text(json, "last_hash", prev);
	json_object_end(json);
	return 0;
}

static char *pruned_body(struct arena *arena, struct store *store, const struct choice *choice,
			 uint64_t keep_ms, uint64_t keep_bytes, struct error *err)
{
	struct json json;
	size_t files = choice->file_count;
	uint64_t newest = UNKNOWN;

	if (files > 0)
		newest = (uint64_t)choice->contents.files[files - 1].changed * 1000000000;
	json_begin(&json, arena);
	json_object_begin(&json);
	render_text(&json, "type", "log.pruned");
	render_time(&json, "time", store_now_ns());
	render_text(&json, "reason", choice->reason);
	render_number(&json, "keep_ms", keep_ms > 0 ? keep_ms : UNKNOWN);
	render_number(&json, "keep_bytes", keep_bytes > 0 ? keep_bytes : UNKNOWN);
	render_kept(&json, "output", choice->output_files, choice->output_bytes);
	render_kept(&json, "scripts", choice->script_files, choice->script_bytes);
	render_time(&json, "kept_until", newest);
	json_put_key(&json, "segments");
	json_array_begin(&json);
	for (size_t i = 0; i < choice->segment_count; i++)
		if (render_segment(&json, store, choice, i, err) < 0)
			return NULL;
	json_array_end(&json);
	json_object_end(&json);
	return json_finish(&json);
}

static void remove_chosen(struct store *store, const struct choice *choice)
{
	char path[STORE_KEPT_NAME + 16];

	for (size_t i = 0; i < choice->file_count; i++) {
		store_kept_path(&choice->contents.files[i], path);
		unlinkat(store->dir_fd, path, 0);
	}
	for (size_t i = 0; i < choice->segment_count; i++)
		unlinkat(store->dir_fd, choice->contents.segments.item[i].name, 0);
	if (choice->segment_count > 0)
		fsync(store->dir_fd);
}

static int record_and_remove(struct store *store, const struct choice *choice, uint64_t keep_ms,
			     uint64_t keep_bytes, struct error *err)
{
	struct arena arena = {0};
	char *body = pruned_body(&arena, store, choice, keep_ms, keep_bytes, err);
	int rc = body == NULL ? -1 : store_append(store, body, STORE_SYNC_EACH, err);

	arena_free(&arena);
	if (rc == 0)
		remove_chosen(store, choice);
	return rc;
}

int store_prune(struct store *store, uint64_t keep_ms, uint64_t keep_bytes, bool dry_run,
		struct store_pruned *ret, struct error *err)
{
	struct choice choice = {0};
	int rc = 0;

	/* one at a time; the folder's own lock is for nothing else */
	if (flock(store->dir_fd, LOCK_EX | LOCK_NB) < 0)
		return error_set(err, ERROR_AUDIT, "audit store %s: is being pruned already",
				 store->dir);
	if (store_contents_list(store, &choice.contents, err) < 0) {
		rc = -1;
		goto out;
	}
	choose(&choice, keep_ms, keep_bytes);
	if (choice.reason != NULL && !dry_run)
		rc = record_and_remove(store, &choice, keep_ms, keep_bytes, err);
	if (rc == 0 && ret != NULL)
		*ret = (struct store_pruned){.files = choice.file_count,
					     .segments = choice.segment_count,
					     .bytes = choice.output_bytes + choice.script_bytes +
						      choice.segment_bytes,
					     .left_bytes = choice.left_bytes};
	store_contents_free(&choice.contents);
out:
	flock(store->dir_fd, LOCK_UN);
	return rc;
}

void store_prune_when_due(struct store *store)
{
	const struct store_policy *policy = &store->policy;
	struct error ignored; /* the next one is due soon */

	if (!store->is_prune_due || (policy->keep_ms == 0 && policy->keep_bytes == 0))
		return;
	store->is_prune_due = false;
	store_prune(store, policy->keep_ms, policy->keep_bytes, false, NULL, &ignored);
}
