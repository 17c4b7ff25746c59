// SPDX-License-Identifier: Apache-2.0
#include "store_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record.h"

/* A line in full, from malloc; the store's own members come first. */
static char *line_make(const struct store_tail *tail, const char *body, size_t *ret_len)
{
	size_t room = strlen(body) + 160;
	char *line = malloc(room);

	if (line == NULL)
		abort();
	int len = snprintf(line, room, "{\"v\":%d,\"seq\":%llu,\"prev\":\"%s\",%s\n",
			   RECORD_VERSION, (unsigned long long)tail->seq + 1, tail->hash, body + 1);
	if (len < 0 || (size_t)len >= room)
		abort();
	*ret_len = (size_t)len;
	return line;
}

static int write_once(int fd, const char *line, size_t len, bool durable)
{
	if (store_write_all(fd, line, len) < 0)
		return -1;
	return durable ? fdatasync(fd) : 0;
}

/* All of the line, or nothing of it. */
static int line_write(struct store *store, const struct store_tail *tail, const char *line,
		      size_t len, bool durable, struct error *err)
{
	for (;;) {
		if (write_once(store->log_fd, line, len, durable) == 0)
			return 0;
		int saved = errno;

		/* should this fail too, then the next append finds a torn tail and repairs it */
		if (ftruncate(store->log_fd, (off_t)tail->bytes) == 0 &&
		    (saved == ENOSPC || saved == EDQUOT) && store_reserve_release(store))
			continue;
		errno = saved;
		return store_fail(err, "audit store %s/log.jsonl: cannot write a record",
				  store->dir);
	}
}

int store_line_append(struct store *store, struct store_tail *tail, const char *body, bool durable,
		      struct error *err)
{
	size_t len;
	char *line = line_make(tail, body, &len);
	int rc = line_write(store, tail, line, len, durable, err);

	if (rc == 0) {
		tail->seq++;
		tail->bytes += len;
		sha256_hex_of(line, len, tail->hash);
		store_head_write(store, tail);
	}
	free(line);
	return rc;
}

int store_append(struct store *store, const char *body, bool durable, struct error *err)
{
	struct store_tail tail;

	/* an impossible state: the renderer makes neither */
	if (body[0] != '{' || body[1] != '"' || strchr(body, '\n') != NULL)
		abort();
	if (store_lock(store, err) < 0)
		return -1;
	int rc = store_tail_find(store, &tail, err);
	if (rc == 0)
		rc = store_line_append(store, &tail, body, durable, err);
	store_unlock(store);
	return rc;
}
