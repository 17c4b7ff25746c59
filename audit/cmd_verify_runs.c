// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include "cmd_verify.h"

/* Runs with a start and no end so far: an open-addressing table of their ids. */

enum { ID = 26, FREED = 1 };

static size_t slot_of(const struct open_runs *runs, const char id[ID])
{
	uint64_t mixed = 0;

	/* the last characters are random */
	for (int i = ID - 12; i < ID; i++)
		mixed = mixed * 31 + (unsigned char)id[i];
	return (size_t)(mixed * 0x9e3779b97f4a7c15 >> 20) & (runs->room - 1);
}

static void insert(struct open_runs *runs, const char *id)
{
	size_t at = slot_of(runs, id);

	while (runs->slot[at][0] != '\0')
		at = (at + 1) & (runs->room - 1);
	memcpy(runs->slot[at], id, ID);
	runs->used++;
}

/* Freed slots go, and half of the table is free again. */
static void rebuild(struct open_runs *runs)
{
	struct open_runs old = *runs;

	while (runs->room < 4 * (old.count + 16))
		runs->room = runs->room == 0 ? 64 : 2 * runs->room;
	runs->slot = calloc(runs->room, sizeof(*runs->slot));
	if (runs->slot == NULL)
		abort();
	runs->used = 0;
	for (size_t i = 0; i < old.room; i++)
		if (old.slot[i][0] != '\0' && old.slot[i][0] != FREED)
			insert(runs, old.slot[i]);
	free(old.slot);
}

void runs_open(struct open_runs *runs, const char id[ID])
{
	if (2 * (runs->used + 1) >= runs->room)
		rebuild(runs);
	insert(runs, id);
	runs->count++;
}

void runs_close(struct open_runs *runs, const char id[ID])
{
	if (runs->room == 0)
		return;
	for (size_t at = slot_of(runs, id); runs->slot[at][0] != '\0';
	     at = (at + 1) & (runs->room - 1))
		if (memcmp(runs->slot[at], id, ID) == 0) {
			runs->slot[at][0] = FREED;
			runs->count--;
			return;
		}
}
