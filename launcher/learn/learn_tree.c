// SPDX-License-Identifier: Apache-2.0
#include <dirent.h>
#include <string.h>
#include <sys/stat.h>

#include "file_entries.h"
#include "learn_world.h"
#include "profile_internal.h"

/*
 * What a learning run sees: the profile that was named, and, to read and execute, the system
 * and the caller's own files. Written as --set words of the launcher, so that what
 * cannot be had is refused by it.
 */

/* Which folders below / hold the system's own. --open shows all but those that `never` has. */
static const char *const system_folders[] = {"usr",   "bin",    "sbin", "lib", "lib32",
					     "lib64", "libx32", "opt",  "nix", "gnu"};
static const char *const never[] = {"proc",       "sys", "dev",  "run",  "tmp", "boot",
				    "lost+found", "etc", "root", "home", "var"};
/* Each run has its own of these. */
static const char *const own_files[] = {"passwd",      "group", "hosts",   "nsswitch.conf",
					"resolv.conf", "mtab",  "hostname"};
static const char *const var_folders[] = {"cache", "lib"};

static bool is_among(const char *const *names, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}
#define AMONG(names, name) is_among(names, sizeof(names) / sizeof((names)[0]), name)

static void add_set(struct learn *learn, const char *word)
{
	*ARENA_PUSH(learn->arena, learn->sets.items, learn->sets.count) = word;
}

static void add_path(struct learn *learn, enum key_id key, bool optional, const char *path)
{
	const char *name = key_table[key].name;

	/* a list element as the profile's text has it, without "NAME = " */
	const char *line =
		profile_line(learn->arena, &key_table[key], optional ? "-" : "", path, true);
	add_set(learn, arena_printf(learn->arena, "file.%s+=%s", name, line + strlen(name) + 3));
}

static bool is_hidden(const struct learn *learn, const char *path)
{
	const struct string_list *const lists[] = {&learn->hidden, &learn->unseen};

	for (size_t l = 0; l < 2; l++)
		for (size_t i = 0; i < lists[l]->count; i++)
			if (path_is_below(path, lists[l]->items[i]))
				return true;
	return path_is_below(learn->context.store, path) ||
	       path_is_below(path, learn->context.store);
}

static bool is_wanted_of_home(const struct learn *learn, const char *name)
{
	(void)learn;
	return name[0] != '\0';
}

/* Version managers show these: their variables are passed on for what is shown by them alone. */
enum { NOT_SHOWN, SHOWN, SHOWN_IN_PART };
static int is_shown(const struct learn *learn, const char *path)
{
	const struct path_facts *shown = &learn->machine->host.paths[PATH_EXEC];
	int found = NOT_SHOWN;

	for (size_t i = 0; i < shown->count; i++) {
		if (path_is_below(path, shown->items[i].path))
			return SHOWN;
		if (path_is_below(shown->items[i].path, path))
			found = SHOWN_IN_PART;
	}
	return found;
}

/* Name by name, since some are not shown. */
static void add_children(struct learn *learn, enum key_id key, const char *folder,
			 bool (*wanted)(const struct learn *learn, const char *name))
{
	DIR *dir = opendir(folder);
	const struct dirent *entry;

	while (dir != NULL && (entry = readdir(dir)) != NULL) {
		const char *name = entry->d_name;
		const char *path = arena_printf(learn->arena, "%s/%s",
						strcmp(folder, "/") == 0 ? "" : folder, name);

		if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || !wanted(learn, name) ||
		    is_hidden(learn, path))
			continue;
		/* one path that leads over it makes the link */
		if (learn->home_link != NULL && strcmp(folder, learn->context.home) == 0)
			add_path(learn, key, true,
				 arena_printf(learn->arena, "%s/%s", learn->home_link, name));
		int shown = is_shown(learn, path);
		if (shown == NOT_SHOWN)
			add_path(learn, key, true, path);
		else if (shown == SHOWN_IN_PART)
			add_children(learn, key, path, is_wanted_of_home);
	}
	if (dir != NULL)
		closedir(dir);
}

static bool is_wanted_of_root(const struct learn *learn, const char *name)
{
	return AMONG(system_folders, name) || (learn->wishes.open && !AMONG(never, name));
}

static bool is_wanted_of_etc(const struct learn *learn, const char *name)
{
	(void)learn;
	return !AMONG(own_files, name);
}

static bool is_wanted_of_var(const struct learn *learn, const char *name)
{
	return AMONG(var_folders, name) || (learn->wishes.open && strcmp(name, "tmp") != 0 &&
					    strcmp(name, "run") != 0 && strcmp(name, "lock") != 0);
}

static void add_list(struct learn *learn, enum key_id key, bool optional,
		     const struct string_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		add_path(learn, key, optional, list->items[i]);
}

void learn_tree(struct learn *learn)
{
	const struct wishes *wishes = &learn->wishes;
	const char *home = learn->context.home;

	add_children(learn, KEY_FILE_EXEC, "/", is_wanted_of_root);
	add_children(learn, KEY_FILE_READ, "/etc", is_wanted_of_etc);
	add_children(learn, KEY_FILE_READ, "/var", is_wanted_of_var);
	if (home != NULL && strcmp(home, "/") != 0)
		add_children(learn, KEY_FILE_EXEC, home, is_wanted_of_home);
	if (learn->context.cwd != NULL &&
	    profile_folder_fault(learn->arena, &learn->context, learn->context.cwd) == NULL)
		add_path(learn, KEY_FILE_EXEC, false, learn->context.cwd);
	add_list(learn, KEY_FILE_EXEC, false, &wishes->read);
	add_list(learn, KEY_FILE_WRITE, false, &wishes->write);
	add_list(learn, KEY_FILE_HIDE, true, &learn->hidden);
	add_list(learn, KEY_FILE_HIDE, true, &learn->unseen);
	add_set(learn, "file.toolchains+=@all");
	add_set(learn, "audit.denials=full");
	if (wishes->open && home != NULL)
		add_set(learn, "environment.set+=HOME=${home}");
	for (size_t i = 0; i < wishes->net.count; i++)
		add_set(learn,
			arena_printf(learn->arena, "network.allow+=%s", wishes->net.items[i]));
	/* the gate hears what is asked for, also where it lets nothing through; the last one, so
	 * that it can be left out */
	add_set(learn, "network.mode=allow");
}
