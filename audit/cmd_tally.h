// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_AUDIT_CMD_TALLY_H
#define SBOX_AUDIT_CMD_TALLY_H

#include <stddef.h>
#include <stdint.h>

#include "cmd.h"

/* How often each text was seen. Zeroes are an empty one. */
struct tally_item {
	char *text; /* own; NULL: a free slot */
	size_t len;
	uint64_t count, number; /* how often; which of all, in the order of adding */
};

struct tally {
	struct tally_item *items; /* a hash table, until tally_sort() */
	size_t size, used;
};

/* Gives the text's number. */
uint64_t tally_add(struct tally *tally, struct bytes text, uint64_t count);
bool tally_has(struct tally *tally, struct bytes text);
/* The most frequent first, then by text; nothing can be added any more. How many there are. */
size_t tally_sort(struct tally *tally);
size_t tally_sort_by_number(struct tally *tally);
void tally_free(struct tally *tally);

#endif
