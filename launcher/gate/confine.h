// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_CONFINE_H
#define SBOX_CONFINE_H

#include "protocol.h"

/*
 * The gate reads what the program and the network send, so it keeps nothing that it does not need:
 * no file, no capability, no new privilege, no other process, no socket that listens.
 */

/* First thing: only 0, 1, 2 and the control socket stay open; no environment. 0, or -1 and errno.
 */
int confine_begin(void);
/* The user, the parent's death, descriptors; -1 and the fault. */
int confine_identity(const struct gate_setup *setup, struct gate_failed *failed);
/* Connections that the descriptors allow, at most `wanted`. */
uint32_t confine_descriptors(uint32_t wanted);
/* Landlock and the system calls, for good. */
int confine_end(struct gate_failed *failed);

#endif
