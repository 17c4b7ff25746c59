// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_APPARMOR_H
#define SBOX_APPARMOR_H

#include "boundary.h"

/* The privilege boundary's part about [privilege] apparmor. */
void apparmor_plan(const struct profile *profile, const struct host *host, struct plan *plan);
void apparmor_arm(struct arm *arm);

#endif
