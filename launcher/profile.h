// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_PROFILE_H
#define SBOX_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "arena.h"
#include "error.h"
#include "string_list.h"

/*
 * What was asked for. Filled by the parser, never changed afterwards, lives in
 * the run's arena. keys.c holds the one table that ties each field to its
 * section, key, type, default, accepted words and help text; parser, dump,
 * help and man page walk that table.
 */

enum key_id {
#define KEY(id, ...) KEY_##id,
#include "keys.def"
#undef KEY
	KEY_MAX
};

/* Why no list may hold "/": a listed path is attached in the sandbox's own root. */
#define WHOLE_SYSTEM "the whole system: name the folders that are needed"

/* A path as the profile wrote it, variables already expanded; absolute, no "." or "..". */
struct path_rule {
	const char *path;
	bool optional; /* a leading "-": the path may be absent */
	const char *file;
	int line;
};

struct path_list {
	struct path_rule *items;
	size_t count;
};

enum file_writes { WRITES_KEEP, WRITES_DISCARD, WRITES_REVIEW };
enum file_home { HOME_PRIVATE, HOME_NONE };
enum network_mode { NETWORK_NONE, NETWORK_ALLOW, NETWORK_HOST };
enum network_sni { SNI_REQUIRED, SNI_OPTIONAL };
enum on_missing { ON_MISSING_REFUSE, ON_MISSING_REDUCE, ON_MISSING_ALLOW };
enum process_cgroup { PROCESS_CGROUP_AUTO, PROCESS_CGROUP_NONE };
enum on_timeout { ON_TIMEOUT_KILL, ON_TIMEOUT_FREEZE };
enum keep_scripts { SCRIPTS_KEEP, SCRIPTS_HASH };
enum keep_stdin { STDIN_NO, STDIN_KEEP };
enum yes_no { NO, YES };
enum tty_use { TTY_AUTO, TTY_NO };
enum audit_sync { SYNC_NONE, SYNC_EACH, SYNC_GROUP };
enum audit_anchor { ANCHOR_NONE, ANCHOR_SYSLOG };
enum denial_level { DENIALS_FULL, DENIALS_WRITES, DENIALS_CALLS, DENIALS_OFF };

/* Where a key got its value: file is NULL when it has its default. */
struct origin {
	const char *file;
	int line;
};

struct profile {
	const char *name; /* bare name, as asked for: "agent" */
	const char *path; /* file it was read from */
	char sha256[65];  /* of the bytes of all files read, in reading order */
	struct origin origin[KEY_MAX];

	const char *description;

	struct {
		struct path_list exec, read, write, noexec, hide, protect, device;
		struct string_list toolchains; /* names of toolchain_table, "@all" */
		enum file_writes writes;
		uint64_t growth_bytes, max_file_bytes,
			scratch_bytes, /* growth, max_file: 0 is no limit */
			cache_bytes;   /* 0 is none */
		enum yes_no scratch_exec;
		enum file_home home;
		enum on_missing on_missing;
	} file;
	struct {
		enum network_mode mode;
		struct string_list allow, deny, resolve, listen;
		enum network_sni sni;
		enum on_missing on_missing;
	} network;
	struct {
		uint64_t processes;    /* tasks, threads included; 0 is no limit */
		uint64_t memory_bytes; /* 0 is no limit */
		uint64_t cpus_milli;   /* 1500 is one and a half; 0 is all */
		enum process_cgroup cgroup;
		uint64_t open_files;
		uint64_t output_bytes; /* of both streams; 0 is no limit */
		const char *hostname;
		enum tty_use tty;
		enum on_missing on_missing;
	} process;
	struct {
		const char *user; /* "auto" or a name or number */
		struct string_list capabilities, syscalls;
		const char *apparmor, *selinux; /* "" is none */
		enum on_missing on_missing;
	} privilege;
	struct {
		uint64_t wall_ms, cpu_ms; /* 0 is no limit */
		uint64_t grace_ms;
		enum on_timeout on_timeout;
		enum on_missing on_missing;
	} time;
	struct {
		struct string_list keep, set; /* names with *, NAME=VALUE */
	} environment;
	struct {
		uint64_t capture_bytes; /* head and tail of each stream, together */
		enum keep_scripts scripts;
		enum keep_stdin keep_stdin;
		enum yes_no execs;
		enum denial_level denials;
		struct string_list redact;
		enum audit_sync sync;
		const char *keep, *segment; /* store_parse_limits() reads them */
		enum audit_anchor anchor;
	} audit;
};

/* What variables stand for and where profiles are looked up: the caller's facts, read once. */
struct profile_context {
	const char *cwd;        /* absolute, resolved */
	const char *home;       /* caller's home folder, or NULL */
	const char *user;       /* caller's login name, or NULL */
	uid_t uid;              /* caller's effective uid: who may own a profile */
	const char *store;      /* audit store: ${cwd} may not be it or an ancestor of it */
	const char *user_dir;   /* user's profile folder, or NULL */
	const char *system_dir; /* /etc/sbox/profiles */
	const char *shipped_dir;
};

/* The folder of a profile's file. */
const char *profile_folder(struct arena *arena, const char *path);
/* All may write to it without the sticky bit: anybody can swap the file. */
bool profile_folder_is_shared(const struct stat *st);

/* Why no line may make the path writable, in a few words; NULL: one may, as far as its text tells.
 */
const char *profile_never_writable(const char *path, const char *store);

/* Why a folder that nobody wrote out (${cwd}, what a variable of the caller names) must not
 * be handed over: a home folder, a system folder, the store ... NULL: it may. `path` is resolved.
 */
const char *profile_folder_fault(struct arena *arena, const struct profile_context *context,
				 const char *path);

/* One --set SECTION.KEY=VALUE or SECTION.KEY+=VALUE, applied after all files. */
struct profile_override {
	const char *text;
};

/*
 * Finds, reads and checks a profile. `name` is a bare name ("agent",
 * "agent.ini") looked up in the user's, the system's and the shipped folder,
 * or a path when it holds a '/'. `ret_note`, when not NULL, gets one line to
 * show the user (which file was taken when a name is ambiguous) or NULL.
 * Errors: ERROR_PROFILE with file and line; the profile is then not usable.
 */
int profile_load(struct arena *arena, const struct profile_context *context, const char *name,
		 const struct profile_override *overrides, size_t override_count,
		 struct profile *ret_profile, const char **ret_note, struct error *err);

/*
 * The effective profile as INI text: every key in table order, extends
 * resolved, variables expanded. Reading it back gives the same text, byte for
 * byte. Allocated in the arena.
 */
char *profile_dump(struct arena *arena, const struct profile *profile);

/* "agent.ini:12" for messages, or "default". Allocated in the arena. */
const char *profile_origin(struct arena *arena, const struct profile *profile, enum key_id key);

/* Puts the file and line that gave a key into an error that has none; returns -1. */
int profile_blame(const struct profile *profile, enum key_id key, struct error *err);

#endif
