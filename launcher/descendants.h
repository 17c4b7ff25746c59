// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_DESCENDANTS_H
#define SBOX_DESCENDANTS_H

#include <sys/types.h>

/*
 * Runs `each` on `top` and everything that descends from it, in order of pid, by the
 * host's /proc: the tree of a run that has no pid namespace. Its top is a subreaper, so
 * nothing gets out of that tree. Processes beyond some thousands are left out.
 */
void descendants_each(int proc_fd, pid_t top, void (*each)(void *arg, pid_t pid), void *arg);

#endif
