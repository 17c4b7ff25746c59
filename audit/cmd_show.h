// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_AUDIT_CMD_SHOW_H
#define SBOX_AUDIT_CMD_SHOW_H

#include "cmd.h"

/* The parts of `sbox audit show`: each prints some members of a record. */
struct show {
	struct arena *arena;
	struct store *store;
	bool is_changed; /* something kept is not what the record says */
};

/* "name      text"; every argument is safe text already. */
void show_field(struct show *show, const char *name, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

void show_start(struct show *show, const json_t *start, const json_t *end);
void show_enforced(struct show *show, const json_t *start);
/* run.end's "network"; nothing when it is null. */
void show_network(struct show *show, const json_t *network);
void show_end(struct show *show, const json_t *end);
/* Kept program text and output. Either record may be NULL. */
void show_kept(struct show *show, const json_t *start, const json_t *end);

#endif
