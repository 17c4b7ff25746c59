// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_STORE_PRUNE_H
#define SBOX_STORE_PRUNE_H

#include <stdbool.h>
#include <stdint.h>

#include "store_segment.h"

/* What the store holds: what may go, and how much it all is. */

enum { STORE_KEPT_NAME = 129 };

struct store_kept {
	char *name; /* in output/ or scripts/ */
	bool is_script;
	uint64_t bytes;  /* on disk */
	int64_t changed; /* seconds since the epoch: when it was kept last */
};

struct store_contents {
	struct store_kept *files; /* oldest first */
	size_t file_count;
	struct store_segments segments;
	uint64_t bytes; /* of both */
};

int store_contents_list(const struct store *store, struct store_contents *ret, struct error *err);
void store_contents_free(struct store_contents *contents);

/* "output/NAME" */
void store_kept_path(const struct store_kept *file, char path[STORE_KEPT_NAME + 16]);

/* Number and prev of a segment's first record. */
int store_segment_start(struct store *store, const struct store_segment *segment, uint64_t *ret_seq,
			char ret_prev[65], struct error *err);

#endif
