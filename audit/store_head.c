// SPDX-License-Identifier: Apache-2.0
#include "store_internal.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/*
 * Fixed width, so that it is one small write over the old one, and a check over
 * the rest, so that a mixture of two writes is not believed. Only a hint: when
 * it is not there or does not fit the log, the log's own end is read.
 */
enum { HEAD_SIZE = 159 };

static void head_format(char text[HEAD_SIZE + 1], const struct store_tail *tail)
{
	char check[SHA256_HEX];
	int len = snprintf(text, HEAD_SIZE + 1, "{\"seq\":%20llu,\"hash\":\"%s\",\"bytes\":%20llu",
			   (unsigned long long)tail->seq, tail->hash,
			   (unsigned long long)tail->bytes);

	sha256_hex_of(text, (size_t)len, check);
	snprintf(text + len, (size_t)(HEAD_SIZE + 1 - len), ",\"check\":\"%.16s\"}\n", check);
}

int store_head_read(const struct store *store, struct store_tail *ret, struct error *err)
{
	char text[HEAD_SIZE + 1], again[HEAD_SIZE + 1];
	unsigned long long seq, bytes;
	ssize_t len = pread(store->head_fd, text, HEAD_SIZE + 1, 0);

	if (len < 0)
		return store_fail(err, "audit store %s/head: cannot read", store->dir);
	if (len != HEAD_SIZE)
		return 0;
	text[HEAD_SIZE] = '\0';
	struct store_tail tail = {0};
	if (sscanf(text, "{\"seq\":%20llu,\"hash\":\"%64[0-9a-f]\",\"bytes\":%20llu", &seq,
		   tail.hash, &bytes) != 3)
		return 0;
	tail.seq = seq;
	tail.bytes = bytes;
	head_format(again, &tail);
	if (memcmp(text, again, HEAD_SIZE) != 0)
		return 0;
	*ret = tail;
	return 1;
}

/* The record is written already: a head that could not be is rebuilt from the log. */
void store_head_write(const struct store *store, const struct store_tail *tail)
{
	char text[HEAD_SIZE + 1];

	head_format(text, tail);
	if (pwrite(store->head_fd, text, HEAD_SIZE, 0) != HEAD_SIZE)
		(void)!ftruncate(store->head_fd, 0);
}
