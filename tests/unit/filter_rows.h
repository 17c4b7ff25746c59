// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_FILTER_ROWS_H
#define SBOX_FILTER_ROWS_H

/* What test_filter.c expects, as tables: verdicts without a listener, so that the errno shows. */

#include <asm/ioctls.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/stat.h>

/* [privilege] syscalls, and what becomes of a call. */
static const struct {
	const char *items[3];
	const char *call; /* NULL: text is the error */
	const char *text;
} lists[] = {
	{{"@default"}, "read", "allow"},
	{{"@default"}, "keyctl", "notify"},
	{{"@default", "keyctl"}, "keyctl", "allow"},
	{{"@default", "@keyring"}, "add_key", "allow"},
	{{"@default", "ptrace"}, "ptrace", "allow"},
	{{"@default", "!@network"}, "connect", "notify"},
	{{"@default", "!connect"}, "connect", "notify"},
	{{"@default", "!connect", "connect"}, "connect", "allow"},
	{{"connect", "!@network"}, "connect", "notify"},
	{{"@io"}, "openat", "notify"},
	{{"@io"}, "execve", "allow"},
	{{"@default", "mseal"}, "mseal", "allow"},
	{{"@default"}, "mseal", "ENOSYS"},
	{{"@default", "!execveat"}, "execveat", "EPERM"},
	{{"@default", "@mount"}, NULL, "\"@mount\" cannot be allowed"},
	{{"@default", "fsopen"}, NULL, "\"fsopen\" cannot be allowed"},
	{{"clone3"}, NULL, "\"clone3\" cannot be allowed"},
	{{"io_uring_setup"}, NULL, "\"io_uring_setup\" cannot be allowed"},
	{{"bpf"}, NULL, "\"bpf\" cannot be allowed"},
	{{"@default", "!@mount"}, "mount", "notify"},
	{{"kyectl"}, NULL, "did you mean \"keyctl\"?"},
	{{"@defualt"}, NULL, "did you mean \"@default\"?"},
	{{"@nothing-like-it"}, NULL, "there is no set of system calls \"@nothing-like-it\""},
	{{"!conect"}, NULL, "did you mean \"connect\"?"},
	{{"@default", "!exit_group"}, NULL, "\"exit_group\" cannot be taken out"},
	{{""}, NULL, "there is no system call \"\""},
};

#define HIGH (1ULL << 32)

static const struct {
	const char *call;
	uint64_t args[4];
	const char *verdict;
} rows[] = {
	{"socket", {AF_UNIX, SOCK_STREAM, 0}, "allow"},
	{"socket", {AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0}, "allow"},
	{"socket", {AF_INET6, SOCK_STREAM, IPPROTO_TCP}, "allow"},
	{"socket", {AF_INET6, SOCK_DGRAM, IPPROTO_UDP}, "allow"},
	{"socket", {AF_INET | HIGH, SOCK_DGRAM, 0}, "allow"},
	{"socket", {AF_INET, SOCK_DGRAM, IPPROTO_ICMP}, "EPROTONOSUPPORT"},
	{"socket", {AF_INET6, SOCK_DGRAM, IPPROTO_ICMPV6}, "EPROTONOSUPPORT"},
	{"socket", {AF_INET, SOCK_STREAM, 262 /* MPTCP */}, "EPROTONOSUPPORT"},
	{"socket", {AF_INET, SOCK_STREAM, IPPROTO_SCTP}, "EPROTONOSUPPORT"},
	{"socket", {AF_INET, SOCK_SEQPACKET, IPPROTO_SCTP}, "EPROTONOSUPPORT"},
	{"socket", {AF_INET, SOCK_RAW, IPPROTO_ICMP}, "EPERM"},
	{"socket", {AF_INET6, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_RAW}, "EPERM"},
	{"socket", {AF_INET, SOCK_RAW | HIGH, IPPROTO_RAW}, "EPERM"},
	{"socket", {AF_INET, SOCK_PACKET, 0x300}, "EPERM"},
	{"socket", {AF_INET, SOCK_DCCP, 0}, "ESOCKTNOSUPPORT"},
	{"socket", {AF_NETLINK, SOCK_RAW, 0}, "allow"},
	{"socket", {AF_NETLINK, SOCK_DGRAM, 9 /* AUDIT */}, "EPROTONOSUPPORT"},
	{"socket", {AF_NETLINK, SOCK_RAW, 12 /* NETFILTER */}, "EPROTONOSUPPORT"},
	{"socket", {AF_PACKET, SOCK_RAW, 0}, "EAFNOSUPPORT"},
	{"socket", {AF_VSOCK, SOCK_STREAM, 0}, "EAFNOSUPPORT"},
	{"socket", {AF_ALG, SOCK_SEQPACKET, 0}, "EAFNOSUPPORT"},
	{"socket", {AF_XDP, SOCK_RAW, 0}, "EAFNOSUPPORT"},
	{"socket", {AF_VSOCK | HIGH, SOCK_STREAM, 0}, "EAFNOSUPPORT"},
	{"socket", {0xffffffff, 0xffffffff, 0xffffffff}, "EAFNOSUPPORT"},
	{"socketpair", {AF_UNIX, SOCK_STREAM, 0}, "allow"},
	{"socketpair", {AF_INET, SOCK_STREAM, 0}, "EAFNOSUPPORT"},
	{"clone", {SIGCHLD}, "allow"},
	{"clone", {0x3d0f00 /* a thread */}, "allow"},
	{"clone", {0x80 | SIGCHLD /* NEWTIME is a signal here */}, "allow"},
	{"clone", {CLONE_NEWUSER | SIGCHLD}, "EPERM"},
	{"clone", {CLONE_NEWNS}, "EPERM"},
	{"clone", {CLONE_NEWNET | HIGH}, "EPERM"},
	{"clone", {CLONE_NEWCGROUP | CLONE_VM}, "EPERM"},
	{"clone3", {0, 88}, "ENOSYS"},
	{"unshare", {0}, "allow"},
	{"unshare", {CLONE_FILES | CLONE_FS | CLONE_SYSVSEM}, "allow"},
	{"unshare", {CLONE_NEWUSER}, "EPERM"},
	{"unshare", {0x80 /* NEWTIME */}, "EPERM"},
	{"unshare", {CLONE_FILES | HIGH}, "EPERM"},
	{"ioctl", {0, TCGETS}, "allow"},
	{"ioctl", {0, TIOCSWINSZ}, "allow"},
	{"ioctl", {0, TIOCSTI}, "EPERM"},
	{"ioctl", {0, TIOCSTI | HIGH}, "EPERM"},
	{"ioctl", {0, TIOCLINUX}, "EPERM"},
	{"ioctl", {0, TIOCSETD | 0xdead00000000}, "EPERM"},
	{"ioctl", {0, TIOCCONS}, "EPERM"},
	{"prctl", {15 /* SET_NAME */}, "allow"},
	{"prctl", {4 /* SET_DUMPABLE */}, "allow"},
	{"prctl", {38 /* SET_NO_NEW_PRIVS */, 1}, "allow"},
	{"prctl", {0x53564d41 /* SET_VMA */}, "allow"},
	{"prctl", {35 /* SET_MM */}, "EPERM"},
	{"prctl", {35 | HIGH}, "EPERM"},
	{"prctl", {28 /* SET_SECUREBITS */}, "EPERM"},
	{"prctl", {0x59616d61 /* SET_PTRACER */}, "EPERM"},
	{"prctl", {0}, "EINVAL"},
	{"prctl", {80}, "EINVAL"},
	{"prctl", {0xffffffff}, "EINVAL"},
	{"personality", {0}, "allow"},
	{"personality", {0xffffffff}, "allow"},
	{"personality", {0x0040000 /* ADDR_NO_RANDOMIZE */}, "allow"},
	{"personality", {0x0400000 /* READ_IMPLIES_EXEC */}, "EPERM"},
	{"personality", {0x0400000 | HIGH}, "EPERM"},
	{"prlimit64", {0}, "allow"},
	{"prlimit64", {2}, "allow"},
	{"prlimit64", {1}, "EPERM"},
	{"prlimit64", {1 | HIGH}, "EPERM"},
	{"sched_setaffinity", {1}, "EPERM"},
	{"sched_setscheduler", {2}, "allow"},
	{"seccomp", {SECCOMP_SET_MODE_FILTER, 0}, "allow"},
	{"seccomp", {SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC}, "allow"},
	{"seccomp", {SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER}, "EBUSY"},
	{"seccomp", {SECCOMP_SET_MODE_FILTER | HIGH, 0x18}, "EBUSY"},
	{"chmod", {0, 0755}, "allow"},
	{"chmod", {0, 01777}, "allow"},
	{"chmod", {0, 04755}, "EPERM"},
	{"fchmod", {0, 02755}, "EPERM"},
	{"fchmod", {0, 06000 | HIGH}, "EPERM"},
	{"fchmodat", {0, 0, 04755}, "EPERM"},
	{"fchmodat", {0, 04755, 0644}, "allow"},
	{"fchmodat2", {0, 0, 04755, 0}, "ENOSYS"},
	{"mkdir", {0, 02755}, "EPERM"},
	{"mkdirat", {0, 0, 02755}, "EPERM"},
	{"creat", {0, 04755}, "EPERM"},
	{"creat", {0, 0644}, "allow"},
	{"open", {0, O_RDONLY, 04755}, "allow"},
	{"open", {0, O_WRONLY | O_CREAT, 04755}, "EPERM"},
	{"open", {0, O_WRONLY | O_CREAT, 0644}, "allow"},
	{"openat", {0, 0, O_RDONLY, 06777}, "allow"},
	{"openat", {0, 0, O_RDWR | O_DIRECTORY, 06777}, "allow"},
	{"openat", {0, 0, O_RDWR | O_CREAT | HIGH, 04000}, "EPERM"},
	{"openat", {0, 0, O_RDWR | O_TMPFILE, 04700}, "EPERM"},
	{"openat", {0, 0, O_RDWR | O_TMPFILE, 0600}, "allow"},
	{"openat2", {0, 0, 0, 24}, "ENOSYS"},
	{"mknod", {0, S_IFIFO | 0600}, "allow"},
	{"mknod", {0, 0600}, "allow"},
	{"mknod", {0, S_IFSOCK | 0600}, "allow"},
	{"mknod", {0, S_IFREG | 04755}, "EPERM"},
	{"mknod", {0, S_IFCHR | 0600}, "EPERM"},
	{"mknodat", {0, 0, S_IFBLK | 0600}, "EPERM"},
	{"mknodat", {0, 0, S_IFREG | 0600}, "allow"},
	{"io_uring_setup", {8}, "ENOSYS"},
	{"mount", {0}, "EPERM"},
	{"open_tree_attr", {0}, "EPERM"},
	{"setns", {0}, "EPERM"},
	{"ptrace", {0}, "EPERM"},
	{"bpf", {0}, "EPERM"},
	{"modify_ldt", {0}, "ENOSYS"},
	{"statmount", {0}, "ENOSYS"},
	{"memfd_create", {0}, "allow"},
	{"landlock_create_ruleset", {0}, "allow"},
	{"pidfd_open", {0}, "allow"},
	{"pidfd_getfd", {0}, "EPERM"},
};

#endif
