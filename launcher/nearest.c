// SPDX-License-Identifier: Apache-2.0
#include "nearest.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* Longer names than this are not typed by hand. */
enum { NAME_MAX_LENGTH = 40 };

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

static int differ(char a, char b)
{
	return tolower((unsigned char)a) != tolower((unsigned char)b);
}

/* Insertions, deletions, changes and swaps of neighbours, by the usual table. */
static size_t edit_distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
	size_t table[NAME_MAX_LENGTH + 1][NAME_MAX_LENGTH + 1];

	for (size_t i = 0; i <= a_len; i++)
		table[i][0] = i;
	for (size_t j = 0; j <= b_len; j++)
		table[0][j] = j;
	for (size_t k = 0; k < a_len * b_len; k++) {
		size_t i = k / b_len + 1, j = k % b_len + 1;
		int changed = differ(a[i - 1], b[j - 1]);
		size_t best = least(table[i - 1][j], table[i][j - 1]) + 1;

		best = least(best, table[i - 1][j - 1] + (size_t)changed);
		if (i > 1 && j > 1 && !differ(a[i - 1], b[j - 2]) && !differ(a[i - 2], b[j - 1]))
			best = least(best, table[i - 2][j - 2] + 1);
		table[i][j] = best;
	}
	return table[a_len][b_len];
}

int nearest_consider(struct nearest *nearest, const char *candidate)
{
	size_t wanted_len = strlen(nearest->wanted), len = strlen(candidate);

	if (wanted_len == 0 || len == 0 || wanted_len > NAME_MAX_LENGTH || len > NAME_MAX_LENGTH)
		return 0;
	size_t distance = edit_distance(nearest->wanted, wanted_len, candidate, len);
	size_t allowed = wanted_len < 3 ? 1 : (wanted_len + 2) / 3;

	/* A beginning is near as well: "mem". */
	if (wanted_len >= 3 && strncasecmp(nearest->wanted, candidate, wanted_len) == 0)
		distance = least(distance, allowed);
	/* Everything changed is not near, however short. */
	if (distance > allowed || distance >= len || distance >= wanted_len)
		return 0;
	if (nearest->best != NULL && distance >= nearest->distance)
		return 0;
	nearest->best = candidate;
	nearest->distance = distance;
	return 1;
}
