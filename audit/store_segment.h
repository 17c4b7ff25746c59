// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_STORE_SEGMENT_H
#define SBOX_STORE_SEGMENT_H

#include <stddef.h>
#include <stdint.h>

#include "store.h"

/*
 * The log is a row of files. log.jsonl is the one that grows; when it is large or
 * old it becomes log-N.jsonl, N being the number of its first record in 20 digits,
 * so that names sort by age. The last line of the old file, log.closed, names that
 * file's successor; the first line of the new one, log.opened, names its predecessor
 * and that one's last record. The chain runs through.
 */
struct store_segment {
	char name[40];
	uint64_t first_seq; /* from its name; 0 for log.jsonl */
	uint64_t bytes;
	int64_t changed; /* seconds since the epoch */
};

struct store_segments {
	struct store_segment *item; /* oldest first; the last one is log.jsonl */
	size_t count;
};

/* From malloc: store_segments_free(). A log.jsonl that is not there counts as empty. */
int store_segments_list(const struct store *store, struct store_segments *ret, struct error *err);
void store_segments_free(struct store_segments *segments);

enum { STORE_SEGMENT_NAME = 40 };
void store_segment_name(char name[STORE_SEGMENT_NAME], uint64_t first_seq);

#endif
