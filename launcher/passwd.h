// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_PASSWD_H
#define SBOX_PASSWD_H

#include <stdbool.h>
#include <sys/types.h>

#include "arena.h"

/*
 * Entries of /etc/passwd. The launcher is static and loads no name service
 * modules: users of a directory service are known by number only.
 */
struct passwd_entry {
	const char *name;
	uid_t uid;
	gid_t gid;
};

bool passwd_by_name(struct arena *arena, const char *name, struct passwd_entry *ret_entry);
bool passwd_by_uid(struct arena *arena, uid_t uid, struct passwd_entry *ret_entry);

#endif
