// SPDX-License-Identifier: Apache-2.0
/*
 * A refused call in words: what, on what, which profile line would permit it,
 * or why none does. Only numbers and arguments are used; memory is not read.
 */
#include <fcntl.h>
#include <linux/audit.h>
#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "filter.h"
#include "notify_private.h"
#include "syscalls.h"

struct words {
	char op[SYSCALL_NAME_MAX], object[64], permit[96];
};

/* What filter_policy.refuse_memfd is about. */
static const char *const uncounted[] = {"memfd_create", "memfd_secret", "shmget"};

static bool is_uncounted(const char *name)
{
	for (size_t i = 0; i < sizeof(uncounted) / sizeof(uncounted[0]); i++)
		if (strcmp(uncounted[i], name) == 0)
			return true;
	return false;
}

static const char *architecture_name(uint32_t arch)
{
	switch (arch) {
	case AUDIT_ARCH_I386:
		return "i386";
	case AUDIT_ARCH_ARM:
		return "arm";
	default:
		return "foreign architecture";
	}
}

static void describe_foreign(const struct seccomp_data *data, struct words *words,
			     struct record_denial *denial)
{
	/* libseccomp's architecture tokens are the kernel's AUDIT_ARCH numbers. */
	char *name = seccomp_syscall_resolve_num_arch(data->arch, data->nr);

	snprintf(words->op, sizeof(words->op), "%s", name != NULL ? name : "unknown");
	free(name);
	snprintf(words->object, sizeof(words->object), "%s", architecture_name(data->arch));
	denial->boundary = BOUNDARY_PRIVILEGE;
	denial->object = words->object;
	denial->never =
		"system calls of another architecture have other numbers and are not filtered";
}

static void describe_row(const struct arg_row *row, const uint64_t args[6], struct words *words,
			 struct record_denial *denial)
{
	denial->boundary = row->boundary;
	if (arg_object_text(row, args, words->object, sizeof(words->object)))
		denial->object = words->object;
	denial->permit = row->permit;
	denial->never = row->never;
}

/* The kernel refuses them too, whatever a profile says. */
static bool needs_capability(const char *name)
{
	static const char *const names[] = {"settimeofday", "clock_settime", "acct",
					    "swapon",       "swapoff",       "reboot",
					    "vhangup",      "sethostname",   "setdomainname"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

static void describe_name(const struct filter_policy *policy, const struct syscall_set *set,
			  struct words *words, struct record_denial *denial)
{
	bool sampled = policy == NULL || policy->refuse_memfd;

	denial->boundary = set->boundary;
	denial->never = set->never;
	if (sampled && is_uncounted(words->op)) {
		denial->boundary = BOUNDARY_PROCESS;
		denial->never = "memory is counted by sampling, which does not see this kind; "
				"with a memory cgroup it is allowed";
	}
	if (needs_capability(words->op))
		denial->never = "it needs a capability, and nothing inside has one";
	if (denial->never != NULL)
		return;
	snprintf(words->permit, sizeof(words->permit), "[privilege] syscalls = %s", words->op);
	denial->permit = words->permit;
}

static void describe(const struct filter_policy *policy, const struct seccomp_data *data,
		     struct words *words, struct record_denial *denial)
{
	const struct syscall_info *info = syscall_find(data->nr);
	const uint64_t args[6] = {data->args[0], data->args[1], data->args[2],
				  data->args[3], data->args[4], data->args[5]};

	denial->op = words->op;
	if (!filter_is_native(data->arch)) {
		describe_foreign(data, words, denial);
		return;
	}
	/* The filter asks about known numbers only; another one is never believed. */
	if (info == NULL) {
		snprintf(words->op, sizeof(words->op), "unknown");
		denial->boundary = BOUNDARY_PRIVILEGE;
		return;
	}
	syscall_name(data->nr, words->op);
	const struct arg_row *row = filter_refusing_row(policy, data->nr, args);
	if (row != NULL)
		describe_row(row, args, words, denial);
	else
		describe_name(policy, &syscall_sets[info->set], words, denial);
}

static ssize_t read_file(const char *path, char *buf, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t length;

	if (fd < 0)
		return -1;
	length = read(fd, buf, size - 1);
	close(fd);
	buf[length > 0 ? length : 0] = '\0';
	return length;
}

pid_t notify_inner_pid(pid_t pid)
{
	static const char key[] = "\nNStgid:";
	char path[64], status[4096];

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	if (read_file(path, status, sizeof(status)) <= 0)
		return 0;
	char *line = strstr(status, key);
	if (line == NULL)
		return 0;
	/* One number for each namespace on the way down: the last is the innermost. */
	line += sizeof(key) - 1;
	line[strcspn(line, "\n")] = '\0';
	char *last = strrchr(line, '\t');
	return last != NULL ? (pid_t)strtol(last, NULL, 10) : 0;
}

void notify_write_down(struct notify *notify, const struct seccomp_notif *request,
		       struct record_denial *denial)
{
	char link[64], exe[EXEC_TEXT_MAX];

	/* gone meanwhile, or killed: what was read may have been another's */
	if (denials_count(notify->denials, denial) || !notify_is_valid(notify, request->id))
		return;
	denial->pid = notify_inner_pid((pid_t)request->pid);
	snprintf(link, sizeof(link), "/proc/%d/exe", (int)request->pid);
	ssize_t length = readlink(link, exe, sizeof(exe) - 1);
	exe[length > 0 ? length : 0] = '\0';
	if (notify_is_valid(notify, request->id)) {
		denial->exe = length > 0 ? exe : NULL;
	} else {
		denial->pid = 0;
	}
	denials_add(notify->denials, denial);
	denial->exe = NULL; /* a copy was taken */
}

void notify_denial(struct notify *notify, const struct seccomp_notif *request, int errnum)
{
	struct words words = {0};
	struct record_denial denial = {.errnum = errnum, .count = 1};

	describe(notify->policy, &request->data, &words, &denial);
	notify_write_down(notify, request, &denial);
}
