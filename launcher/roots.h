// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_ROOTS_H
#define SBOX_ROOTS_H

#include "arena.h"
#include "error.h"
#include "host.h"
#include "store.h"

/*
 * Two runs that write to one tree can hand each other a UNIX socket or a FIFO in it, and
 * with it what only one of them may reach. So the trees under `write` are
 * leased by network policy (the mode, and with mode allow the rules): runs of one policy share
 * a tree, a run of another policy is refused as long as they live (also for a folder above or
 * below).
 *
 * The lease is a shared lock on STORE/roots/DEVICE-INODE.POLICY, and on
 * .POLICY.below of every folder above; it goes with the process. 0 or -1 with
 * ERROR_MISSING.
 */
int roots_lease(struct arena *arena, struct store *store, const struct path_facts *roots,
		const struct profile *profile, struct error *err);

#endif
