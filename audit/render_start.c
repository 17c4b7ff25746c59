// SPDX-License-Identifier: Apache-2.0
#include "render_parts.h"

#include <stdio.h>
#include <string.h>

void render_text(struct json *json, const char *key, const char *text)
{
	json_put_key(json, key);
	json_put_text(json, text);
}

void render_number(struct json *json, const char *key, uint64_t number)
{
	json_put_key(json, key);
	/* beyond what readers take (jansson) no gate and no kernel that is in order counts */
	if (number == UNKNOWN || number > INT64_MAX)
		json_put_null(json);
	else
		json_put_number(json, number);
}

void render_bool(struct json *json, const char *key, bool value)
{
	json_put_key(json, key);
	json_put_bool(json, value);
}

void render_list(struct json *json, const char *key, const char *const *texts)
{
	json_put_key(json, key);
	json_array_begin(json);
	for (; texts != NULL && *texts != NULL; texts++)
		json_put_text(json, *texts);
	json_array_end(json);
}

void render_id(struct json *json, const char *key, uint32_t id)
{
	render_number(json, key, id == UINT32_MAX ? UNKNOWN : id);
}

static void render_pid(struct json *json, const char *key, pid_t pid)
{
	render_number(json, key, pid <= 0 ? UNKNOWN : (uint64_t)pid);
}

void render_who(struct json *json, const struct record_who *who)
{
	json_put_key(json, "who");
	json_object_begin(json);
	render_text(json, "user", who->user);
	render_id(json, "real_uid", who->real_uid);
	render_id(json, "effective_uid", who->effective_uid);
	render_id(json, "real_gid", who->real_gid);
	render_id(json, "effective_gid", who->effective_gid);
	render_number(json, "login_uid", who->login_uid);
	render_text(json, "tty", who->tty);
	render_pid(json, "sbox_pid", who->sbox_pid);
	render_pid(json, "caller_pid", who->caller_pid);
	render_text(json, "caller_exe", who->caller_exe);
	render_text(json, "label", who->label);
	render_text(json, "host", who->host);
	render_text(json, "boot_id", who->boot_id);
	json_object_end(json);
}

void render_terminal(struct json *json, const struct record_terminal *terminal)
{
	static const char *const names[3] = {"stdin", "stdout", "stderr"};

	if (!terminal->is_on) {
		render_text(json, "terminal", NULL);
		return;
	}
	json_put_key(json, "terminal");
	json_object_begin(json);
	json_put_key(json, "streams");
	json_array_begin(json);
	for (int i = 0; i < 3; i++)
		if (terminal->stream[i])
			json_put_text(json, names[i]);
	json_array_end(json);
	render_number(json, "rows", terminal->rows);
	render_number(json, "columns", terminal->columns);
	json_object_end(json);
}

static const char *digest_or_null(const char *hex)
{
	return hex == NULL || hex[0] == '\0' ? NULL : hex;
}

void render_file(struct json *json, const struct record_file *file)
{
	json_object_begin(json);
	render_text(json, "kind", file->kind);
	render_text(json, "path", file->path);
	render_number(json, "bytes", file->bytes);
	render_text(json, "sha256", digest_or_null(file->sha256));
	render_text(json, "kept", file->kept);
	render_bool(json, "truncated", file->truncated);
	json_object_end(json);
}

void render_profile(struct json *json, const struct run_start *start)
{
	json_put_key(json, "profile");
	json_object_begin(json);
	render_text(json, "name", start->profile_name);
	render_text(json, "path", start->profile_path);
	render_text(json, "sha256", digest_or_null(start->profile_sha256));
	json_object_end(json);
}

static bool is_repeated_later(const struct record_label *labels, size_t count, size_t at)
{
	for (size_t i = at + 1; i < count; i++)
		if (strcmp(labels[i].key, labels[at].key) == 0)
			return true;
	return false;
}

/* An object has one value a key: as on the command line, the last one counts. */
void render_labels(struct json *json, const struct record_label *labels, size_t count)
{
	json_put_key(json, "labels");
	json_object_begin(json);
	for (size_t i = 0; i < count; i++)
		if (!is_repeated_later(labels, count, i))
			render_text(json, labels[i].key, labels[i].value);
	json_object_end(json);
}

void render_items(struct json *json, const struct plan_item *items, size_t count)
{
	json_put_key(json, "enforced");
	json_array_begin(json);
	for (const struct plan_item *item = items; item < items + count; item++) {
		json_object_begin(json);
		render_text(json, "boundary", boundary_names[item->boundary]);
		render_text(json, "name", item->name);
		render_text(json, "asked", item->asked);
		render_text(json, "state", item_state_names[item->state]);
		render_text(json, "mechanism", item->mechanism);
		render_text(json, "reason", item->reason);
		render_text(json, "residual", item->residual);
		json_object_end(json);
	}
	json_array_end(json);
}

/* gmtime() would read the time zone file, and the caller's TZ names it. */
void render_time_text(char text[TIME_TEXT_SIZE], uint64_t time_ns)
{
	uint64_t seconds = time_ns / 1000000000, of_day = seconds % 86400;
	/* days since 0000-03-01: then the leap day is the last one of a year */
	uint64_t days = seconds / 86400 + 719468;
	uint64_t era = days / 146097, of_era = days % 146097;
	uint64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
	uint64_t of_year = of_era - (365 * year + year / 4 - year / 100);
	uint64_t month = (5 * of_year + 2) / 153; /* 0 is March */
	uint64_t day = of_year - (153 * month + 2) / 5 + 1;

	year += era * 400 + (month >= 10);
	month = month >= 10 ? month - 9 : month + 3;
	snprintf(text, TIME_TEXT_SIZE, "%04u-%02u-%02uT%02u:%02u:%02u.%09uZ", (unsigned int)year,
		 (unsigned int)month, (unsigned int)day, (unsigned int)(of_day / 3600),
		 (unsigned int)(of_day / 60 % 60), (unsigned int)(of_day % 60),
		 (unsigned int)(time_ns % 1000000000));
}

void render_time(struct json *json, const char *key, uint64_t time_ns)
{
	char text[TIME_TEXT_SIZE];

	if (time_ns == UNKNOWN) {
		render_text(json, key, NULL);
		return;
	}
	render_time_text(text, time_ns);
	render_text(json, key, text);
}
