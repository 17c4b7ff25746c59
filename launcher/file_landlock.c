// SPDX-License-Identifier: Apache-2.0
#include <string.h>
#include <sys/stat.h>

#include "boundary_file.h"
#include "cache.h"
#include "uapi.h"
#include "sys.h"

/*
 * One ruleset with every file right of the running ABI. Two rulesets would
 * break moves between folders: REFER is refused by every layer that does not grant
 * it (landlock(7)).
 */

#define READ_RIGHTS (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define EXEC_RIGHTS (READ_RIGHTS | LANDLOCK_ACCESS_FS_EXECUTE)
#define WRITE_RIGHTS                                                                               \
	(READ_RIGHTS | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |             \
	 LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_DIR |                            \
	 LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SOCK |                              \
	 LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_SYM | SBOX_LANDLOCK_FS_REFER |     \
	 SBOX_LANDLOCK_FS_TRUNCATE)
#define DEVICE_RIGHTS                                                                              \
	(READ_RIGHTS | LANDLOCK_ACCESS_FS_WRITE_FILE | SBOX_LANDLOCK_FS_TRUNCATE |                 \
	 SBOX_LANDLOCK_FS_IOCTL_DEV)
/* What a rule on something that is not a folder may hold (EINVAL otherwise). */
#define FILE_RIGHTS                                                                                \
	(LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE |                              \
	 LANDLOCK_ACCESS_FS_READ_FILE | SBOX_LANDLOCK_FS_TRUNCATE | SBOX_LANDLOCK_FS_IOCTL_DEV)

uint64_t landlock_rights(int abi)
{
	static const struct {
		int abi;
		uint64_t rights;
	} table[] = {
		{1, (1ULL << 13) - 1},
		{2, SBOX_LANDLOCK_FS_REFER},
		{3, SBOX_LANDLOCK_FS_TRUNCATE},
		{5, SBOX_LANDLOCK_FS_IOCTL_DEV},
	};
	uint64_t rights = 0;

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (abi >= table[i].abi)
			rights |= table[i].rights;
	return rights;
}

const uint64_t file_read_rights = READ_RIGHTS;
const uint64_t file_write_rights = WRITE_RIGHTS | LANDLOCK_ACCESS_FS_EXECUTE;
const uint64_t file_device_rights = DEVICE_RIGHTS & FILE_RIGHTS;

uint64_t file_without_exec(uint64_t rights)
{
	return rights & ~(uint64_t)LANDLOCK_ACCESS_FS_EXECUTE;
}

struct landlock_rule *file_add_rule(struct arm *arm, struct rules *rules, const char *path,
				    uint64_t access)
{
	struct landlock_rule *rule = ARENA_PUSH(arm->arena, rules->items, rules->count);

	rule->path = path;
	rule->access = access & arm->plan->landlock_fs;
	rule->device = rule->inode = 0;
	rule->slot = -1;
	for (size_t i = 0; i < arm->steps.count; i++)
		if (arm->steps.items[i].id == STEP_ATTACH &&
		    strcmp(arm->steps.items[i].path, path + 1) == 0)
			rule->slot = (int)arm->steps.items[i].slot;
	return rule;
}

uint64_t file_entry_rights(const struct file_entry *entry)
{
	uint64_t rights = 0;

	if ((entry->kinds & KIND(PATH_HIDE)) != 0)
		return 0;
	if ((entry->kinds & KIND(PATH_WRITE)) != 0)
		rights |= WRITE_RIGHTS | LANDLOCK_ACCESS_FS_EXECUTE;
	if ((entry->kinds & KIND(PATH_EXEC)) != 0)
		rights |= EXEC_RIGHTS;
	if ((entry->kinds & KIND(PATH_READ)) != 0)
		rights |= READ_RIGHTS;
	if ((entry->kinds & KIND(PATH_DEVICE)) != 0)
		rights |= DEVICE_RIGHTS;
	if (entry->fact != NULL && !S_ISDIR(entry->fact->mode))
		rights &= FILE_RIGHTS;
	return rights;
}

static void add_private_rules(struct arm *arm, const struct file_entries *entries,
			      struct rules *rules)
{
	bool exec = arm->profile->file.scratch_exec == YES;

	file_add_rule(arm, rules, "/", LANDLOCK_ACCESS_FS_READ_DIR);
	file_add_rule(arm, rules, "/proc", READ_RIGHTS);
	file_add_rule(arm, rules, "/dev", DEVICE_RIGHTS);
	if (arm->host->cache.made)
		file_add_rule(arm, rules, CACHE_INSIDE,
			      WRITE_RIGHTS | (exec ? LANDLOCK_ACCESS_FS_EXECUTE : 0));
	if (file_entry_for(entries, "/etc") == NULL)
		file_add_rule(arm, rules, "/etc", READ_RIGHTS);
	for (size_t i = 0; i < arm->steps.count; i++) {
		const struct step *step = &arm->steps.items[i];

		for (size_t p = 0; step->id == STEP_SELF_BIND && p < private_folder_count; p++)
			if (strcmp(step->path, private_folders[p].path) == 0)
				file_add_rule(arm, rules,
					      arena_printf(arm->arena, "/%s", step->path),
					      WRITE_RIGHTS | (exec && private_folders[p].exec
								      ? LANDLOCK_ACCESS_FS_EXECUTE
								      : 0));
	}
}

void file_add_ruleset(struct arm *arm, const struct rules *rules)
{
	struct step *ruleset = steps_add(&arm->steps, STEP_RULESET);

	ruleset->value[0] = arm->plan->landlock_fs;
	ruleset->value[2] = arm->plan->landlock_scopes;
	ruleset->rules = rules->items;
	ruleset->rule_count = rules->count;
	steps_add(&arm->steps, STEP_LANDLOCK);
}

/*
 * Landlock grants what any rule on the way up grants, across mounts. So what is listed in /etc,
 * some fifteen paths of the system's, needs no rule beside the one for /etc itself, of which
 * there is nothing to see but what is listed: a rule costs 5 us of each start, two more
 * components on the way up 0.2 us of an open.
 */
static bool is_granted(const struct rules *rules, const char *path, uint64_t rights)
{
	for (size_t i = 0; i < rules->count; i++)
		if (path_is_below(path, rules->items[i].path) &&
		    (rights & ~rules->items[i].access) == 0)
			return true;
	return false;
}

void file_arm_landlock(struct arm *arm, const struct file_entries *entries)
{
	struct rules rules = {0};

	add_private_rules(arm, entries, &rules);
	for (size_t i = 0; i < entries->count; i++) {
		const struct file_entry *entry = &entries->items[i];
		uint64_t rights = file_entry_rights(entry) & arm->plan->landlock_fs;

		if (!entry->hidden && !entry->redundant && !is_granted(&rules, entry->path, rights))
			file_add_rule(arm, &rules, entry->path, rights);
	}
	file_add_ruleset(arm, &rules);
}
