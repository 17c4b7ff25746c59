// SPDX-License-Identifier: Apache-2.0
#include "confine.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <seccomp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "policy.h"
#include "sys.h"

enum {
	/* Listeners, name servers, pipes, pools of sockets inside, and some air. */
	OTHER_DESCRIPTORS = 256,
	LEAST_CONNECTIONS = 8,
};

#define LANDLOCK_NET_BIND (1ULL << 0) /* ABI 4, 6.7 */

int confine_begin(void)
{
	if (sys_close_range(GATE_CONTROL_FD + 1, ~0U, 0) != 0)
		return -1;
	/* c-ares would take servers and search lists from it; and it is nobody's to read here. */
	for (char **one = environ; one != NULL && *one != NULL; one++)
		explicit_bzero(*one, strlen(*one));
	if (clearenv() != 0)
		return -1;
	signal(SIGPIPE, SIG_IGN);
	return prctl(PR_SET_DUMPABLE, 0);
}

static int change_user(const struct gate_setup *setup, struct gate_failed *failed)
{
	bool root = geteuid() == 0 || getuid() == 0;

	if (setup->uid == UINT32_MAX && root)
		return policy_fault(failed, 0, 0,
				    "the gate does not run as root: a user is needed");
	if (setup->uid == UINT32_MAX)
		return 0;
	if (setup->uid == 0 || setup->gid == 0 || setup->gid == UINT32_MAX)
		return policy_fault(failed, 0, 0, "the gate does not run as root");
	if (setgroups(0, NULL) != 0 || setresgid(setup->gid, setup->gid, setup->gid) != 0 ||
	    setresuid(setup->uid, setup->uid, setup->uid) != 0)
		return policy_fault(failed, 0, errno, "cannot become user %u", setup->uid);
	return 0;
}

static int drop_capabilities(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct none[2] = {0};

	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	return (int)syscall(SYS_capset, &header, none);
}

int confine_identity(const struct gate_setup *setup, struct gate_failed *failed)
{
	if (change_user(setup, failed) != 0)
		return -1;
	if (drop_capabilities() != 0)
		return policy_fault(failed, 0, errno, "cannot give up capabilities");
	/* A change of the user cleared both. */
	if (prctl(PR_SET_DUMPABLE, 0) != 0 || prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return policy_fault(failed, 0, errno, "cannot tie the gate to its parent");
	if ((uint32_t)getppid() != setup->supervisor)
		return policy_fault(failed, 0, 0, "the gate's parent is not process %u",
				    setup->supervisor);
	return 0;
}

uint32_t confine_descriptors(uint32_t wanted)
{
	struct rlimit files, core = {0, 0};
	uint64_t need = (uint64_t)wanted * 4 + OTHER_DESCRIPTORS;

	setrlimit(RLIMIT_CORE, &core);
	if (getrlimit(RLIMIT_NOFILE, &files) != 0)
		return LEAST_CONNECTIONS;
	if (files.rlim_cur < need) {
		files.rlim_cur = files.rlim_max < need ? files.rlim_max : need;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	/* Two for each connection, and one for a second address that is tried. */
	uint64_t room =
		files.rlim_cur > OTHER_DESCRIPTORS ? (files.rlim_cur - OTHER_DESCRIPTORS) / 3 : 0;
	if (room < LEAST_CONNECTIONS)
		room = LEAST_CONNECTIONS;
	return room < wanted ? (uint32_t)room : wanted;
}

/* No rule at all: no file, no folder, no port to listen on, nobody to signal. */
static int restrict_files(struct gate_failed *failed)
{
	int abi = sys_landlock_create_ruleset(NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
	struct sbox_landlock_ruleset_attr attr = {.handled_access_fs = (1ULL << 13) - 1};

	if (abi < 0)
		return 0; /* no Landlock: the system calls that open files are refused below */
	if (abi >= 2)
		attr.handled_access_fs |= SBOX_LANDLOCK_FS_REFER;
	if (abi >= 3)
		attr.handled_access_fs |= SBOX_LANDLOCK_FS_TRUNCATE;
	if (abi >= 5)
		attr.handled_access_fs |= SBOX_LANDLOCK_FS_IOCTL_DEV;
	if (abi >= 4)
		attr.handled_access_net = LANDLOCK_NET_BIND;
	if (abi >= 6)
		attr.scoped = SBOX_LANDLOCK_SCOPE_ABSTRACT | SBOX_LANDLOCK_SCOPE_SIGNAL;
	size_t size = abi >= 6 ? sizeof(attr) : abi >= 4 ? 16 : 8;
	int ruleset = sys_landlock_create_ruleset(&attr, size, 0);
	if (ruleset < 0 || sys_landlock_restrict_self(ruleset, 0) != 0)
		return policy_fault(failed, 0, errno, "cannot restrict the gate with Landlock");
	close(ruleset);
	return 0;
}

/* What the loop, the relay, c-ares and malloc call. Everything else ends the gate. */
static const int calls[] = {
	SCMP_SYS(accept4),      SCMP_SYS(brk),          SCMP_SYS(clock_gettime),
	SCMP_SYS(close),        SCMP_SYS(connect),      SCMP_SYS(epoll_ctl),
	SCMP_SYS(epoll_pwait),  SCMP_SYS(epoll_wait),   SCMP_SYS(exit),
	SCMP_SYS(exit_group),   SCMP_SYS(getpeername),  SCMP_SYS(getpid),
	SCMP_SYS(madvise),      SCMP_SYS(getrandom),    SCMP_SYS(getsockname),
	SCMP_SYS(getsockopt),   SCMP_SYS(gettimeofday), SCMP_SYS(mremap),
	SCMP_SYS(munmap),       SCMP_SYS(pipe2),        SCMP_SYS(poll),
	SCMP_SYS(ppoll),        SCMP_SYS(read),         SCMP_SYS(readv),
	SCMP_SYS(recvfrom),     SCMP_SYS(recvmsg),      SCMP_SYS(restart_syscall),
	SCMP_SYS(rt_sigreturn), SCMP_SYS(sendmsg),      SCMP_SYS(sendto),
	SCMP_SYS(setsockopt),   SCMP_SYS(shutdown),     SCMP_SYS(splice),
	SCMP_SYS(write),        SCMP_SYS(writev),
};

static int allow_with(scmp_filter_ctx filter, int call, struct scmp_arg_cmp test)
{
	return seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, call, 1, &test);
}

/* Calls that are fine with some arguments only. */
static int allow_some(scmp_filter_ctx filter)
{
	const uint32_t mask = UINT32_MAX;
	int rc = 0;

	/* No UNIX, packet or netlink sockets; no memory that can be run; no other flag commands. */
	rc |= allow_with(filter, SCMP_SYS(socket), SCMP_A0(SCMP_CMP_MASKED_EQ, mask, AF_INET));
	rc |= allow_with(filter, SCMP_SYS(socket), SCMP_A0(SCMP_CMP_MASKED_EQ, mask, AF_INET6));
	rc |= allow_with(filter, SCMP_SYS(mmap), SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
	rc |= allow_with(filter, SCMP_SYS(mprotect), SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
	rc |= allow_with(filter, SCMP_SYS(fcntl), SCMP_A1(SCMP_CMP_MASKED_EQ, mask, F_GETFL));
	rc |= allow_with(filter, SCMP_SYS(fcntl), SCMP_A1(SCMP_CMP_MASKED_EQ, mask, F_SETFL));
	rc |= allow_with(filter, SCMP_SYS(fcntl), SCMP_A1(SCMP_CMP_MASKED_EQ, mask, F_SETFD));
	rc |= allow_with(filter, SCMP_SYS(fcntl), SCMP_A1(SCMP_CMP_MASKED_EQ, mask, F_SETPIPE_SZ));
	rc |= allow_with(filter, SCMP_SYS(fcntl),
			 SCMP_A1(SCMP_CMP_MASKED_EQ, mask, F_DUPFD_CLOEXEC));
	rc |= allow_with(filter, SCMP_SYS(ioctl), SCMP_A1(SCMP_CMP_MASKED_EQ, mask, FIONREAD));
	/* Files, which there are none of: libraries ask, and get an answer. */
	rc |= seccomp_rule_add_array(filter, SCMP_ACT_ERRNO(EACCES), SCMP_SYS(openat), 0, NULL);
	rc |= seccomp_rule_add_array(filter, SCMP_ACT_ERRNO(EACCES), SCMP_SYS(newfstatat), 0, NULL);
	return rc;
}

static int restrict_calls(struct gate_failed *failed)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_KILL_PROCESS);
	int rc = filter == NULL ? -ENOMEM : 0;

	for (size_t i = 0; rc == 0 && i < sizeof(calls) / sizeof(calls[0]); i++) {
		rc = seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, calls[i], 0, NULL);
		if (rc == -EDOM || rc == -EFAULT)
			rc = 0; /* this architecture has no such call */
	}
	if (rc == 0 && allow_some(filter) != 0)
		rc = -EINVAL;
	if (rc == 0)
		seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	if (rc == 0)
		rc = seccomp_load(filter);
	seccomp_release(filter);
	if (rc != 0)
		return policy_fault(failed, 0, -rc, "cannot restrict the gate's system calls");
	return 0;
}

int confine_end(struct gate_failed *failed)
{
	if (restrict_files(failed) != 0)
		return -1;
	return restrict_calls(failed);
}
