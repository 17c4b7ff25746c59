// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_TEXT_DIFF_H
#define SBOX_TEXT_DIFF_H

#include "arena.h"

/* What changed between two texts of lines: unified, three lines of context, as patch(1) takes
 * it; "" when they are equal. Lives in the arena. */
const char *text_diff(struct arena *arena, const char *old_name, const char *new_name,
		      const char *before, const char *after);

#endif
