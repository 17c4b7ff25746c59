// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/magic.h>
#include <linux/securebits.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "child.h"
#include "sys.h"

/* Who the program is, and what it can never be again. */

static int write_file(int dir, const char *path, const char *text)
{
	int fd = openat(dir, path, O_WRONLY | O_CLOEXEC);
	size_t len = strlen(text);

	if (fd < 0)
		return -1;
	ssize_t done = write(fd, text, len);
	int saved = done >= 0 ? EIO : errno;
	close(fd);
	errno = saved;
	return done == (ssize_t)len ? 0 : -1;
}

/* setgroups must be denied before a gid can be mapped without privilege (user_namespaces(7)). */
static int write_maps(int proc_fd, const struct step *step)
{
	if (write_file(proc_fd, "self/setgroups", "deny") != 0)
		return 2;
	if (write_file(proc_fd, "self/uid_map", step->text) != 0)
		return 3;
	return write_file(proc_fd, "self/gid_map", step->source) != 0 ? 4 : 0;
}

int child_open_proc(void)
{
	struct statfs fs;
	int fd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return -1;
	if (fstatfs(fd, &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC)
		return fd;
	close(fd);
	errno = ENODEV;
	return -1;
}

int child_id_maps(struct child *child, const struct step *step)
{
	(void)child;
	int proc_fd = child_open_proc();
	if (proc_fd < 0)
		return 1;
	int failed = write_maps(proc_fd, step);
	close(proc_fd);
	return failed;
}

int child_namespaces(struct child *child, const struct step *step)
{
	(void)child;
	return unshare((int)step->value[0]) != 0 ? 1 : 0;
}

/* The first of two ways in which pid 1 dies with its supervisor; the other is
 * end of file on the control socket, which no change of credentials clears. */
int child_parent_death(struct child *child, const struct step *step)
{
	int sig = step->flags == 1 ? 0 : SIGKILL;

	(void)child;
	if (step->id == STEP_REARM_DEATH && prctl(PR_SET_DUMPABLE, 0) != 0)
		return 1;
	return prctl(PR_SET_PDEATHSIG, sig) != 0 ? 2 : 0;
}

int child_send_fds(struct child *child, const struct step *step)
{
	const struct message message = {.kind = MESSAGE_FDS};
	/* without a /proc of its own the host's is the sandbox's */
	const bool own = child->own_proc_fd >= 0;
	const int fds[2] = {own ? child->own_proc_fd : child->proc_fd, child->root_fd};

	(void)step;
	if (child_send(child->control_fd, &message, fds, 2) != 0)
		return 1;
	if (own)
		close(child->own_proc_fd);
	return 0;
}

int child_loopback(struct child *child, const struct step *step)
{
	struct ifreq request = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	(void)child;
	(void)step;
	if (fd < 0)
		return 1;
	int failed = ioctl(fd, SIOCSIFFLAGS, &request);
	close(fd);
	return failed != 0 ? 2 : 0;
}

int child_hostname(struct child *child, const struct step *step)
{
	(void)child;
	return sethostname(step->text, strlen(step->text)) != 0 ? 1 : 0;
}

/* Root only: groups go, the gid, then the uid; capabilities stay until their own step. */
int child_become(struct child *child, const struct step *step)
{
	uid_t uid = (uid_t)step->value[0];
	gid_t gid = (gid_t)step->value[1];

	(void)child;
	if (setgroups(0, NULL) != 0)
		return 1;
	if (setresgid(gid, gid, gid) != 0)
		return 2;
	if (step->flags == 0 && prctl(PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP) != 0)
		return 3;
	if (setresuid(uid, uid, uid) != 0)
		return 4;
	/* cleared by the change of uid, and without it /proc/self/uid_map is root's */
	return prctl(PR_SET_DUMPABLE, 1) != 0 ? 5 : 0;
}

/*
 * The mount namespace, like the others, belongs to the user namespace in which it
 * was made. Seen from this inner one that is another's: whatever the program
 * gets hold of inside, every capability included, it cannot take the tree apart
 * (mount_namespaces(7): CAP_SYS_ADMIN in the owning user namespace).
 */
int child_inner_user(struct child *child, const struct step *step)
{
	if (unshare(CLONE_NEWUSER) != 0)
		return 1;
	return write_maps(child->proc_fd, step);
}

/*
 * Init asks, the program inherits what was asked for, and only the program executes anything. What
 * libapparmor's aa_change_onexec() does, which allocates to do it. attr/exec without "apparmor" is
 * another security module's where two are at work.
 */
int child_apparmor(struct child *child, const struct step *step)
{
	return write_file(child->proc_fd, "thread-self/attr/apparmor/exec", step->text) != 0 ? 1
											     : 0;
}

/*
 * What is counted for a user of the host counts here too, and the caller's other programs
 * would have none left: this namespace gets half of what a user has. (The counts of
 * namespaces add up to the outermost one; a new one begins without a limit of its own.)
 */
static void leave_half(int proc_fd, const char *whole, const char *own)
{
	char text[24];
	unsigned long number = 0;
	int fd = openat(proc_fd, whole, O_RDONLY | O_CLOEXEC);
	ssize_t len = fd >= 0 ? read(fd, text, sizeof(text)) : 0;
	size_t at = sizeof(text) - 1;

	if (fd >= 0)
		close(fd);
	for (ssize_t i = 0; i < len && text[i] >= '0' && text[i] <= '9'; i++)
		number = number * 10 + (unsigned long)(text[i] - '0');
	if (number < 2)
		return;
	text[at] = '\0';
	for (number /= 2; number > 0; number /= 10)
		text[--at] = (char)('0' + number % 10);
	write_file(proc_fd, own, text + at);
}

/* A second lock on what seccomp refuses already; where /proc/sys is read-only
 * (containers) the first has to do. */
int child_no_more_namespaces(struct child *child, const struct step *step)
{
	(void)step;
	write_file(child->proc_fd, "sys/user/max_user_namespaces", "0");
	leave_half(child->proc_fd, "sys/fs/inotify/max_user_instances",
		   "sys/user/max_inotify_instances");
	leave_half(child->proc_fd, "sys/fs/inotify/max_user_watches",
		   "sys/user/max_inotify_watches");
	errno = 0;
	close(child->proc_fd);
	child->proc_fd = -1;
	return 0;
}

int child_capabilities(struct child *child, const struct step *step)
{
	const unsigned long bits = SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP |
				   SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_KEEP_CAPS_LOCKED |
				   SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED;
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	const struct __user_cap_data_struct none[2] = {{0}};

	(void)child;
	for (unsigned long cap = 0; step->flags == 0 && cap < 64; cap++)
		if (prctl(PR_CAPBSET_DROP, cap) != 0) {
			if (errno == EINVAL && cap > CAP_CHECKPOINT_RESTORE)
				break; /* the kernel's last one is behind us */
			if (errno != EINVAL)
				return 1;
		}
	if (step->flags == 0 && prctl(PR_SET_SECUREBITS, bits) != 0)
		return 2;
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0)
		return 3;
	return syscall(SYS_capset, &header, none) != 0 ? 4 : 0;
}

int child_no_new_privs(struct child *child, const struct step *step)
{
	(void)child;
	(void)step;
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ? 1 : 0;
}

/* In place, a name may have come to stand for something else since the parent looked. */
static bool is_expected(int fd, const struct landlock_rule *rule)
{
	struct stat st;

	if (rule->inode == 0)
		return true;
	if (fstat(fd, &st) == 0 && st.st_dev == rule->device && st.st_ino == rule->inode)
		return true;
	errno = ESTALE;
	return false;
}

int child_ruleset(struct child *child, const struct step *step)
{
	const struct sbox_landlock_ruleset_attr attr = {.handled_access_fs = step->value[0],
							.scoped = step->value[2]};
	/* QUIRK(landlock-size): a kernel that does not know a field wants it absent or zero */
	size_t size = attr.scoped != 0 ? sizeof(attr) : sizeof(attr.handled_access_fs);

	child->ruleset_fd = sys_landlock_create_ruleset(&attr, size, 0);
	if (child->ruleset_fd < 0)
		return 1;
	for (size_t i = 0; i < step->rule_count; i++) {
		const struct landlock_rule *rule = &step->rules[i];
		int fd = rule->slot >= 0 ? child->slots[rule->slot]
					 : open(rule->path, O_PATH | O_NOFOLLOW | O_CLOEXEC);

		if (fd < 0 || !is_expected(fd, rule))
			return 2 + RULESET_CALLS * (int)i;
		if (sys_landlock_add_path(child->ruleset_fd, rule->access, fd) != 0)
			return 3 + RULESET_CALLS * (int)i;
		close(fd);
	}
	return 0;
}
