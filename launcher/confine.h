// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_CONFINE_H
#define SBOX_CONFINE_H

#include <linux/filter.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "error.h"
#include "filter_code.h"

/*
 * The supervisor's own confinement. It reads what a hostile program gives it, so before the
 * program is let go it gives up what a run does not need any more: no_new_privs, capabilities, and
 * every system call that is not in confine_calls.c. A call from outside that list ends sbox (and
 * with it the sandbox) rather than fail: an error could lose a record silently, a run without an
 * end is seen.
 */

/* Reasons to need more than every run does. */
enum {
	CONFINE_TERMINAL = 1U << 0, /* job control: its guard and its watch are processes */
	CONFINE_GATE = 1U << 1,     /* that does not end is killed */
	CONFINE_CGROUP = 1U << 2,   /* what is left in it is killed, and it is removed */
	CONFINE_FOLDERS =
		1U << 3,        /* of the program's own are emptied: scratch on the host, a cache */
	CONFINE_HOLD = 1U << 4, /* protected names may have to be renamed */
	CONFINE_GROWTH = 1U << 5, /* files without a name are looked for */
	CONFINE_ANCHOR = 1U << 6, /* the end of the record gets a line in the system's log */
};

struct confine_needs {
	unsigned reasons;
	int init_pidfd; /* the one that may be signalled, and never closed */
	pid_t gate_pid;
};

/* The filter for a run with these needs; it lies in `code`. */
void confine_build(const struct confine_needs *needs, struct code *code,
		   struct sock_fprog *ret_program);

/* The capabilities that root keeps for them, as a mask. */
uint64_t confine_capabilities(unsigned reasons);

struct run;

/* All of it, once: before the program is let go or, where its network is made late, before its
 * first socket is. What is asked of sbox afterwards is in the list, or is a reason above. */
int confine_supervisor(struct run *run, struct error *err);

#endif
