// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_ANSWER_H
#define SBOX_ANSWER_H

#include <stddef.h>
#include <stdint.h>

enum { ANSWER_BACK_BYTES = 256 };

/*
 * Judges a DNS message and answers it by calling send(back, bytes, len), at once or when the name
 * servers have spoken, once in any case; len 0: no answer. `back` is copied.
 */
void answer(const uint8_t *bytes, size_t len,
	    void (*send)(const void *back, const uint8_t *bytes, size_t len), const void *back,
	    size_t back_len);

#endif
