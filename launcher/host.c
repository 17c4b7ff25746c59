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
#include <sys/stat.h>
#include <sys/utsname.h>

#include "obstacle.h"
#include "sys.h"

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

/* Of the user namespace that the system started in: PROC_USER_INIT_INO. */
enum { FIRST_USER_NAMESPACE = 0xEFFFFFFDU };

static bool is_in_first_namespace(void)
{
	struct stat st;

	return stat("/proc/self/ns/user", &st) == 0 && st.st_ino == FIRST_USER_NAMESPACE;
}

/* Whom uid 0 of another one stands for, and whether all uids, those for leases among
 * them, are somebody's there. */
static void read_uid_map(unsigned long *ret_root, bool *ret_all)
{
	char text[64];
	unsigned long inside, count = 0;
	int fd = open("/proc/self/uid_map", O_RDONLY | O_CLOEXEC);

	*ret_root = 0;
	*ret_all = false;
	if (fd < 0)
		return;
	ssize_t len = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[len > 0 ? len : 0] = '\0';
	if (sscanf(text, "%lu %lu %lu", &inside, ret_root, &count) == 3)
		*ret_all = count >= UINT32_MAX;
}

/* What root needs to build the tree and look after it; the last one is the network's alone. */
static const struct root_need {
	unsigned number;
	const char *name;
} root_needs[] = {{CAP_SYS_ADMIN, "SYS_ADMIN"},
		  {CAP_SETPCAP, "SETPCAP"},
		  {CAP_KILL, "KILL"},
		  {CAP_SYS_PTRACE, "SYS_PTRACE"},
		  {CAP_NET_ADMIN, "NET_ADMIN"}};

/* The names of what root lacks, each behind a prefix, or NULL. */
static const char *lacking(struct arena *arena, const char *prefix, const char *between)
{
	const char *names = NULL;

	for (size_t i = 0; i < sizeof(root_needs) / sizeof(root_needs[0]); i++)
		if (!has_capabilities(&root_needs[i].number, 1))
			names = arena_printf(arena, "%s%s%s%s", names != NULL ? names : "",
					     names != NULL ? between : "", prefix,
					     root_needs[i].name);
	return names;
}

/* What a root caller needs to become the leased uid, and what to build the tree. */
static void probe_root(struct arena *arena, struct host *host)
{
	static const unsigned become[] = {CAP_SETUID, CAP_SETGID, CAP_CHOWN};
	static const unsigned build[] = {CAP_SYS_ADMIN, CAP_SETPCAP, CAP_KILL, CAP_SYS_PTRACE};

	if (host->uid != 0)
		return;
	host->can_bound = has_capabilities(build + 1, 1);
	/* idmaps are for those who have capabilities over the file system itself */
	host->idmap_refused = !is_in_first_namespace();
	if (host->idmap_refused) {
		unsigned long root;
		bool all;

		read_uid_map(&root, &all);
		host->mapped_root = root != 0;
		if (!all)
			return;
	}
	host->can_become = has_capabilities(become, sizeof(become) / sizeof(become[0]));
	host->root_lacks = lacking(arena, "CAP_", " and ");
	host->root_needs = lacking(arena, "--cap-add ", " ");
	host->root = host->can_become && has_capabilities(build, sizeof(build) / sizeof(build[0]));
}

void host_probe_user_namespaces(struct arena *arena, struct host *host)
{
	if (obstacle_number("", "/proc/sys/user/max_user_namespaces") == 0)
		host->user_namespaces_why = obstacle_sentence(arena, OBSTACLE_MAX_USER_NAMESPACES);
	else if (!host->root &&
		 obstacle_number("", "/proc/sys/kernel/unprivileged_userns_clone") == 0)
		host->user_namespaces_why = obstacle_sentence(arena, OBSTACLE_USERNS_CLONE);
	host->user_namespaces = host->user_namespaces_why == NULL;
}

static void probe_caller(struct arena *arena, struct host *host)
{
	char cwd[PATH_MAX];
	struct rlimit limit;

	host->real_uid = getuid();
	host->uid = geteuid();
	probe_root(arena, host);
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
	struct host host = {.is_tried = ret_host->is_tried};
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
	char enabled[4];
	/* "N" where it is built in and another security module was chosen */
	host.apparmor = obstacle_read("", "/sys/module/apparmor/parameters/enabled", enabled,
				      sizeof(enabled)) &&
			enabled[0] == 'Y';
	host.selinux = access("/sys/fs/selinux/enforce", F_OK) == 0;
	host.processors = sched_getaffinity(0, sizeof(cpus), &cpus) == 0 ? CPU_COUNT(&cpus) : 1;
	probe_caller(arena, &host);
	host.user_namespaces = host.is_tried;
	if (!host.is_tried)
		host_probe_user_namespaces(arena, &host);
	/* a covered /proc is one of the things that a process on its way tells; groups of v1 are
	 * root's nearly always */
	if (host.is_tried && host.root)
		cgroup_probe_quickly(arena, &host.cgroup);
	else
		cgroup_probe(arena, &host.cgroup);
	*ret_host = host;
	return 0;
}
