// SPDX-License-Identifier: Apache-2.0
#include "host.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/utsname.h>

#include "sys.h"

/* Reads a small number from a file of /proc; -1 when it is not there. */
static long read_number(const char *path)
{
	char text[32];
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -1;
	ssize_t len = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (len <= 0)
		return -1;
	text[len] = '\0';
	return strtol(text, NULL, 10);
}

static bool has_capabilities(const unsigned *wanted, size_t count)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2] = {{0}};

	if (syscall(SYS_capget, &header, data) != 0)
		return false;
	for (size_t i = 0; i < count; i++)
		if ((data[wanted[i] / 32].effective & (1U << (wanted[i] % 32))) == 0)
			return false;
	return true;
}

/* What a root caller needs to build the tree and to become the leased uid. */
static bool is_full_root(void)
{
	static const unsigned wanted[] = {CAP_SYS_ADMIN, CAP_SETUID, CAP_SETGID,    CAP_CHOWN,
					  CAP_SETPCAP,   CAP_KILL,   CAP_SYS_PTRACE};

	return geteuid() == 0 && has_capabilities(wanted, sizeof(wanted) / sizeof(wanted[0]));
}

static void probe_user_namespaces(struct host *host)
{
	if (read_number("/proc/sys/user/max_user_namespaces") == 0) {
		host->user_namespaces_why =
			"user.max_user_namespaces is 0 (sysctl -w user.max_user_namespaces=10000)";
		return;
	}
	if (!host->root && read_number("/proc/sys/kernel/unprivileged_userns_clone") == 0) {
		host->user_namespaces_why = "kernel.unprivileged_userns_clone is 0 "
					    "(sysctl -w kernel.unprivileged_userns_clone=1)";
		return;
	}
	host->user_namespaces = true;
}

static void probe_caller(struct arena *arena, struct host *host)
{
	char cwd[PATH_MAX];
	struct rlimit limit;

	host->root = is_full_root();
	host->real_uid = getuid();
	host->uid = geteuid();
	host->real_gid = getgid();
	host->gid = getegid();
	int groups = getgroups(0, NULL);
	host->group_count = groups > 0 ? (size_t)groups : 0;
	/* "(unreachable)/…" is what the kernel gives for a cwd outside the root */
	if (getcwd(cwd, sizeof(cwd)) != NULL && cwd[0] == '/')
		host->cwd = arena_strdup(arena, cwd);
	const char *path = getenv("PATH");
	host->path = arena_strdup(arena, path != NULL ? path : "");
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0)
		host->hard_open_files = limit.rlim_max;
	if (getrlimit(RLIMIT_NPROC, &limit) == 0)
		host->hard_processes = limit.rlim_max;
}

int host_probe(struct arena *arena, struct host *ret_host, struct error *err)
{
	struct host host = {0};
	struct utsname name;
	cpu_set_t cpus;

	if (uname(&name) != 0)
		return error_sys(err, "uname");
	sscanf(name.release, "%d.%d", &host.kernel_major, &host.kernel_minor);
	host.landlock_abi = sys_landlock_create_ruleset(NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
	if (host.landlock_abi < 0)
		host.landlock_abi = 0;
	int mode = prctl(PR_GET_SECCOMP);
	host.seccomp = mode >= 0;
	host.filtered = mode == 2;
	host.apparmor = access("/sys/kernel/security/apparmor", F_OK) == 0 ||
			access("/sys/module/apparmor/parameters/enabled", F_OK) == 0;
	host.selinux = access("/sys/fs/selinux/enforce", F_OK) == 0;
	host.processors = sched_getaffinity(0, sizeof(cpus), &cpus) == 0 ? CPU_COUNT(&cpus) : 1;
	probe_caller(arena, &host);
	probe_user_namespaces(&host);
	cgroup_probe(arena, &host.cgroup);
	*ret_host = host;
	return 0;
}
