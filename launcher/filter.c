// SPDX-License-Identifier: Apache-2.0
/*
 * From the profile's list to a BPF program, in three moves: which numbers are
 * allowed, what each number's verdict is, and a balanced tree over the spans of
 * equal verdicts. The kernel runs the filter once for every number when it is
 * installed and remembers what is always allowed, so depth is what costs.
 */
#include "filter.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>

#include "filter_args.h"
#include "filter_code.h"
#include "syscalls.h"
#include "uapi.h"

/* Besides SECCOMP_RET_*, a verdict can be "look at the arguments", with the check's index. */
enum { VERDICT_CHECK = 0x01000000, CHECKS_MAX = 64, VERDICT_MARKED = 0x02000000 };

enum { SPANS_MAX = SYSCALL_NUMBERS + 1 };

struct filter_state {
	const struct filter_policy *policy;
	struct code code;
	uint32_t verdicts[SYSCALL_NUMBERS];
	uint32_t check_labels[CHECKS_MAX]; /* 0: not written yet */
};

static uint32_t refusal(const struct filter_policy *policy, int errnum)
{
	return policy->listener ? SECCOMP_RET_USER_NOTIF : SECCOMP_RET_ERRNO | (uint32_t)errnum;
}

static uint32_t refused_set(const struct filter_policy *policy, const struct syscall_set *set)
{
	return set->absent ? SECCOMP_RET_ERRNO | ENOSYS : refusal(policy, set->errnum);
}

/* INET sockets reach no more than the profile says, or it says all. */
static unsigned given_by(const struct filter_policy *policy)
{
	bool network = !policy->shared_network || policy->network == NETWORK_HOST;

	return (network ? ARG_NEEDS_NETWORK : 0) | (policy->refuse_unix ? 0 : ARG_NEEDS_UNIX) |
	       (policy->refuse_others ? 0 : ARG_NEEDS_PIDS);
}

static void set_verdict(struct filter_state *state, const char *name, uint32_t verdict)
{
	int number = syscall_number(name);

	if (number >= 0)
		state->verdicts[number] = verdict;
}

/*
 * The supervisor answers every execve and execveat it is asked about with
 * "continue", so one that is not allowed must never be asked about.
 */
static void set_exec_verdicts(struct filter_state *state, const bool *allowed)
{
	static const char *const calls[] = {"execve", "execveat"};
	bool ask = state->policy->trap_exec && state->policy->listener;

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		int number = syscall_number(calls[i]);

		if (number >= 0 && !allowed[number])
			state->verdicts[number] = SECCOMP_RET_ERRNO | EPERM;
		else if (number >= 0 && ask)
			state->verdicts[number] = SECCOMP_RET_USER_NOTIF;
	}
	int number = syscall_number("execve");
	if (number >= 0 && allowed[number] && ask && state->policy->exec_mark != 0)
		state->verdicts[number] = VERDICT_MARKED;
}

/* What only some forms of the sandbox have to refuse. */
static void refuse_more(struct filter_state *state)
{
	static const char *const memfd[] = {"memfd_create", "memfd_secret", "shmget", NULL};
	static const char *const ipc[] = {"shmget", "shmat",   "shmctl",     "semget", "semop",
					  "semctl", "msgget",  "semtimedop", "msgsnd", "msgrcv",
					  "msgctl", "mq_open", "mq_unlink",  NULL};
	static const char *const others[] = {"setpriority", "ioprio_set", NULL};
	static const char *const truncate[] = {"truncate", NULL};
	const struct filter_policy *policy = state->policy;
	const struct {
		bool wanted;
		const char *const *names;
	} lists[] = {{policy->refuse_memfd, memfd},
		     {policy->refuse_ipc, ipc},
		     {policy->refuse_others, others},
		     {policy->refuse_truncate, truncate}};

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		for (const char *const *name = lists[i].names; lists[i].wanted && *name != NULL;
		     name++)
			set_verdict(state, *name, refusal(policy, EPERM));
}

static void decide(struct filter_state *state, const bool *allowed)
{
	const struct filter_policy *policy = state->policy;
	const struct syscall_info *table = syscall_table();
	const int8_t *checks = arg_check_table();

	for (int number = 0; number < SYSCALL_NUMBERS; number++) {
		const struct syscall_info *info = &table[number];
		uint32_t *verdict = &state->verdicts[number];

		if (info->length == 0)
			*verdict = SECCOMP_RET_ERRNO | ENOSYS;
		else if (!allowed[number])
			*verdict = refused_set(policy, &syscall_sets[info->set]);
		else if (checks[number] >= 0)
			*verdict = VERDICT_CHECK | (uint32_t)checks[number];
		else
			*verdict = SECCOMP_RET_ALLOW;
	}
	refuse_more(state);
	set_exec_verdicts(state, allowed);
}

static bool asks(const struct filter_policy *policy, const struct arg_row *row)
{
	return row->ask != ASK_NOTHING && row->ask <= policy->ask;
}

static bool waits(const struct filter_policy *policy, const struct arg_row *row)
{
	return policy->late_network && row->network;
}

static bool is_check(uint32_t verdict)
{
	return (verdict & ~(uint32_t)(CHECKS_MAX - 1)) == VERDICT_CHECK;
}

static bool is_passed(uint32_t verdict)
{
	return verdict == SECCOMP_RET_ALLOW || is_check(verdict);
}

static uint32_t row_code(struct filter_state *state, const struct arg_row *row, uint32_t next)
{
	bool ask =
		(asks(state->policy, row) && state->policy->listener) || waits(state->policy, row);
	uint32_t verdict = ask          ? SECCOMP_RET_USER_NOTIF
			   : row->allow ? SECCOMP_RET_ALLOW
					: refusal(state->policy, row->errnum);
	uint32_t label = code_return(&state->code, verdict);

	/* Rows that only name a refusal differ in nothing for the kernel. */
	if (label == next)
		return next;
	for (size_t i = ARG_CONDITIONS; i-- > 0;)
		label = code_condition(&state->code, &row->when[i], label, next);
	return label;
}

static uint32_t check_code(struct filter_state *state, uint32_t index)
{
	const struct arg_check *check = &arg_checks[index];
	unsigned given = given_by(state->policy);
	uint32_t label = state->check_labels[index];

	if (label != 0)
		return label;
	for (size_t i = check->count; i-- > 0;)
		if ((check->rows[i].needs & ~given) == 0)
			label = row_code(state, &check->rows[i], label);
	state->check_labels[index] = label;
	return label;
}

/* Asked about unless the sixth register holds the mark. */
static uint32_t marked_code(struct filter_state *state)
{
	struct code *code = &state->code;
	uint64_t mark = state->policy->exec_mark;
	uint32_t allow = code_return(code, SECCOMP_RET_ALLOW);
	uint32_t ask = code_return(code, SECCOMP_RET_USER_NOTIF);
	uint32_t low = offsetof(struct seccomp_data, args[5]);

	code_branch(code, BPF_JEQ, (uint32_t)(mark >> 32), allow, ask);
	code_load(code, low + 4, UINT32_MAX);
	code_branch(code, BPF_JEQ, (uint32_t)mark, code->at, ask);
	code_load(code, low, UINT32_MAX);
	return code->at;
}

static uint32_t verdict_code(struct filter_state *state, uint32_t verdict)
{
	if (verdict == VERDICT_MARKED)
		return marked_code(state);
	if (is_check(verdict))
		return check_code(state, verdict & (CHECKS_MAX - 1));
	return code_return(&state->code, verdict);
}

/* Numbers that no kernel of this architecture has go to ENOSYS with all above the last one. */
static size_t find_spans(struct filter_state *state, struct code_span *spans)
{
	uint32_t unknown = code_return(&state->code, SECCOMP_RET_ERRNO | ENOSYS);
	uint32_t last = verdict_code(state, state->verdicts[0]);
	size_t count = 0;

	spans[count++] = (struct code_span){0, last};
	for (uint32_t number = 1; number < SYSCALL_NUMBERS; number++) {
		uint32_t label = verdict_code(state, state->verdicts[number]);

		if (label != last)
			spans[count++] = (struct code_span){number, label};
		last = label;
	}
	if (last != unknown)
		spans[count++] = (struct code_span){SYSCALL_NUMBERS, unknown};
	return count;
}

static void assemble(struct filter_state *state)
{
	struct code *code = &state->code;
	struct code_span spans[SPANS_MAX] __attribute__((uninitialized));

	code_init(code);
	size_t count = find_spans(state, spans);
	uint32_t foreign = code_return(code, refusal(state->policy, EPERM));
	code_follow(code, code_tree(code, spans, count));
	code_load(code, offsetof(struct seccomp_data, nr), UINT32_MAX);
	/* x32 calls have x86-64's architecture too, with bit 30 set in the number: beyond
	 * every number we know, so the answer is ENOSYS, that of a kernel without x32. */
	code_branch(code, BPF_JEQ, SBOX_AUDIT_ARCH, code->at, foreign);
	code_load(code, offsetof(struct seccomp_data, arch), UINT32_MAX);
}

int filter_build(struct arena *arena, const struct filter_policy *policy,
		 struct sock_fprog *ret_program, struct error *err)
{
	/* The code is written from its end: in the arena what stays unused is never touched. */
	struct filter_state *state = arena_alloc(arena, sizeof(*state));
	bool allowed[SYSCALL_NUMBERS];

	if (syscalls_select(policy->syscalls, allowed, err) < 0)
		return -1;
	state->policy = policy;
	decide(state, allowed);
	for (size_t i = 0; policy->passes != NULL && i < SYSCALL_NUMBERS; i++)
		policy->passes[i] = is_passed(state->verdicts[i]);
	assemble(state);
	*ret_program = (struct sock_fprog){
		.len = (unsigned short)(CODE_MAX - state->code.at),
		.filter = state->code.code + state->code.at,
	};
	return 0;
}

bool filter_is_native(uint32_t arch)
{
	return arch == SBOX_AUDIT_ARCH;
}

int filter_refusal_errno(uint32_t arch, int nr, const uint64_t args[6])
{
	const struct syscall_info *info = syscall_find(nr);

	if (!filter_is_native(arch))
		return EPERM;
	if (info == NULL)
		return ENOSYS;
	const struct arg_row *row = filter_refusing_row(NULL, nr, args);
	return row != NULL ? row->errnum : syscall_sets[info->set].errnum;
}

const struct arg_row *filter_refusing_row(const struct filter_policy *policy, int nr,
					  const uint64_t args[6])
{
	int8_t check = nr >= 0 && nr < SYSCALL_NUMBERS ? arg_check_table()[nr] : -1;

	if (check < 0)
		return NULL;
	unsigned given = policy != NULL ? given_by(policy) : 0;
	const struct arg_row *row = arg_check_decide(&arg_checks[check], given, args);
	return row->allow ? NULL : row;
}

/* The argument rule that allows, or NULL: there is none, or the call is refused. */
static const struct arg_row *allowing_row(const struct filter_policy *policy, uint32_t arch, int nr,
					  const uint64_t args[6])
{
	if (policy == NULL || policy->passes == NULL || !filter_is_native(arch) || nr < 0 ||
	    nr >= SYSCALL_NUMBERS || !policy->passes[nr])
		return NULL;
	int8_t check = arg_check_table()[nr];
	if (check < 0)
		return NULL;
	const struct arg_row *row = arg_check_decide(&arg_checks[check], given_by(policy), args);
	return row->allow ? row : NULL;
}

bool filter_is_question(const struct filter_policy *policy, uint32_t arch, int nr,
			const uint64_t args[6])
{
	const struct arg_row *row = allowing_row(policy, arch, nr, args);

	return row != NULL && asks(policy, row);
}

bool filter_wants_network(const struct filter_policy *policy, uint32_t arch, int nr,
			  const uint64_t args[6])
{
	if (policy == NULL || !policy->late_network)
		return false;
	const struct arg_row *row = allowing_row(policy, arch, nr, args);
	return row != NULL && waits(policy, row);
}
