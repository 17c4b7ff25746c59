// SPDX-License-Identifier: Apache-2.0
#include "store_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Fixed width, so that it is one small write over the old one, and a check over
 * the rest, so that a mixture of two writes is not believed. Only a hint: when
 * it is not there or does not fit the log, the log's own end is read.
 */
enum { HEAD_SIZE = 247 };

static void head_format(char text[HEAD_SIZE + 1], const struct store_tail *tail)
{
	char check[SHA256_HEX];
	int len = snprintf(text, HEAD_SIZE + 1,
			   "{\"seq\":%20llu,\"hash\":\"%s\",\"bytes\":%20llu,\"first\":%20llu,"
			   "\"since\":%20llu,\"sealed\":%20llu",
			   (unsigned long long)tail->seq, tail->hash,
			   (unsigned long long)tail->bytes, (unsigned long long)tail->first,
			   (unsigned long long)tail->since, (unsigned long long)tail->sealed);

	sha256_hex_of(text, (size_t)len, check);
	len += snprintf(text + len, (size_t)(HEAD_SIZE + 1 - len), ",\"check\":\"%.16s\"}\n",
			check);
	if (len != HEAD_SIZE)
		abort();
}

bool store_head_parse(const char *text, size_t len, struct store_tail *ret)
{
	char copy[HEAD_SIZE + 1], again[HEAD_SIZE + 1];
	unsigned long long seq, bytes, first, since, sealed;
	struct store_tail tail = {0};

	if (len != HEAD_SIZE)
		return false;
	memcpy(copy, text, HEAD_SIZE);
	copy[HEAD_SIZE] = '\0';
	if (sscanf(copy,
		   "{\"seq\":%20llu,\"hash\":\"%64[0-9a-f]\",\"bytes\":%20llu,\"first\":%20llu,"
		   "\"since\":%20llu,\"sealed\":%20llu",
		   &seq, tail.hash, &bytes, &first, &since, &sealed) != 6 ||
	    strlen(tail.hash) != sizeof(tail.hash) - 1 || seq > STORE_SEQ_MAX ||
	    sealed > STORE_SEQ_MAX)
		return false;
	tail.seq = seq;
	tail.bytes = bytes;
	tail.first = first;
	tail.since = since;
	tail.sealed = sealed;
	head_format(again, &tail);
	if (memcmp(copy, again, HEAD_SIZE) != 0)
		return false;
	*ret = tail;
	return true;
}

int store_head_read(const struct store *store, struct store_tail *ret, struct error *err)
{
	char text[HEAD_SIZE + 1];
	ssize_t len = pread(store->head_fd, text, sizeof(text), 0);

	if (len < 0)
		return store_fail(err, "audit store %s/head: cannot read", store->dir);
	return store_head_parse(text, (size_t)len, ret) ? 1 : 0;
}

/* The record is written already: a head that could not be is rebuilt from the log. */
void store_head_write(const struct store *store, const struct store_tail *tail)
{
	char text[HEAD_SIZE + 1];

	head_format(text, tail);
	if (pwrite(store->head_fd, text, HEAD_SIZE, 0) != HEAD_SIZE)
		(void)!ftruncate(store->head_fd, 0);
}
