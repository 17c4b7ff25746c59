// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_JSON_H
#define SBOX_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arena.h"

/*
 * Writes one compact JSON text into a growing buffer of the arena. The caller
 * nests correctly: begin and end in pairs, a key before each value of an object.
 *
 * Any bytes can be written without loss, and the result is always valid JSON of
 * one line that is safe to send to a terminal:
 *   - bytes that are UTF-8 become a string; quote, backslash and what
 *     utf8_is_active() names are escaped, as \n or \u001b
 *   - all other bytes (a lone surrogate is such) become {"base64":"…"}
 *
 * No name here is one of libjansson's, which some programs link too.
 */
struct json {
	struct arena *arena;
	char *text;
	size_t len, room;
	bool need_comma;
};

void json_begin(struct json *json, struct arena *arena);
/* The finished text, terminated; it lives as long as the arena. */
char *json_finish(struct json *json);

void json_object_begin(struct json *json);
void json_object_end(struct json *json);
void json_array_begin(struct json *json);
void json_array_end(struct json *json);

/* A key cannot be an object: one that is not UTF-8, or that starts with
 * "base64:", becomes "base64:" and the base64 of its bytes. */
void json_put_key(struct json *json, const char *key);

void json_put_string(struct json *json, const void *bytes, size_t len);
void json_put_text(struct json *json, const char *text); /* NULL becomes null */
/* The base64 digits as a plain string. */
void json_put_base64(struct json *json, const void *bytes, size_t len);
void json_put_number(struct json *json, uint64_t number);
void json_put_bool(struct json *json, bool value);
void json_put_null(struct json *json);

#endif
