// SPDX-License-Identifier: Apache-2.0
#include "store.h"

#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

/* 26 digits of 5 bits hold 130: the two highest stay 0, as in a ULID. */
void run_id_make(char id[27])
{
	static const char digits[] = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
	unsigned char random[10];
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	uint64_t time_ms = (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;

	if (getrandom(random, sizeof(random), 0) != sizeof(random))
		abort();
	for (int i = 0; i < 10; i++)
		id[i] = digits[time_ms >> (45 - 5 * i) & 31];
	for (int half = 0; half < 2; half++) {
		uint64_t bits = 0;

		for (int i = 0; i < 5; i++)
			bits = bits << 8 | random[half * 5 + i];
		for (int i = 0; i < 8; i++)
			id[10 + half * 8 + i] = digits[bits >> (35 - 5 * i) & 31];
	}
	id[26] = '\0';
}
