// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_LEARN_WORLD_H
#define SBOX_LEARN_WORLD_H

#include "host.h"
#include "learn.h"

/* This machine, as the fold asks about it. learn_world.c */

enum { MEMO = 4096 };

struct machine {
	struct learn *learn;
	struct host host;
	struct fold_world world;
	struct {
		const char *path;
		struct string_list names;
	} memo[MEMO]; /* of machine_names() */
};

/* Fills the functions of `world`. */
void machine_begin(struct machine *machine);
struct string_list machine_names(struct machine *machine, const char *path);
/* What the run was refused of paths, from the record: left out, and said. */
void machine_add_refused(struct machine *machine);

#endif
