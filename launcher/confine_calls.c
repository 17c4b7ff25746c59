// SPDX-License-Identifier: Apache-2.0
#include <asm/unistd.h>
#include <linux/audit.h>
#include <linux/fcntl.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include "confine.h"
#include "syscalls.h"
#include "uapi.h"

/*
 * What the supervisor calls once the program may run, and why. What is not here it does not do:
 * no program, no process but a terminal's two, no socket, no other identity, no mount, no
 * namespace, nothing loaded, no memory that can be run, no other process's memory written, no link,
 * no device, no limit changed.
 */

enum { ALWAYS = 0, CALLS_MAX = 24, NO_MORE = 0 /* which is read(2), or io_setup(2): a row */ };

#define CALL(name) SCMP_SYS(name) /* negative where the architecture has no such call */

static const struct calls {
	const char *why;
	unsigned reasons; /* any of them; ALWAYS */
	int numbers[CALLS_MAX];
} lists[] = {
	{"waits and clocks; of a lock that somebody holds, with a timer",
	 ALWAYS,
	 {CALL(clock_gettime), CALL(clock_nanosleep), CALL(epoll_ctl), CALL(epoll_pwait),
	  CALL(epoll_wait), CALL(nanosleep), CALL(poll), CALL(ppoll), CALL(restart_syscall),
	  CALL(time), CALL(timer_create), CALL(timer_delete), CALL(timer_settime),
	  CALL(timerfd_settime), CALL(wait4), CALL(waitid)}},
	{"streams, records and what /proc says, through descriptors",
	 ALWAYS,
	 {CALL(close), CALL(fallocate), CALL(fdatasync), CALL(flock), CALL(fsync), CALL(ftruncate),
	  CALL(lseek), CALL(pipe2), CALL(pread64), CALL(preadv2), CALL(pwrite64), CALL(pwritev2),
	  CALL(recvfrom), CALL(recvmsg), CALL(shutdown), CALL(splice), CALL(write), CALL(writev)}},
	{"memory, signals and the end, for libc; qsort(3) asks how much memory there is",
	 ALWAYS,
	 {CALL(brk),
	  CALL(exit),
	  CALL(exit_group),
	  CALL(futex),
	  CALL(getegid),
	  CALL(geteuid),
	  CALL(getgid),
	  CALL(getpid),
	  CALL(getppid),
	  CALL(getrandom),
	  CALL(gettid),
	  CALL(getuid),
	  CALL(madvise),
	  CALL(mremap),
	  CALL(munmap),
	  CALL(rt_sigaction),
	  CALL(rt_sigprocmask),
	  CALL(rt_sigreturn),
	  CALL(rt_sigtimedwait),
	  CALL(sysinfo)}},
	{"looking at paths: what is refused is named, growth is measured",
	 ALWAYS,
	 {CALL(access), CALL(faccessat), CALL(faccessat2), CALL(fstat), CALL(fstatfs),
	  CALL(getdents64), CALL(lstat), CALL(newfstatat), CALL(openat), CALL(openat2),
	  CALL(readlink), CALL(readlinkat), CALL(stat), CALL(statfs), CALL(statx)}},
	{"the text that a call of the program's names", ALWAYS, {CALL(process_vm_readv)}},
	{"the store's files, a protected name that is held back, a lease that ends",
	 ALWAYS,
	 {CALL(fchmod), CALL(mkdirat), CALL(rename), CALL(renameat), CALL(renameat2), CALL(rmdir),
	  CALL(unlink), CALL(unlinkat), CALL(utimensat)}},
	{"folders that the program closed to their owner, before they are emptied",
	 CONFINE_FOLDERS,
	 {CALL(chmod), CALL(fchmodat)}},
	{"the guard of a terminal, the watch over a stopped run",
	 CONFINE_TERMINAL,
	 {CALL(close_range), CALL(dup2), CALL(dup3), CALL(epoll_create1), CALL(getpgid),
	  CALL(getpgrp), CALL(getsid), CALL(kill), CALL(set_robust_list), CALL(setsid)}},
	{"what is left in a control group is killed",
	 CONFINE_CGROUP,
	 {CALL(pidfd_open), CALL(pidfd_send_signal)}},
};

/* Calls that are fine with some arguments only: the first row that holds decides, and no row is no.
 */
struct row {
	int number;
	unsigned reasons;
	bool refuse;
	struct arg_condition when[2];
};

#define MASKED(bits, list)                                                                         \
	.test = ARG_IN, .mask = (bits), .ranges = (list), .count = sizeof(list) / sizeof((list)[0])
#define WORDS(list) MASKED(UINT32_MAX, list)
#define ONE(value)                                                                                 \
	{                                                                                          \
		(value), (value)                                                                   \
	}
/* None of these bits. */
#define WITHOUT(bits) .test = ARG_IN, .mask = (bits), .ranges = zero, .count = 1

static const struct arg_range zero[] = {ONE(0)};
static const struct arg_range local[] = {ONE(AF_UNIX)};
static const struct arg_range datagram[] = {ONE(SOCK_DGRAM)};
static const struct arg_range sizes[] = {ONE(SECCOMP_GET_NOTIF_SIZES)};
static const struct arg_range death[] = {ONE(PR_SET_PDEATHSIG)};
static const struct arg_range descriptor[] = {ONE(F_GETFD),         ONE(F_SETFD),
					      ONE(F_GETFL),         ONE(F_SETFL),
					      ONE(F_DUPFD_CLOEXEC), {F_SETPIPE_SZ, F_GETPIPE_SZ}};
/* 6.6, and what answers a notification; how much a pipe holds; is it a terminal */
static const struct arg_range requests[] = {ONE(SECCOMP_IOCTL_NOTIF_RECV),
					    ONE(SECCOMP_IOCTL_NOTIF_SEND),
					    ONE(SECCOMP_IOCTL_NOTIF_ID_VALID),
					    ONE(SECCOMP_IOW(4, uint64_t)),
					    ONE(FIONREAD),
					    ONE(TCGETS)};
/* Never TIOCSTI: it would type at the caller's shell. */
static const struct arg_range terminal[] = {ONE(TCSETS),     ONE(TCSETSW),    ONE(TCSETSF),
					    ONE(TIOCGPGRP),  ONE(TIOCSPGRP),  ONE(TIOCGSID),
					    ONE(TIOCGWINSZ), ONE(TIOCSWINSZ), ONE(TIOCGDEV)};

enum {
	SOCKET_TYPE = 0xf,
	/* A plain child: shares nothing, in no namespace of its own. */
	NO_CHILD = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_VFORK | CLONE_PARENT |
		   CLONE_THREAD | CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC |
		   CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET,
};

static const struct row rows[] = {
	{CALL(read), ALWAYS, false, {{.test = ARG_UNUSED}}},
	{CALL(mmap), ALWAYS, false, {{.arg = 2, WITHOUT(PROT_EXEC)}}},
	{CALL(mprotect), ALWAYS, false, {{.arg = 2, WITHOUT(PROT_EXEC)}}},
	{CALL(fcntl), ALWAYS, false, {{.arg = 1, WORDS(descriptor)}}},
	{CALL(ioctl), ALWAYS, false, {{.arg = 1, WORDS(requests)}}},
	{CALL(ioctl), CONFINE_TERMINAL, false, {{.arg = 1, WORDS(terminal)}}},
	{CALL(seccomp), ALWAYS, false, {{.arg = 0, WORDS(sizes)}}},
	/* over its own sockets, not to an address, except the system log's */
	{CALL(socket),
	 CONFINE_ANCHOR,
	 false,
	 {{.arg = 0, WORDS(local)}, {.arg = 1, MASKED(SOCKET_TYPE, datagram)}}},
	{CALL(sendto), CONFINE_ANCHOR, false, {{.test = ARG_UNUSED}}},
	{CALL(sendto), ALWAYS, true, {{.test = ARG_BITS, .arg = 4, .mask = UINT64_MAX}}},
	{CALL(sendto), ALWAYS, false, {{.test = ARG_UNUSED}}},
	{CALL(clone), CONFINE_TERMINAL, false, {{.arg = 0, WITHOUT(NO_CHILD)}}},
	{CALL(prctl), CONFINE_TERMINAL, false, {{.arg = 0, WORDS(death)}}},
};

struct state {
	struct code *code;
	uint32_t allow, kill;
	uint32_t labels[SYSCALL_NUMBERS];
};

static bool applies(const struct confine_needs *needs, unsigned reasons)
{
	return reasons == ALWAYS || (reasons & needs->reasons) != 0;
}

static bool is_number(int number)
{
	return number >= 0 && number < SYSCALL_NUMBERS;
}

/* Rows are written from the last to the first: what is there already is what comes after. */
static void add_row(struct state *state, const struct row *row)
{
	uint32_t *label = &state->labels[row->number];
	uint32_t next = *label, verdict = row->refuse ? state->kill : state->allow;

	for (size_t i = 2; i-- > 0;)
		verdict = code_condition(state->code, &row->when[i], verdict, next);
	*label = verdict;
}

static void add_lists(struct state *state, const struct confine_needs *needs)
{
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		for (size_t j = 0; j < CALLS_MAX && applies(needs, lists[i].reasons); j++)
			if (is_number(lists[i].numbers[j]) && lists[i].numbers[j] != NO_MORE)
				state->labels[lists[i].numbers[j]] = state->allow;
}

static void add_rows(struct state *state, const struct confine_needs *needs)
{
	for (size_t i = sizeof(rows) / sizeof(rows[0]); i-- > 0;)
		if (is_number(rows[i].number) && applies(needs, rows[i].reasons))
			add_row(state, &rows[i]);
}

/*
 * Pid 1 of the sandbox can be signalled, and nobody else: its descriptor's number stays taken, and
 * no other gets there. The gate is a child that nobody else reaps.
 */
static void add_signals(struct state *state, const struct confine_needs *needs)
{
	const struct arg_range init[] = {ONE((uint32_t)needs->init_pidfd)};
	const struct arg_range gate[] = {ONE((uint32_t)needs->gate_pid)};
	const struct arg_range sigkill[] = {ONE(SIGKILL)};
	const struct row only_init = {
		CALL(pidfd_send_signal), ALWAYS, false, {{.arg = 0, WORDS(init)}}};
	const struct row not_init = {CALL(close), ALWAYS, true, {{.arg = 0, WORDS(init)}}};
	const struct row only_gate = {CALL(kill),
				      CONFINE_GATE,
				      false,
				      {{.arg = 0, WORDS(gate)}, {.arg = 1, WORDS(sigkill)}}};

	add_row(state, &not_init);
	if (!applies(needs, CONFINE_CGROUP))
		add_row(state, &only_init);
	if (applies(needs, CONFINE_GATE) && !applies(needs, CONFINE_TERMINAL))
		add_row(state, &only_gate);
}

static void assemble(struct state *state)
{
	struct code_span spans[SYSCALL_NUMBERS + 2] __attribute__((uninitialized));
	struct code *code = state->code;
	size_t count = 0;

	spans[count++] = (struct code_span){0, state->labels[0]};
	for (uint32_t number = 1; number < SYSCALL_NUMBERS; number++)
		if (state->labels[number] != state->labels[number - 1])
			spans[count++] = (struct code_span){number, state->labels[number]};
	spans[count++] = (struct code_span){SYSCALL_NUMBERS, state->kill};
	/* no call, and what a tracer leaves of one that it answers itself (tests/attack/faults.py)
	 */
	spans[count++] = (struct code_span){UINT32_MAX, state->allow};
	code_follow(code, code_tree(code, spans, count));
	code_load(code, offsetof(struct seccomp_data, nr), UINT32_MAX);
	code_branch(code, BPF_JEQ, SBOX_AUDIT_ARCH, code->at, state->kill);
	code_load(code, offsetof(struct seccomp_data, arch), UINT32_MAX);
}

/* On the stack, which a run has used this far already: in the arena each page would be new. */
void confine_build(const struct confine_needs *needs, struct code *code,
		   struct sock_fprog *ret_program)
{
	struct state state __attribute__((uninitialized));

	state.code = code;
	code_init(code);
	state.kill = code_return(code, SECCOMP_RET_KILL_PROCESS);
	state.allow = code_return(code, SECCOMP_RET_ALLOW);
	for (size_t i = 0; i < SYSCALL_NUMBERS; i++)
		state.labels[i] = state.kill;
	add_lists(&state, needs);
	add_rows(&state, needs);
	add_signals(&state, needs);
	assemble(&state);
	*ret_program = (struct sock_fprog){
		.len = (unsigned short)(CODE_MAX - code->at),
		.filter = code->code + code->at,
	};
}
