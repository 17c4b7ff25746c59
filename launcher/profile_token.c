// SPDX-License-Identifier: Apache-2.0
#include "profile_internal.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "nearest.h"
#include "rules.h"
#include "store.h"
#include "toolchain_table.h"

/*
 * What one element of a list, or one text, may look like. Each function
 * returns NULL or a clause that names the value and the way out. None of them
 * knows a word for "everything".
 */

#define UPPER   "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define LOWER   "abcdefghijklmnopqrstuvwxyz"
#define DIGITS  "0123456789"
#define LETTERS UPPER LOWER

typedef const char *(*fault_fn)(struct arena *arena, const char *text);

static bool made_of(const char *text, const char *set)
{
	return text[0] != '\0' && text[strspn(text, set)] == '\0';
}

/* NAME of an environment variable. */
bool token_is_name(const char *text, size_t len)
{
	return len > 0 && strspn(text, LETTERS DIGITS "_") >= len && strspn(text, DIGITS) == 0;
}

/* Labels of letters, digits and '-', joined by dots. */
static bool is_host_name(const char *text, size_t most)
{
	size_t len = strlen(text);

	if (len == 0 || len > most)
		return false;
	for (const char *at = text;;) {
		size_t label = strcspn(at, ".");

		if (label == 0 || label > 63 || at[0] == '-' || at[label - 1] == '-')
			return false;
		for (size_t i = 0; i < label; i++)
			if (!strchr(LETTERS DIGITS "-", at[i]))
				return false;
		if (at[label] == '\0')
			return true;
		at += label + 1;
	}
}

/* The rules of [network] are the gate's: it judges by what is read here. */
static const char *allow_fault(struct arena *arena, const char *text)
{
	char fault[RULE_FAULT_BYTES];
	struct rule rule;

	return rule_parse_allow(text, &rule, fault) ? NULL : arena_strdup(arena, fault);
}

static const char *deny_fault(struct arena *arena, const char *text)
{
	char fault[RULE_FAULT_BYTES];
	struct rule rule;

	return rule_parse_deny(text, &rule, fault) ? NULL : arena_strdup(arena, fault);
}

static const char *resolve_fault(struct arena *arena, const char *text)
{
	char fault[RULE_FAULT_BYTES];
	struct rule_pin pin;

	return rule_parse_pin(text, &pin, fault) ? NULL : arena_strdup(arena, fault);
}

static const char *listen_fault(struct arena *arena, const char *text)
{
	char fault[RULE_FAULT_BYTES];
	struct rule_listen listen;

	return rule_parse_listen(text, &listen, fault) ? NULL : arena_strdup(arena, fault);
}

static const char *keep_fault(struct arena *arena, const char *text)
{
	size_t len = strlen(text);

	if (strcmp(text, "*") == 0)
		return "\"*\" would pass every variable on, secrets included: name them";
	if (strchr(text, '=') != NULL)
		return arena_printf(arena, "%s has a value: that belongs in set, keep takes names",
				    text_show(arena, text));
	if (len > 0 && text[len - 1] == '*')
		len--;
	if (token_is_name(text, len))
		return NULL;
	return arena_printf(arena, "%s is not a variable's name (NAME, or PREFIX*)",
			    text_show(arena, text));
}

static const char *set_fault(struct arena *arena, const char *text)
{
	if (text[strcspn(text, "=")] == '=' && token_is_name(text, strcspn(text, "=")))
		return NULL;
	return arena_printf(arena, "%s is not NAME=VALUE", text_show(arena, text));
}

/* capabilities(7), in the kernel's order. */
static const char *const capabilities[] = {
	"chown",
	"dac_override",
	"dac_read_search",
	"fowner",
	"fsetid",
	"kill",
	"setgid",
	"setuid",
	"setpcap",
	"linux_immutable",
	"net_bind_service",
	"net_broadcast",
	"net_admin",
	"net_raw",
	"ipc_lock",
	"ipc_owner",
	"sys_module",
	"sys_rawio",
	"sys_chroot",
	"sys_ptrace",
	"sys_pacct",
	"sys_admin",
	"sys_boot",
	"sys_nice",
	"sys_resource",
	"sys_time",
	"sys_tty_config",
	"mknod",
	"lease",
	"audit_write",
	"audit_control",
	"setfcap",
	"mac_override",
	"mac_admin",
	"syslog",
	"wake_alarm",
	"block_suspend",
	"audit_read",
	"perfmon",
	"bpf",
	"checkpoint_restore",
};

static const char *capability_fault(struct arena *arena, const char *text)
{
	const char *plain = strncasecmp(text, "cap_", 4) == 0 ? text + 4 : text;
	struct nearest nearest = {.wanted = plain};

	for (size_t i = 0; i < sizeof(capabilities) / sizeof(capabilities[0]); i++) {
		if (strcasecmp(plain, capabilities[i]) == 0)
			return NULL;
		nearest_consider(&nearest, capabilities[i]);
	}
	return arena_printf(arena, "%s is not a capability%s%s%s", text_show(arena, text),
			    nearest.best ? "; did you mean " : " (net_bind_service, ...)",
			    nearest.best ? nearest.best : "", nearest.best ? "?" : "");
}

static const char *syscall_fault(struct arena *arena, const char *text)
{
	const char *name = text + (text[0] == '!');

	name += name[0] == '@';
	if (made_of(name, LOWER UPPER DIGITS "_-"))
		return NULL;
	return arena_printf(arena,
			    "%s is not a system call or a set (read, @default, !ptrace, !@mount)",
			    text_show(arena, text));
}

static const char *toolchain_fault(struct arena *arena, const char *text)
{
	if (strcmp(text, "@all") == 0 || toolchain_named(text) != NULL)
		return NULL;
	const char *near = toolchain_nearest(text);

	return arena_printf(arena, "%s is not a version manager%s%s%s", text_show(arena, text),
			    near ? "; did you mean " : " (@all, pyenv, nvm, ...: see sbox.ini(5))",
			    near ? near : "", near ? "?" : "");
}

static const char *limits_fault(struct arena *arena, const char *text)
{
	uint64_t ms, bytes;
	const char *wrong = store_parse_limits(text, &ms, &bytes);

	return wrong ? arena_printf(arena, "%s %s", text_show(arena, text), wrong) : NULL;
}

static const char *hostname_fault(struct arena *arena, const char *text)
{
	if (is_host_name(text, 64))
		return NULL;
	return arena_printf(arena,
			    "%s is not a host name (1-64 letters, digits, '-' and '.', no '-' or "
			    "'.' at an end)",
			    text_show(arena, text));
}

static const char *user_fault(struct arena *arena, const char *text)
{
	bool number = made_of(text, DIGITS);

	if (strcmp(text, "root") == 0 || (number && strspn(text, "0") == strlen(text)))
		return arena_printf(arena,
				    "%s is root: write auto, or the user whose files are worked on",
				    text_show(arena, text));
	/* 65535 and 4294967295 mean "no change" to the kernel. */
	if (number && strlen(text) <= 10 && text[0] != '0' &&
	    strtoull(text, NULL, 10) < 4294967295u)
		return NULL;
	if (!number && strlen(text) <= 32 && made_of(text, LETTERS DIGITS "_.-") &&
	    strchr("-.", text[0]) == NULL)
		return NULL;
	return arena_printf(arena, "%s is not a user (auto, a name or a number)",
			    text_show(arena, text));
}

/* Labels go into kernel files as one line. */
static const char *label_fault(struct arena *arena, const char *text)
{
	for (const char *at = text; *at != '\0'; at++)
		if ((unsigned char)*at <= ' ' || *at == 0x7f)
			return arena_printf(arena, "%s has a blank in it: a label is one word",
					    text_show(arena, text));
	return NULL;
}

static const struct {
	enum key_id id;
	fault_fn fault;
} faults[] = {
	{KEY_FILE_TOOLCHAINS, toolchain_fault},  {KEY_NETWORK_ALLOW, allow_fault},
	{KEY_NETWORK_DENY, deny_fault},          {KEY_NETWORK_RESOLVE, resolve_fault},
	{KEY_NETWORK_LISTEN, listen_fault},      {KEY_PROCESS_HOSTNAME, hostname_fault},
	{KEY_PRIVILEGE_USER, user_fault},        {KEY_PRIVILEGE_CAPABILITIES, capability_fault},
	{KEY_PRIVILEGE_SYSCALLS, syscall_fault}, {KEY_PRIVILEGE_APPARMOR, label_fault},
	{KEY_PRIVILEGE_SELINUX, label_fault},    {KEY_ENVIRONMENT_KEEP, keep_fault},
	{KEY_ENVIRONMENT_SET, set_fault},        {KEY_AUDIT_KEEP, limits_fault},
	{KEY_AUDIT_SEGMENT, limits_fault},
};

const char *token_fault(struct arena *arena, const struct key *key, const char *text)
{
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		if (key == &key_table[faults[i].id])
			return faults[i].fault(arena, text);
	return NULL;
}
