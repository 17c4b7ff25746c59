// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "doctor.h"
#include "obstacle.h"
#include "sys.h"

/*
 * The steps with which every start begins, in a child and in their order: a
 * machine may allow the first and refuse the third.
 */

static const char lost_everything[] =
	"the tree of listed files, private processes and the private network rest on it; what is "
	"left of a profile without it stands in the verdict below";

enum {
	NAMESPACES = CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP |
		     CLONE_NEWNET
};

struct attempt {
	enum stage stage;
	int errnum;
};

static bool write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool ok = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd >= 0)
		close(fd);
	return ok;
}

static bool map_ids(uid_t uid, gid_t gid)
{
	char uids[32], gids[32];

	snprintf(uids, sizeof(uids), "0 %u 1", uid);
	snprintf(gids, sizeof(gids), "0 %u 1", gid);
	return write_file("/proc/self/uid_map", uids) &&
	       write_file("/proc/self/setgroups", "deny") && write_file("/proc/self/gid_map", gids);
}

static bool make_file_system(const char *type)
{
	int fs = sys_fsopen(type, FSOPEN_CLOEXEC);
	bool ok = fs >= 0 && sys_fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0 &&
		  sys_fsmount(fs, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV) >= 0;

	if (fs >= 0)
		close(fs);
	return ok;
}

static enum stage first_failure(bool root, uid_t uid, gid_t gid)
{
	if (!root && !map_ids(uid, gid))
		return STAGE_ID_MAPS;
	if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 || !make_file_system("tmpfs"))
		return STAGE_MOUNT;
	if (!make_file_system("proc"))
		return STAGE_PROC;
	if (unshare(CLONE_NEWUSER) != 0)
		return STAGE_INNER;
	return STAGE_DONE;
}

static void reap(pid_t pid)
{
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

void namespaces_try(bool root, enum stage *ret_stage, int *ret_errnum)
{
	struct clone_args args = {.flags = NAMESPACES | (root ? 0 : CLONE_NEWUSER),
				  .exit_signal = SIGCHLD};
	struct attempt attempt = {.stage = STAGE_CLONE};
	uid_t uid = geteuid();
	gid_t gid = getegid();
	int pipes[2];

	if (pipe2(pipes, O_CLOEXEC) != 0) {
		*ret_stage = STAGE_CLONE;
		*ret_errnum = errno;
		return;
	}
	long pid = sys_clone3(&args);
	if (pid == 0) {
		attempt.stage = first_failure(root, uid, gid);
		attempt.errnum = errno;
		_exit(write(pipes[1], &attempt, sizeof(attempt)) != sizeof(attempt));
	}
	attempt.errnum = errno;
	close(pipes[1]);
	if (pid > 0) {
		if (read(pipes[0], &attempt, sizeof(attempt)) != sizeof(attempt))
			attempt = (struct attempt){.stage = STAGE_CLONE, .errnum = EIO};
		reap((pid_t)pid);
	}
	close(pipes[0]);
	*ret_stage = attempt.stage;
	*ret_errnum = attempt.errnum;
}

static int try_clone(uint64_t flags)
{
	struct clone_args args = {.flags = flags, .exit_signal = SIGCHLD};
	long pid = sys_clone3(&args);

	if (pid == 0)
		_exit(0);
	if (pid < 0)
		return errno;
	reap((pid_t)pid);
	return 0;
}

static void blame(struct doctor *doctor, struct finding *finding, enum obstacle_at at, int errnum)
{
	enum obstacle obstacle = obstacle_find(doctor->root, at, errnum, doctor->host.root);

	finding->state = FINDING_MISSING;
	finding->found = arena_printf(doctor->arena, "refused (%s): %s", strerror(errnum),
				      obstacle_texts[obstacle].cause);
	finding->lost = lost_everything;
	finding->way_out = obstacle_texts[obstacle].way_out;
}

void check_user_namespaces(struct doctor *doctor, struct finding *finding)
{
	int errnum = try_clone(CLONE_NEWUSER);

	if (errnum != 0) {
		blame(doctor, finding, AT_CLONE, errnum);
		return;
	}
	if (doctor->stage == STAGE_ID_MAPS) {
		blame(doctor, finding, AT_MOUNT, doctor->stage_errnum);
		return;
	}
	finding->found = "can be made by this caller";
}

void check_namespaces(struct doctor *doctor, struct finding *finding)
{
	static const struct {
		uint64_t flag;
		const char *name;
	} rows[] = {{CLONE_NEWNS, "mnt"},  {CLONE_NEWPID, "pid"}, {CLONE_NEWIPC, "ipc"},
		    {CLONE_NEWUTS, "uts"}, {CLONE_NEWNET, "net"}, {CLONE_NEWCGROUP, "cgroup"}};
	uint64_t user = doctor->host.root ? 0 : CLONE_NEWUSER;

	finding->found = "mnt, pid, ipc, uts, net and cgroup, all at once";
	if (doctor->stage != STAGE_CLONE)
		return;
	blame(doctor, finding, AT_CLONE, doctor->stage_errnum);
	if (user != 0 && try_clone(user) != 0)
		return;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int errnum = try_clone(user | rows[i].flag);

		if (errnum == 0)
			continue;
		finding->found = arena_printf(doctor->arena, "no %s namespace: %s", rows[i].name,
					      strerror(errnum));
		if (errnum == ENOSPC)
			finding->way_out = arena_printf(doctor->arena,
							"sysctl -w user.max_%s_namespaces=10000",
							rows[i].name);
		return;
	}
}

void check_mounts(struct doctor *doctor, struct finding *finding)
{
	finding->found = "a tree of its own can be mounted";
	/* the steps were tried as by an ordinary user, which this root will not be */
	if (doctor->host.can_become && !doctor->host.root)
		*finding = (struct finding){
			.state = FINDING_MISSING,
			.found = arena_printf(doctor->arena, "this root lacks %s",
					      doctor->host.root_lacks),
			.lost = "the tree of listed files, and all namespaces with it",
			.way_out = arena_printf(doctor->arena,
						"podman or docker run %s; or run sbox as an "
						"ordinary user",
						doctor->host.root_needs)};
	else if (doctor->stage == STAGE_MOUNT)
		blame(doctor, finding, AT_MOUNT, doctor->stage_errnum);
	else if (doctor->stage == STAGE_INNER)
		blame(doctor, finding, AT_CLONE, doctor->stage_errnum);
	else if (doctor->stage < STAGE_MOUNT)
		*finding = (struct finding){.state = FINDING_MISSING,
					    .found = "not tried: the namespaces come first",
					    .lost = "the tree of listed files"};
}

void check_proc(struct doctor *doctor, struct finding *finding)
{
	finding->found = "a fresh one can be mounted";
	if (doctor->stage == STAGE_PROC) {
		blame(doctor, finding, AT_PROC, doctor->stage_errnum);
		finding->lost = "the program's own /proc, in which only its processes are";
	} else if (doctor->stage < STAGE_PROC) {
		*finding = (struct finding){.state = FINDING_MISSING,
					    .found = "not tried: mounting comes first",
					    .lost = "the program's own /proc"};
	}
}
