// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "doctor.h"
#include "obstacle.h"
#include "sys.h"

static void good(struct finding *finding, const char *found)
{
	*finding = (struct finding){.state = FINDING_GOOD, .found = found};
}

static const char *cgroup_way_out(const struct doctor *doctor)
{
	const struct cgroup_host *cgroup = &doctor->host.cgroup;

	if (cgroup->version == CGROUP_V1)
		return "boot with systemd.unified_cgroup_hierarchy=1; or [process] on_missing = "
		       "refuse, which uses cgroup v1 at 11-15 ms a start";
	if (cgroup->why_not != NULL && strstr(cgroup->why_not, "read-only") != NULL)
		return "podman run --security-opt unmask=/sys/fs/cgroup, "
		       "docker run --cgroupns=private with a writable /sys/fs/cgroup";
	if (doctor->host.root)
		return "systemd-run --scope -p Delegate=yes sbox ...";
	return "systemd-run --user --scope -p Delegate=yes sbox ...; without a user manager "
	       "(su, cron, a container): loginctl enable-linger USER, and log in again";
}

void check_cgroup(struct doctor *doctor, struct finding *finding)
{
	const struct cgroup_host *cgroup = &doctor->host.cgroup;

	if (cgroup->version == CGROUP_V2 && cgroup->has_memory) {
		good(finding,
		     arena_printf(doctor->arena, "cgroup v2:%s%s%s",
				  cgroup->has_memory ? " memory" : "",
				  cgroup->has_pids ? " tasks" : "", cgroup->has_cpu ? " cpu" : ""));
		return;
	}
	finding->state = FINDING_WEAKER;
	finding->found = cgroup->version == CGROUP_V1 ? "cgroup v1, into which moving a process "
							"takes 11-15 ms"
			 : cgroup->why_not != NULL    ? cgroup->why_not
						      : "no controller for memory";
	finding->lost = "memory is watched by sampling, so a burst can overshoot; cpus takes whole "
			"processors only";
	finding->way_out = cgroup_way_out(doctor);
}

void check_open_files(struct doctor *doctor, struct finding *finding)
{
	unsigned long long files = doctor->host.hard_open_files;

	if (files >= 1024) {
		good(finding, files > 1ULL << 40
				      ? "no limit"
				      : arena_printf(doctor->arena, "up to %llu", files));
		return;
	}
	finding->state = FINDING_WEAKER;
	finding->found = arena_printf(doctor->arena, "the hard limit is %llu", files);
	finding->lost = "profiles that list many paths need more descriptors to start";
	finding->way_out = "ulimit -Hn 1024 in the shell that starts sbox, or LimitNOFILE=";
}

void check_seccomp(struct doctor *doctor, struct finding *finding)
{
	if (doctor->host.seccomp) {
		good(finding, doctor->host.filtered
				      ? "works, below the filter that is there already"
				      : "works");
		return;
	}
	finding->state = FINDING_MISSING;
	finding->found = "this kernel has no seccomp filter";
	finding->lost = "the allow-list of system calls, the list of socket families, set-id files";
	finding->way_out = "a kernel with CONFIG_SECCOMP_FILTER";
}

/* 0, or the errno with which a filter with a listener is refused. */
static int try_listener(void)
{
	struct sock_filter allow[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
	const struct sock_fprog program = {.len = 1, .filter = allow};
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
		_exit(sys_seccomp(SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
				  &program) >= 0
			      ? 0
			      : errno);
	}
	if (pid < 0)
		return errno;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;
}

void check_listener(struct doctor *doctor, struct finding *finding)
{
	int errnum = try_listener();

	if (errnum == 0) {
		good(finding, "refused calls can be named in the record");
		return;
	}
	finding->state = FINDING_WEAKER;
	finding->found = errnum == EBUSY
				 ? "a sandbox around sbox has the one listener that the "
				   "kernel allows"
				 : arena_printf(doctor->arena, "refused (%s)", strerror(errnum));
	finding->lost = "refused calls are refused, and not written down";
	finding->way_out = errnum == EBUSY ? "start sbox outside that sandbox" : "Linux 5.0";
}

void check_no_new_privs(struct doctor *doctor, struct finding *finding)
{
	(void)doctor;
	good(finding, "not set on the caller");
	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1) {
		finding->state = FINDING_NOTE;
		finding->found = "set on the caller; sbox needs nothing that it takes away";
	}
}

void check_yama(struct doctor *doctor, struct finding *finding)
{
	long scope = obstacle_number(doctor->root, "/proc/sys/kernel/yama/ptrace_scope");

	if (scope < 0) {
		good(finding, "not in this kernel");
		return;
	}
	good(finding, arena_printf(doctor->arena, "ptrace_scope %ld", scope));
	if (scope < 3)
		return;
	finding->state = FINDING_WEAKER;
	finding->lost = "arguments of the programs that are executed inside are not on record";
	finding->way_out = "kernel.yama.ptrace_scope = 1 in /etc/sysctl.d, and a reboot (3 cannot "
			   "be taken back)";
}

void check_labels(struct doctor *doctor, struct finding *finding)
{
	char label[256] = "";

	good(finding, doctor->host.selinux    ? "SELinux"
		      : doctor->host.apparmor ? "AppArmor"
					      : "no AppArmor, no SELinux");
	if (!doctor->host.apparmor && !doctor->host.selinux)
		return;
	if (!obstacle_read(doctor->root, "/proc/self/attr/current", label, sizeof(label)))
		return;
	label[strcspn(label, "\n")] = '\0';
	finding->found =
		arena_printf(doctor->arena, "%s, sbox runs as \"%s\"", finding->found, label);
}
