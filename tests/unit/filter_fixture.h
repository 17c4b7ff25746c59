// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_FILTER_FIXTURE_H
#define SBOX_FILTER_FIXTURE_H

/* What test_filter*.c share: policies, and a filter run without a kernel. */

#include <asm/ioctls.h>
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "filter.h"
#include "filter_rows.h"
#include "syscalls.h"
#include "uapi.h"

#define NATIVE SBOX_AUDIT_ARCH

static const char *default_items[] = {"@default"};
static const struct string_list defaults = {default_items, 1};

static bool late_passes[2][SYSCALL_NUMBERS];

/* The policies that are tested; the first one is what the others are compared with. */
static const struct {
	const char *name;
	struct filter_policy policy;
} policies[] = {
	{"default", {.syscalls = &defaults, .listener = true}},
	{"host", {.syscalls = &defaults, .listener = true, .network = NETWORK_HOST}},
	{"shared-network", {.syscalls = &defaults, .listener = true, .shared_network = true}},
	{"refuse-memfd", {.syscalls = &defaults, .listener = true, .refuse_memfd = true}},
	{"no-listener", {.syscalls = &defaults}},
	{"trap-exec", {.syscalls = &defaults, .listener = true, .trap_exec = true}},
	{"late-network",
	 {.syscalls = &defaults,
	  .listener = true,
	  .network = NETWORK_ALLOW,
	  .late_network = true,
	  .passes = late_passes[0]}},
	/* its refusals are not written down, so the filter answers them; sockets are told of still
	 */
	{"late-network-only",
	 {.syscalls = &defaults,
	  .network = NETWORK_ALLOW,
	  .late_network = true,
	  .passes = late_passes[1]}},
	{"in-place",
	 {.syscalls = &defaults,
	  .listener = true,
	  .shared_network = true,
	  .refuse_unix = true,
	  .refuse_ipc = true,
	  .refuse_others = true,
	  .refuse_truncate = true}},
};
enum { POLICIES = sizeof(policies) / sizeof(policies[0]) };

static struct arena arena;

static inline void drop(void)
{
	arena_free(&arena);
}

static inline struct sock_fprog build(const struct filter_policy *policy)
{
	struct sock_fprog program;
	struct error err = {0};

	ck_assert_msg(filter_build(&arena, policy, &program, &err) == 0, "%s", err.text);
	return program;
}

static inline uint32_t run(const struct sock_fprog *program, int nr, uint64_t a, uint64_t b,
			   uint64_t c, uint64_t d)
{
	const uint64_t args[6] = {a, b, c, d, 0, 0};

	return filter_simulate(program, NATIVE, nr, args);
}

static inline const char *verdict_text(uint32_t verdict)
{
	static char text[64];

	if (verdict == SECCOMP_RET_ALLOW)
		return "allow";
	if (verdict == SECCOMP_RET_USER_NOTIF)
		return "notify";
	if ((verdict & SECCOMP_RET_ACTION_FULL) == SECCOMP_RET_ERRNO)
		snprintf(text, sizeof(text), "%s", strerrorname_np(verdict & SECCOMP_RET_DATA));
	else
		snprintf(text, sizeof(text), "0x%08x", verdict);
	return text;
}

#endif
