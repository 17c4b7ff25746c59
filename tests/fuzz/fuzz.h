// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_FUZZ_H
#define SBOX_FUZZ_H

/*
 * A target is one function that is given bytes: whatever they are, nothing crashes, hangs or reads
 * beyond them, and what has to hold of the result does (REQUIRE). `make fuzz` links it with
 * libFuzzer, `make check` with replay.c, which feeds it all seeds and past findings.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

#define REQUIRE(condition)                                                                         \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__,          \
				#condition);                                                       \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

/* What is left of the bytes. */
struct fuzz_input {
	const uint8_t *at, *end;
};

static inline size_t fuzz_left(const struct fuzz_input *input)
{
	return (size_t)(input->end - input->at);
}

static inline uint8_t fuzz_byte(struct fuzz_input *input)
{
	return input->at < input->end ? *input->at++ : 0;
}

static inline uint16_t fuzz_short(struct fuzz_input *input)
{
	uint8_t high = fuzz_byte(input);

	return (uint16_t)(high << 8 | fuzz_byte(input));
}

/* A piece up to `mark`, which is skipped, or all that is left; of just that size, from malloc, with
 * a NUL behind it. */
static inline char *fuzz_piece(struct fuzz_input *input, int mark, size_t *ret_len)
{
	const uint8_t *stop =
		fuzz_left(input) > 0 ? memchr(input->at, mark, fuzz_left(input)) : NULL;
	size_t len = stop != NULL ? (size_t)(stop - input->at) : fuzz_left(input);
	char *piece = malloc(len + 1);

	if (piece == NULL)
		abort();
	if (len > 0)
		memcpy(piece, input->at, len);
	piece[len] = '\0';
	input->at += len + (stop != NULL);
	if (ret_len != NULL)
		*ret_len = len;
	return piece;
}

/* A copy of just its size, so that reading behind it is seen. */
static inline void *fuzz_copy(const void *bytes, size_t len)
{
	void *copy = calloc(1, len > 0 ? len : 1);

	if (copy == NULL)
		abort();
	if (len > 0)
		memcpy(copy, bytes, len);
	return copy;
}

/* All that is left, as a string: it ends at the first NUL. */
static inline char *fuzz_rest(struct fuzz_input *input)
{
	return fuzz_piece(input, '\0', NULL);
}

#endif
