// SPDX-License-Identifier: Apache-2.0
#include "file_entries.h"

#include <linux/mount.h>
#include <stdlib.h>
#include <string.h>

bool path_is_below(const char *path, const char *folder)
{
	size_t len = strlen(folder);

	if (len == 1)
		return true;
	return strncmp(path, folder, len) == 0 && (path[len] == '\0' || path[len] == '/');
}

/* '/' sorts before every other byte, so that a folder's content follows it directly. */
static int compare_paths(const char *a, const char *b)
{
	while (*a != '\0' && *a == *b)
		a++, b++;
	int left = *a == '/' ? 1 : (unsigned char)*a + (*a != '\0');
	int right = *b == '/' ? 1 : (unsigned char)*b + (*b != '\0');
	return left - right;
}

static int compare_entries(const void *a, const void *b)
{
	return compare_paths(((const struct file_entry *)a)->path,
			     ((const struct file_entry *)b)->path);
}

static struct file_entry *entry_at(struct arena *arena, struct file_entries *entries,
				   const char *path)
{
	for (size_t i = 0; i < entries->count; i++)
		if (strcmp(entries->items[i].path, path) == 0)
			return &entries->items[i];
	struct file_entry *entry = ARENA_PUSH(arena, entries->items, entries->count);
	*entry = (struct file_entry){.path = path};
	return entry;
}

static void add_facts(struct arena *arena, const struct host *host, struct file_entries *entries)
{
	for (enum path_kind kind = 0; kind < PATH_KIND_MAX; kind++)
		for (size_t i = 0; i < host->paths[kind].count; i++) {
			const struct path_fact *fact = &host->paths[kind].items[i];
			struct file_entry *entry = entry_at(arena, entries, fact->path);

			entry->kinds |= KIND(kind);
			entry->fact = fact;
		}
}

/*
 * A protected name keeps its place only if no folder between it and the write
 * root can be renamed away: each is bound onto itself, since a mount point can
 * be neither renamed nor removed.
 */
static void add_pins(struct arena *arena, const struct host *host, struct file_entries *entries)
{
	const struct path_facts *roots = &host->paths[PATH_WRITE];

	for (size_t i = 0; i < host->paths[PATH_PROTECT].count; i++) {
		const char *path = host->paths[PATH_PROTECT].items[i].path;

		for (size_t r = 0; r < roots->count; r++) {
			size_t root_len = strlen(roots->items[r].path);

			if (!path_is_below(path, roots->items[r].path) || path[root_len] == '\0')
				continue;
			for (const char *end = path + root_len + 1;
			     (end = strchr(end, '/')) != NULL; end++) {
				const char *at = arena_strndup(arena, path, (size_t)(end - path));

				entry_at(arena, entries, at)->pin = true;
			}
		}
	}
}

/* What an entry gives: write holds exec, exec holds read. The other lists only take away. */
static unsigned access_of(const struct file_entry *entry)
{
	if ((entry->kinds & KIND(PATH_WRITE)) != 0)
		return KIND(PATH_WRITE) | KIND(PATH_EXEC) | KIND(PATH_READ);
	if ((entry->kinds & KIND(PATH_EXEC)) != 0)
		return KIND(PATH_EXEC) | KIND(PATH_READ);
	return entry->kinds & KIND(PATH_READ);
}

/* Mounting `entry` would give what the mount above it gives already. */
static bool adds_nothing(const struct file_entry *entry)
{
	unsigned special =
		KIND(PATH_HIDE) | KIND(PATH_PROTECT) | KIND(PATH_NOEXEC) | KIND(PATH_DEVICE);

	if (entry->pin || (entry->kinds & special) != 0 || entry->up == NULL ||
	    (entry->up->kinds & special) != 0)
		return false;
	return (access_of(entry) & ~access_of(entry->up)) == 0;
}

static void connect(struct file_entries *entries)
{
	for (size_t i = 0; i < entries->count; i++) {
		struct file_entry *entry = &entries->items[i];

		for (size_t j = 0; j < i; j++) {
			const struct file_entry *above = &entries->items[j];

			if (!path_is_below(entry->path, above->path))
				continue;
			entry->hidden |= above->hidden || (above->kinds & KIND(PATH_HIDE)) != 0;
			/* noexec and protect alone give nothing: they only restrict a tree */
			if (!above->redundant &&
			    (above->pin || access_of(above) != 0 || above->up != NULL))
				entry->up = above;
		}
		entry->redundant = adds_nothing(entry);
	}
}

void file_entries_make(struct arena *arena, const struct host *host, bool pins,
		       struct file_entries *ret_entries)
{
	struct file_entries entries = {0};

	add_facts(arena, host, &entries);
	if (pins)
		add_pins(arena, host, &entries);
	if (entries.count > 0)
		qsort(entries.items, entries.count, sizeof(*entries.items), compare_entries);
	connect(&entries);
	*ret_entries = entries;
}

const struct file_entry *file_entry_for(const struct file_entries *entries, const char *path)
{
	const struct file_entry *found = NULL;

	for (size_t i = 0; i < entries->count; i++) {
		const struct file_entry *entry = &entries->items[i];

		if (!path_is_below(path, entry->path))
			continue;
		if ((entry->kinds & KIND(PATH_HIDE)) != 0 || entry->hidden)
			return NULL;
		if (access_of(entry) != 0 && !entry->redundant)
			found = entry;
	}
	return found;
}

uint64_t file_entry_attributes(const struct file_entry *entry)
{
	uint64_t attr = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
	unsigned kinds = entry->kinds;

	if (entry->pin && kinds == 0)
		return entry->up != NULL ? file_entry_attributes(entry->up) : attr;
	if ((kinds & KIND(PATH_DEVICE)) != 0)
		return MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC;
	if ((kinds & KIND(PATH_WRITE)) == 0 || (kinds & KIND(PATH_PROTECT)) != 0)
		attr |= MOUNT_ATTR_RDONLY;
	if ((kinds & (KIND(PATH_WRITE) | KIND(PATH_EXEC))) == 0 && (kinds & KIND(PATH_READ)) != 0)
		attr |= MOUNT_ATTR_NOEXEC;
	if ((kinds & KIND(PATH_NOEXEC)) != 0)
		attr |= MOUNT_ATTR_NOEXEC;
	/* a path that is only noexec or only protected is as its parent in everything else */
	if ((kinds & (KIND(PATH_EXEC) | KIND(PATH_READ) | KIND(PATH_WRITE))) == 0 &&
	    entry->up != NULL) {
		uint64_t above = file_entry_attributes(entry->up);

		attr |= above & MOUNT_ATTR_NOEXEC;
		if ((kinds & KIND(PATH_PROTECT)) == 0)
			attr = (attr & ~(uint64_t)MOUNT_ATTR_RDONLY) | (above & MOUNT_ATTR_RDONLY);
	}
	return attr;
}
