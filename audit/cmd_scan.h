// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_AUDIT_CMD_SCAN_H
#define SBOX_AUDIT_CMD_SCAN_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * Finds members of a JSON object without parsing the rest of it: most of a
 * record is of no interest to an index. What is found is parsed by jansson.
 * Looks only at the structure; whether all of a line is JSON is for verify.
 */
struct span {
	const char *at; /* NULL: there is none */
	size_t len;
};

struct scan {
	const char *at, *end;
	bool is_bad; /* the text is no object */
};

/* `object` with its braces; space around it is fine. */
struct scan scan_object(struct span object);
/* The next member; key without quotes, escapes as they are. False at the end. */
bool scan_member(struct scan *scan, struct span *ret_key, struct span *ret_value);
/* The value of one member, .at NULL when it is not there; of several the last. */
struct span scan_find(struct span object, const char *key);

static inline bool span_is(struct span span, const char *text)
{
	return span.len == strlen(text) && memcmp(span.at, text, span.len) == 0;
}

/* A number from 0, or `otherwise`. */
uint64_t scan_number(struct span value, uint64_t otherwise);
/* The value as jansson has it, or NULL. */
json_t *scan_parse(struct span value);

#endif
