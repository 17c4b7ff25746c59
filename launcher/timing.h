// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_TIMING_H
#define SBOX_TIMING_H

#include <stddef.h>
#include <stdint.h>

#include "arena.h"
#include "record.h"

/*
 * When which stream moved how many bytes, for replay: one list for all streams of a run, so that
 * the order between them is known. Every byte is in exactly one step. What comes within a
 * millisecond on one stream is one step. Bounded: the first TIMING_HALF steps and the last ones
 * are kept, those between become one step a stream.
 */
enum { TIMING_STREAMS = 3, TIMING_HALF = 8192, TIMING_JOIN_US = 1000 };

struct timing_step {
	uint64_t at_us : 62, stream : 2; /* 0, 1, 2: stdin, stdout, stderr */
	uint64_t bytes;
};

struct timing {
	struct timing_step *steps;    /* first half, then a ring; NULL until something moves */
	size_t head, tail, tail_next; /* steps in each; where the next one goes */
	uint64_t start_us, middle_us; /* when the first of the joined ones came */
	uint64_t middle[TIMING_STREAMS];
};

/* Delays count from here. */
void timing_start(struct timing *timing);
void timing_add(struct timing *timing, unsigned int stream, uint64_t bytes);
/* All steps in order, in the arena. */
size_t timing_steps(const struct timing *timing, struct arena *arena,
		    const struct record_step **ret_steps);
/* The same as text: "sbox-timing 1", then a line "DELAY_US STREAM BYTES" a step. */
char *timing_text(struct arena *arena, const struct record_step *steps, size_t count);
void timing_free(struct timing *timing);

#endif
