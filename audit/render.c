// SPDX-License-Identifier: Apache-2.0
#include "record.h"

#include <string.h>

#include "render_parts.h"

/* What was asked for: a part of run.start and of the result. */
static void render_request(struct json *json, const struct run_start *start)
{
	render_list(json, "argv", start->argv);
	render_number(json, "argc", start->argc);
	render_text(json, "cwd", start->cwd);
	render_text(json, "inside_cwd", start->inside_cwd);
	render_id(json, "inner_uid", start->inner_uid);
	render_id(json, "outer_uid", start->outer_uid);
	render_who(json, &start->who);
	render_profile(json, start);
	render_labels(json, start->labels, start->label_count);
}

/* What the run did: a part of run.end and of the result. */
static void render_outcome(struct json *json, const struct run_end *end)
{
	render_usage(json, &end->usage);
	render_denials(json, end);
	render_execs(json, end);
	render_network(json, end->network);
}

/* A program whose hash was not known at the start is in the end's list too. */
static bool is_told_later(const struct record_file *file, const struct run_end *end)
{
	for (size_t i = 0; end != NULL && i < end->file_count; i++)
		if (strcmp(file->kind, "program") == 0 &&
		    strcmp(file->kind, end->files[i].kind) == 0)
			return true;
	return false;
}

/* The start knows most of them, the end the rest; either may be NULL. */
static void render_files(struct json *json, const struct run_start *start,
			 const struct run_end *end)
{
	json_put_key(json, "files");
	json_array_begin(json);
	for (size_t i = 0; start != NULL && i < start->file_count; i++)
		if (!is_told_later(&start->files[i], end))
			render_file(json, &start->files[i]);
	for (size_t i = 0; end != NULL && i < end->file_count; i++)
		render_file(json, &end->files[i]);
	json_array_end(json);
}

char *render_start(struct arena *arena, const struct run_start *start)
{
	struct json json;

	json_begin(&json, arena);
	json_object_begin(&json);
	render_text(&json, "type", "run.start");
	render_text(&json, "run", start->run);
	render_time(&json, "time", start->time_ns);
	render_request(&json, start);
	render_terminal(&json, &start->terminal);
	render_list(&json, "environment", start->environment);
	render_files(&json, start, NULL);
	render_items(&json, start->items, start->item_count);
	json_object_end(&json);
	return json_finish(&json);
}

char *render_end(struct arena *arena, const struct run_end *end)
{
	struct json json;

	json_begin(&json, arena);
	json_object_begin(&json);
	render_text(&json, "type", "run.end");
	render_text(&json, "run", end->run);
	render_time(&json, "time", end->time_ns);
	render_ending(&json, end);
	render_streams(&json, end, false);
	render_timing(&json, &end->timing);
	render_outcome(&json, end);
	render_files(&json, NULL, end);
	json_object_end(&json);
	return json_finish(&json);
}

char *render_status(struct arena *arena, const struct run_end *end)
{
	struct json json;

	json_begin(&json, arena);
	json_object_begin(&json);
	render_text(&json, "run", end->run);
	render_ending(&json, end);
	json_object_end(&json);
	return json_finish(&json);
}

char *render_result(struct arena *arena, const struct run_start *start, const struct run_end *end)
{
	static const struct run_start never_started = {
		.argc = UNKNOWN,
		.inner_uid = (uid_t)-1,
		.outer_uid = (uid_t)-1,
		.who = {.real_uid = (uid_t)-1,
			.effective_uid = (uid_t)-1,
			.real_gid = (gid_t)-1,
			.effective_gid = (gid_t)-1,
			.login_uid = UNKNOWN},
	};
	const struct run_start *request = start != NULL ? start : &never_started;
	struct json json;

	json_begin(&json, arena);
	json_object_begin(&json);
	render_number(&json, "v", RECORD_VERSION);
	render_text(&json, "run", end->run);
	render_time(&json, "time", end->time_ns);
	render_bool(&json, "ok", end->kind == END_EXITED && end->code == 0);
	render_ending(&json, end);
	render_streams(&json, end, true);
	render_outcome(&json, end);
	render_request(&json, request);
	render_files(&json, start, end);
	render_items(&json, request->items, request->item_count);
	json_object_end(&json);
	return json_finish(&json);
}
