// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_FUZZ_MEND_H
#define SBOX_FUZZ_MEND_H

/*
 * A store's lines hold each other's hashes, and its small files a check over themselves: a change
 * alone never gets past those. So of what libFuzzer makes some is mended: the chain, what the head
 * says of the log, the checks, each or not; and now and then a number is one at a border, or
 * a string gets long. `skip` bytes stand before the store.
 */
#include "fuzz.h"

#include "store_internal.h"

/* libFuzzer's; not there when seeds are replayed, and then nobody calls the mutator. */
size_t LLVMFuzzerMutate(uint8_t *bytes, size_t len, size_t most) __attribute__((weak));
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t len, size_t most, unsigned int seed);

enum { MEND_CHAIN = 1, MEND_HEAD = 2, MEND_CHECKS = 4, MEND_NUMBER = 8, MEND_STRING = 48 };

struct mend_part {
	char *at, *end;
};

/* The next part, without the mark that ends it. */
static inline struct mend_part mend_take(struct mend_part *rest)
{
	char *stop = rest->at < rest->end
			     ? memmem(rest->at, (size_t)(rest->end - rest->at), "\n%%\n", 4)
			     : NULL;
	struct mend_part part = {rest->at, stop != NULL ? stop + 1 : rest->end};

	rest->at = stop != NULL ? stop + 4 : rest->end;
	return part;
}

/* Writes over what follows `name`, when there is room for it; where that is, or NULL. */
static inline char *mend_member(struct mend_part part, const char *name, const char *text,
				size_t len)
{
	char *at = part.at < part.end
			   ? memmem(part.at, (size_t)(part.end - part.at), name, strlen(name))
			   : NULL;

	if (at == NULL || (size_t)(part.end - at) < strlen(name) + len)
		return NULL;
	memcpy(at + strlen(name), text, len);
	return at;
}

/* One of the numbers becomes one at a border, where that has room: lines may have zeros before one,
 * head and key have blanks. */
static inline void mend_number(struct mend_part part, unsigned which, int filler)
{
	static const char *const names[] = {
		"\"seq\":", "\"bytes\":", "\"first\":", "\"sealed\":", "\"every\":"};
	static const char *const borders[] = {"0",
					      "1",
					      "1000001",
					      "9223372036854775807",
					      "18446744073709551615",
					      "18446744073709551616",
					      "18446744073709551617"};
	const char *name = names[which % 5], *border = borders[which / 5 % 7];
	char *at = mend_member(part, name, "", 0);

	if (at == NULL)
		return;
	at += strlen(name);
	size_t room = 0, len = strlen(border);
	while (at + room < part.end && (at[room] == ' ' || (at[room] >= '0' && at[room] <= '9')))
		room++;
	if (room < len)
		return;
	memset(at, filler, room - len);
	memcpy(at + room - len, border, len);
}

/* Each line's prev; the hash of the last line is left in `hash`. */
static inline void mend_chain(struct mend_part log, bool write, char hash[SHA256_HEX])
{
	bool is_first = true;

	for (char *line = log.at; line < log.end; is_first = false) {
		char *newline = memchr(line, '\n', (size_t)(log.end - line));
		char *stop = newline != NULL ? newline + 1 : log.end;

		if (write && !is_first)
			mend_member((struct mend_part){line, stop}, ",\"prev\":\"", hash,
				    SHA256_HEX - 1);
		sha256_hex_of(line, (size_t)(stop - line), hash);
		line = stop;
	}
}

static inline void mend_check(struct mend_part part)
{
	char hash[SHA256_HEX];
	const char *at = mend_member(part, ",\"check\":\"", "0123456789abcdef", 16);

	if (at == NULL)
		return;
	sha256_hex_of(part.at, (size_t)(at - part.at), hash);
	mend_member(part, ",\"check\":\"", hash, 16);
}

/* The next string behind `from` gets longer by so much. */
static inline size_t mend_string(uint8_t *bytes, size_t len, size_t most, size_t from, size_t by)
{
	uint8_t *at = memmem(bytes + from, len - from, "\":\"", 3);

	if (at == NULL || len + by > most)
		return len;
	at += 3;
	memmove(at + by, at, (size_t)(bytes + len - at));
	memset(at, 'a', by);
	return len + by;
}

static inline size_t mend_mutate(uint8_t *bytes, size_t len, size_t most, unsigned what,
				 size_t skip)
{
	char hash[SHA256_HEX] = "", size[24];

	len = LLVMFuzzerMutate(bytes, len, most);
	if (len <= skip)
		return len;
	if ((what & MEND_STRING) == MEND_STRING)
		len = mend_string(bytes, len, most, (what >> 6) % len, 1 + (what >> 10) % 200);
	struct mend_part rest = {(char *)bytes + skip, (char *)bytes + len};
	struct mend_part log = mend_take(&rest), head = mend_take(&rest), key = mend_take(&rest);
	if ((what & MEND_NUMBER) != 0) {
		mend_number(log, what >> 4, '0');
		mend_number((what & 0x10000) != 0 ? head : key, what >> 4, ' ');
	}
	mend_chain(log, (what & MEND_CHAIN) != 0, hash);
	if ((what & MEND_HEAD) != 0 && hash[0] != '\0') {
		snprintf(size, sizeof(size), "%20zu", (size_t)(log.end - log.at));
		mend_member(head, ",\"hash\":\"", hash, SHA256_HEX - 1);
		mend_member(head, ",\"bytes\":", size, 20);
	}
	if ((what & MEND_CHECKS) != 0) {
		mend_check(log); /* a head or a key alone */
		mend_check(head);
		mend_check(key);
	}
	return len;
}

#endif
