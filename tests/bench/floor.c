// SPDX-License-Identifier: Apache-2.0

/*
 * floor WRITABLE PROGRAM [ARGUMENT...]: what this machine asks for a sandbox with the same
 * namespaces, mounts, Landlock rules and a filter of the same size as agent.ini's, made by a
 * program that knows everything beforehand: it reads no profile, compares nothing, watches
 * nothing and writes nothing down. Nobody is to be held by it; it is a line to measure against.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "sys.h"

#define READ_ONLY (MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID)

enum { FILTER_CALLS = 256, LEASED = 1900000000 };

static const char *const shown[] = {"/usr",
				    "/etc/alternatives",
				    "/etc/debian_version",
				    "/etc/fonts",
				    "/etc/java-17-openjdk",
				    "/etc/ld.so.cache",
				    "/etc/locale.alias",
				    "/etc/mime.types",
				    "/etc/perl",
				    "/etc/protocols",
				    "/etc/python3",
				    "/etc/python3.11",
				    "/etc/services",
				    "/etc/ssl/certs",
				    "/etc/ssl/openssl.cnf",
				    "/sys/devices/system/cpu",
				    "/dev/null",
				    "/dev/zero",
				    "/dev/full",
				    "/dev/random",
				    "/dev/urandom",
				    "/dev/tty"};
static const char *const links[][2] = {{"usr/bin", "bin"},
				       {"usr/sbin", "sbin"},
				       {"usr/lib", "lib"},
				       {"usr/lib32", "lib32"},
				       {"usr/lib64", "lib64"},
				       {"/proc/self/fd", "dev/fd"},
				       {"/proc/self/fd/0", "dev/stdin"},
				       {"/proc/self/fd/1", "dev/stdout"},
				       {"/proc/self/fd/2", "dev/stderr"},
				       {"pts/ptmx", "dev/ptmx"},
				       {"/proc/self/mounts", "etc/mtab"},
				       {"../tmp", "var/tmp"}};
static const char *const own[] = {"tmp", "dev/shm", "home"};
static const char *const files[] = {"etc/passwd", "etc/group", "etc/nsswitch.conf", "etc/hosts",
				    "etc/resolv.conf"};
static const char *const rules[] = {"/",     "/proc", "/dev",
				    "/etc",  "/tmp",  "/dev/shm",
				    "/home", "/usr",  "/sys/devices/system/cpu"};

static struct sock_filter code[2 * FILTER_CALLS + 8];
static unsigned short code_length;
static int root_fd, proc_fd; /* the host's /proc: the one inside is read-only */

#define TRY(call)                                                                                  \
	do {                                                                                       \
		if ((call) < 0) {                                                                  \
			perror(#call);                                                             \
			_exit(125);                                                                \
		}                                                                                  \
	} while (0)

static void put(const char *path, const char *text)
{
	int fd = openat(proc_fd, path, O_WRONLY | O_CLOEXEC);

	TRY(fd);
	TRY(write(fd, text, strlen(text)));
	close(fd);
}

static void write_maps(unsigned inside, unsigned uid, unsigned gid)
{
	char map[64];

	put("self/setgroups", "deny");
	snprintf(map, sizeof(map), "%u %u 1", inside, uid);
	put("self/uid_map", map);
	snprintf(map, sizeof(map), "%u %u 1", inside, gid);
	put("self/gid_map", map);
}

static void need_folders(const char *path)
{
	char part[PATH_MAX];

	for (const char *end = path; (end = strchr(end, '/')) != NULL; end++) {
		snprintf(part, sizeof(part), "%.*s", (int)(end - path), path);
		mkdirat(root_fd, part, 0755);
	}
}

static void show(const char *path, uint64_t attributes)
{
	struct mount_attr attr = {.attr_set = attributes};
	struct stat st;
	int fd = sys_openat2(AT_FDCWD, path, O_PATH | O_CLOEXEC, RESOLVE_NO_SYMLINKS);

	if (fd < 0)
		return; /* not on this machine */
	TRY(fstat(fd, &st));
	int tree = sys_open_tree(
		fd, "", AT_EMPTY_PATH | AT_RECURSIVE | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
	TRY(tree);
	TRY(sys_mount_setattr(tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &attr));
	need_folders(path + 1);
	if (S_ISDIR(st.st_mode))
		mkdirat(root_fd, path + 1, 0755);
	else
		mknodat(root_fd, path + 1, S_IFREG | 0444, 0);
	TRY(sys_move_mount(tree, "", root_fd, path + 1, MOVE_MOUNT_F_EMPTY_PATH));
	close(tree);
	close(fd);
}

static int fresh(const char *type, unsigned attributes)
{
	int fs = sys_fsopen(type, FSOPEN_CLOEXEC);

	TRY(fs);
	TRY(sys_fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0));
	int tree = sys_fsmount(fs, FSMOUNT_CLOEXEC, attributes);
	TRY(tree);
	close(fs);
	return tree;
}

static void attach(int tree, const char *path)
{
	TRY(sys_move_mount(tree, "", root_fd, path, MOVE_MOUNT_F_EMPTY_PATH));
	close(tree);
}

static void build(const char *writable)
{
	struct mount_attr locked = {.attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NODEV};

	TRY(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL));
	root_fd = fresh("tmpfs", MOUNT_ATTR_NOSUID);
	TRY(sys_move_mount(root_fd, "", AT_FDCWD, "/tmp", MOVE_MOUNT_F_EMPTY_PATH));
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
		need_folders(own[i]);
		TRY(mkdirat(root_fd, own[i], 0777));
	}
	need_folders("proc/dev/etc/var/");
	TRY(mkdirat(root_fd, "dev/pts", 0755));
	mkdirat(root_fd, "etc", 0755);
	mkdirat(root_fd, "var", 0755);
	attach(fresh("proc", READ_ONLY | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC), "proc");
	attach(fresh("devpts", MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC), "dev/pts");
	/* first: /var/tmp is no link where something below it is shown */
	need_folders(writable + 1);
	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++)
		symlinkat(links[i][0], root_fd, links[i][1]);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		int fd = openat(root_fd, files[i], O_CREAT | O_WRONLY | O_CLOEXEC, 0444);
		TRY(fd);
		TRY(write(fd, "root:x:0:\n", 10));
		close(fd);
	}
	for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++)
		show(shown[i], READ_ONLY);
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
		int tree = sys_open_tree(root_fd, own[i], OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
		TRY(tree);
		attach(tree, own[i]);
	}
	show(writable, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
	TRY(sethostname("sandbox", 7));
	TRY(fchdir(root_fd));
	TRY(sys_pivot_root(".", "."));
	TRY(umount2(".", MNT_DETACH));
	TRY(chdir("/"));
	TRY(sys_mount_setattr(root_fd, "", AT_EMPTY_PATH, &locked));
}

/* A search over sorted numbers, as sbox's filter is: all calls are allowed, and none is asked. */
static void add_search(unsigned from, unsigned to)
{
	if (to - from == 1) {
		code[code_length++] =
			(struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
		return;
	}
	unsigned middle = from + (to - from) / 2;
	struct sock_filter *jump = &code[code_length++];
	unsigned short here = code_length;

	add_search(from, middle);
	*jump = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, middle,
					     (unsigned char)(code_length - here), 0);
	add_search(middle, to);
}

static void make_filter(void)
{
	code[code_length++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0);
	add_search(0, FILTER_CALLS / 2);
}

static int landlock(const char *writable)
{
	const uint64_t handled = (1ULL << 15) - 1;
	const struct sbox_landlock_ruleset_attr all = {.handled_access_fs = handled};
	int ruleset = sys_landlock_create_ruleset(&all, sizeof(all.handled_access_fs), 0);

	size_t count = sizeof(rules) / sizeof(rules[0]);

	for (size_t i = 0; ruleset >= 0 && i <= count; i++) {
		int fd = open(i < count ? rules[i] : writable, O_PATH | O_CLOEXEC);

		if (fd >= 0)
			/* of the workspace every right, as sbox grants it: open(2) looks for one
			 * more above */
			TRY(sys_landlock_add_path(ruleset, i < count ? (1ULL << 13) - 1 : handled,
						  fd));
		close(fd);
	}
	return ruleset; /* none before 6.2, or where it is off */
}

static void give_up(uid_t uid, gid_t gid, bool is_root)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	const struct __user_cap_data_struct none[2] = {{0}};

	if (is_root) {
		TRY(setresgid(gid, gid, gid));
		TRY(prctl(PR_SET_KEEPCAPS, 1));
		TRY(setresuid(uid, uid, uid));
		TRY(prctl(PR_SET_DUMPABLE, 1));
	}
	TRY(unshare(CLONE_NEWUSER));
	write_maps(1000, is_root ? uid : 0, is_root ? gid : 0);
	for (int cap = 0; prctl(PR_CAPBSET_DROP, cap) == 0; cap++)
		;
	TRY(syscall(SYS_capset, &header, none));
	TRY(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
}

static void enter(char **argv, uid_t uid, gid_t gid)
{
	const struct ifreq up = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};
	const struct sock_fprog filter = {.len = code_length, .filter = code};
	bool is_root = uid == 0;

	TRY(proc_fd = open("/proc", O_PATH | O_CLOEXEC));
	if (!is_root)
		write_maps(0, uid, gid);
	TRY(unshare(CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP));
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	TRY(ioctl(fd, SIOCSIFFLAGS, &up));
	build(argv[1]);
	give_up(LEASED, LEASED, is_root);
	int ruleset = landlock(argv[1]);
	pid_t pid = vfork();
	if (pid == 0) {
		if (ruleset >= 0)
			TRY(sys_landlock_restrict_self(ruleset, 0));
		TRY(sys_close_range(3, ~0U, CLOSE_RANGE_CLOEXEC));
		TRY(sys_seccomp(SECCOMP_SET_MODE_FILTER, 0, &filter));
		execv(argv[2], argv + 2);
		_exit(127);
	}
	int status;
	TRY(waitpid(pid, &status, 0));
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

int main(int argc, char **argv)
{
	uid_t uid = geteuid();
	gid_t gid = getegid();
	struct clone_args args = {.flags = CLONE_NEWPID | (uid == 0 ? 0 : CLONE_NEWUSER),
				  .exit_signal = SIGCHLD};
	int status;

	if (argc < 3)
		return 2;
	make_filter();
	long pid = sys_clone3(&args);
	TRY(pid);
	if (pid == 0)
		enter(argv, uid, gid);
	TRY(waitpid((pid_t)pid, &status, 0));
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
