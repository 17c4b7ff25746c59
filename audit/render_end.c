// SPDX-License-Identifier: Apache-2.0
#include "render_parts.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "utf8.h"

static void render_signal(struct json *json, int number)
{
	const char *name = sigabbrev_np(number);
	char text[32];

	if (name != NULL)
		snprintf(text, sizeof(text), "SIG%s", name);
	else
		snprintf(text, sizeof(text), "%d", number); /* real-time signals have no name */
	render_text(json, "signal", text);
}

void render_ending(struct json *json, const struct run_end *end)
{
	bool by_signal = end->kind == END_SIGNALED || end->kind == END_CANCELLED;

	json_put_key(json, "end");
	json_object_begin(json);
	render_text(json, "kind", end_kind_names[end->kind]);
	render_number(json, "code",
		      by_signal || end->kind == END_EXITED ? (uint64_t)end->code : UNKNOWN);
	if (by_signal)
		render_signal(json, end->code);
	else
		render_text(json, "signal", NULL);
	render_number(json, "status", (uint64_t)end->exit_status);
	render_text(json, "decided_by", end->decided_by);
	render_text(json, "message", end->message);
	render_text(json, "leftover", end->leftover);
	render_bool(json, "core_dumped", end->core_dumped);
	json_object_end(json);
}

void render_usage(struct json *json, const struct record_usage *usage)
{
	json_put_key(json, "usage");
	json_object_begin(json);
	render_number(json, "wall_ns", usage->wall_ns);
	render_number(json, "user_ns", usage->user_ns);
	render_number(json, "sys_ns", usage->sys_ns);
	render_number(json, "sbox_cpu_ns", usage->sbox_cpu_ns);
	render_number(json, "peak_memory_bytes", usage->peak_memory_bytes);
	render_text(json, "memory_source", usage->memory_source);
	render_number(json, "peak_tasks", usage->peak_tasks);
	render_number(json, "read_bytes", usage->read_bytes);
	render_number(json, "written_bytes", usage->written_bytes);
	json_object_end(json);
}

/* The cut of a truncated stream may split a character: leave such an end out (at most three
 * bytes), so that one cut does not turn a whole text into base64. */
static void render_head(struct json *json, const unsigned char *head, size_t len)
{
	json_put_key(json, "head");
	for (size_t left_out = 0; left_out < 4 && left_out <= len; left_out++)
		if (utf8_valid(head, len - left_out)) {
			json_put_string(json, head, len - left_out);
			return;
		}
	json_put_string(json, head, len);
}

static void render_tail(struct json *json, const unsigned char *tail, size_t len)
{
	json_put_key(json, "tail");
	for (size_t left_out = 0; left_out < 4 && left_out <= len; left_out++)
		if (utf8_valid(tail + left_out, len - left_out)) {
			json_put_string(json, tail + left_out, len - left_out);
			return;
		}
	json_put_string(json, tail, len);
}

static void render_whole(struct json *json, const struct record_stream *stream)
{
	size_t len = stream->head_len + stream->tail_len;
	unsigned char *whole = arena_alloc(json->arena, len + 1);

	if (stream->head_len > 0)
		memcpy(whole, stream->head, stream->head_len);
	if (stream->tail_len > 0)
		memcpy(whole + stream->head_len, stream->tail, stream->tail_len);
	if (utf8_valid(whole, len)) {
		json_put_key(json, "text");
		json_put_string(json, whole, len);
	} else {
		json_put_key(json, "base64");
		json_put_base64(json, whole, len);
	}
}

static void render_stream(struct json *json, const char *key, const struct record_stream *stream,
			  bool with_content)
{
	json_put_key(json, key);
	json_object_begin(json);
	if (with_content && stream->truncated) {
		render_head(json, stream->head, stream->head_len);
		render_tail(json, stream->tail, stream->tail_len);
	} else if (with_content) {
		render_whole(json, stream);
	}
	render_number(json, "bytes", stream->bytes);
	render_bool(json, "truncated", stream->truncated);
	render_text(json, "sha256", stream->sha256[0] == '\0' ? NULL : stream->sha256);
	if (!with_content) {
		render_number(json, "head_bytes", stream->head_len);
		render_number(json, "tail_bytes", stream->tail_len);
	}
	render_text(json, "kept", stream->kept);
	json_object_end(json);
}

void render_streams(struct json *json, const struct run_end *end, bool with_content)
{
	render_stream(json, "stdout", &end->stdout_stream, with_content);
	render_stream(json, "stderr", &end->stderr_stream, with_content);
	/* what the caller gave is not sent back to them */
	render_stream(json, "stdin", &end->stdin_stream, false);
}

/* Steps as [microseconds since the one before, stream, bytes]. */
void render_timing(struct json *json, const struct record_timing *timing)
{
	json_put_key(json, "timing");
	json_object_begin(json);
	json_put_key(json, "steps");
	json_array_begin(json);
	for (size_t i = 0; i < timing->step_count; i++) {
		json_array_begin(json);
		json_put_number(json, timing->steps[i].delay_us);
		json_put_number(json, timing->steps[i].stream);
		json_put_number(json, timing->steps[i].bytes);
		json_array_end(json);
	}
	json_array_end(json);
	/* [microseconds since the start, rows, columns] */
	json_put_key(json, "sizes");
	json_array_begin(json);
	for (size_t i = 0; i < timing->size_count; i++) {
		json_array_begin(json);
		json_put_number(json, timing->sizes[i].at_us);
		json_put_number(json, timing->sizes[i].rows);
		json_put_number(json, timing->sizes[i].columns);
		json_array_end(json);
	}
	json_array_end(json);
	render_text(json, "sha256", timing->sha256[0] == '\0' ? NULL : timing->sha256);
	render_text(json, "kept", timing->kept);
	json_object_end(json);
}

void render_errno(struct json *json, int errnum)
{
	const char *name = errnum == 0 ? NULL : strerrorname_np(errnum);
	char text[16];

	if (errnum != 0 && name == NULL) {
		snprintf(text, sizeof(text), "%d", errnum);
		name = text;
	}
	render_text(json, "errno", name);
}

void render_denials(struct json *json, const struct run_end *end)
{
	json_put_key(json, "denials");
	json_array_begin(json);
	for (size_t i = 0; i < end->denial_count; i++) {
		const struct record_denial *denial = &end->denials[i];

		json_object_begin(json);
		render_text(json, "boundary", boundary_names[denial->boundary]);
		render_text(json, "op", denial->op);
		render_text(json, "object", denial->object);
		render_number(json, "count", denial->count);
		render_number(json, "pid", denial->pid == 0 ? UNKNOWN : (uint64_t)denial->pid);
		render_text(json, "exe", denial->exe);
		render_errno(json, denial->errnum);
		render_text(json, "permit", denial->permit);
		render_text(json, "never", denial->never);
		json_object_end(json);
	}
	json_array_end(json);
	render_number(json, "denials_dropped", end->denials_dropped);
}

void render_execs(struct json *json, const struct run_end *end)
{
	json_put_key(json, "execs");
	json_array_begin(json);
	for (size_t i = 0; i < end->exec_count; i++) {
		const struct record_exec *exec = &end->execs[i];

		json_object_begin(json);
		render_text(json, "path", exec->path);
		render_list(json, "argv", exec->argv);
		render_number(json, "pid", exec->pid == 0 ? UNKNOWN : (uint64_t)exec->pid);
		render_number(json, "count", exec->count);
		json_object_end(json);
	}
	json_array_end(json);
	render_number(json, "execs_total", end->execs_total);
}
