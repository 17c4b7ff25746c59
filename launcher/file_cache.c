// SPDX-License-Identifier: Apache-2.0
#include <linux/mount.h>

#include "boundary_file.h"
#include "cache.h"

/* The cache folder as steps: the host's folder, below the private home. As root it is idmapped
 * like a write path, so that what the leased uid leaves there is the next one's as well. */

int file_arm_cache(struct arm *arm, const struct file_entries *entries, struct error *err)
{
	const struct path_fact *fact = &arm->host->cache.fact;

	if (!arm->host->cache.made)
		return 0;
	if (file_entry_for(entries, INNER_HOME) != NULL)
		return error_set(err, ERROR_PROFILE,
				 "[file] cache lies in the private home, and the profile lists "
				 "%s or a folder above it",
				 INNER_HOME);
	file_need_folder(arm, &CACHE_INSIDE[1]);
	unsigned slot = arm->steps.slots++;
	struct step *source = steps_add(&arm->steps, STEP_SOURCE);
	source->source = fact->path;
	source->slot = slot;
	source->value[0] = fact->device;
	source->value[1] = fact->inode;
	source->value[2] = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV |
			   (arm->profile->file.scratch_exec == YES ? 0 : MOUNT_ATTR_NOEXEC);
	source->idmap = -1;
	if (arm->host->root) {
		int idmap = idmap_number(arm, fact->uid, fact->gid, err);

		if (idmap < 0)
			return -1;
		source->idmap = idmap;
	}
	struct step *attach = steps_add(&arm->steps, STEP_ATTACH);
	attach->path = &CACHE_INSIDE[1];
	attach->slot = slot;
	return 0;
}
