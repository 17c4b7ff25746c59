// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_FOLD_PRIVATE_H
#define SBOX_FOLD_PRIVATE_H

#include "fold.h"

/* What the parts of fold share with one another and with nobody else. */

/* What one use needs: some path, by all its names. */
struct need {
	const struct use *use;
	enum rank rank;
	bool in_folder; /* the folder that it is in, since a name there comes or goes */
	bool listed, looked;
};

struct folding {
	const struct fold_world *world;
	struct folded *folded;
	size_t looked; /* lines for files that were only looked at */
};

/* Where it really is. */
const char *fold_real(const struct use *use);
/* False: it needs nothing. */
bool fold_need(const struct use *use, struct need *ret);
/* By one of the use's names: that path, or the folder that it is in. */
const char *fold_wanted(const struct folding *folding, const struct need *need, const char *name);
/* Why it gets no line, or NULL. */
const char *fold_fault(const struct folding *folding, const struct need *need);
bool fold_is_given(struct folding *folding, const char *path, enum rank rank);
/* Below a line, or below what a line is called on the way to where it leads. */
bool fold_is_granted(const struct folding *folding, const char *path, enum rank rank);
/* fold_links.c */
void fold_take_links(struct folding *folding, const struct use *use);
void fold_drop_targets(struct folding *folding);

#endif
