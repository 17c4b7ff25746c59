// SPDX-License-Identifier: Apache-2.0
#include <linux/mount.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "boundary_file.h"

/* The profile's paths as steps. A path below another listed path is bound from
 * within the new tree; every other one is cloned from the host and attached. */

static bool folder_made(const struct arm *arm, const char *path)
{
	for (size_t i = 0; i < arm->steps.count; i++)
		if (arm->steps.items[i].id == STEP_DIRECTORY &&
		    strcmp(arm->steps.items[i].path, path) == 0)
			return true;
	return file_skeleton_has(path);
}

/* Parents first; `path` relative to the root. */
void file_need_folder(struct arm *arm, const char *path)
{
	if (path[0] == '\0' || folder_made(arm, path))
		return;
	const char *slash = strrchr(path, '/');
	if (slash != NULL)
		file_need_folder(arm, arena_strndup(arm->arena, path, (size_t)(slash - path)));
	struct step *step = steps_add(&arm->steps, STEP_DIRECTORY);
	step->path = path;
	step->value[0] = 0755;
}

static void need_parent(struct arm *arm, const char *path)
{
	const char *slash = strrchr(path, '/');

	if (slash != NULL)
		file_need_folder(arm, arena_strndup(arm->arena, path, (size_t)(slash - path)));
}

static void need_mount_point(struct arm *arm, const char *path, mode_t mode)
{
	if (S_ISDIR(mode)) {
		file_need_folder(arm, path);
		return;
	}
	need_parent(arm, path);
	struct step *step = steps_add(&arm->steps, STEP_CONTENT);
	step->path = path;
	step->text = "";
	step->value[0] = 0444;
}

static bool wants_idmap(const struct arm *arm, const struct file_entry *entry)
{
	unsigned given = KIND(PATH_WRITE) | KIND(PATH_EXEC) | KIND(PATH_READ);

	/* where it is refused and that was accepted, the file modes decide */
	return arm->host->root && !arm->plan->plain_writes && entry->fact != NULL &&
	       (entry->kinds & KIND(PATH_WRITE)) != 0 &&
	       file_can_idmap(arm->host, arm->plan, entry->fact) &&
	       (entry->up == NULL || (entry->up->kinds & given & KIND(PATH_WRITE)) == 0);
}

/* value: device, inode, attributes to set, attributes to clear. */
static int fill_source(struct arm *arm, const struct file_entry *entry, struct step *step,
		       struct error *err)
{
	uint64_t attr = file_entry_attributes(entry);

	step->value[0] = entry->fact != NULL ? entry->fact->device : 0;
	step->value[1] = entry->fact != NULL ? entry->fact->inode : 0;
	step->value[2] = attr;
	if (entry->up != NULL)
		step->value[3] = file_entry_attributes(entry->up) & ~attr &
				 (MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOEXEC);
	step->idmap = -1;
	if (!wants_idmap(arm, entry))
		return 0;
	step->idmap = idmap_number(arm, entry->fact->uid, entry->fact->gid, err);
	return step->idmap < 0 ? -1 : 0;
}

/* A folder whose changes are thrown away gets its layer from the host's folder, wherever it lies.
 */
static bool is_thrown_away(const struct arm *arm, const struct file_entry *entry)
{
	return arm->profile->file.writes == WRITES_DISCARD &&
	       (entry->kinds & KIND(PATH_WRITE)) != 0 && S_ISDIR(entry->fact->mode);
}

static int attach_from_host(struct arm *arm, const struct file_entry *entry, struct error *err)
{
	const char *inside = entry->path + 1;
	unsigned slot = arm->steps.slots++;
	struct step *source = steps_add(&arm->steps, STEP_SOURCE);

	source->source = entry->path;
	source->slot = slot;
	if (fill_source(arm, entry, source, err) != 0)
		return -1;
	bool throw_away = is_thrown_away(arm, entry);
	/* a file has no throw-away layer: if that was accepted, it is at least not written to */
	if (arm->profile->file.writes == WRITES_DISCARD && !throw_away)
		source->value[2] |= MOUNT_ATTR_RDONLY;
	source->value[3] = 0; /* nothing of the host's own flags is cleared */
	if (entry->up == NULL)
		need_mount_point(arm, inside, entry->fact->mode);
	struct step *attach = steps_add(&arm->steps, throw_away ? STEP_OVERLAY : STEP_ATTACH);
	attach->path = inside;
	attach->slot = slot;
	attach->value[0] = entry->fact->mode & 07777;
	attach->value[1] = arm->identity.build_uid;
	attach->value[2] = arm->identity.build_gid;
	attach->value[3] = arm->profile->file.growth_bytes;
	if (throw_away)
		attach->flags = arm->overlays++;
	return 0;
}

static void cover(struct arm *arm, const struct file_entry *entry)
{
	struct step *step = steps_add(&arm->steps, STEP_COVER);

	step->path = entry->path + 1;
}

static int bind_within(struct arm *arm, const struct file_entry *entry, struct error *err)
{
	struct step *step = steps_add(&arm->steps, STEP_SELF_BIND);

	step->path = entry->path + 1;
	if (fill_source(arm, entry, step, err) != 0)
		return -1;
	/* above an overlay the numbers are the overlay's */
	if (arm->profile->file.writes == WRITES_DISCARD) {
		step->value[0] = step->value[1] = 0;
		if ((entry->kinds & KIND(PATH_WRITE)) != 0) {
			step->value[2] |= MOUNT_ATTR_RDONLY;
			step->value[3] &= ~(uint64_t)MOUNT_ATTR_RDONLY;
		}
		/* a layer of its own further down keeps its own flags */
		step->flags = 1;
	}
	return 0;
}

static int arm_entry(struct arm *arm, const struct file_entry *entry, struct error *err)
{
	const unsigned given =
		KIND(PATH_EXEC) | KIND(PATH_READ) | KIND(PATH_WRITE) | KIND(PATH_DEVICE);

	if (entry->hidden || entry->redundant)
		return 0;
	if ((entry->kinds & KIND(PATH_HIDE)) != 0) {
		if (entry->up != NULL)
			cover(arm, entry);
		return 0;
	}
	if (entry->up != NULL && !is_thrown_away(arm, entry))
		return bind_within(arm, entry, err);
	if ((entry->kinds & given) != 0)
		return attach_from_host(arm, entry, err);
	return 0;
}

/* A link below a mounted tree is there already. */
static bool is_covered(const struct file_entries *entries, const char *path)
{
	for (size_t i = 0; i < entries->count; i++) {
		const struct file_entry *entry = &entries->items[i];

		if (!entry->redundant && entry->kinds != 0 && path_is_below(path, entry->path))
			return true;
	}
	return false;
}

int file_arm_tree(struct arm *arm, const struct file_entries *entries, struct error *err)
{
	for (size_t i = 0; i < arm->host->link_count; i++) {
		const struct link_fact *fact = &arm->host->links[i];

		if (is_covered(entries, fact->at))
			continue;
		need_parent(arm, fact->at + 1);
		struct step *link = steps_add(&arm->steps, STEP_LINK);
		link->path = fact->at + 1;
		link->text = fact->target;
	}
	for (size_t i = 0; i < entries->count; i++)
		if (arm_entry(arm, &entries->items[i], err) != 0)
			return -1;
	if (arm->overlays > 0)
		steps_add(&arm->steps, STEP_OVERLAYS_DONE);
	return 0;
}
