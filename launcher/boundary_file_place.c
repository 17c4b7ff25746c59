// SPDX-License-Identifier: Apache-2.0
#include <string.h>
#include <sys/stat.h>

#include "boundary_file.h"

/*
 * Without a mount tree: the program sees the host's own tree and Landlock says
 * what it may do there. Landlock only ever gives, and gives a folder with all that is
 * below it, so nothing below a listed folder can be hidden or held; scratch is a
 * folder of the run's own on the host.
 */

static const enum path_kind giving[] = {PATH_EXEC, PATH_READ, PATH_WRITE};

/* Whether a listed folder above a path (or the path itself) gives what `kinds` stand for. */
static bool is_given(const struct host *host, const char *path, unsigned kinds, bool itself)
{
	for (size_t k = 0; k < sizeof(giving) / sizeof(giving[0]); k++)
		for (size_t i = 0; i < host->paths[giving[k]].count; i++) {
			const char *folder = host->paths[giving[k]].items[i].path;

			if ((kinds & KIND(giving[k])) != 0 && path_is_below(path, folder) &&
			    (itself || strcmp(path, folder) != 0))
				return true;
		}
	return false;
}

/* The first listed path that Landlock cannot take out of what is given above it. */
static const char *first_lost(const struct host *host, enum path_kind kind, unsigned kinds)
{
	const struct path_facts *facts = &host->paths[kind];

	for (size_t i = 0; i < facts->count; i++)
		if (facts->items[i].rule != NULL &&
		    is_given(host, facts->items[i].path, kinds, false))
			return facts->items[i].path;
	return NULL;
}

/* Landlock's right to execute is asked for by execve alone. */
static const char by_loader[] =
	"execve is refused; a mapping is not, so the loader (ld.so PROGRAM) runs what can be read";

static void plan_taking(const struct profile *profile, const struct host *host, struct plan *plan)
{
	const unsigned any = KIND(PATH_EXEC) | KIND(PATH_READ) | KIND(PATH_WRITE);
	const struct {
		enum path_kind kind;
		unsigned kinds; /* what is taken away from */
		const char *what;
	} rows[] = {{PATH_HIDE, any, "cannot be hidden"},
		    {PATH_PROTECT, KIND(PATH_WRITE), "cannot be protected"},
		    {PATH_NOEXEC, KIND(PATH_EXEC) | KIND(PATH_WRITE),
		     "cannot be kept from being executed"}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		size_t listed = profile_paths(profile, rows[i].kind)->count;
		struct plan_item *item = file_plan_list(profile, host, plan, rows[i].kind);
		const char *lost = first_lost(host, rows[i].kind, rows[i].kinds);

		if (lost != NULL)
			plan_missing(item, arena_printf(plan->arena,
							"%s lies below a listed folder and %s by "
							"Landlock alone; list what is beside it "
							"instead",
							lost, rows[i].what));
		else if (listed > 0 && rows[i].kind == PATH_NOEXEC)
			plan_reduced(item, "landlock: not given", by_loader);
		else if (listed > 0)
			plan_enforced(item, "landlock: not given", NULL);
	}
	if (profile->file.device.count > 0)
		plan_enforced(file_plan_list(profile, host, plan, PATH_DEVICE), "landlock", NULL);
}

/* Root: the leased uid owns nothing yet. A file mode can still let it write. */
static const struct path_fact *first_unwritable(const struct host *host, const struct plan *plan)
{
	const struct path_facts *roots = &host->paths[PATH_WRITE];

	for (size_t i = 0; host->can_become && i < roots->count; i++)
		if ((plan->own_uid || roots->items[i].uid != host->user_uid) &&
		    (roots->items[i].mode & 02) == 0)
			return &roots->items[i];
	return NULL;
}

static void plan_writes(const struct profile *profile, const struct host *host, struct plan *plan)
{
	static const char *const words[] = {"keep", "discard", "review"};
	struct plan_item *item =
		plan_add(plan, BOUNDARY_FILE, "writes", words[profile->file.writes]);
	const struct path_facts *roots = &host->paths[PATH_WRITE];
	const struct path_fact *unwritable = first_unwritable(host, plan);

	if (profile->file.writes != WRITES_KEEP)
		plan_missing(item, "a throw-away layer needs a mount tree; without one nothing can "
				   "be written there");
	else if (roots->count > 0 && unwritable != NULL)
		plan_missing(item, arena_printf(plan->arena,
						"%s does not belong to the program's user and "
						"cannot be idmapped without a mount tree; %s",
						unwritable->path,
						file_way_of_owner(plan->arena, unwritable)));
	else if (roots->count > 0)
		plan_enforced(item, "landlock", NULL);
	for (size_t i = 0; i < roots->count; i++)
		if (roots->items[i].read_only)
			plan_missing(item, file_read_only_reason(plan->arena, &roots->items[i]));
}

static void plan_scratch(const struct profile *profile, struct plan *plan)
{
	plan_reduced(plan_add(plan, BOUNDARY_FILE, "scratch",
			      plan_size(plan->arena, profile->file.scratch_bytes)),
		     "a folder of the run's own in the host's /tmp, removed at the end",
		     "its size is watched, so a burst can overshoot; programs find it by TMPDIR "
		     "and HOME, /tmp itself and /dev/shm are closed");
	plan_enforced(plan_add(plan, BOUNDARY_FILE, "home",
			       profile->file.home == HOME_PRIVATE ? "private" : "none"),
		      profile->file.home == HOME_PRIVATE ? "a folder in scratch" : "landlock",
		      "the host's /etc/passwd is not shown, and there is no other in its place");
}

/* The store must never be there for the program; a socket is refused by its family. */
static void check_secrets(const struct host *host, struct plan *plan)
{
	const struct path_facts *hidden = &host->paths[PATH_HIDE];

	for (size_t i = 0; i < hidden->count; i++)
		if (hidden->items[i].rule == NULL && !S_ISSOCK(hidden->items[i].mode))
			plan->impossible = arena_printf(
				plan->arena,
				"%s, which no run may see (audit records, secrets of toolchains), "
				"lies below a listed folder, and without a mount tree it cannot be "
				"hidden there; keep it elsewhere (--store), or list less",
				hidden->items[i].path);
}

void file_plan_in_place(const struct profile *profile, const struct host *host, struct plan *plan)
{
	const char *asked =
		arena_printf(plan->arena, "%zu exec, %zu read, %zu write", profile->file.exec.count,
			     profile->file.read.count, profile->file.write.count);

	plan_reduced(
		plan_add(plan, BOUNDARY_FILE, "tree", asked), "landlock on the host's own tree",
		arena_printf(plan->arena,
			     "no mount tree: %s. Lost: that unlisted paths are there, and whose, "
			     "how large and how old, can be seen; a program in a read path can be "
			     "run by the loader (ld.so PROGRAM); outside of write paths times and "
			     "extended attributes can be changed of files that %s",
			     plan->form_why,
			     plan->own_uid ? "everybody may write"
					   : "the caller may write, and the mode of those that the "
					     "caller owns"));
	file_plan_landlock(host, plan);
	plan_writes(profile, host, plan);
	plan_taking(profile, host, plan);
	file_plan_toolchains(profile, host, plan);
	file_plan_cache(profile, host, plan);
	plan_scratch(profile, plan);
	check_secrets(host, plan);
}

static const char *const devices[] = {"/dev/null",   "/dev/zero",    "/dev/full",
				      "/dev/random", "/dev/urandom", "/dev/tty"};

/* Write paths are only read when their changes were to be thrown away. */
static uint64_t rights_of(const struct arm *arm, const struct file_entry *entry)
{
	struct file_entry lesser = *entry;

	if (arm->profile->file.writes != WRITES_KEEP || (entry->kinds & KIND(PATH_PROTECT)) != 0) {
		if ((entry->kinds & KIND(PATH_WRITE)) != 0)
			lesser.kinds |= KIND(PATH_EXEC);
		lesser.kinds &= ~KIND(PATH_WRITE);
	}
	uint64_t rights = file_entry_rights(&lesser);
	return (entry->kinds & KIND(PATH_NOEXEC)) != 0 ? file_without_exec(rights) : rights;
}

static void add_entry(struct arm *arm, const struct file_entry *entry, struct rules *rules)
{
	uint64_t rights = rights_of(arm, entry);

	if (entry->hidden || entry->redundant || rights == 0)
		return;
	struct landlock_rule *rule = file_add_rule(arm, rules, entry->path, rights);
	rule->device = entry->fact->device;
	rule->inode = entry->fact->inode;
}

void file_arm_in_place(struct arm *arm)
{
	struct rules rules = {0};

	file_add_rule(arm, &rules, "/proc", file_read_rights);
	for (size_t i = 0; i < sizeof(devices) / sizeof(devices[0]); i++) {
		struct stat st;

		if (stat(devices[i], &st) == 0 && S_ISCHR(st.st_mode))
			file_add_rule(arm, &rules, devices[i], file_device_rights);
	}
	for (size_t i = 0; i < arm->entries->count; i++)
		add_entry(arm, &arm->entries->items[i], &rules);
	if (arm->scratch != NULL)
		file_add_rule(arm, &rules, arm->scratch,
			      arm->profile->file.scratch_exec == YES
				      ? file_write_rights
				      : file_without_exec(file_write_rights));
	file_add_ruleset(arm, &rules);
}
