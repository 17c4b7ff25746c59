// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_RENDER_PARTS_H
#define SBOX_RENDER_PARTS_H

#include "json.h"
#include "record.h"

/* The members that lines and --json share. Each writes key and value. SCHEMA.md describes them. */

void render_text(struct json *json, const char *key, const char *text);
void render_number(struct json *json, const char *key, uint64_t number); /* UNKNOWN: null */
void render_id(struct json *json, const char *key, uint32_t id);         /* -1: null */
void render_bool(struct json *json, const char *key, bool value);
void render_time(struct json *json, const char *key, uint64_t time_ns);
void render_list(struct json *json, const char *key, const char *const *texts);

void render_terminal(struct json *json, const struct record_terminal *terminal);
void render_who(struct json *json, const struct record_who *who);
void render_file(struct json *json, const struct record_file *file); /* an element */
void render_profile(struct json *json, const struct run_start *start);
void render_labels(struct json *json, const struct record_label *labels, size_t count);
void render_items(struct json *json, const struct plan_item *items, size_t count);

void render_ending(struct json *json, const struct run_end *end);
void render_usage(struct json *json, const struct record_usage *usage);
/* with_content: the bytes themselves (--json), else only what is known about them. */
void render_streams(struct json *json, const struct run_end *end, bool with_content);
void render_timing(struct json *json, const struct record_timing *timing);
void render_denials(struct json *json, const struct run_end *end);
void render_network(struct json *json, const struct record_network *network);
void render_errno(struct json *json, int errnum);
void render_execs(struct json *json, const struct run_end *end);

/* "2026-11-29T22:18:55.123456789Z" */
enum { TIME_TEXT_SIZE = 64 };
void render_time_text(char text[TIME_TEXT_SIZE], uint64_t time_ns);

#endif
