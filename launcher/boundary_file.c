// SPDX-License-Identifier: Apache-2.0
#include "boundary_file.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <linux/magic.h>

#include "toolchain.h"
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
 * since 6.3, overlayfs never had them, nor 9p, NFS and CIFS; FUSE has them since 6.12, but
 * only where the server asks for it (FUSE_ALLOW_IDMAP), which the usual ones do not. */
static bool cannot_idmap(const struct host *host, uint32_t fs_type)
{
	switch (fs_type) {
	case OVERLAYFS_SUPER_MAGIC:
	case FS_9P:
	case FS_NFS:
	case (uint32_t)FS_CIFS:
	case FS_FUSE:
		return true;
	case TMPFS_MAGIC:
		return !kernel_at_least(host, 6, 3);
	default:
		return !kernel_at_least(host, 5, 12);
	}
}

const char *file_read_only_reason(struct arena *arena, const struct path_fact *fact)
{
	return arena_printf(arena,
			    "%s is on a read-only file system; list it under read or exec, or "
			    "write writes = discard",
			    fact->path);
}

bool file_can_idmap(const struct host *host, const struct plan *plan, const struct path_fact *fact)
{
	return plan->inner_user && !host->idmap_refused && !cannot_idmap(host, fact->fs_type);
}

/* Where idmaps are refused and every write path is the named user's own, they are not needed. */
static bool can_write_plainly(const struct host *host, const struct plan *plan)
{
	const struct path_facts *roots = &host->paths[PATH_WRITE];
	bool refused = false;

	for (size_t i = 0; i < roots->count; i++) {
		if (plan->own_uid || roots->items[i].uid != host->user_uid)
			return false;
		refused |= !file_can_idmap(host, plan, &roots->items[i]);
	}
	return refused;
}

/* uid 0 is nobody's to run a program as, so its folders have to be given away first. */
const char *file_way_of_owner(struct arena *arena, const struct path_fact *fact)
{
	return fact->uid == 0 ? arena_printf(arena,
					     "chown -R USER %s, and [privilege] user = USER or run "
					     "sbox as USER, an ordinary user",
					     fact->path)
			      : "[privilege] user = its owner, or run sbox as that user";
}

static const char *why_no_idmap(const struct host *host, const struct plan *plan,
				const struct path_fact *fact)
{
	const char *way = file_way_of_owner(plan->arena, fact);

	if (host->idmap_refused)
		return arena_printf(plan->arena,
				    "%s cannot be idmapped to the leased uid by the root of a user "
				    "namespace; %s",
				    fact->path, way);
	if (!plan->inner_user)
		return arena_printf(plan->arena,
				    "%s cannot be idmapped to the leased uid without a user "
				    "namespace (%s); %s",
				    fact->path, plan->form_why, way);
	return arena_printf(plan->arena,
			    "%s is on a file system that cannot be idmapped to the leased uid; "
			    "put the folder on a volume; or %s",
			    fact->path, way);
}

/* QUIRK(overlay-submounts): a lower layer is one mount. What is mounted below is empty there, and
 * where it came from another user namespace, as for an ordinary user, the layer is EINVAL. */
static const char *why_no_layer(struct arena *arena, const struct path_fact *fact)
{
	if (!S_ISDIR(fact->mode))
		return arena_printf(arena,
				    "%s is a file and only folders can be written to a throw-away "
				    "layer; list its folder",
				    fact->path);
	if (fact->mount_below != NULL)
		return arena_printf(arena,
				    "%s is mounted below %s, and a throw-away layer cannot hold "
				    "it; unmount it, list folders without mounts below them, or "
				    "write writes = keep",
				    fact->mount_below, fact->path);
	return NULL;
}

static void plan_writes(const struct profile *profile, const struct host *host, struct plan *plan)
{
	static const char *const words[] = {"keep", "discard", "review"};
	enum file_writes writes = profile->file.writes;
	struct plan_item *item = plan_add(plan, BOUNDARY_FILE, "writes", words[writes]);
	const struct path_facts *roots = &host->paths[PATH_WRITE];

	plan->plain_writes = host->root && can_write_plainly(host, plan);
	if (writes == WRITES_REVIEW)
		plan_missing(item, "this version cannot hold changes for a decision and would keep "
				   "them at once; write writes = discard or keep");
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
		plan_enforced(item,
			      host->root && !plan->plain_writes ? "idmapped bind mounts"
								: "bind mounts",
			      NULL);
	for (size_t i = 0; writes == WRITES_DISCARD && i < roots->count; i++)
		if (why_no_layer(plan->arena, &roots->items[i]) != NULL)
			plan_missing(item, why_no_layer(plan->arena, &roots->items[i]));
	for (size_t i = 0; host->root && !plan->plain_writes && i < roots->count; i++)
		if (!file_can_idmap(host, plan, &roots->items[i]))
			plan_missing(item, why_no_idmap(host, plan, &roots->items[i]));
	for (size_t i = 0; i < roots->count; i++)
		if (roots->items[i].read_only && writes == WRITES_KEEP)
			plan_missing(item, file_read_only_reason(plan->arena, &roots->items[i]));
}

struct plan_item *file_plan_list(const struct profile *profile, const struct host *host,
				 struct plan *plan, enum path_kind kind)
{
	const struct path_facts *facts = &host->paths[kind];
	size_t listed = profile_paths(profile, kind)->count, there = 0;

	for (size_t i = 0; i < facts->count; i++)
		there += facts->items[i].rule != NULL;
	return plan_add(
		plan, BOUNDARY_FILE, path_kind_names[kind],
		listed == 0 ? "none"
			    : arena_printf(plan->arena, "%zu of %zu listed exist", there, listed));
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
		 "a name that does not exist at the start can be made, and is renamed at the end "
		 "if its folder existed"},
		{PATH_NOEXEC, "noexec over-mount", "interpreters can still read and run scripts"},
		{PATH_DEVICE, "bind mount of the device node", NULL},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct path_list *list = profile_paths(profile, rows[i].kind);
		struct plan_item *item = file_plan_list(profile, host, plan, rows[i].kind);

		/* more than are listed: the store, sockets of the host, secrets in toolchains */
		if (list->count > 0 || host->paths[rows[i].kind].count > 0)
			plan_enforced(item, rows[i].mechanism, rows[i].residual);
	}
}

void file_plan_toolchains(const struct profile *profile, const struct host *host, struct plan *plan)
{
	const struct string_list *list = &profile->file.toolchains;
	const char *asked = list->count > 0 ? list->items[0] : "none";

	for (size_t i = 1; i < list->count; i++)
		asked = arena_printf(plan->arena, "%s, %s", asked, list->items[i]);
	struct plan_item *item = plan_add(plan, BOUNDARY_FILE, "toolchains", asked);
	if (list->count == 0)
		return;
	const char *shown = toolchain_list(plan->arena, host, true);
	const char *not_shown = toolchain_list(plan->arena, host, false);
	const char *residual = NULL;
	if (*shown != '\0')
		residual = "a secret in a version's folder that has none of the known names is "
			   "visible";
	if (*not_shown != '\0')
		residual = arena_printf(plan->arena, "%s%snot shown: %s",
					residual != NULL ? residual : "",
					residual != NULL ? "; " : "", not_shown);
	plan_enforced(item,
		      *shown != '\0' ? arena_printf(plan->arena, "read-only: %s", shown)
				     : "none found",
		      residual);
}

void file_plan_cache(const struct profile *profile, const struct host *host, struct plan *plan)
{
	struct plan_item *item = plan_add(plan, BOUNDARY_FILE, "cache",
					  plan_size(plan->arena, profile->file.cache_bytes));
	const struct cache_fact *cache = &host->cache;
	const char *residual = "what a run leaves there, the next run of this profile finds";

	if (profile->file.cache_bytes == 0)
		return;
	if (cache->emptied_bytes != 0)
		residual = arena_printf(plan->arena, "%s; it had grown beyond that and was emptied",
					residual);
	if (profile->file.home == HOME_NONE)
		plan_missing(item, "it lies in the private home, and home is none");
	else if (!plan->tree)
		plan_missing(item, "without a mount tree there is no place for it inside");
	else if (host->root && !file_can_idmap(host, plan, &cache->fact))
		plan_missing(item, "the store is on a file system that cannot be idmapped to the "
				   "leased uid; put it on a volume (--store), or leave cache out");
	plan->use_cache = item->state != ITEM_MISSING;
	if (plan->use_cache)
		plan_enforced(item, arena_printf(plan->arena, "~/.cache is %s", cache->fact.path),
			      residual);
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
	if (!plan->tree)
		return;
	plan_enforced(plan_add(plan, BOUNDARY_FILE, "scratch",
			       plan_size(arena, profile->file.scratch_bytes)),
		      profile->file.scratch_exec == YES ? "sized tmpfs" : "sized tmpfs, noexec",
		      NULL);
	plan_enforced(plan_add(plan, BOUNDARY_FILE, "home",
			       profile->file.home == HOME_PRIVATE ? "private" : "none"),
		      "mount tree", NULL);
}

void file_plan_landlock(const struct host *host, struct plan *plan)
{
	struct plan_item *item = plan_add(plan, BOUNDARY_FILE, "landlock", "all rights");

	if (host->landlock_abi == 0) {
		plan_missing(item, "this kernel has no Landlock (CONFIG_SECURITY_LANDLOCK, and "
				   "landlock in the lsm= boot parameter)");
		return;
	}
	if (host->landlock_abi == 1 && !plan->tree) {
		plan->landlock_fs = landlock_rights(1);
		plan_reduced(item, "landlock ABI 1",
			     "every move between folders is refused (ABI 2: Linux 5.19)");
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
		      host->landlock_abi >= 3 ? NULL
		      : plan->tree            ? "truncation is left to the mount tree (ABI 3: 6.2)"
					      : "truncate(2) is refused (ABI 3: 6.2)");
}

/* Only where it is not as usual. */
static void plan_proc(struct plan *plan)
{
	if (plan->keeper)
		plan_reduced(plan_add(plan, BOUNDARY_FILE, "proc", "its own"),
			     "the host's, read-only",
			     arena_printf(plan->arena,
					  "%s. Lost: command lines and states of the host's other "
					  "processes can be seen",
					  plan->proc_why));
}

void file_plan(const struct profile *profile, const struct host *host, struct plan *plan)
{
	if (!plan->tree) {
		file_plan_in_place(profile, host, plan);
		plan_sizes(profile, plan);
		return;
	}
	struct plan_item *item = plan_add(
		plan, BOUNDARY_FILE, "tree",
		arena_printf(plan->arena, "%zu exec, %zu read, %zu write", profile->file.exec.count,
			     profile->file.read.count, profile->file.write.count));

	plan_enforced(item, "mount namespace with only the listed paths",
		      "file locks on shared read-only files are visible outside");
	plan_proc(plan);
	file_plan_landlock(host, plan);
	plan_writes(profile, host, plan);
	plan_paths(profile, host, plan);
	file_plan_toolchains(profile, host, plan);
	file_plan_cache(profile, host, plan);
	plan_sizes(profile, plan);
}

int file_arm(struct arm *arm, struct error *err)
{
	if (arm->plan->tree && arm->entries->count > STEPS_MAX / 5)
		return error_set(err, ERROR_PROFILE,
				 "[file]: %zu paths are listed, at most %d can be; list folders "
				 "instead of what is in them",
				 arm->entries->count, STEPS_MAX / 5);
	if (!arm->plan->tree) {
		file_arm_in_place(arm);
	} else {
		file_arm_private(arm, arm->entries);
		if (file_arm_cache(arm, arm->entries, err) != 0 ||
		    file_arm_tree(arm, arm->entries, err) != 0)
			return -1;
		if (arm->plan->landlock_fs != 0)
			file_arm_landlock(arm, arm->entries);
	}
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
