// SPDX-License-Identifier: Apache-2.0
#include "boundary_file.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <linux/magic.h>

#include "uapi.h"

/*
 * First layer: a fresh mount tree that holds only what is listed. Second
 * layer: one Landlock ruleset over the same paths, with every right that the
 * running kernel knows.
 */

enum { FS_9P = 0x01021997, FS_NFS = 0x6969, FS_FUSE = 0x65735546, FS_CIFS = (int)0xff534d42 };

static bool kernel_at_least(const struct host *host, int major, int minor)
{
	return host->kernel_major > major ||
	       (host->kernel_major == major && host->kernel_minor >= minor);
}

/* QUIRK(idmap): file systems that refuse idmapped mounts with EINVAL. tmpfs has them
 * since 6.3, overlayfs never had them, nor 9p, NFS, FUSE (before 6.12) and CIFS. */
static bool cannot_idmap(const struct host *host, uint32_t fs_type)
{
	switch (fs_type) {
	case OVERLAYFS_SUPER_MAGIC:
	case FS_9P:
	case FS_NFS:
	case (uint32_t)FS_CIFS:
		return true;
	case FS_FUSE:
		return !kernel_at_least(host, 6, 12);
	case TMPFS_MAGIC:
		return !kernel_at_least(host, 6, 3);
	default:
		return !kernel_at_least(host, 5, 12);
	}
}

static void plan_writes(const struct profile *profile, const struct host *host, struct plan *plan)
{
	static const char *const words[] = {"keep", "discard", "review"};
	enum file_writes writes = profile->file.writes;
	struct plan_item *item = plan_add(plan, BOUNDARY_FILE, "writes", words[writes]);
	const struct path_facts *roots = &host->paths[PATH_WRITE];

	if (writes == WRITES_REVIEW)
		plan_missing(item, "this version cannot hold changes for a decision; "
				   "write writes = discard or keep");
	else if (roots->count == 0)
		return;
	else if (writes == WRITES_DISCARD && !kernel_at_least(host, 6, 6))
		/* QUIRK(overlay): user xattrs on tmpfs, which an upper layer needs, came with 6.6
		 */
		plan_missing(item, "a throw-away layer in memory needs Linux 6.6");
	else if (writes == WRITES_DISCARD)
		plan_enforced(item, "overlayfs with its upper layer in memory",
			      "renaming a folder that was there before gives EXDEV (tools copy "
			      "instead); files of other owners cannot be changed");
	else
		plan_enforced(item, host->root ? "idmapped bind mounts" : "bind mounts", NULL);
	for (size_t i = 0; writes == WRITES_DISCARD && i < roots->count; i++)
		if (!S_ISDIR(roots->items[i].mode))
			plan_missing(item,
				     arena_printf(plan->arena,
						  "%s is a file and only folders can be "
						  "written to a throw-away layer; list its folder",
						  roots->items[i].path));
	for (size_t i = 0; host->root && i < roots->count; i++)
		if (cannot_idmap(host, roots->items[i].fs_type))
			plan_missing(item, arena_printf(plan->arena,
							"%s is on a file system that cannot be "
							"idmapped to the leased uid; "
							"run sbox as the folder's owner, or put "
							"the folder on a volume",
							roots->items[i].path));
	for (size_t i = 0; i < roots->count; i++)
		if (roots->items[i].read_only && writes == WRITES_KEEP)
			plan_missing(item, arena_printf(plan->arena,
							"%s is on a read-only file system; list it "
							"under read or exec, "
							"or write writes = discard",
							roots->items[i].path));
}

static void plan_paths(const struct profile *profile, const struct host *host, struct plan *plan)
{
	static const struct {
		enum path_kind kind;
		const char *mechanism, *residual;
	} rows[] = {
		{PATH_HIDE, "over-mount by an unreadable empty file or folder",
		 "names that do not exist at the start are not covered; other hard links to a "
		 "hidden file stay readable"},
		{PATH_PROTECT, "read-only over-mount, folders above it pinned",
		 "names that do not exist at the start are not covered"},
		{PATH_NOEXEC, "noexec over-mount", "interpreters can still read and run scripts"},
		{PATH_DEVICE, "bind mount of the device node", NULL},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct path_list *list = profile_paths(profile, rows[i].kind);
		struct plan_item *item = plan_add(
			plan, BOUNDARY_FILE, path_kind_names[rows[i].kind],
			list->count == 0
				? "none"
				: arena_printf(plan->arena, "%zu of %zu listed exist",
					       host->paths[rows[i].kind].count, list->count));

		/* more than are listed: the store, sockets of the host */
		if (list->count > 0 || host->paths[rows[i].kind].count > 0)
			plan_enforced(item, rows[i].mechanism, rows[i].residual);
	}
}

static void plan_sizes(const struct profile *profile, struct plan *plan)
{
	struct arena *arena = plan->arena;
	struct plan_item *item = plan_add(plan, BOUNDARY_FILE, "growth",
					  plan_size(arena, profile->file.growth_bytes));

	if (profile->file.growth_bytes != 0 && profile->file.writes == WRITES_DISCARD)
		plan_enforced(item, "size of the throw-away layer", NULL);
	else if (profile->file.growth_bytes != 0 && profile->file.write.count > 0)
		plan_enforced(item, "looking at the file system's free space and the changed files",
			      "a burst can overshoot before it is seen; files that existed and are "
			      "rewritten count whole");
	item = plan_add(plan, BOUNDARY_FILE, "max_file",
			plan_size(arena, profile->file.max_file_bytes));
	if (profile->file.max_file_bytes != 0)
		plan_enforced(item, "RLIMIT_FSIZE", NULL);
	plan_enforced(plan_add(plan, BOUNDARY_FILE, "scratch",
			       plan_size(arena, profile->file.scratch_bytes)),
		      profile->file.scratch_exec == YES ? "sized tmpfs" : "sized tmpfs, noexec",
		      NULL);
	plan_enforced(plan_add(plan, BOUNDARY_FILE, "home",
			       profile->file.home == HOME_PRIVATE ? "private" : "none"),
		      "mount tree", NULL);
}

static void plan_landlock(const struct host *host, struct plan *plan)
{
	struct plan_item *item = plan_add(plan, BOUNDARY_FILE, "landlock", "all rights");

	if (host->landlock_abi == 0) {
		plan_missing(item, "this kernel has no Landlock (CONFIG_SECURITY_LANDLOCK, and "
				   "landlock in the lsm= boot parameter)");
		return;
	}
	if (host->landlock_abi == 1) {
		/* QUIRK(refer): ABI 1 refuses every move between folders; nothing can allow it. */
		plan_reduced(item, "mount tree",
			     "Landlock ABI 1 forbids every move between folders, so it is not used "
			     "(ABI 2: Linux 5.19)");
		return;
	}
	plan->landlock_fs = landlock_rights(host->landlock_abi);
	if (host->landlock_abi >= 6)
		plan->landlock_scopes = SBOX_LANDLOCK_SCOPE_ABSTRACT | SBOX_LANDLOCK_SCOPE_SIGNAL;
	plan_enforced(item, arena_printf(plan->arena, "landlock ABI %d", host->landlock_abi),
		      host->landlock_abi < 3 ? "truncation is left to the mount tree (ABI 3: 6.2)"
					     : NULL);
}

void file_plan(const struct profile *profile, const struct host *host, struct plan *plan)
{
	struct plan_item *item = plan_add(
		plan, BOUNDARY_FILE, "tree",
		arena_printf(plan->arena, "%zu exec, %zu read, %zu write", profile->file.exec.count,
			     profile->file.read.count, profile->file.write.count));

	plan->namespaces |= CLONE_NEWNS;
	if (!host->root)
		plan->namespaces |= CLONE_NEWUSER;
	plan_enforced(item, "mount namespace with only the listed paths",
		      "file locks on shared read-only files are visible outside");
	plan_landlock(host, plan);
	plan_writes(profile, host, plan);
	plan_paths(profile, host, plan);
	plan_sizes(profile, plan);
}

int file_arm(struct arm *arm, struct error *err)
{
	if (arm->entries->count > STEPS_MAX / 5)
		return error_set(err, ERROR_PROFILE,
				 "[file]: %zu paths are listed, at most %d can be; list folders "
				 "instead of what is in them",
				 arm->entries->count, STEPS_MAX / 5);
	file_arm_private(arm, arm->entries);
	if (file_arm_tree(arm, arm->entries, err) != 0)
		return -1;
	if (arm->plan->landlock_fs != 0)
		file_arm_landlock(arm, arm->entries);
	uint64_t bytes = arm->file_bytes;
	if (arm->profile->file.max_file_bytes != 0 && arm->profile->file.max_file_bytes < bytes)
		bytes = arm->profile->file.max_file_bytes;
	if (bytes != RLIM_INFINITY) {
		struct step *limit = steps_add(&arm->steps, STEP_LIMIT);

		limit->value[0] = RLIMIT_FSIZE;
		limit->value[1] = limit->value[2] = bytes;
	}
	return 0;
}
