// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_SYSCALLS_H
#define SBOX_SYSCALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"
#include "plan_item.h"
#include "profile.h"

/*
 * Which system calls there are. Every call that a native Linux kernel has is
 * in exactly one leaf set; a group is made of sets ("@default"). What a set
 * says of its members: whose boundary it is, the errno with which a call is
 * refused, and whether a profile may add it at all.
 */
struct syscall_set {
	const char *name; /* "@io" */
	const char *help;
	const char *members; /* names with spaces between them: calls, or "@sets" for a group */
	enum boundary boundary;
	int errnum;
	bool absent; /* answered like a kernel that lacks it: not a denial, nothing is recorded */
	const char *never; /* why no profile may add it, or NULL */
};

extern const struct syscall_set syscall_sets[]; /* ends with a NULL name */

/* Numbers are below this on every architecture that sbox is built for. */
enum { SYSCALL_NUMBERS = 512 };

/* Small, because every page that is touched for the first time costs. */
struct syscall_info {
	uint8_t set;    /* index in syscall_sets */
	uint8_t length; /* of the name; 0: there is no such call */
	uint16_t at;    /* where the name begins in the set's members */
};

/*
 * All numbers of the running architecture. Filled at the first call (not in two
 * threads at once), then never changed; that takes some 15 µs, since libseccomp
 * resolves every name.
 */
const struct syscall_info *syscall_table(void);
/* By number, or NULL when there is no such call. */
const struct syscall_info *syscall_find(int number);
/* Copies the name; "" when there is no such call. */
enum { SYSCALL_NAME_MAX = 32 };
const char *syscall_name(int number, char buf[SYSCALL_NAME_MAX]);

/* The native number, or -1: a known name that this architecture does not have. */
int syscall_number(const char *name);

/* The set or group of this name ("@io"), or NULL. */
const struct syscall_set *syscall_set_find(const char *name);
/* The leaf set that a call is in, or NULL for an unknown name. */
const struct syscall_set *syscall_set_of(const char *name);
bool syscall_set_is_group(const struct syscall_set *set);

/* Walks names with spaces between them: copies the next one into buf, "" at the end. */
const char *syscall_next_name(const char *members, char buf[SYSCALL_NAME_MAX]);

/*
 * Applies [privilege] syscalls in order, a later entry over an earlier one:
 * ret_allowed[number] becomes true or false. What no program can start or end
 * without is always allowed; taking it out is an error, so is adding what no
 * profile may add, and an unknown name.
 */
int syscalls_select(const struct string_list *entries, bool ret_allowed[SYSCALL_NUMBERS],
		    struct error *err);

#endif
