// SPDX-License-Identifier: Apache-2.0
/*
 * The named sets. Adding a call: put its name into exactly one leaf set; the
 * unit test fails when libseccomp knows a call that no set has.
 */
#include "syscalls.h"

#include <errno.h>

/* clang-format off */
const struct syscall_set syscall_sets[] = {
	{
		.name = "@default",
		.help = "what ordinary programs need",
		.members = "@io @aio @file @process @scheduling @signal @memory @time @sync @ipc "
			   "@network @identity @system @confine",
	},

	/* Allowed by @default. */
	{
		.name = "@io",
		.help = "read, write and wait on open descriptors",
		.members = "read write readv writev pread64 pwrite64 preadv pwritev preadv2 pwritev2 "
			   "close close_range lseek dup dup2 dup3 fcntl ioctl pipe pipe2 "
			   "poll ppoll select pselect6 epoll_create epoll_create1 epoll_ctl "
			   "epoll_wait epoll_pwait epoll_pwait2 eventfd eventfd2 signalfd signalfd4 "
			   "sendfile splice tee vmsplice copy_file_range",
		.boundary = BOUNDARY_PRIVILEGE, .errnum = EPERM,
	},
	{
		.name = "@aio",
		.help = "the older asynchronous I/O (libaio)",
		.members = "io_setup io_destroy io_getevents io_submit io_cancel io_pgetevents",
		.boundary = BOUNDARY_PRIVILEGE, .errnum = EPERM,
	},
	{
		.name = "@file",
		.help = "names, attributes and contents of files",
		.members = "open openat creat stat fstat lstat newfstatat statx access faccessat "
			   "faccessat2 chdir fchdir getcwd getdents getdents64 link linkat symlink "
			   "symlinkat readlink readlinkat rename renameat renameat2 mkdir mkdirat "
			   "rmdir unlink unlinkat mknod mknodat chmod fchmod fchmodat chown fchown "
			   "lchown fchownat umask truncate ftruncate fallocate fadvise64 readahead "
			   "flock fsync fdatasync sync syncfs sync_file_range statfs fstatfs "
			   "utime utimes futimesat utimensat setxattr lsetxattr fsetxattr getxattr "
			   "lgetxattr fgetxattr listxattr llistxattr flistxattr removexattr "
			   "lremovexattr fremovexattr "
			   "inotify_init inotify_init1 inotify_add_watch inotify_rm_watch",
		.boundary = BOUNDARY_FILE, .errnum = EPERM,
	},
	{
		/*
		 * QUIRK(uretprobe): since 6.11 a program that somebody outside probes makes call
		 * 335 (x86) by itself and dies when it fails; 6.14 stopped asking filters. Until
		 * 6.13 is gone, both stay allowed: called by hand they only raise a signal.
		 */
		.name = "@process",
		.help = "start, run and wait for processes and threads",
		.members = "fork vfork clone execve execveat exit exit_group wait4 waitid getpid "
			   "getppid gettid set_tid_address getpgid setpgid getpgrp getsid setsid "
			   "prctl arch_prctl personality unshare pidfd_open pidfd_send_signal rseq "
			   "restart_syscall uretprobe uprobe",
		.boundary = BOUNDARY_PROCESS, .errnum = EPERM,
	},
	{
		.name = "@scheduling",
		.help = "priorities, processors and scheduling of own processes",
		.members = "sched_yield sched_setparam sched_getparam sched_setscheduler "
			   "sched_getscheduler sched_get_priority_max sched_get_priority_min "
			   "sched_rr_get_interval sched_setaffinity sched_getaffinity sched_setattr "
			   "sched_getattr getpriority setpriority ioprio_set ioprio_get getcpu",
		.boundary = BOUNDARY_PROCESS, .errnum = EPERM,
	},
	{
		.name = "@signal",
		.help = "send and receive signals",
		.members = "rt_sigaction rt_sigprocmask rt_sigreturn rt_sigpending rt_sigtimedwait "
			   "rt_sigqueueinfo rt_tgsigqueueinfo rt_sigsuspend sigaltstack pause "
			   "kill tkill tgkill",
		.boundary = BOUNDARY_PROCESS, .errnum = EPERM,
	},
	{
		.name = "@memory",
		.help = "map and manage own memory",
		.members = "mmap munmap mprotect mremap madvise brk msync mincore mlock mlock2 "
			   "munlock mlockall munlockall pkey_mprotect pkey_alloc pkey_free "
			   "remap_file_pages get_mempolicy memfd_create",
		.boundary = BOUNDARY_PROCESS, .errnum = EPERM,
	},
	{
		.name = "@time",
		.help = "read clocks, sleep, timers",
		.members = "clock_gettime clock_getres clock_nanosleep gettimeofday time times "
			   "nanosleep getitimer setitimer alarm timer_create timer_settime "
			   "timer_gettime timer_getoverrun timer_delete timerfd_create "
			   "timerfd_settime timerfd_gettime",
		.boundary = BOUNDARY_TIME, .errnum = EPERM,
	},
	{
		.name = "@sync",
		.help = "locks between threads",
		.members = "futex futex_waitv set_robust_list get_robust_list membarrier",
		.boundary = BOUNDARY_PROCESS, .errnum = EPERM,
	},
	{
		.name = "@ipc",
		.help = "shared memory, semaphores and message queues of the own namespace",
		.members = "shmget shmat shmctl shmdt semget semop semctl semtimedop msgget msgsnd "
			   "msgrcv msgctl mq_open mq_unlink mq_timedsend mq_timedreceive mq_notify "
			   "mq_getsetattr",
		.boundary = BOUNDARY_PROCESS, .errnum = EPERM,
	},
	{
		.name = "@network",
		.help = "sockets of the allowed families",
		.members = "socket socketpair connect bind listen accept accept4 getsockname "
			   "getpeername setsockopt getsockopt sendto recvfrom sendmsg recvmsg "
			   "sendmmsg recvmmsg shutdown",
		.boundary = BOUNDARY_NETWORK, .errnum = EPERM,
	},
	{
		/* Setting ids and capabilities is the kernel's to refuse: there is none to gain. */
		.name = "@identity",
		.help = "ids, groups and capabilities; nothing can be gained by them",
		.members = "getuid geteuid getgid getegid getresuid getresgid getgroups setuid "
			   "setgid setreuid setregid setresuid setresgid setfsuid setfsgid "
			   "setgroups capget capset",
		.boundary = BOUNDARY_PRIVILEGE, .errnum = EPERM,
	},
	{
		.name = "@system",
		.help = "facts about the system, limits, random numbers",
		.members = "uname sysinfo getrandom getrlimit setrlimit prlimit64 getrusage",
		.boundary = BOUNDARY_PROCESS, .errnum = EPERM,
	},
	{
		.name = "@confine",
		.help = "a program may confine itself further",
		.members = "seccomp landlock_create_ruleset landlock_add_rule landlock_restrict_self",
		.boundary = BOUNDARY_PRIVILEGE, .errnum = EPERM,
	},

	/* Not in @default; a profile can add them. */
	{
		.name = "@keyring",
		.help = "kernel key rings; keys outlive the run and are shared by all of a user's runs",
		.members = "add_key request_key keyctl",
		.boundary = BOUNDARY_PRIVILEGE, .errnum = EPERM,
	},
	{
		.name = "@debug",
		.help = "look into and change other processes",
		.members = "ptrace process_vm_readv process_vm_writev kcmp pidfd_getfd "
			   "process_madvise process_mrelease",
		.boundary = BOUNDARY_PROCESS, .errnum = EPERM,
	},
	{
		.name = "@watch",
		.help = "performance counters, page faults by hand, file-system-wide notification",
		.members = "perf_event_open userfaultfd fanotify_init fanotify_mark",
		.boundary = BOUNDARY_PRIVILEGE, .errnum = EPERM,
	},
	{
		/* libnuma and OpenBLAS go on without. */
		.name = "@placement",
		.help = "which memory node pages live on, and memory hidden from the kernel",
		.members = "mbind move_pages migrate_pages set_mempolicy set_mempolicy_home_node "
			   "memfd_secret",
		.boundary = BOUNDARY_PROCESS, .errnum = EPERM,
	},
	{
		.name = "@clock",
		.help = "set or steer clocks",
		.members = "settimeofday clock_settime adjtimex clock_adjtime",
		.boundary = BOUNDARY_TIME, .errnum = EPERM,
	},
	{
		.name = "@admin",
		.help = "administration: accounting, quotas, swap, kernel log, host name",
		.members = "acct quotactl quotactl_fd syslog vhangup swapon swapoff reboot "
			   "sethostname setdomainname",
		.boundary = BOUNDARY_PRIVILEGE, .errnum = EPERM,
	},
	{
		.name = "@obsolete",
		.help = "left from the past; most are not in the kernel any more",
		.members = "uselib ustat sysfs _sysctl getpmsg putpmsg afs_syscall tuxcall security "
			   "vserver epoll_ctl_old epoll_wait_old set_thread_area get_thread_area "
			   "lookup_dcookie modify_ldt nfsservctl",
		.boundary = BOUNDARY_PRIVILEGE, .errnum = ENOSYS,
	},
	{
		/* Newer than the rest; programs do without them. xattrat and file_*attr keep
		 * their arguments behind a pointer. */
		.name = "@new",
		.help = "recent additions that programs do without",
		.members = "cachestat map_shadow_stack futex_wake futex_wait futex_requeue statmount "
			   "listmount lsm_get_self_attr lsm_set_self_attr lsm_list_modules mseal "
			   "setxattrat getxattrat listxattrat removexattrat file_getattr "
			   "file_setattr listns rseq_slice_yield",
		.boundary = BOUNDARY_PRIVILEGE, .errnum = ENOSYS, .absent = true,
	},

	/* No profile may add these. */
	{
		/* fchmodat2: kept away until libraries call it in earnest; they fall back. */
		.name = "@unfiltered",
		.help = "newer forms of calls whose older form can be checked",
		.members = "clone3 openat2 fchmodat2",
		.boundary = BOUNDARY_PRIVILEGE, .errnum = ENOSYS, .absent = true,
		.never = "programs fall back to the older call, whose arguments a filter can see",
	},
	{
		/* ENOSYS, since every program that falls back does so on that; libuv on any. */
		.name = "@io-uring",
		.help = "system calls through a ring in memory",
		.members = "io_uring_setup io_uring_enter io_uring_register",
		.boundary = BOUNDARY_PRIVILEGE, .errnum = ENOSYS,
		.never = "what goes through the ring is seen by no filter",
	},
	{
		.name = "@mount",
		.help = "change the file tree",
		.members = "mount umount2 pivot_root chroot open_tree open_tree_attr move_mount "
			   "fsopen fsconfig fsmount fspick mount_setattr",
		.boundary = BOUNDARY_FILE, .errnum = EPERM,
		.never = "the file tree that the profile describes could be undone",
	},
	{
		.name = "@handle",
		.help = "open files by number instead of by path",
		.members = "name_to_handle_at open_by_handle_at",
		.boundary = BOUNDARY_FILE, .errnum = EPERM,
		.never = "files outside the sandbox's tree could be reached",
	},
	{
		.name = "@namespace",
		.help = "enter another namespace",
		.members = "setns",
		.boundary = BOUNDARY_PRIVILEGE, .errnum = EPERM,
		.never = "the sandbox's namespaces could be left",
	},
	{
		.name = "@module",
		.help = "load code into the kernel or replace it",
		.members = "init_module finit_module delete_module create_module get_kernel_syms "
			   "query_module kexec_load kexec_file_load",
		.boundary = BOUNDARY_PRIVILEGE, .errnum = EPERM,
		.never = "the running kernel could be changed",
	},
	{
		.name = "@bpf",
		.help = "programs that run in the kernel",
		.members = "bpf",
		.boundary = BOUNDARY_PRIVILEGE, .errnum = EPERM,
		.never = "programs would run inside the kernel",
	},
	{
		.name = "@hardware",
		.help = "ports of the machine",
		.members = "iopl ioperm",
		.boundary = BOUNDARY_PRIVILEGE, .errnum = EPERM,
		.never = "the machine's hardware could be driven",
	},
	{.name = NULL},
};
/* clang-format on */
