// SPDX-License-Identifier: Apache-2.0
#include "confine.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "run.h"
#include "sys.h"

#ifndef CAP_CHECKPOINT_RESTORE
#define CAP_CHECKPOINT_RESTORE 40 /* 5.9 */
#endif

#define BIT(capability) (1ULL << (capability))

/* Who is no root has none, and needs none: what it looks at is its own. */
uint64_t confine_capabilities(unsigned reasons)
{
	/* the program has another uid: its memory and its descriptors are read, to name paths; so
	 * are folders of whoever owns the workspace; and whoever is left of either is killed */
	uint64_t kept = BIT(CAP_SYS_PTRACE) | BIT(CAP_DAC_READ_SEARCH) | BIT(CAP_KILL);

	/* in folders that belong to others a name is changed or taken away */
	if ((reasons & (CONFINE_HOLD | CONFINE_FOLDERS)) != 0)
		kept |= BIT(CAP_DAC_OVERRIDE) | BIT(CAP_FOWNER);
	/* the folder of all control groups has mode 0555 where they are of the second version */
	if ((reasons & CONFINE_CGROUP) != 0)
		kept |= BIT(CAP_DAC_OVERRIDE);
	/* /proc/PID/map_files */
	if ((reasons & CONFINE_GROWTH) != 0)
		kept |= BIT(CAP_CHECKPOINT_RESTORE);
	return kept;
}

static int keep_capabilities(uint64_t kept)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct sets[2];

	if (syscall(SYS_capget, &header, sets) != 0)
		return -1;
	for (int i = 0; i < 2; i++) {
		sets[i].permitted &= (uint32_t)(kept >> 32 * i);
		sets[i].effective = sets[i].permitted;
		sets[i].inheritable = 0;
	}
	return (int)syscall(SYS_capset, &header, sets);
}

static unsigned reasons_of(const struct run *run)
{
	unsigned reasons = 0;

	if (run->terminal.is_on)
		reasons |= CONFINE_TERMINAL;
	if (run->gate.pid > 0)
		reasons |= CONFINE_GATE;
	if (run->has_cgroup)
		reasons |= CONFINE_CGROUP;
	if (run->scratch != NULL || run->host.cache.made)
		reasons |= CONFINE_FOLDERS;
	if (run->host.absent_count > 0 && run->profile.file.writes == WRITES_KEEP)
		reasons |= CONFINE_HOLD;
	if (run->growth[0].key != NULL || run->growth[1].key != NULL)
		reasons |= CONFINE_GROWTH;
	if (run->store.policy.has_anchor)
		reasons |= CONFINE_ANCHOR;
	return reasons;
}

int confine_supervisor(struct run *run, struct error *err)
{
	const struct confine_needs needs = {.reasons = reasons_of(run),
					    .init_pidfd = run->init_pidfd,
					    .gate_pid = run->gate.pid};
	struct code code __attribute__((uninitialized));
	struct sock_fprog program;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return error_sys(err, "cannot confine sbox itself: no_new_privs");
	if (keep_capabilities(confine_capabilities(needs.reasons)) != 0)
		return error_sys(err, "cannot confine sbox itself: capabilities");
	/* then the plan says so */
	if (!run->host.seccomp)
		return 0;
	confine_build(&needs, &code, &program);
	if (sys_seccomp(SECCOMP_SET_MODE_FILTER, 0, &program) != 0)
		return error_sys(err, "cannot confine sbox itself: seccomp");
	return 0;
}
