// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_NOTIFY_PRIVATE_H
#define SBOX_NOTIFY_PRIVATE_H

#include <linux/seccomp.h>
#include <stdbool.h>
#include <stdint.h>

#include "notify.h"

/* What the parts of notify share with one another and with nobody else. */

#define NOTIFY_HASH_START 0xcbf29ce484222325ULL
uint64_t notify_hash(uint64_t hash, const void *bytes, size_t length);

/* True while the request's task waits: what was read of it was really its own. */
bool notify_is_valid(const struct notify *notify, uint64_t id);

/* An execve or execveat that the supervisor is asked about. */
bool notify_is_exec(const struct seccomp_data *data);
/* Writes the exec down, unless no such program is there to be executed. */
void notify_exec(struct notify *notify, const struct seccomp_notif *request);
void notify_first_exec(struct notify *notify);

/* Writes a refused call down; errnum is what it is answered with. */
void notify_denial(struct notify *notify, const struct seccomp_notif *request, int errnum);

/* The process's id as seen inside, from /proc/PID/status; 0 when it cannot be read. */
pid_t notify_inner_pid(pid_t pid);

#endif
