// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_BOUNDARY_FILE_H
#define SBOX_BOUNDARY_FILE_H

#include "boundary.h"
#include "file_entries.h"

/* Parts of the file boundary: the tree's steps and Landlock's rules. */

int file_arm_tree(struct arm *arm, const struct file_entries *entries, struct error *err);
/* Whether the skeleton begins with that folder. */
bool file_skeleton_has(const char *path);
void file_arm_private(struct arm *arm, const struct file_entries *entries);
void file_arm_landlock(struct arm *arm, const struct file_entries *entries);

/* The folder of [file] cache, where there is one. */
int file_arm_cache(struct arm *arm, const struct file_entries *entries, struct error *err);
/* Where there is no mount tree: boundary_file_place.c */
void file_plan_in_place(const struct profile *profile, const struct host *host, struct plan *plan);
void file_arm_in_place(struct arm *arm);

/* Items that both forms have. */
void file_plan_landlock(const struct host *host, struct plan *plan);
/* Root: whether a write path can be mapped to the program's user. */
bool file_can_idmap(const struct host *host, const struct plan *plan, const struct path_fact *fact);
struct plan_item *file_plan_list(const struct profile *profile, const struct host *host,
				 struct plan *plan, enum path_kind kind);
void file_plan_toolchains(const struct profile *profile, const struct host *host,
			  struct plan *plan);
void file_plan_cache(const struct profile *profile, const struct host *host, struct plan *plan);
/* What to do about a write path that the program's user can have neither mapped nor as its own. */
const char *file_way_of_owner(struct arena *arena, const struct path_fact *fact);
const char *file_read_only_reason(struct arena *arena, const struct path_fact *fact);

/* Landlock rules under construction. */
struct rules {
	struct landlock_rule *items;
	size_t count;
};
extern const uint64_t file_read_rights, file_write_rights, file_device_rights;
uint64_t file_entry_rights(const struct file_entry *entry);
uint64_t file_without_exec(uint64_t rights);
struct landlock_rule *file_add_rule(struct arm *arm, struct rules *rules, const char *path,
				    uint64_t access);
void file_add_ruleset(struct arm *arm, const struct rules *rules);

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

/* The number of the mapping of an owner to the sandbox's outer uid and gid, for idmapped mounts;
 * one for each owner, kept in arm. -1 on error. */
int idmap_number(struct arm *arm, uid_t uid, gid_t gid, struct error *err);

#endif
