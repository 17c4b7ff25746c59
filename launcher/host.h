// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_HOST_H
#define SBOX_HOST_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "arena.h"
#include "cgroup.h"
#include "error.h"
#include "profile.h"

/*
 * What this kernel, this caller and the paths that the profile names are like.
 * Found by reading only; never changed after host_probe().
 */

/* A profile path on this host. */
struct path_fact {
	const struct path_rule *rule;
	const char *path; /* with every symbolic link resolved */
	int errnum;       /* why it could not be opened; 0: it is there */
	mode_t mode;
	dev_t device, device_number;
	ino_t inode;
	uid_t uid;
	gid_t gid;
	uint32_t fs_type;        /* statfs f_type; of write paths only */
	bool read_only;          /* the mount or file system is; of write paths only */
	const char *mount_below; /* what is mounted there; of write paths with writes = discard */
};

/* A symbolic link that was met on the way to a profile path: made again in the new tree. */
struct link_fact {
	const char *at, *target;
};

/* A name under `protect` that is not there, in a folder that is. */
struct absent_fact {
	const struct path_rule *rule;
	const char *folder, *name; /* the folder with every symbolic link resolved */
	dev_t device;
	ino_t inode;
};

struct path_facts {
	struct path_fact *items;
	size_t count;
};

/* A version manager that was found: why it is shown, or why not. */
struct toolchain_fact {
	const struct toolchain *toolchain;
	const char *root;  /* with every link resolved */
	const char *why;   /* "PYENV_ROOT", "~/.pyenv", "PATH", "the python of a venv" */
	const char *fault; /* NULL: shown */
	bool own;          /* the profile shows it anyway: only the variable is passed */
};

/* The folder that stays from run to run; see cache.h. folder NULL: the profile has none. */
struct cache_fact {
	const char *folder;
	struct path_fact
		fact; /* of what the program sees; of a run only, but for path and fs_type */
	bool made;    /* it is there, and locked for this run */
	uint64_t emptied_bytes; /* it was larger than allowed, so this run starts with none; 0: it
				   was not */
};

/* What came of entering the AppArmor profile that the profile names; see host_label.c. */
struct label_fact {
	bool tried;
	bool stacked;        /* on top of the caller's own, which confines it */
	const char *own;     /* the caller's, with its mode */
	int errnum;          /* why it cannot be entered; 0: it can */
	const char *entered; /* what the label is then, with its mode; "" when that is not shown */
};

struct host {
	int kernel_major, kernel_minor;
	int landlock_abi; /* 0: none */
	bool root;        /* effective uid 0 with the capabilities to set other uids and mount */
	/* uid 0: the capabilities that it lacks for a tree and a network of the run's own, as names
	 * and as options of a container's engine; NULL: none */
	const char *root_lacks, *root_needs;
	bool can_become;    /* effective uid 0, and may become another uid of this machine */
	bool can_bound;     /* may drop capabilities from the bounding set */
	bool idmap_refused; /* root, but not over the host's file systems */
	bool mapped_root;   /* effective uid 0 of a user namespace: somebody else outside it */
	/* set before probing: a process that makes namespaces is on its way, and will tell */
	bool is_tried;
	bool user_namespaces;
	const char *user_namespaces_why; /* why not, with the setting that changes it */
	/* What host_look() tried and did not get: CLONE_NEW* flags, and a /proc of its own. */
	uint64_t refused;
	const char *refused_why; /* one clause, with the way out */
	bool proc_refused;
	bool looked;
	/* what host_look_gate() found in the way of a network by name: one clause, or NULL */
	const char *gate_why;
	bool gate_looked;
	bool seccomp;
	bool filtered; /* the caller itself runs under a seccomp filter */
	bool apparmor, selinux;
	struct label_fact label;
	struct cgroup_host cgroup;
	int processors;
	uid_t real_uid, uid; /* caller */
	gid_t real_gid, gid;
	size_t group_count; /* supplementary groups */
	const char *cwd;    /* caller's, resolved; NULL when it is gone */
	const char *path;   /* caller's PATH */
	uid_t user_uid;     /* of [privilege] user, when that names one; else the caller's */
	gid_t user_gid;
	uint64_t hard_open_files, hard_processes;
	/* in the order of struct profile: exec, read, write, noexec, hide, protect, device */
	struct path_facts paths[7]; /* by enum path_kind */
	struct absent_fact *absent;
	size_t absent_count;
	struct link_fact *links;
	size_t link_count;
	struct cache_fact cache;
	struct toolchain_fact *toolchains;
	size_t toolchain_count;
	const char **plain; /* folders known to have no link on the way to them */
	size_t plain_count;
};

enum path_kind {
	PATH_EXEC,
	PATH_READ,
	PATH_WRITE,
	PATH_NOEXEC,
	PATH_HIDE,
	PATH_PROTECT,
	PATH_DEVICE,
	PATH_KIND_MAX
};

extern const char *const path_kind_names[PATH_KIND_MAX];

const struct path_list *profile_paths(const struct profile *profile, enum path_kind kind);

/* The caller and the kernel. */
int host_probe(struct arena *arena, struct host *ret_host, struct error *err);
/* Whether they are switched off, and by what; part of it. */
void host_probe_user_namespaces(struct arena *arena, struct host *host);
/*
 * host_look.c: makes the namespaces and the first mounts of a sandbox in a process of its
 * own, and finds out which of them are refused. That takes as long as a start, so a
 * run looks only when something tells that it may have to (host_is_doubtful), or
 * when its own attempt was refused.
 */
bool host_is_doubtful(const struct host *host);
void host_look(struct arena *arena, struct host *host);
/* The same for what [network] mode = allow needs of a network namespace. */
void host_look_gate(struct arena *arena, struct host *host);
/* Tries the AppArmor profile that is to be entered; without one it does nothing. */
void host_look_label(struct arena *arena, const struct profile *profile, struct host *host);
/* The profile's paths. A path that is not there and not optional: ERROR_PROFILE. */
int host_probe_paths(struct arena *arena, const struct profile *profile, struct host *host,
		     struct error *err);
/* host_secrets.c: adds a path to those that are hidden, when a listed path would show it. */
void host_hide(struct arena *arena, struct host *host, const char *path);
/* The same for UNIX sockets that are bound on the host by an absolute path. */
void host_hide_sockets(struct arena *arena, struct host *host);
/* Resolves one path, adding the links met to host. Fills all but rule. */
int host_resolve(struct arena *arena, struct host *host, const char *path,
		 struct path_fact *ret_fact);

#endif
