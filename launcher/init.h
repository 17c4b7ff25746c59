// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_INIT_H
#define SBOX_INIT_H

#include <stdbool.h>

#include "child.h"

/* init_keeper.c: kills and reaps everything else in the sandbox, where no pid namespace does. */
void init_sweep(const struct child *child);

#endif
