// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_VERBS_H
#define SBOX_VERBS_H

#include "options.h"

/* The verbs that do not run a program; each returns the exit status. */
int verb_run(struct arena *arena, const struct options *options);

#endif
