// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_EXPLAIN_H
#define SBOX_EXPLAIN_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "arena.h"
#include "error.h"
#include "profile_save.h"

/*
 * sbox explain: what a run asked for, what was enforced, what was refused in
 * which order, and the smallest change to the profile that lets it through. All of it
 * comes from the record; a change is made of the lines that the denials name.
 */

/* One line that a denial names: "[file] read = /data". */
struct change {
	const char *section, *key, *value;
	const struct key *known; /* of this sbox's profiles */
};

struct explain {
	struct arena *arena;
	json_t *start, *end; /* the run's records; end NULL: it has none */
	const char *run, *state;
	struct change *changes;
	size_t change_count;
	/* Lines that are a person's to decide: only with --all. */
	struct change *left_out;
	size_t left_out_count;
	struct profile_save save; /* the file whose change it is */
	const char *after;
	const char *diff; /* "" when nothing changes */
};

/* explain_change.c: fills changes and left_out from the denials. */
void explain_find_changes(struct explain *explain, const struct profile_context *context, bool all);
/* explain_person.c: it opens a network, takes a protection away, names what may be a secret, or
 * makes the profile wider than it looks. */
bool explain_is_for_a_person(struct explain *explain, const struct profile_context *context,
			     const struct change *change);

/* explain_edit.c: the text with the changes in it; comments and order stay. */
const char *explain_edit(struct arena *arena, const char *text, const struct change *changes,
			 size_t count);
/* explain_print.c */
void explain_print(const struct explain *explain);
void explain_print_json(const struct explain *explain);

#endif
