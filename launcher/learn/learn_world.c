// SPDX-License-Identifier: Apache-2.0
#include "learn_world.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file_entries.h"

/* ---- names ---- */

static struct string_list find_names(struct machine *machine, const char *path)
{
	struct arena *arena = machine->learn->arena;
	/* its list of links is what tells of those on the way */
	struct host host = {0};
	struct string_list names = {0};
	struct path_fact fact;

	*ARENA_PUSH(arena, names.items, names.count) = path;
	if (host_resolve(arena, &host, path, &fact) != 0 || strcmp(fact.path, path) == 0)
		return names;
	for (size_t i = 0; i < host.link_count; i++)
		if (strcmp(host.links[i].at, path) != 0)
			*ARENA_PUSH(arena, names.items, names.count) = host.links[i].at;
	*ARENA_PUSH(arena, names.items, names.count) = fact.path;
	return names;
}

struct string_list machine_names(struct machine *machine, const char *path)
{
	uint64_t hash = 0xcbf29ce484222325ULL;

	for (const char *at = path; *at != '\0'; at++)
		hash = (hash ^ (unsigned char)*at) * 0x100000001b3ULL;
	size_t slot = hash % MEMO;
	if (machine->memo[slot].path == NULL || strcmp(machine->memo[slot].path, path) != 0) {
		machine->memo[slot].path = path;
		machine->memo[slot].names = find_names(machine, path);
	}
	return machine->memo[slot].names;
}

static struct string_list names_of(void *about, const char *path)
{
	return machine_names(about, path);
}

/* ---- too wide ---- */

static bool is_named(const struct learn *learn, const char *path)
{
	const struct string_list *const lists[] = {&learn->wishes.read, &learn->wishes.write};

	for (size_t l = 0; l < 2; l++)
		for (size_t i = 0; i < lists[l]->count; i++)
			if (strcmp(lists[l]->items[i], path) == 0)
				return true;
	return false;
}

static const char *too_wide(void *about, const char *path)
{
	static const char *const below_home[] = {
		".config", ".local",     ".local/share", ".local/state", ".cache",
		".var",    ".local/lib", "Documents",    "Desktop",      "Downloads"};
	static const char *const folders[] = {
		"/",      "/etc", "/var",  "/var/lib", "/var/cache", "/var/tmp",
		"/usr",   "/opt", "/home", "/root",    "/srv",       "/mnt",
		"/media", "/run", "/sys",  "/boot",    "/lost+found"};
	struct machine *machine = about;
	const struct learn *learn = machine->learn;
	const char *home = learn->context.home;

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		if (strcmp(path, folders[i]) == 0)
			return "a folder of the system, too wide to give as a whole";
	const char *fault = profile_folder_fault(learn->arena, &learn->context, path);
	if (fault != NULL && !(is_named(learn, path) && !path_is_below(home, path)))
		return arena_printf(learn->arena, "%s, too wide to give as a whole", fault);
	size_t len = home != NULL ? strlen(home) : 0;
	for (size_t i = 0; len > 1 && i < sizeof(below_home) / sizeof(below_home[0]); i++)
		if (path_is_below(path, home) && path[len] == '/' &&
		    strcmp(path + len + 1, below_home[i]) == 0 && !is_named(learn, path))
			return "where programs and you keep all sorts of things, too wide";
	return NULL;
}

/* ---- forbidden ---- */

static bool is_below_some(const struct string_list *list, const char *path)
{
	for (size_t i = 0; i < list->count; i++)
		if (path_is_below(path, list->items[i]))
			return true;
	return false;
}

static bool is_below_rule(const struct path_list *list, const char *path)
{
	for (size_t i = 0; i < list->count; i++)
		if (path_is_below(path, list->items[i].path))
			return true;
	return false;
}

static bool is_on_path(const struct machine *machine, const char *path)
{
	const char *at = machine->host.path;

	while (at != NULL && *at != '\0') {
		size_t len = strcspn(at, ":");

		/* it, or a folder that it lies in, could be swapped for another */
		if (len > 1 && path_is_below(arena_strndup(machine->learn->arena, at, len), path))
			return true;
		at += len + (at[len] == ':');
	}
	return false;
}

/* Files that something outside executes or obeys later; also as part of a folder. */
static const char *acts_later(const struct machine *machine, const char *path)
{
	static const char *const names[] = {".bashrc",
					    ".bash_profile",
					    ".bash_login",
					    ".bash_logout",
					    ".profile",
					    ".zshrc",
					    ".zshenv",
					    ".zprofile",
					    ".zlogin",
					    ".gitconfig",
					    ".vimrc",
					    ".emacs",
					    ".inputrc",
					    ".pam_environment",
					    ".config/fish",
					    ".config/autostart",
					    ".config/systemd",
					    ".config/git",
					    ".local/bin",
					    "bin",
					    ".local/share/applications",
					    ".crontab"};
	const char *home = machine->learn->context.home;
	const char *hooks = strstr(path, "/.git/hooks");

	for (size_t i = 0; home != NULL && i < sizeof(names) / sizeof(names[0]); i++) {
		const char *one = arena_printf(machine->learn->arena, "%s/%s", home, names[i]);

		if (path_is_below(path, one) || path_is_below(one, path))
			return "your shell or session acts on what is there";
	}
	if (hooks != NULL && (hooks[11] == '/' || hooks[11] == '\0'))
		return "your own git executes what is there";
	return is_on_path(machine, path) ? "on your PATH: your shell executes what is there" : NULL;
}

static const char *not_writable(const struct machine *machine, const char *path)
{
	const struct learn *learn = machine->learn;
	const struct profile *base = &learn->base;

	if (!is_below_rule(&base->file.write, path) && !is_below_some(&learn->wishes.write, path))
		return "only shown, not to be written, in the learning run: --allow-write FOLDER";
	if (is_below_rule(&base->file.protect, path))
		return "protected";
	/* the folder that it was started in is for writing: that was decided before */
	if (learn->context.cwd != NULL && path_is_below(path, learn->context.cwd))
		return NULL;
	return acts_later(machine, path);
}

static const char *forbidden(void *about, const char *path, enum rank rank)
{
	const struct machine *machine = about;
	const struct learn *learn = machine->learn;

	if (!is_below_some(&learn->wishes.secret, path) &&
	    (learn_is_secret(path) || is_below_some(&learn->hidden, path)))
		return "a credential, or where they are kept: --allow-secret PATH";
	if (is_below_some(&learn->unseen, path))
		return "not looked through for credentials, so not shown";
	if (path_is_below(path, learn->context.store))
		return "the audit record";
	if (is_below_rule(&learn->base.file.hide, path))
		return "hidden by the profile that it was learnt with";
	/* a private folder, whose names say nothing about the host */
	if (rank != RANK_WRITE)
		return NULL;
	return not_writable(machine, path);
}

/* ---- what is there ---- */

static bool may(void *about, const char *path, enum rank rank)
{
	const struct machine *machine = about;
	struct stat st;

	if (lstat(path, &st) != 0)
		return rank != RANK_NONE;
	if (rank == RANK_NONE)
		return true;
	if (machine->host.can_become) {
		mode_t wanted = S_ISDIR(st.st_mode) ? 05 : 04;

		/* a write path comes with its owner's rights */
		return rank == RANK_WRITE || stat(path, &st) != 0 ||
		       (st.st_mode & wanted) == wanted ||
		       is_below_rule(&machine->learn->base.file.write, path) ||
		       is_below_some(&machine->learn->wishes.write, path);
	}
	return access(path, rank == RANK_WRITE ? W_OK : R_OK) == 0 ||
	       (rank == RANK_EXEC && access(path, X_OK) == 0);
}

static size_t entries(void *about, const char *folder)
{
	DIR *dir = opendir(folder);
	size_t count = 0;

	(void)about;
	while (dir != NULL && readdir(dir) != NULL)
		count++;
	if (dir != NULL)
		closedir(dir);
	return count > 2 ? count - 2 : 0;
}

static bool is_folder(void *about, const char *path)
{
	struct stat st;

	(void)about;
	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

void machine_begin(struct machine *machine)
{
	machine->world = (struct fold_world){
		.arena = machine->learn->arena,
		.cwd = machine->learn->context.cwd,
		.about = machine,
		.too_wide = too_wide,
		.forbidden = forbidden,
		.may = may,
		.entries = entries,
		.is_folder = is_folder,
		.names = names_of,
	};
}

static bool is_left_out(const struct folded *folded, const char *path)
{
	for (size_t i = 0; i < folded->left_count; i++)
		if (strcmp(folded->left[i].path, path) == 0)
			return true;
	return false;
}

/* The option of this program that stands for the line which would have allowed it. */
static const char *option_for(struct arena *arena, const char *permit)
{
	static const struct {
		const char *line, *option;
	} rows[] = {{"[file] read = ", "--allow-read "},
		    {"[file] exec = ", "--allow-read "},
		    {"[file] write = ", "--allow-write "}};

	for (size_t i = 0; permit != NULL && i < sizeof(rows) / sizeof(rows[0]); i++) {
		size_t len = strlen(rows[i].line);

		if (strncmp(permit, rows[i].line, len) == 0)
			return arena_printf(arena, "refused in the learning run: %s%s",
					    rows[i].option, permit + len);
	}
	return permit == NULL ? "refused in the learning run"
			      : arena_printf(arena, "refused in the learning run: %s", permit);
}

static void add_refused(struct machine *machine, const char *op, const char *object,
			const char *permit)
{
	struct arena *arena = machine->learn->arena;
	struct folded *folded = &machine->learn->folded;
	const char *why = object != NULL ? forbidden(machine, object, RANK_READ) : NULL;

	if (is_left_out(folded, object != NULL ? object : op))
		return;
	if (folded->left_count == FOLD_LEFT_MAX) {
		folded->left_more++;
		return;
	}
	*ARENA_PUSH(arena, folded->left, folded->left_count) =
		(struct left_out){object != NULL ? arena_printf(arena, "%s %s", op, object) : op,
				  why != NULL ? why : option_for(arena, permit)};
}

void machine_add_refused(struct machine *machine)
{
	const json_t *denials = json_object_get(machine->learn->end, "denials"), *denial;
	size_t i;

	json_array_foreach((json_t *)denials, i, denial)
	{
		const char *boundary = json_string_value(json_object_get(denial, "boundary"));
		const char *op = json_string_value(json_object_get(denial, "op"));

		/* those of the network are told as what they would take */
		if (boundary != NULL && op != NULL && strcmp(boundary, "network") != 0)
			add_refused(machine, op,
				    json_string_value(json_object_get(denial, "object")),
				    json_string_value(json_object_get(denial, "permit")));
	}
}
