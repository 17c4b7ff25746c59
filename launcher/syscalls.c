// SPDX-License-Identifier: Apache-2.0
#include "syscalls.h"

#include <seccomp.h>
#include <stdlib.h>
#include <string.h>

#include "nearest.h"
#include "uapi.h"

/*
 * Calls that libseccomp 2.5.4 has no name for. From 424 on a number is the same
 * on all architectures.
 */
static const struct {
	const char *name;
	int number;
} recent[] = {
#if SBOX_AUDIT_ARCH == AUDIT_ARCH_X86_64
	{"uretprobe", 335},         {"uprobe", 336},
#endif
	{"cachestat", 451},         {"fchmodat2", 452},        {"map_shadow_stack", 453},
	{"futex_wake", 454},        {"futex_wait", 455},       {"futex_requeue", 456},
	{"statmount", 457},         {"listmount", 458},        {"lsm_get_self_attr", 459},
	{"lsm_set_self_attr", 460}, {"lsm_list_modules", 461}, {"mseal", 462},
	{"setxattrat", 463},        {"getxattrat", 464},       {"listxattrat", 465},
	{"removexattrat", 466},     {"open_tree_attr", 467},   {"file_getattr", 468},
	{"file_setattr", 469},      {"listns", 470},           {"rseq_slice_yield", 471},
};

/* No program starts, hands its listener over or ends without these. */
static const char always[] = "read write close sendmsg execve exit exit_group rt_sigreturn "
			     "restart_syscall";

static int recent_number(const char *name)
{
	for (size_t i = 0; i < sizeof(recent) / sizeof(recent[0]); i++)
		if (strcmp(recent[i].name, name) == 0)
			return recent[i].number;
	return -1;
}

int syscall_number(const char *name)
{
	/* Negative also for a call that only another architecture has. libseccomp's tokens are
	 * the kernel's AUDIT_ARCH numbers. */
	int number = seccomp_syscall_resolve_name_arch(SBOX_AUDIT_ARCH, name);

	if (number < 0)
		number = recent_number(name);
	return number >= 0 && number < SYSCALL_NUMBERS ? number : -1;
}

const char *syscall_next_name(const char *members, char buf[SYSCALL_NAME_MAX])
{
	size_t length;

	members += strspn(members, " ");
	length = strcspn(members, " ");
	if (length >= SYSCALL_NAME_MAX)
		abort();
	memcpy(buf, members, length);
	buf[length] = '\0';
	return members + length;
}

bool syscall_set_is_group(const struct syscall_set *set)
{
	return set->members[0] == '@';
}

const struct syscall_info *syscall_find(int number)
{
	if (number < 0 || number >= SYSCALL_NUMBERS || syscall_table()[number].length == 0)
		return NULL;
	return &syscall_table()[number];
}

const char *syscall_name(int number, char buf[SYSCALL_NAME_MAX])
{
	const struct syscall_info *info = syscall_find(number);

	buf[0] = '\0';
	if (info != NULL)
		syscall_next_name(syscall_sets[info->set].members + info->at, buf);
	return buf;
}

const struct syscall_set *syscall_set_find(const char *name)
{
	for (const struct syscall_set *set = syscall_sets; set->name != NULL; set++)
		if (strcmp(set->name, name) == 0)
			return set;
	return NULL;
}

static bool has_member(const char *members, const char *wanted)
{
	char name[SYSCALL_NAME_MAX];

	members = syscall_next_name(members, name);
	for (; name[0] != '\0'; members = syscall_next_name(members, name))
		if (strcmp(name, wanted) == 0)
			return true;
	return false;
}

const struct syscall_set *syscall_set_of(const char *name)
{
	for (const struct syscall_set *set = syscall_sets; set->name != NULL; set++)
		if (!syscall_set_is_group(set) && has_member(set->members, name))
			return set;
	return NULL;
}

/* Names live in a buffer here, so the best one is kept by copying it. */
static void nearest_name(const char *wanted, char best[SYSCALL_NAME_MAX])
{
	struct nearest nearest = {.wanted = wanted};
	char name[SYSCALL_NAME_MAX];

	best[0] = '\0';
	for (const struct syscall_set *set = syscall_sets; set->name != NULL; set++) {
		if (nearest_consider(&nearest, set->name))
			strcpy(best, set->name);
		const char *at = syscall_next_name(set->members, name);
		for (; name[0] != '\0'; at = syscall_next_name(at, name))
			if (name[0] != '@' && nearest_consider(&nearest, name))
				strcpy(best, name);
	}
}

static int unknown(const char *name, struct error *err)
{
	char best[SYSCALL_NAME_MAX];
	const char *what = name[0] == '@' ? "set of system calls" : "system call";

	nearest_name(name, best);
	if (best[0] != '\0')
		return error_set(
			err, ERROR_PROFILE,
			"[privilege] syscalls: there is no %s \"%s\"; did you mean \"%s\"?", what,
			name, best);
	return error_set(err, ERROR_PROFILE, "[privilege] syscalls: there is no %s \"%s\"", what,
			 name);
}

static void apply_names(const char *names, bool allow, bool *allowed)
{
	char name[SYSCALL_NAME_MAX];

	names = syscall_next_name(names, name);
	for (; name[0] != '\0'; names = syscall_next_name(names, name)) {
		int number = syscall_number(name);

		if (number >= 0)
			allowed[number] = allow;
	}
}

enum { SETS_MAX = 64 };

/* Marks a leaf set, or the leaf sets of a group. */
static void mark_sets(const struct syscall_set *set, bool chosen[SETS_MAX])
{
	char name[SYSCALL_NAME_MAX];

	if (!syscall_set_is_group(set)) {
		chosen[set - syscall_sets] = true;
		return;
	}
	const char *at = syscall_next_name(set->members, name);
	for (; name[0] != '\0'; at = syscall_next_name(at, name))
		chosen[syscall_set_find(name) - syscall_sets] = true;
}

static void apply_set(const struct syscall_set *set, bool allow, bool *allowed)
{
	const struct syscall_info *table = syscall_table();
	bool chosen[SETS_MAX] = {false};

	mark_sets(set, chosen);
	for (int number = 0; number < SYSCALL_NUMBERS; number++)
		if (table[number].length != 0 && chosen[table[number].set])
			allowed[number] = allow;
}

static int apply_entry(const char *entry, bool *allowed, struct error *err)
{
	bool allow = entry[0] != '!';
	const char *name = entry + (allow ? 0 : 1);
	bool is_set = name[0] == '@';
	const struct syscall_set *set = is_set ? syscall_set_find(name) : syscall_set_of(name);

	if (set == NULL)
		return unknown(name, err);
	if (allow && set->never != NULL)
		return error_set(err, ERROR_PROFILE,
				 "[privilege] syscalls: \"%s\" cannot be allowed: %s", name,
				 set->never);
	if (!allow && has_member(always, name))
		return error_set(err, ERROR_PROFILE,
				 "[privilege] syscalls: \"%s\" cannot be taken out: no program "
				 "starts or ends without it",
				 name);
	if (is_set)
		apply_set(set, allow, allowed);
	else
		apply_names(name, allow, allowed);
	return 0;
}

int syscalls_select(const struct string_list *entries, bool ret_allowed[SYSCALL_NUMBERS],
		    struct error *err)
{
	bool allowed[SYSCALL_NUMBERS] = {false};

	for (size_t i = 0; i < entries->count; i++)
		if (apply_entry(entries->items[i], allowed, err) < 0)
			return -1;
	apply_names(always, true, allowed);
	memcpy(ret_allowed, allowed, sizeof(allowed));
	return 0;
}
