// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_LEARN_MERGE_H
#define SBOX_LEARN_MERGE_H

#include "learn.h"

/* What an earlier profile allowed stays allowed: its lines, rules and limits are added. */
void learn_merge(struct learn *learn, const struct profile *earlier);

#endif
