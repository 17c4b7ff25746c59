// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_FILE_ENTRIES_H
#define SBOX_FILE_ENTRIES_H

#include <stdbool.h>

#include "arena.h"
#include "host.h"

/*
 * The profile's paths as one list: one entry a resolved path, parents before
 * children. The deepest entry decides, hide beats everything below it.
 */

#define KIND(kind) (1U << (kind))

struct file_entry {
	const char *path;
	const struct path_fact *fact;
	unsigned kinds;              /* KIND(PATH_…) */
	const struct file_entry *up; /* nearest entry above it that is mounted, or NULL */
	bool pin;                    /* a folder above a protected name: bound onto itself */
	bool redundant;              /* same as `up`: nothing to do */
	bool hidden;                 /* below a hidden path */
};

struct file_entries {
	struct file_entry *items;
	size_t count;
};

void file_entries_make(struct arena *arena, const struct host *host, bool pins,
		       struct file_entries *ret_entries);
/* The entry that decides about a resolved path; NULL: it is not in the tree. */
const struct file_entry *file_entry_for(const struct file_entries *entries, const char *path);
/* True when `path` is `folder` or below it. */
bool path_is_below(const char *path, const char *folder);
/* Mount attributes (MOUNT_ATTR_*) of an entry. */
uint64_t file_entry_attributes(const struct file_entry *entry);

#endif
