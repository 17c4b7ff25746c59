// SPDX-License-Identifier: Apache-2.0
/*
 * The launcher with something left out, for tests/tools/check-mutants: linked with --wrap around
 * what it replaces, into a program of its own that is never installed. The launcher's source has
 * no word of this, and the program that is shipped is made of the same objects without this one.
 *
 * SBOX_TEST_LEAVE_OUT names what to leave out, commas between:
 *
 *   NAME        the step of that name (step.h)
 *   step:flag   part of a step: see the wrappers
 *   rules:CALL  the argument rules of a system call
 *   set:@NAME   allows a set of system calls
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <linux/mount.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "child.h"
#include "confine.h"
#include "filter_args.h"
#include "run.h"
#include "supervise.h"
#include "syscalls.h"
#include "uapi.h"

static char left_out[512];

/* Before anything of sbox's runs, and before the environment is wiped. */
__attribute__((constructor)) static void read_words(void)
{
	const char *words = getenv("SBOX_TEST_LEAVE_OUT");

	strncpy(left_out, words != NULL ? words : "", sizeof(left_out) - 1);
	unsetenv("SBOX_TEST_LEAVE_OUT");
}

/* Also between clone and exec: no allocation, no lock. */
static bool is_out(const char *word)
{
	size_t len = strlen(word);

	for (const char *at = left_out; (at = strstr(at, word)) != NULL; at += len)
		if ((at == left_out || at[-1] == ',') && (at[len] == ',' || at[len] == '\0'))
			return true;
	return false;
}

/* ---- steps ---- */

#define STEP_WRAPPER(function)                                                                     \
	int __real_child_##function(struct child *child, const struct step *step);                 \
	int __wrap_child_##function(struct child *child, const struct step *step);                 \
	int __wrap_child_##function(struct child *child, const struct step *step)                  \
	{                                                                                          \
		/* a process that was made early waits without a step */                           \
		bool out = step != NULL && is_out(step_names[step->id]);                           \
                                                                                                   \
		return out ? 0 : __real_child_##function(child, step);                             \
	}

STEP_WRAPPER(id_maps)
STEP_WRAPPER(parent_death)
STEP_WRAPPER(new_root)
STEP_WRAPPER(directory)
STEP_WRAPPER(link)
STEP_WRAPPER(content)
STEP_WRAPPER(proc)
STEP_WRAPPER(devpts)
STEP_WRAPPER(attach)
STEP_WRAPPER(overlay)
STEP_WRAPPER(overlays_done)
STEP_WRAPPER(cover)
STEP_WRAPPER(send_fds)
STEP_WRAPPER(loopback)
STEP_WRAPPER(hostname)
STEP_WRAPPER(pivot)
STEP_WRAPPER(read_only_root)
STEP_WRAPPER(become)
STEP_WRAPPER(inner_user)
STEP_WRAPPER(apparmor)
STEP_WRAPPER(no_more_namespaces)
STEP_WRAPPER(no_new_privs)
STEP_WRAPPER(keeper)
STEP_WRAPPER(ruleset)
STEP_WRAPPER(terminal)
STEP_WRAPPER(session)
STEP_WRAPPER(stdio)
STEP_WRAPPER(chdir)
STEP_WRAPPER(affinity)
STEP_WRAPPER(landlock)
STEP_WRAPPER(close)
STEP_WRAPPER(wait)
STEP_WRAPPER(signals)
STEP_WRAPPER(ready)
STEP_WRAPPER(exec)

/* Parts of steps: a copy with something taken out of its value. */

static const struct {
	const char *word;
	uint64_t flag;
} namespace_words[] = {{"namespaces:net", CLONE_NEWNET},
		       {"namespaces:ipc", CLONE_NEWIPC},
		       {"namespaces:uts", CLONE_NEWUTS},
		       {"namespaces:cgroup", CLONE_NEWCGROUP}},
  attribute_words[] = {{"source:rdonly", MOUNT_ATTR_RDONLY},
		       {"source:nosuid", MOUNT_ATTR_NOSUID},
		       {"source:nodev", MOUNT_ATTR_NODEV},
		       {"source:noexec", MOUNT_ATTR_NOEXEC}},
  limit_words[] = {{"limit:files", RLIMIT_NOFILE}, {"limit:core", RLIMIT_CORE},
		   {"limit:tasks", RLIMIT_NPROC},  {"limit:data", RLIMIT_DATA},
		   {"limit:cpu", RLIMIT_CPU},      {"limit:size", RLIMIT_FSIZE}};

int __real_child_namespaces(struct child *child, const struct step *step);
int __wrap_child_namespaces(struct child *child, const struct step *step);
int __wrap_child_namespaces(struct child *child, const struct step *step)
{
	struct step less = *step;

	for (size_t i = 0; i < sizeof(namespace_words) / sizeof(namespace_words[0]); i++)
		if (is_out(namespace_words[i].word))
			less.value[0] &= ~namespace_words[i].flag;
	return __real_child_namespaces(child, &less);
}

/* Both attach a copy of a tree with attributes. */
static struct step with_fewer_attributes(const struct step *step)
{
	struct step less = *step;

	for (size_t i = 0; i < sizeof(attribute_words) / sizeof(attribute_words[0]); i++)
		if (is_out(attribute_words[i].word))
			less.value[2] &= ~attribute_words[i].flag;
	if (is_out("source:idmap"))
		less.idmap = -1;
	return less;
}

int __real_child_source(struct child *child, const struct step *step);
int __wrap_child_source(struct child *child, const struct step *step);
int __wrap_child_source(struct child *child, const struct step *step)
{
	const struct step less = with_fewer_attributes(step);

	return __real_child_source(child, &less);
}

int __real_child_self_bind(struct child *child, const struct step *step);
int __wrap_child_self_bind(struct child *child, const struct step *step);
int __wrap_child_self_bind(struct child *child, const struct step *step)
{
	const struct step less = with_fewer_attributes(step);

	return is_out("self-bind") ? 0 : __real_child_self_bind(child, &less);
}

int __real_child_limit(struct child *child, const struct step *step);
int __wrap_child_limit(struct child *child, const struct step *step);
int __wrap_child_limit(struct child *child, const struct step *step)
{
	for (size_t i = 0; i < sizeof(limit_words) / sizeof(limit_words[0]); i++)
		if (step->value[0] == limit_words[i].flag && is_out(limit_words[i].word))
			return 0;
	return __real_child_limit(child, step);
}

/* Kept, and made such that an exec keeps them too. */
static int keep_capabilities(void)
{
	struct {
		uint32_t version;
		int pid;
	} header = {0x20080522, 0};
	uint32_t sets[6];

	if (syscall(SYS_capget, &header, sets) != 0)
		return 1;
	sets[2] = sets[1];
	sets[5] = sets[4];
	if (syscall(SYS_capset, &header, sets) != 0)
		return 2;
	for (unsigned long cap = 0; cap < 64; cap++)
		prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, cap, 0, 0);
	return 0;
}

int __real_child_capabilities(struct child *child, const struct step *step);
int __wrap_child_capabilities(struct child *child, const struct step *step);
int __wrap_child_capabilities(struct child *child, const struct step *step)
{
	return is_out("capabilities") ? keep_capabilities()
				      : __real_child_capabilities(child, step);
}

/* The supervisor waits for a listener: the program gets one, of a filter that lets all pass. */
int __real_child_seccomp(struct child *child, const struct step *step);
int __wrap_child_seccomp(struct child *child, const struct step *step);
int __wrap_child_seccomp(struct child *child, const struct step *step)
{
	struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, 0x7fff0000);
	const struct sock_fprog open = {.len = 1, .filter = &allow};
	struct step less = *step;

	if (is_out("seccomp"))
		less.filter = less.plain_filter = &open;
	return __real_child_seccomp(child, &less);
}

/* ---- the filter's parts ---- */

const int8_t *__real_arg_check_table(void);
const int8_t *__wrap_arg_check_table(void);
const int8_t *__wrap_arg_check_table(void)
{
	static int8_t table[SYSCALL_NUMBERS];
	char name[SYSCALL_NAME_MAX], word[64] = "rules:";

	memcpy(table, __real_arg_check_table(), sizeof(table));
	for (int number = 0; number < SYSCALL_NUMBERS; number++) {
		if (table[number] < 0)
			continue;
		strcpy(word + 6, syscall_name(number, name));
		if (is_out(word))
			table[number] = -1;
	}
	return table;
}

int __real_syscalls_select(const struct string_list *entries, bool *ret_allowed, struct error *err);
int __wrap_syscalls_select(const struct string_list *entries, bool *ret_allowed, struct error *err);
int __wrap_syscalls_select(const struct string_list *entries, bool *ret_allowed, struct error *err)
{
	int result = __real_syscalls_select(entries, ret_allowed, err);
	char name[SYSCALL_NAME_MAX], word[64] = "set:";

	for (int number = 0; number < SYSCALL_NUMBERS; number++) {
		const struct syscall_info *info = syscall_find(number);

		if (info == NULL)
			continue;
		strcpy(word + 4, syscall_sets[info->set].name);
		if (is_out(word))
			ret_allowed[number] = true;
		strcpy(word + 4, syscall_name(number, name));
		if (is_out(word))
			ret_allowed[number] = true;
	}
	return result;
}

/* ---- what sbox itself does ---- */

void __real_hold_back(struct run *run);
void __wrap_hold_back(struct run *run);
void __wrap_hold_back(struct run *run)
{
	if (!is_out("hold-back"))
		__real_hold_back(run);
}

void __real_network_wanted(struct loop *loop);
void __wrap_network_wanted(struct loop *loop);
void __wrap_network_wanted(struct loop *loop)
{
	if (!is_out("network-wanted"))
		__real_network_wanted(loop);
	else
		notify_let_go(&loop->run->notify);
}

int __real_confine_supervisor(struct run *run, struct error *err);
int __wrap_confine_supervisor(struct run *run, struct error *err);
int __wrap_confine_supervisor(struct run *run, struct error *err)
{
	return is_out("confine") ? 0 : __real_confine_supervisor(run, err);
}

void __real_mounts_changed(struct loop *loop);
void __wrap_mounts_changed(struct loop *loop);
void __wrap_mounts_changed(struct loop *loop)
{
	if (!is_out("mounts-watched"))
		__real_mounts_changed(loop);
}

int __real_run_watch_growth(struct run *run, struct error *err);
int __wrap_run_watch_growth(struct run *run, struct error *err);
int __wrap_run_watch_growth(struct run *run, struct error *err)
{
	return is_out("growth-watched") ? 0 : __real_run_watch_growth(run, err);
}

int __real_prctl(int option, ...);
int __wrap_prctl(int option, ...);
int __wrap_prctl(int option, ...)
{
	unsigned long args[4];
	va_list list;

	va_start(list, option);
	for (int i = 0; i < 4; i++)
		args[i] = va_arg(list, unsigned long);
	va_end(list);
	if (option == PR_SET_DUMPABLE && args[0] == 0 && is_out("not-dumpable"))
		return 0;
	return __real_prctl(option, args[0], args[1], args[2], args[3]);
}

ssize_t __real_recvfrom(int fd, void *buffer, size_t size, int flags, void *from, void *len);
ssize_t __wrap_recvfrom(int fd, void *buffer, size_t size, int flags, void *from, void *len);
ssize_t __wrap_recvfrom(int fd, void *buffer, size_t size, int flags, void *from, void *len)
{
	ssize_t got = __real_recvfrom(fd, buffer, size, flags, from, len);

	bool over = got == 0 || (got < 0 && errno == ECONNRESET);

	if (over && size == sizeof(struct message) && is_out("end-of-file")) {
		errno = EAGAIN;
		return -1;
	}
	return got;
}
