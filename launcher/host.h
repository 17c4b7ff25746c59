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
	uint32_t fs_type; /* statfs f_type; of write paths only */
	bool read_only;   /* the mount or file system is; of write paths only */
};

/* A symbolic link that was met on the way to a profile path: made again in the new tree. */
struct link_fact {
	const char *at, *target;
};

struct path_facts {
	struct path_fact *items;
	size_t count;
};

struct host {
	int kernel_major, kernel_minor;
	int landlock_abi; /* 0: none */
	bool root;        /* effective uid 0 with the capabilities to set other uids and mount */
	bool user_namespaces;
	const char *user_namespaces_why; /* why not, with the setting that changes it */
	bool seccomp;
	bool filtered; /* the caller itself runs under a seccomp filter */
	bool apparmor, selinux;
	struct cgroup_host cgroup;
	int processors;
	uid_t real_uid, uid; /* caller */
	gid_t real_gid, gid;
	size_t group_count; /* supplementary groups */
	const char *cwd;    /* caller's, resolved; NULL when it is gone */
	const char *path;   /* caller's PATH */
	uint64_t hard_open_files, hard_processes;
	/* in the order of struct profile: exec, read, write, noexec, hide, protect, device */
	struct path_facts paths[7]; /* by enum path_kind */
	struct link_fact *links;
	size_t link_count;
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
