// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_FILTER_H
#define SBOX_FILTER_H

#include <linux/filter.h>
#include <stdbool.h>
#include <stdint.h>

#include "arena.h"
#include "error.h"
#include "filter_args.h"
#include "profile.h"

/*
 * The seccomp program, built in the parent. Answers, and only these:
 *
 *   allowed                 SECCOMP_RET_ALLOW
 *   known and not allowed   a user notification; the supervisor writes the
 *                           denial down and answers with an errno. Without a
 *                           listener: that errno from the filter itself.
 *   unknown number          ENOSYS, so that libc falls back
 *   clone3                  ENOSYS: its flags lie behind a pointer
 *   foreign architecture    as "known and not allowed"; x32 numbers are unknown ones
 *
 * An exec that is not allowed is the exception: the filter answers EPERM
 * itself, because the supervisor answers every exec it sees with "continue".
 */
struct filter_policy {
	const struct string_list
		*syscalls; /* [privilege] syscalls: names, @sets, !name; later over earlier */
	enum network_mode network; /* decides the socket families */
	bool listener;             /* a supervisor answers notifications */
	bool trap_exec;            /* execve, execveat go through the supervisor */
	/*
	 * An execve with this in its sixth register, which the call does not have, is not
	 * asked about: sbox's own, whose path and arguments are known. A random number,
	 * which the exec itself wipes out; 0: every exec is asked about.
	 */
	uint64_t exec_mark;
	/*
	 * Calls on paths, and of connect and bind, go through the supervisor, which looks whether
	 * a boundary is about to refuse them and answers "continue" whatever it finds:
	 * it explains, the kernel decides.
	 */
	enum arg_ask ask;
	bool *passes; /* SYSCALL_NUMBERS of them, filled by filter_build: what is allowed at all,
			 arguments aside; NULL: nothing is ever asked about */
	/*
	 * The network is set up at its first socket: each socket(2) that the filter allows and that
	 * sees the network (UNIX does not) goes through the supervisor, with or without `listener`.
	 * It answers "continue" whatever the arguments are: that a call comes is all it is told.
	 */
	bool late_network;
	bool refuse_memfd; /* memory is sampled: memfd_create and shmget would not be seen */
	/* There is no network namespace of the run's own: unless the mode is host, INET
	 * and NETLINK sockets are refused by family. */
	bool shared_network;
	bool refuse_unix; /* nor UNIX sockets, except in pairs: the host's would be in reach */
	bool refuse_ipc; /* no ipc namespace: System V IPC and message queues would be the host's */
	bool refuse_others;   /* no pid namespace: others' limits could be changed */
	bool refuse_truncate; /* by path: Landlock does not see it, and nothing else is in the way
			       */
};

/* Errors: ERROR_PROFILE for an unknown name or set (nearest name given). */
int filter_build(struct arena *arena, const struct filter_policy *policy,
		 struct sock_fprog *ret_program, struct error *err);

/* The errno with which a refused call is answered, and why. Shared by the
 * filter (no listener), the supervisor and the documentation. */
int filter_refusal_errno(uint32_t arch, int nr, const uint64_t args[6]);

/* The argument rule that refuses, or NULL: the call is refused by its number. nr is
 * native. Without the policy (NULL) the stricter rules are read. */
const struct arg_row *filter_refusing_row(const struct filter_policy *policy, int nr,
					  const uint64_t args[6]);
bool filter_is_native(uint32_t arch);
/* The filter allows the call, and only asks about it: never true of one that it refuses. */
bool filter_is_question(const struct filter_policy *policy, uint32_t arch, int nr,
			const uint64_t args[6]);

/* The same of a socket that waits for the network. */
bool filter_wants_network(const struct filter_policy *policy, uint32_t arch, int nr,
			  const uint64_t args[6]);

/* Runs the program over one seccomp_data as the kernel would; for tests and `show`. */
uint32_t filter_simulate(const struct sock_fprog *program, uint32_t arch, int nr,
			 const uint64_t args[6]);

#endif
