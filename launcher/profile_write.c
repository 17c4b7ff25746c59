// SPDX-License-Identifier: Apache-2.0
#include "profile_internal.h"

#include <string.h>

/*
 * ${cwd} as a write path is a decision, not a default: whoever starts a
 * program from a home folder or from / did not mean to hand that over. A path
 * that is written out is trusted further, but never the kernel's own trees,
 * and never the record.
 */

#define ROWS(table) (sizeof(table) / sizeof((table)[0]))

struct forbidden {
	const char *path;
	bool below; /* and everything in it */
	const char *what;
};

static const struct forbidden never_cwd[] = {
	{"/", false, "the whole system"},          {"/usr", true, "a system folder"},
	{"/etc", true, "a system folder"},         {"/bin", true, "a system folder"},
	{"/sbin", true, "a system folder"},        {"/lib", true, "a system folder"},
	{"/lib32", true, "a system folder"},       {"/lib64", true, "a system folder"},
	{"/libx32", true, "a system folder"},      {"/boot", true, "a system folder"},
	{"/dev", true, "a system folder"},         {"/proc", true, "a system folder"},
	{"/sys", true, "a system folder"},         {"/run", false, "a system folder"},
	{"/var", false, "a system folder"},        {"/opt", false, "a system folder"},
	{"/srv", false, "a system folder"},        {"/tmp", false, "shared by everyone"},
	{"/var/tmp", false, "shared by everyone"}, {"/home", false, "above the home folders"},
	{"/root", false, "a home folder"},
};

static const struct forbidden never_write[] = {
	{"/", false, WHOLE_SYSTEM},
	{"/proc", true, "the kernel's: the sandbox has its own"},
	{"/sys", true, "the kernel's"},
	{"/dev", true, "for devices: those are listed under device"},
};

static const struct forbidden *find_forbidden(const struct forbidden *table, size_t count,
					      const char *path)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(path, table[i].path) == 0 ||
		    (table[i].below && path_below(path, table[i].path)))
			return &table[i];
	return NULL;
}

/* /home/X, whoever X is. */
static bool is_some_home(const char *path)
{
	return strncmp(path, "/home/", 6) == 0 && strchr(path + 6, '/') == NULL;
}

/* What the paths are compared with; where links lead is looked up once. */
struct writing {
	struct arena *arena;
	const struct profile_context *context;
	const char *store, *real_store; /* or NULL */
};

/* One contains the other, as written or as resolved. */
static bool overlaps_store(const struct writing *writing, const char *path, const char *real)
{
	if (writing->store == NULL)
		return false;
	return path_below(path, writing->store) || path_below(writing->store, path) ||
	       path_below(real, writing->real_store) || path_below(writing->real_store, real);
}

static const char *home_fault(const struct writing *writing, const char *cwd)
{
	const char *home = writing->context->home;

	if (is_some_home(cwd))
		return "a home folder";
	if (home == NULL || strcmp(home, "/") == 0)
		return NULL;
	const char *real = path_resolved(writing->arena, home);

	if (strcmp(cwd, home) == 0 || strcmp(cwd, real) == 0)
		return "your home folder";
	if (path_below(home, cwd) || path_below(real, cwd))
		return "above your home folder";
	return NULL;
}

/* What is wrong with a folder that nobody wrote out (and that is resolved), or NULL. */
static const char *folder_fault(const struct writing *writing, const char *path)
{
	const struct forbidden *found = find_forbidden(never_cwd, ROWS(never_cwd), path);
	const char *fault = found != NULL ? found->what : home_fault(writing, path);

	if (fault == NULL && overlaps_store(writing, path, path))
		fault = "where the audit records are kept";
	return fault;
}

/* The store is looked up once, and only when there is something to compare it with. */
static struct writing writing_start(struct arena *arena, const struct profile_context *context,
				    bool needed)
{
	struct writing writing = {.arena = arena, .context = context, .store = context->store};

	if (needed && writing.store != NULL)
		writing.real_store = path_resolved(arena, writing.store);
	return writing;
}

const char *profile_folder_fault(struct arena *arena, const struct profile_context *context,
				 const char *path)
{
	struct writing writing = writing_start(arena, context, true);

	return folder_fault(&writing, path);
}

static int check_element(const struct writing *writing, struct element *element, struct error *err)
{
	struct place place = {
		.arena = writing->arena,
		.file = element->file,
		.line = element->line,
		.key = &key_table[KEY_FILE_WRITE],
	};
	const char *fault = element->cwd ? folder_fault(writing, writing->context->cwd) : NULL;
	const struct forbidden *found;

	if (fault != NULL)
		return place_error(&place, err,
				   "${cwd} is %s, which is %s: make a folder and run it there, or "
				   "name the path in the profile",
				   text_show_bare(writing->arena, writing->context->cwd), fault);
	bool is_cwd = writing->context->cwd && strcmp(element->text, writing->context->cwd) == 0;

	element->real = is_cwd ? element->text : path_resolved(writing->arena, element->text);
	found = find_forbidden(never_write, ROWS(never_write), element->text);
	if (found == NULL)
		found = find_forbidden(never_write, ROWS(never_write), element->real);
	if (found != NULL)
		return place_error(&place, err, "%s is %s",
				   text_show(writing->arena, element->text), found->what);
	if (overlaps_store(writing, element->text, element->real))
		return place_error(&place, err,
				   "the audit records are kept in %s, which no program may write: "
				   "name folders beside it",
				   text_show_bare(writing->arena, writing->store));
	return 0;
}

const char *profile_never_writable(const char *path, const char *store)
{
	const struct forbidden *found = find_forbidden(never_write, ROWS(never_write), path);

	if (found != NULL)
		return found->what;
	if (store != NULL && (path_below(path, store) || path_below(store, path)))
		return "the audit records are kept there: make a folder beside them and list that";
	return NULL;
}

int write_check(struct arena *arena, const struct profile_context *context,
		struct element_list *list, struct error *err)
{
	struct writing writing = writing_start(arena, context, list->count > 0);

	for (size_t i = 0; i < list->count; i++)
		if (check_element(&writing, &list->items[i], err) < 0)
			return -1;
	return 0;
}

void write_protect_source(struct arena *arena, const struct element_list *writes,
			  const struct source *source, struct element_list *protect)
{
	const char *real = writes->count > 0 ? path_resolved(arena, source->path) : NULL;
	bool inside = false;

	for (size_t i = 0; i < writes->count; i++)
		inside |= path_below(real, writes->items[i].real);
	for (size_t i = 0; i < protect->count && inside; i++) {
		if (strcmp(protect->items[i].text, real) != 0)
			continue;
		protect->items[i].optional = false;
		return;
	}
	if (inside)
		*ARENA_PUSH(arena, protect->items, protect->count) =
			(struct element){.text = real, .file = source->shown};
}
