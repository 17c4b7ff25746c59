// SPDX-License-Identifier: Apache-2.0
/*
 * The argument rules. The kernel takes family, type, protocol, flags of open,
 * ioctl commands and prctl options as int, and modes as 16 bits: what stands
 * above is cut off, so the low word is what must be compared. The exception is
 * unshare, which looks at all 64 bits.
 */
#include "filter_args.h"

#include <asm/ioctls.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/netlink.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "syscalls.h"
#include "uapi.h"

#define LOW_WORD 0xffffffffULL
/* SOCK_CLOEXEC and SOCK_NONBLOCK lie above it. */
#define TYPE_MASK 0xfULL
#define SET_ID    ((uint64_t)(S_ISUID | S_ISGID))

#define RANGES(...)                                                                                \
	.ranges = (const struct arg_range[]){__VA_ARGS__},                                         \
	.count = sizeof((const struct arg_range[]){__VA_ARGS__}) / sizeof(struct arg_range)
#define ONE(value)                                                                                 \
	{                                                                                          \
		(uint32_t)(value), (uint32_t)(value)                                               \
	}
#define IN(n, bits, ...)                                                                           \
	{                                                                                          \
		.test = ARG_IN, .arg = (n), .mask = (bits), RANGES(__VA_ARGS__)                    \
	}
#define BITS(n, bits)                                                                              \
	{                                                                                          \
		.test = ARG_BITS, .arg = (n), .mask = (bits)                                       \
	}
#define REST                                                                                       \
	{                                                                                          \
		.test = ARG_UNUSED                                                                 \
	}
#define ALLOW         .allow = true
#define ALLOW_NETWORK .allow = true, .network = true
#define ASK           .allow = true, .ask = ASK_WRITES
#define ASK_R         .allow = true, .ask = ASK_READS
#define ASK_U         .allow = true, .ask = ASK_USES

#define INET IN(0, LOW_WORD, ONE(AF_INET), ONE(AF_INET6))

#define NEVER_FAMILY   "only UNIX, INET, INET6 and NETLINK_ROUTE sockets can be made inside"
#define NEVER_PROTOCOL "only TCP and UDP are kept to the network rules"
#define NEVER_SET_ID   "a set-id file in a write path would be one on the host"

/* clang-format off */
static const struct arg_row socket_rows[] = {
	{.when = {IN(0, LOW_WORD, ONE(AF_UNIX))}, .needs = ARG_NEEDS_UNIX, ALLOW},
	/* glibc's getaddrinfo and if_nameindex ask for SOCK_RAW here. */
	{.when = {IN(0, LOW_WORD, ONE(AF_NETLINK)), IN(2, LOW_WORD, ONE(NETLINK_ROUTE))},
	 .needs = ARG_NEEDS_NETWORK, ALLOW_NETWORK},
	{.when = {INET, IN(1, TYPE_MASK, ONE(SOCK_STREAM)), IN(2, LOW_WORD, ONE(0), ONE(IPPROTO_TCP))},
	 .needs = ARG_NEEDS_NETWORK, ALLOW_NETWORK},
	{.when = {INET, IN(1, TYPE_MASK, ONE(SOCK_DGRAM)), IN(2, LOW_WORD, ONE(0), ONE(IPPROTO_UDP))},
	 .needs = ARG_NEEDS_NETWORK, ALLOW_NETWORK},
	/* SOCK_PACKET on INET is AF_PACKET by its old name. */
	{.when = {INET, IN(1, TYPE_MASK, ONE(SOCK_RAW), ONE(SOCK_PACKET))},
	 .errnum = EPERM, .boundary = BOUNDARY_NETWORK, .object = OBJECT_SOCKET_TYPE, .object_arg = 1,
	 .never = "raw sockets forge packets"},
	/* Only without a namespace of the run's own do the next two come to be refused. */
	{.when = {INET, IN(1, TYPE_MASK, ONE(SOCK_STREAM)), IN(2, LOW_WORD, ONE(0), ONE(IPPROTO_TCP))},
	 .errnum = EAFNOSUPPORT, .boundary = BOUNDARY_NETWORK, .object = OBJECT_FAMILY,
	 .permit = "[network] mode = host"},
	{.when = {INET, IN(1, TYPE_MASK, ONE(SOCK_DGRAM)), IN(2, LOW_WORD, ONE(0), ONE(IPPROTO_UDP))},
	 .errnum = EAFNOSUPPORT, .boundary = BOUNDARY_NETWORK, .object = OBJECT_FAMILY,
	 .permit = "[network] mode = host"},
	/* MPTCP, SCTP, ICMP, UDP-Lite: programs take this for "not built in". Landlock's
	 * TCP rights do not see MPTCP. */
	{.when = {INET, IN(1, TYPE_MASK, ONE(SOCK_STREAM), ONE(SOCK_DGRAM), ONE(SOCK_SEQPACKET))},
	 .errnum = EPROTONOSUPPORT, .boundary = BOUNDARY_NETWORK, .object = OBJECT_PROTOCOL,
	 .object_arg = 2, .never = NEVER_PROTOCOL},
	{.when = {INET},
	 .errnum = ESOCKTNOSUPPORT, .boundary = BOUNDARY_NETWORK, .object = OBJECT_SOCKET_TYPE,
	 .object_arg = 1, .never = NEVER_PROTOCOL},
	{.when = {IN(0, LOW_WORD, ONE(AF_NETLINK)), IN(2, LOW_WORD, ONE(NETLINK_ROUTE))},
	 .errnum = EAFNOSUPPORT, .boundary = BOUNDARY_NETWORK, .object = OBJECT_NETLINK,
	 .object_arg = 2, .permit = "[network] mode = host"},
	/* Only where the host's sockets would be in reach, by name in its tree or by number. */
	{.when = {IN(0, LOW_WORD, ONE(AF_UNIX))},
	 .errnum = EAFNOSUPPORT, .boundary = BOUNDARY_NETWORK, .object = OBJECT_FAMILY,
	 .permit = "[network] mode = host"},
	/* libaudit and libudev take this for a kernel without it. */
	{.when = {IN(0, LOW_WORD, ONE(AF_NETLINK))},
	 .errnum = EPROTONOSUPPORT, .boundary = BOUNDARY_NETWORK, .object = OBJECT_NETLINK,
	 .object_arg = 2, .never = NEVER_FAMILY},
	{.when = {REST},
	 .errnum = EAFNOSUPPORT, .boundary = BOUNDARY_NETWORK, .object = OBJECT_FAMILY,
	 .never = NEVER_FAMILY},
};

static const struct arg_row socketpair_rows[] = {
	{.when = {IN(0, LOW_WORD, ONE(AF_UNIX))}, ALLOW},
	{.when = {REST},
	 .errnum = EAFNOSUPPORT, .boundary = BOUNDARY_NETWORK, .object = OBJECT_FAMILY,
	 .never = "only UNIX sockets come in pairs"},
};

/*
 * CLONE_NEWTIME (0x80) is not among them: in clone it is part of the exit
 * signal. The kernel takes the low word only (5.5; before, no flag lay above).
 */
#define CLONE_NAMESPACES                                                                           \
	((uint64_t)(uint32_t)(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC |        \
			      CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET))
#define NEVER_NAMESPACE "a new namespace gives capabilities and code paths that the sandbox takes away"

static const struct arg_row clone_rows[] = {
	{.when = {BITS(0, CLONE_NAMESPACES)},
	 .errnum = EPERM, .boundary = BOUNDARY_PRIVILEGE, .object = OBJECT_NAMESPACE,
	 .never = NEVER_NAMESPACE},
	{.when = {REST}, ALLOW},
};

/* By what is allowed, not by what is refused: newer kernels give more bits a meaning here. */
#define UNSHARE_PLAIN                                                                              \
	((uint64_t)(CLONE_FILES | CLONE_FS | CLONE_SYSVSEM | CLONE_THREAD | CLONE_VM | CLONE_SIGHAND))

static const struct arg_row unshare_rows[] = {
	{.when = {BITS(0, ~UNSHARE_PLAIN)},
	 .errnum = EPERM, .boundary = BOUNDARY_PRIVILEGE, .object = OBJECT_NAMESPACE,
	 .never = NEVER_NAMESPACE},
	{.when = {REST}, ALLOW},
};

static const struct arg_row ioctl_rows[] = {
	/* The low word only: CVE-2019-10063 was a filter that compared all 64 bits. */
	{.when = {IN(1, LOW_WORD, ONE(TIOCSTI), ONE(TIOCLINUX), ONE(TIOCCONS),
		     ONE(TIOCSSERIAL), ONE(TIOCSETD), ONE(TIOCSRS485), ONE(TIOCVHANGUP),
		     {TIOCSERCONFIG, TIOCSERSWILD}, ONE(TIOCSLCKTRMIOS),
		     ONE(TIOCSERSETMULTI), ONE(FIFREEZE), ONE(FITHAW))},
	 .errnum = EPERM, .boundary = BOUNDARY_PROCESS, .object = OBJECT_IOCTL, .object_arg = 1,
	 .never = "it would reach past the sandbox's own terminal or files"},
	{.when = {REST}, ALLOW},
};

/*
 * Options by number, see prctl(2); architecture-specific ones included. What
 * is left out: 28 SET_SECUREBITS, 31/32 performance counters, 33 MCE_KILL, 35
 * SET_MM, 43/44 MPX, 48/49 (free), 57 SET_IO_FLUSHER, 62 SCHED_CORE, 67
 * SET_MEMORY_MERGE, 77 TIMER_CREATE_RESTORE_IDS, and SET_PTRACER.
 */
static const struct arg_row prctl_rows[] = {
	{.when = {IN(0, LOW_WORD, {1, 16}, {19, 27}, {29, 30}, {34, 34}, {36, 42}, {45, 47},
		     {50, 56}, {58, 61}, {63, 66}, {68, 76}, {78, 78},
		     ONE(0x41555856) /* GET_AUXV */, ONE(0x53564d41) /* SET_VMA */)},
	 ALLOW},
	{.when = {IN(0, LOW_WORD, {1, 79}, ONE(0x59616d61) /* SET_PTRACER */)},
	 .errnum = EPERM, .boundary = BOUNDARY_PRIVILEGE, .object = OBJECT_PRCTL,
	 .never = "it changes more than the program's own behaviour"},
	/* Newer than this table: the answer of a kernel that does not have it. */
	{.when = {REST},
	 .errnum = EINVAL, .boundary = BOUNDARY_PRIVILEGE, .object = OBJECT_PRCTL,
	 .never = "it is newer than sbox and not judged yet"},
};

static const struct arg_row personality_rows[] = {
	/* Plain, uname for 32 bits, ask. ADDR_NO_RANDOMIZE: sanitizers execute themselves
	 * again with it, and it weakens only the program itself. */
	{.when = {IN(0, LOW_WORD, ONE(0), ONE(PER_LINUX32), ONE(ADDR_NO_RANDOMIZE), ONE(0xffffffff))},
	 ALLOW},
	{.when = {REST},
	 .errnum = EPERM, .boundary = BOUNDARY_PRIVILEGE, .object = OBJECT_PERSONALITY,
	 .never = "other personalities open old code paths in the kernel"},
};

static const struct arg_row seccomp_rows[] = {
	/* One listener a chain of filters; the kernel's own answer to a second one. */
	{.when = {IN(0, LOW_WORD, ONE(SECCOMP_SET_MODE_FILTER)),
		  BITS(1, SECCOMP_FILTER_FLAG_NEW_LISTENER)},
	 .errnum = EBUSY, .boundary = BOUNDARY_PRIVILEGE, .object = OBJECT_SECCOMP, .object_arg = 1,
	 .never = "the sandbox's own listener is the only one there can be"},
	{.when = {REST}, ALLOW},
};

#define REFUSE_SET_ID(n)                                                                           \
	{.when = {BITS(n, SET_ID)},                                                                \
	 .errnum = EPERM, .boundary = BOUNDARY_FILE, .object = OBJECT_MODE, .object_arg = (n),     \
	 .never = NEVER_SET_ID}

static const struct arg_row fchmod_rows[] = {REFUSE_SET_ID(1), {.when = {REST}, ALLOW}};
static const struct arg_row mode1_rows[] = {REFUSE_SET_ID(1), {.when = {REST}, ASK}};
static const struct arg_row mode2_rows[] = {REFUSE_SET_ID(2), {.when = {REST}, ASK}};

/* Without one of these flags the mode is not an argument but what the register held. */
#define CREATES ((uint64_t)(O_CREAT | (O_TMPFILE & ~O_DIRECTORY)))
#define REFUSE_SET_ID_CREATE(flags_arg, n)                                                         \
	{.when = {BITS(flags_arg, CREATES), BITS(n, SET_ID)},                                      \
	 .errnum = EPERM, .boundary = BOUNDARY_FILE, .object = OBJECT_MODE, .object_arg = (n),     \
	 .never = NEVER_SET_ID}

#define CWD IN(0, LOW_WORD, ONE(AT_FDCWD))

/*
 * Reading without following a link, or a folder, is what walks over trees do (git status, find):
 * left alone, like the stat family. Programs ask about names by the ten thousand, and each
 * question costs as much as ten answers.
 */
#define ASK_TO_OPEN(flags_arg)                                                                     \
	{.when = {BITS(flags_arg, O_WRONLY | O_RDWR | O_CREAT | O_TRUNC)}, ASK},                   \
	{.when = {BITS(flags_arg, O_DIRECTORY | O_NOFOLLOW)}, ASK_U},                              \
	{.when = {REST}, ASK_R}

static const struct arg_row open_rows[] = {REFUSE_SET_ID_CREATE(1, 2), ASK_TO_OPEN(1)};
static const struct arg_row openat_rows[] = {REFUSE_SET_ID_CREATE(2, 3), ASK_TO_OPEN(2)};
static const struct arg_row cwd_rows[] = {
	{.when = {IN(0, LOW_WORD, ONE(AT_FDCWD))}, ASK_R},
	{.when = {REST}, ASK_U},
};
static const struct arg_row access_rows[] = {{.when = {REST}, ASK_R}};
static const struct arg_row ask_rows[] = {{.when = {REST}, ASK}};
static const struct arg_row use_rows[] = {{.when = {REST}, ASK_U}};
/* Of a descriptor nothing new is learnt. */
static const struct arg_row fstatat_rows[] = {{.when = {BITS(3, AT_EMPTY_PATH)}, ALLOW},
					      {.when = {REST}, ASK_U}};
static const struct arg_row statx_rows[] = {{.when = {BITS(2, AT_EMPTY_PATH)}, ALLOW},
					    {.when = {REST}, ASK_U}};
/* Libraries: what is mapped to be executed has to lie where that is allowed. */
static const struct arg_row mmap_rows[] = {{.when = {BITS(3, MAP_ANONYMOUS)}, ALLOW},
					   {.when = {BITS(2, PROT_EXEC)}, ASK_U},
					   {.when = {REST}, ALLOW}};

/* Character 0:0, an overlay's whiteout, needs no capability (5.8): refused with the devices. */
#define MKNOD_ROWS(n)                                                                              \
	REFUSE_SET_ID(n),                                                                          \
	{.when = {IN(n, S_IFMT, ONE(0), ONE(S_IFIFO), ONE(S_IFREG), ONE(S_IFSOCK))}, ASK},         \
	{.when = {REST},                                                                           \
	 .errnum = EPERM, .boundary = BOUNDARY_FILE, .object = OBJECT_FILE_TYPE,                   \
	 .object_arg = (n), .never = "device nodes cannot be made inside"}

static const struct arg_row mknod_rows[] = {MKNOD_ROWS(1)};
static const struct arg_row mknodat_rows[] = {MKNOD_ROWS(2)};

/*
 * Pid 1 has the program's uid, which is all that these ask for (prlimit(2),
 * sched(7)): a limit of no processor time would kill it, and with it the run's record of
 * how the program ended. Without a pid namespace that is true of every process of the
 * caller's, so then only the calling one is left.
 */
static const struct arg_row pid_rows[] = {
	{.when = {IN(0, LOW_WORD, ONE(0))}, ALLOW},
	{.when = {IN(0, LOW_WORD, ONE(1))},
	 .errnum = EPERM, .boundary = BOUNDARY_PROCESS, .object = OBJECT_PID_1,
	 .never = "pid 1 keeps the sandbox together"},
	{.when = {REST}, .needs = ARG_NEEDS_PIDS, ALLOW},
	{.when = {REST},
	 .errnum = EPERM, .boundary = BOUNDARY_PROCESS,
	 .never = "without a pid namespace other processes are the host's"},
};

#define CHECK(names, rows) {names, rows, sizeof(rows) / sizeof((rows)[0])}

const struct arg_check arg_checks[] = {
	CHECK("socket", socket_rows),
	CHECK("socketpair", socketpair_rows),
	CHECK("clone", clone_rows),
	CHECK("unshare", unshare_rows),
	CHECK("ioctl", ioctl_rows),
	CHECK("prctl", prctl_rows),
	CHECK("personality", personality_rows),
	CHECK("seccomp", seccomp_rows),
	CHECK("fchmod", fchmod_rows),
	CHECK("chmod creat mkdir", mode1_rows),
	CHECK("fchmodat mkdirat", mode2_rows),
	CHECK("open", open_rows),
	CHECK("openat", openat_rows),
	CHECK("mknod", mknod_rows),
	CHECK("mknodat", mknodat_rows),
	CHECK("prlimit64 sched_setaffinity sched_setscheduler sched_setparam sched_setattr", pid_rows),
	CHECK("faccessat faccessat2", cwd_rows),
	CHECK("access", access_rows),
	CHECK("chdir unlink unlinkat rmdir rename renameat renameat2 link linkat "
	      "symlink symlinkat truncate connect bind", ask_rows),
	CHECK("stat lstat statfs readlink readlinkat getxattr lgetxattr listxattr llistxattr "
	      "inotify_add_watch", use_rows),
	CHECK("utime utimes futimesat utimensat chown lchown fchownat setxattr lsetxattr "
	      "removexattr lremovexattr", use_rows),
	CHECK("newfstatat", fstatat_rows),
	CHECK("statx", statx_rows),
	CHECK("mmap", mmap_rows),
	/* what their sets are of no use without */
	CHECK("io_setup shmget semget msgget mq_open", use_rows),
	CHECK("getcwd", use_rows),
};
/* clang-format on */
const size_t arg_check_count = sizeof(arg_checks) / sizeof(arg_checks[0]);

static void fill_check(int8_t *table, size_t index)
{
	char name[SYSCALL_NAME_MAX];
	const char *at = syscall_next_name(arg_checks[index].calls, name);

	for (; name[0] != '\0'; at = syscall_next_name(at, name)) {
		int number = syscall_number(name);

		if (number >= 0)
			table[number] = (int8_t)index;
	}
}

const int8_t *arg_check_table(void)
{
	static int8_t table[SYSCALL_NUMBERS];
	static bool filled;

	if (!filled) {
		for (size_t i = 0; i < SYSCALL_NUMBERS; i++)
			table[i] = -1;
		for (size_t i = 0; i < arg_check_count; i++)
			fill_check(table, i);
		filled = true;
	}
	return table;
}

static bool condition_holds(const struct arg_condition *condition, const uint64_t args[6])
{
	uint64_t masked = args[condition->arg] & condition->mask;

	if (condition->test == ARG_UNUSED)
		return true;
	if (condition->test == ARG_BITS)
		return masked != 0;
	for (size_t i = 0; i < condition->count; i++)
		if ((uint32_t)masked >= condition->ranges[i].first &&
		    (uint32_t)masked <= condition->ranges[i].last)
			return true;
	return false;
}

bool arg_row_holds(const struct arg_row *row, const uint64_t args[6])
{
	for (size_t i = 0; i < ARG_CONDITIONS; i++)
		if (!condition_holds(&row->when[i], args))
			return false;
	return true;
}

const struct arg_row *arg_check_decide(const struct arg_check *check, unsigned given,
				       const uint64_t args[6])
{
	const struct arg_row *row = check->rows;

	while ((row->needs & ~given) != 0 || !arg_row_holds(row, args))
		row++;
	return row;
}
