// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_NEAREST_H
#define SBOX_NEAREST_H

#include <stddef.h>

/*
 * "Did you mean": feed it every right name, then read `best`, which is NULL
 * when nothing is near enough to be a slip of the fingers. A swap of two
 * neighbours counts as one slip.
 */
struct nearest {
	const char *wanted; /* what was written */
	const char *best;   /* as given to nearest_consider, not copied */
	size_t distance;    /* of best */
};

/* True when the candidate became the best one. */
int nearest_consider(struct nearest *nearest, const char *candidate);

#endif
