// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_IDENTITY_H
#define SBOX_IDENTITY_H

#include "boundary.h"

/*
 * Who the program is on the host. An ordinary caller: the caller. Root: a uid
 * and gid of the run's own, leased by a locked file in LEASE_DIR for as long as
 * `ret_lease_fd` is open, or the named user of [privilege] user.
 */
#define LEASE_DIR   "/run/sbox/leases"
#define LEASE_FIRST 1900000000U /* above systemd's container range, below 2^31 */
#define LEASE_COUNT 65536U

int identity_take(struct arena *arena, const struct profile *profile, const struct host *host,
		  struct identity *ret_identity, int *ret_lease_fd, struct error *err);
/* Root only: a uid for a process of sbox's own; the lock is closed by identity_unlease(). */
int identity_lease(uid_t *ret_uid, int *ret_lease_fd, struct error *err);
void identity_unlease(uid_t uid, int lease_fd);
/* A pipe of the program's: /dev/stderr, /dev/stdin and the like open it again, by its owner. */
void identity_give(const struct identity *identity, int fd);
void identity_release(const struct identity *identity, int lease_fd);

#endif
