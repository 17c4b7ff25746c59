// SPDX-License-Identifier: Apache-2.0
#include "cmd_export.h"

#include <string.h>

#include "cmd_time.h"
#include "record.h"

/*
 * OCSF 1.4, class 1007 Process Activity: 100701 Launch, 100702 Terminate. A
 * run's id is the uid of the process and what ties the two events together. What
 * the class has no place for is in `unmapped`, as the record has it.
 */

enum { CLASS = 1007, LAUNCH = 1, TERMINATE = 2, SHA_256 = 3, REGULAR_FILE = 1 };
enum { SEVERITY_INFORMATIONAL = 1, SEVERITY_LOW = 2, STATUS_SUCCESS = 1, STATUS_FAILURE = 2 };

struct event {
	struct arena *arena;
	const json_t *start, *end; /* either may be NULL */
	const char *run;
	int activity;
};

/* A string of the record, or nothing. Bytes that are no text are shown as \xff. */
static void put_text(const struct event *event, json_t *object, const char *name,
		     const json_t *from, const char *key)
{
	const json_t *value = json_object_get(from, key);

	if (value != NULL && !json_is_null(value))
		json_object_set_new(object, name, json_string(text_value(event->arena, value)));
}

static void put_number(json_t *object, const char *name, const json_t *from, const char *key)
{
	json_t *value = json_object_get(from, key);

	if (json_is_integer(value))
		json_object_set(object, name, value);
}

static json_int_t time_ms(const json_t *record)
{
	const json_t *time = json_object_get(record, "time");
	char quoted[64];

	if (!json_is_string(time) || json_string_length(time) > sizeof(quoted) - 3)
		return 0;
	snprintf(quoted, sizeof(quoted), "\"%s\"", json_string_value(time));
	return (json_int_t)(time_parse((struct span){quoted, strlen(quoted)}) / 1000000);
}

/* NULL when the path is not known. */
static json_t *file_object(const struct event *event, const json_t *path, const json_t *file)
{
	const json_t *hash = json_object_get(file, "sha256");

	if (path == NULL || json_is_null(path))
		return NULL;
	const char *text = text_value(event->arena, path), *slash = strrchr(text, '/');
	json_t *object = json_pack("{s:s, s:s, s:i, s:s}", "name", slash != NULL ? slash + 1 : text,
				   "path", text, "type_id", REGULAR_FILE, "type", "Regular File");
	put_number(object, "size", file, "bytes");
	if (json_is_string(hash))
		json_object_set_new(object, "hashes",
				    json_pack("[{s:s, s:i, s:s}]", "algorithm", "SHA-256",
					      "algorithm_id", SHA_256, "value",
					      json_string_value(hash)));
	return object;
}

static void put_user(const struct event *event, json_t *object, const json_t *from,
		     const char *name_key, const char *uid_key)
{
	json_t *user = json_object();

	if (name_key != NULL)
		put_text(event, user, "name", from, name_key);
	put_text(event, user, "uid", from, uid_key);
	if (json_object_size(user) > 0)
		json_object_set(object, "user", user);
	json_decref(user);
}

static json_t *actor_object(const struct event *event)
{
	const json_t *who = json_object_get(event->start, "who");
	json_t *actor = json_object(), *process = json_object();
	json_t *file = file_object(event, json_object_get(who, "caller_exe"), NULL);

	json_object_set_new(actor, "app_name", json_string("sbox"));
	put_user(event, actor, who, "user", "real_uid");
	put_number(process, "pid", who, "caller_pid");
	if (file != NULL)
		json_object_set_new(process, "file", file);
	if (json_object_get(process, "pid") != NULL)
		json_object_set(actor, "process", process);
	json_decref(process);
	return actor;
}

static const json_t *program_in(const json_t *record)
{
	const json_t *files = json_object_get(record, "files"), *file;
	size_t i;

	json_array_foreach((json_t *)files, i, file)
	{
		const char *kind = json_string_value(json_object_get(file, "kind"));

		if (kind != NULL && strcmp(kind, "program") == 0)
			return file;
	}
	return NULL;
}

/* The end has it where its hash was not known at the start. */
static const json_t *program_file(const struct event *event)
{
	const json_t *file = event->activity == TERMINATE ? program_in(event->end) : NULL;

	return file != NULL ? file : program_in(event->start);
}

static json_t *process_object(const struct event *event)
{
	const json_t *start = event->start, *program = program_file(event);
	const json_t *argv = json_object_get(start, "argv");
	json_t *process = json_pack("{s:s}", "uid", event->run), *parent = json_object();
	json_t *file = file_object(event, json_object_get(program, "path"), program);

	if (json_array_size(argv) > 0) {
		put_text(event, process, "name", json_array_get(argv, 0) ? program : NULL, "path");
		json_object_set_new(process, "cmd_line",
				    json_string(text_arguments(event->arena, argv)));
	}
	if (file != NULL) {
		json_object_set(process, "name", json_object_get(file, "name"));
		json_object_set_new(process, "file", file);
	}
	put_user(event, process, start, NULL, "outer_uid");
	put_text(event, process, "working_directory", start, "inside_cwd");
	put_text(event, process, "sandbox", json_object_get(start, "profile"), "name");
	if (start != NULL)
		json_object_set_new(process, "created_time", json_integer(time_ms(start)));
	if (event->activity == TERMINATE)
		json_object_set_new(process, "terminated_time", json_integer(time_ms(event->end)));
	json_object_set_new(parent, "name", json_string("sbox"));
	put_number(parent, "pid", json_object_get(start, "who"), "sbox_pid");
	if (json_object_get(parent, "pid") != NULL)
		json_object_set(process, "parent_process", parent);
	json_decref(parent);
	return process;
}

static json_t *device_object(const struct event *event)
{
	const json_t *who = json_object_get(event->start, "who");
	json_t *device = json_pack("{s:i, s:s}", "type_id", 0, "type", "Unknown");

	put_text(event, device, "hostname", who, "host");
	if (json_object_get(device, "hostname") == NULL)
		json_object_set_new(device, "name", json_string("unknown"));
	return device;
}

static json_t *metadata_object(const struct event *event, const json_t *record)
{
	const char *part = event->activity == LAUNCH ? "start" : "end", *key;
	json_t *labels = json_array(), *value, *from = json_object_get(event->start, "labels");
	json_t *metadata =
		json_pack("{s:s, s:s, s:{s:s, s:s, s:s}, s:s, s:o, s:s}", "version", "1.4.0",
			  "log_name", "sbox", "product", "name", "sbox", "vendor_name", "sbox",
			  "version", SBOX_VERSION, "correlation_uid", event->run, "uid",
			  json_string(arena_printf(event->arena, "%s.%s", event->run, part)),
			  "log_provider", "sbox");

	put_text(event, metadata, "original_time", record, "time");
	put_number(metadata, "sequence", record, "seq");
	json_object_foreach(from, key, value) json_array_append_new(
		labels, json_string(arena_printf(event->arena, "%s=%s", key,
						 text_value(event->arena, value))));
	if (json_array_size(labels) > 0)
		json_object_set(metadata, "labels", labels);
	json_decref(labels);
	return metadata;
}

/* Members that the class has no place for, as they are in the record. */
static json_t *unmapped_object(const json_t *record, int activity)
{
	static const char *const of_launch[] = {"profile", "enforced", "environment", "files",
						"argc",    "cwd",      "who",         NULL};
	static const char *const of_end[] = {"end",    "usage",       "denials", "denials_dropped",
					     "stdout", "stderr",      "stdin",   "execs",
					     "files",  "execs_total", NULL};
	const char *const *names = activity == LAUNCH ? of_launch : of_end;
	json_t *unmapped = json_object();

	for (; *names != NULL; names++)
		if (json_object_get(record, *names) != NULL)
			json_object_set(unmapped, *names, json_object_get(record, *names));
	return unmapped;
}

static void put_status(json_t *object, bool is_fine)
{
	json_object_set_new(object, "status_id",
			    json_integer(is_fine ? STATUS_SUCCESS : STATUS_FAILURE));
	json_object_set_new(object, "status", json_string(is_fine ? "Success" : "Failure"));
}

/* The launch itself failed. */
static bool is_never_run(const json_t *end)
{
	static const enum end_kind kinds[] = {END_DENIED_START, END_SBOX_ERROR, END_NOT_EXECUTABLE,
					      END_NOT_FOUND};
	const char *kind = json_string_value(json_object_get(json_object_get(end, "end"), "kind"));

	for (size_t i = 0; kind != NULL && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(kind, end_kind_names[kinds[i]]) == 0)
			return true;
	return false;
}

static void put_outcome(const struct event *event, json_t *object)
{
	const json_t *end = json_object_get(event->end, "end");
	const json_t *usage = json_object_get(event->end, "usage");
	json_t *kind = json_object_get(end, "kind"), *wall = json_object_get(usage, "wall_ns");
	bool is_exit = json_is_string(kind) && strcmp(json_string_value(kind), "exited") == 0;
	bool is_fine = is_exit && json_integer_value(json_object_get(end, "code")) == 0;
	bool is_quiet = json_array_size(json_object_get(event->end, "denials")) == 0;

	json_object_set_new(
		object, "severity_id",
		json_integer(is_exit && is_quiet ? SEVERITY_INFORMATIONAL : SEVERITY_LOW));
	json_object_set_new(object, "severity",
			    json_string(is_exit && is_quiet ? "Informational" : "Low"));
	put_status(object, is_fine);
	put_text(event, object, "status_code", end, "kind");
	put_text(event, object, "status_detail", end, "message");
	put_number(object, "exit_code", end, is_exit ? "code" : "status");
	if (json_is_integer(wall))
		json_object_set_new(object, "duration",
				    json_integer(json_integer_value(wall) / 1000000));
	json_object_set_new(object, "end_time", json_integer(time_ms(event->end)));
	if (event->start != NULL)
		json_object_set_new(object, "start_time", json_integer(time_ms(event->start)));
}

static void put_event(struct event event)
{
	const json_t *record = event.activity == LAUNCH ? event.start : event.end;
	bool is_launch = event.activity == LAUNCH;

	if (record == NULL)
		return;
	json_t *object = json_pack(
		"{s:i, s:s, s:i, s:s, s:i, s:s, s:i, s:s, s:I, s:o, s:o, s:o, s:o, s:o}",
		"activity_id", event.activity, "activity_name", is_launch ? "Launch" : "Terminate",
		"category_uid", 1, "category_name", "System Activity", "class_uid", CLASS,
		"class_name", "Process Activity", "type_uid", CLASS * 100 + event.activity,
		"type_name", is_launch ? "Process Activity: Launch" : "Process Activity: Terminate",
		"time", time_ms(record), "metadata", metadata_object(&event, record), "actor",
		actor_object(&event), "device", device_object(&event), "process",
		process_object(&event), "unmapped", unmapped_object(record, event.activity));
	if (is_launch) {
		json_object_set_new(object, "severity_id", json_integer(SEVERITY_INFORMATIONAL));
		json_object_set_new(object, "severity", json_string("Informational"));
		put_status(object, !is_never_run(event.end));
	} else {
		put_outcome(&event, object);
	}
	json_write_line(object);
	json_decref(object);
}

void export_ocsf(struct export *export, const struct index_row *row)
{
	json_t *start = index_record(export->index, &row->start);
	json_t *end = index_record(export->index, &row->end);
	struct event event = {.arena = &export->arena,
			      .start = start,
			      .end = end,
			      .run = arena_strndup(&export->arena, row->run, INDEX_RUN)};

	event.activity = LAUNCH;
	put_event(event);
	event.activity = TERMINATE;
	put_event(event);
	json_decref(start);
	json_decref(end);
}
