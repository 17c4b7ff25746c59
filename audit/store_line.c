// SPDX-License-Identifier: Apache-2.0
#include "store_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "record.h"

/*
 * {"v":1,"seq":7,"prev":"64 digits","type":…}
 * {"v":1,"seq":7,"prev":"64 digits","sealed":3,"mac":"64 digits","type":…}
 *
 * The store's own members come first and in this order; body is the rest.
 */

/* a record has at least its version, number and hash */
enum { RECORD_MIN = 96 };

char *store_line_make(const struct store_tail *tail, const char *body, size_t *ret_len)
{
	size_t body_len = strlen(body + 1), room = body_len + 300, at;
	char *line = malloc(room);
	int len;

	if (line == NULL)
		abort();
	len = snprintf(line, room, "{\"v\":%d,\"seq\":%llu,\"prev\":\"%s\",", RECORD_VERSION,
		       (unsigned long long)tail->seq + 1, tail->hash);
	at = (size_t)len;
	if (tail->key.every > 0) {
		char mac[SHA256_HEX], *text;

		at += (size_t)snprintf(line + at, room - at, "\"sealed\":%llu,",
				       (unsigned long long)tail->key.sealed + 1);
		text = line + at; /* the newline is covered, so the rest is put together first */
		memcpy(text, body + 1, body_len);
		text[body_len] = '\n';
		store_key_mac(tail->key.key, line, at, text, body_len + 1, mac);
		at += (size_t)snprintf(line + at, room - at, "\"mac\":\"%s\",", mac);
	}
	memcpy(line + at, body + 1, body_len);
	line[at + body_len] = '\n';
	line[at + body_len + 1] = '\0';
	*ret_len = at + body_len + 1;
	return line;
}

void store_tail_advance(struct store_tail *tail, const char *line, size_t len)
{
	struct timespec now;

	tail->seq++;
	tail->bytes += len;
	sha256_hex_of(line, len, tail->hash);
	if (tail->first == 0) {
		clock_gettime(CLOCK_REALTIME_COARSE, &now);
		tail->first = tail->seq;
		tail->since = (uint64_t)now.tv_sec;
	}
	if (tail->key.every == 0)
		return;
	store_key_advance(&tail->key, 1);
	tail->sealed = tail->key.sealed;
}

/* Each moves *at behind what it takes, and is false when that is not there. */
static bool take(const char **at, const char *end, const char *text)
{
	size_t len = strlen(text);

	if ((size_t)(end - *at) < len || memcmp(*at, text, len) != 0)
		return false;
	*at += len;
	return true;
}

static bool take_number(const char **at, const char *end, uint64_t *ret)
{
	const char *start = *at;
	uint64_t value = 0;

	for (; *at < end && **at >= '0' && **at <= '9'; ++*at)
		if (__builtin_mul_overflow(value, 10u, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(**at - '0'), &value))
			return false;
	*ret = value;
	return *at > start;
}

static bool take_hash(const char **at, const char *end, const char **ret)
{
	*ret = *at;
	if (end - *at < SHA256_HEX)
		return false;
	for (int i = 0; i < SHA256_HEX - 1; i++)
		if (!((**at >= '0' && **at <= '9') || (**at >= 'a' && **at <= 'f')))
			return false;
		else
			++*at;
	return take(at, end, "\",");
}

bool store_line_parse(const char *line, size_t len, struct store_line *ret)
{
	const char *at = line, *end = line + len;
	struct store_line parsed = {0};
	uint64_t version;

	if (len < RECORD_MIN || end[-1] != '\n' || end[-2] != '}')
		return false;
	if (!take(&at, end, "{\"v\":") || !take_number(&at, end, &version) ||
	    !take(&at, end, ",\"seq\":") || !take_number(&at, end, &parsed.seq) ||
	    !take(&at, end, ",\"prev\":\"") || !take_hash(&at, end, &parsed.prev))
		return false;
	if (parsed.seq > STORE_SEQ_MAX)
		return false;
	if (take(&at, end, "\"sealed\":")) {
		if (!take_number(&at, end, &parsed.sealed) || parsed.sealed == 0 ||
		    parsed.sealed > STORE_SEQ_MAX || !take(&at, end, ","))
			return false;
		parsed.covered = at;
		if (!take(&at, end, "\"mac\":\"") || !take_hash(&at, end, &parsed.mac))
			return false;
	}
	parsed.body = at;
	*ret = parsed;
	return true;
}
