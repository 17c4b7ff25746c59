// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_UAPI_H
#define SBOX_UAPI_H

/* Kernel interface constants newer than Debian 12's headers, with the version that brought them. */

/* The one architecture whose calls this build filters. Given from outside when the table of
 * another machine is being made (gen_syscalls.c). */
#if defined(SBOX_AUDIT_ARCH)
#elif defined(__x86_64__) && defined(__LP64__)
#define SBOX_AUDIT_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__) && defined(__LP64__)
#define SBOX_AUDIT_ARCH AUDIT_ARCH_AARCH64
#else
#error "sbox knows the system calls of 64-bit x86-64 and aarch64 only"
#endif

#include <linux/audit.h>
#include <linux/sched.h>
#include <stdint.h>

/* Landlock: ABI 4 (6.7) network, ABI 5 (6.10) IOCTL_DEV, ABI 6 (6.12) scopes. */
struct sbox_landlock_ruleset_attr {
	uint64_t handled_access_fs;
	uint64_t handled_access_net;
	uint64_t scoped;
};

#define SBOX_LANDLOCK_FS_REFER       (1ULL << 13) /* ABI 2, 5.19 */
#define SBOX_LANDLOCK_FS_TRUNCATE    (1ULL << 14) /* ABI 3, 6.2 */
#define SBOX_LANDLOCK_FS_IOCTL_DEV   (1ULL << 15) /* ABI 5, 6.10 */
#define SBOX_LANDLOCK_SCOPE_ABSTRACT (1ULL << 0)  /* ABI 6, 6.12 */
#define SBOX_LANDLOCK_SCOPE_SIGNAL   (1ULL << 1)  /* ABI 6, 6.12 */

/* seccomp(2): 5.19; without it a signal to a waiting task restarts the notification. */
#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif

#ifndef CLONE_INTO_CGROUP
#define CLONE_INTO_CGROUP 0x200000000ULL /* 5.7 */
#endif

#endif
