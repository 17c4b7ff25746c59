// SPDX-License-Identifier: Apache-2.0
/*
 * The launcher as somebody would have it who has taken the supervisor over: at the first
 * notification that it handles, while the program waits for the answer, it tries what the variable
 * SBOX_TEST_TAKEN_OVER names and says how that went ("made: 0", "made: EPERM"). Linked like
 * leave_out.c and with it, so that the same is tried of a supervisor that is not confined.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include "notify.h"
#include "run.h"

static char attempt[64], place[256];
static pid_t other; /* a process of the same user's, not of the run's */

__attribute__((constructor)) static void read_attempt(void)
{
	const char *what = getenv("SBOX_TEST_TAKEN_OVER"), *where = getenv("SBOX_TEST_PLACE"),
		   *who = getenv("SBOX_TEST_OTHER");

	strncpy(attempt, what != NULL ? what : "", sizeof(attempt) - 1);
	strncpy(place, where != NULL ? where : "", sizeof(place) - 1);
	other = who != NULL ? atoi(who) : 0;
	unsetenv("SBOX_TEST_TAKEN_OVER");
	unsetenv("SBOX_TEST_PLACE");
	unsetenv("SBOX_TEST_OTHER");
}

/* ---- out ---- */

static long socket_inet(void)
{
	return socket(AF_INET, SOCK_STREAM, 0);
}

static long connect_abstract(void)
{
	const struct sockaddr_un to = {.sun_family = AF_UNIX, .sun_path = "\0sbox-taken-over"};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	return fd < 0 ? fd : connect(fd, (const void *)&to, sizeof(to));
}

static long send_to_address(void)
{
	const struct sockaddr_un to = {.sun_family = AF_UNIX, .sun_path = "/nowhere"};

	return sendto(STDOUT_FILENO, "x", 1, 0, (const void *)&to, sizeof(to));
}

/* ---- another program, another process ---- */

static long execute(void)
{
	char touch[] = "touch", *const argv[] = {touch, place, NULL}, *const envp[] = {NULL};

	return execve("/usr/bin/touch", argv, envp);
}

static long make_process(void)
{
	long pid = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);

	if (pid == 0)
		_exit(0);
	return pid;
}

static long attach(void)
{
	return ptrace(PTRACE_SEIZE, other, NULL, NULL);
}

static long write_memory(void)
{
	char byte = 0;
	struct iovec here = {&byte, 1}, there = {&byte, 1};

	return process_vm_writev(other, &here, 1, &there, 1, 0);
}

static long kill_other(void)
{
	return kill(other, SIGKILL);
}

static long kill_by_descriptor(void)
{
	return syscall(SYS_pidfd_open, other, 0);
}

static struct run *taken;

/* A folder of /proc is a descriptor of a process as well, and could get the number of pid 1's. */
static long change_places(void)
{
	close(taken->init_pidfd);
	snprintf(place, sizeof(place), "/proc/%d", (int)other);
	int fd = open(place, O_RDONLY | O_DIRECTORY);
	return syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0);
}

static long signal_by_folder(void)
{
	snprintf(place, sizeof(place), "/proc/%d", (int)other);
	int fd = open(place, O_RDONLY | O_DIRECTORY);
	return syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0);
}

/* ---- more than it has ---- */

static long become_root(void)
{
	return setresuid(0, 0, 0);
}

static long mount_something(void)
{
	long made = mount("none", place, "tmpfs", 0, NULL);

	if (made == 0)
		umount2(place, MNT_DETACH);
	return made;
}

static long new_namespace(void)
{
	return unshare(CLONE_NEWUSER);
}

static long load_module(void)
{
	return syscall(SYS_finit_module, -1, "", 0);
}

static long load_bpf(void)
{
	union bpf_attr attr = {0};

	return syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
}

static long io_ring(void)
{
	return syscall(SYS_io_uring_setup, 1, NULL);
}

static long code_in_memory(void)
{
	return mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
			       MAP_FAILED
		       ? -1
		       : 0;
}

static long hard_link(void)
{
	return link("/etc/passwd", place);
}

static long symbolic_link(void)
{
	return symlink("/etc/passwd", place);
}

static long raise_limit(void)
{
	const struct rlimit none = {1, 1};

	return setrlimit(RLIMIT_CORE, &none);
}

static long type_for_the_caller(void)
{
	return ioctl(0, TIOCSTI, "x");
}

static long dump_core(void)
{
	return prctl(PR_SET_DUMPABLE, 1);
}

static const struct {
	const char *name;
	long (*make)(void);
} attempts[] = {
	{"inet socket", socket_inet},
	{"abstract socket", connect_abstract},
	{"send to an address", send_to_address},
	{"execute", execute},
	{"new process", make_process},
	{"attach", attach},
	{"write memory", write_memory},
	{"kill", kill_other},
	{"kill by descriptor", kill_by_descriptor},
	{"change places", change_places},
	{"signal by folder", signal_by_folder},
	{"become root", become_root},
	{"mount", mount_something},
	{"new namespace", new_namespace},
	{"load a module", load_module},
	{"load bpf", load_bpf},
	{"io ring", io_ring},
	{"code in memory", code_in_memory},
	{"hard link", hard_link},
	{"symbolic link", symbolic_link},
	{"limit", raise_limit},
	{"type for the caller", type_for_the_caller},
	{"dump core", dump_core},
};

static void say(long result)
{
	char text[128];
	int len = snprintf(text, sizeof(text), "made: %s\n",
			   result >= 0 ? "0" : strerrorname_np(errno));
	ssize_t done = write(STDERR_FILENO, text, (size_t)len);

	(void)done;
}

int64_t __real_notify_handle(struct notify *notify, short seen);
int64_t __wrap_notify_handle(struct notify *notify, short seen);
_Static_assert(__builtin_types_compatible_p(__typeof__(notify_handle),
					    __typeof__(__wrap_notify_handle)),
	       "the linker does not compare them");
int64_t __wrap_notify_handle(struct notify *notify, short seen)
{
	taken = (struct run *)((char *)notify - offsetof(struct run, notify));
	for (size_t i = 0; i < sizeof(attempts) / sizeof(attempts[0]); i++) {
		if (strcmp(attempts[i].name, attempt) != 0)
			continue;
		attempt[0] = '\0';
		say(attempts[i].make());
	}
	return __real_notify_handle(notify, seen);
}
