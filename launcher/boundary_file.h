// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_BOUNDARY_FILE_H
#define SBOX_BOUNDARY_FILE_H

#include "boundary.h"
#include "file_entries.h"

/* Parts of the file boundary: the tree's steps and Landlock's rules. */

int file_arm_tree(struct arm *arm, const struct file_entries *entries, struct error *err);
void file_arm_private(struct arm *arm, const struct file_entries *entries);
void file_arm_landlock(struct arm *arm, const struct file_entries *entries);

/* Landlock file rights by ABI: what the running kernel can restrict. */
uint64_t landlock_rights(int abi);

/* Private writable folders of the sandbox, relative to the root. */
struct private_folder {
	const char *path;
	unsigned mode;
	bool exec; /* follows [file] scratch_exec */
	bool home; /* only with home = private */
};
extern const struct private_folder private_folders[];
extern const size_t private_folder_count;

/* A skeleton folder of the new root (made for mount points), once. */
void file_need_folder(struct arm *arm, const char *path);

/* A descriptor of a user namespace that maps an owner to the sandbox's outer
 * uid and gid, for idmapped mounts; one for each owner, kept in arm. -1 on error. */
int idmap_open(struct arm *arm, uid_t uid, gid_t gid, struct error *err);

#endif
