// SPDX-License-Identifier: Apache-2.0
#include "toolchain_internal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Where a root may be: in its variable, where an entry of PATH or the python of a venv
 * leads, or at its usual place below the home folder. A root that does not hold the row's
 * mark is none: that is one access(2) each. Who uses nothing but the system's programs pays
 * for none of them: the usual places are looked at only after something else led out of the system.
 */

/* ---- words ---- */

/* The next word, or NULL at the end. */
static const char *next_word(struct arena *arena, const char **at)
{
	const char *word = *at + strspn(*at, " ");
	size_t len = strcspn(word, " ");

	*at = word + len;
	return len > 0 ? arena_strndup(arena, word, len) : NULL;
}

/* Takes "versions/X/bin" off "ROOT/versions/X/bin" by the pattern "versions/(*)/bin". */
static const char *root_by_entry(struct arena *arena, const char *path, const char *pattern)
{
	size_t end = strlen(path), tail = strlen(pattern);

	while (tail > 0) {
		size_t name = end, word = tail;

		while (name > 0 && path[name - 1] != '/')
			name--;
		while (word > 0 && pattern[word - 1] != '/')
			word--;
		bool any = tail - word == 1 && pattern[word] == '*';
		if (name <= 1 || name == end ||
		    (!any && (end - name != tail - word ||
			      memcmp(path + name, pattern + word, tail - word) != 0)))
			return NULL;
		end = name - 1;
		tail = word > 0 ? word - 1 : 0;
	}
	return end > 0 ? arena_strndup(arena, path, end) : NULL;
}

/* ---- one root ---- */

static struct toolchain_fact *add_fact(struct finding *finding, const struct toolchain *toolchain,
				       const char *root, const char *why, const char *fault)
{
	struct host *host = finding->host;
	struct toolchain_fact *fact =
		ARENA_PUSH(finding->arena, host->toolchains, host->toolchain_count);

	*fact = (struct toolchain_fact){
		.toolchain = toolchain, .root = root, .why = why, .fault = fault};
	return fact;
}

static bool is_known(const struct host *host, const struct toolchain *toolchain, const char *root)
{
	for (size_t i = 0; i < host->toolchain_count; i++)
		if (host->toolchains[i].toolchain == toolchain &&
		    strcmp(host->toolchains[i].root, root) == 0)
			return true;
	return false;
}

/* One path below the root; false: there, but not for the uid that root's programs get. A
 * link that leads out of the root is not followed: who can write there could show anything. */
static bool show(struct finding *finding, const char *root, const char *name)
{
	struct host *host = finding->host;
	struct path_fact fact;
	size_t links = host->link_count;

	if (host_resolve(finding->arena, host, arena_printf(finding->arena, "%s/%s", root, name),
			 &fact) != 0)
		return true;
	const mode_t wanted = S_ISDIR(fact.mode) ? 05 : 04;
	bool readable = !host->root || (fact.mode & wanted) == wanted;
	if (strcmp(fact.path, root) == 0 || !path_is_below(fact.path, root) || !readable) {
		host->link_count = links;
		return readable;
	}
	*ARENA_PUSH(finding->arena, host->paths[PATH_EXEC].items, host->paths[PATH_EXEC].count) =
		fact;
	return true;
}

static int show_all(struct finding *finding, struct toolchain_fact *fact)
{
	const char *shown = fact->toolchain->shown, *searched = fact->toolchain->searched;
	const char *word;
	struct path_facts *exec = &finding->host->paths[PATH_EXEC];
	size_t before = exec->count;

	while ((word = next_word(finding->arena, &shown)) != NULL)
		if (!show(finding, fact->root, word))
			fact->fault = "only its owner can read it: chmod -R go+rX, or run sbox as "
				      "its owner";
	if (fact->fault == NULL && exec->count == before)
		fact->fault = "nothing of it lies in it";
	if (fact->fault != NULL) {
		exec->count = before;
		return 0;
	}
	for (size_t i = before; searched != NULL && i < exec->count; i++)
		if (S_ISDIR(exec->items[i].mode) &&
		    toolchain_hide_secrets(finding->arena, finding->host, exec->items[i].path, "",
					   finding->err) != 0)
			return -1;
	while (searched != NULL && (word = next_word(finding->arena, &searched)) != NULL)
		if (toolchain_hide_secrets(finding->arena, finding->host, fact->root, word,
					   finding->err) != 0)
			return -1;
	return 0;
}

static int try_root(struct finding *finding, const struct toolchain *toolchain, const char *root,
		    const char *why)
{
	struct host *host = finding->host;
	struct path_fact fact;
	size_t links = host->link_count;

	if (access(arena_printf(finding->arena, "%s/%s", root, toolchain->mark), F_OK) != 0)
		return 0;
	if (host_resolve(finding->arena, host, root, &fact) != 0 || !S_ISDIR(fact.mode) ||
	    is_known(host, toolchain, fact.path))
		return 0;
	if (is_below_any(host, PATH_WRITE, fact.path) || is_below_any(host, PATH_EXEC, fact.path)) {
		add_fact(finding, toolchain, fact.path, why, NULL)->own = true;
		return 0;
	}
	const char *fault = profile_folder_fault(finding->arena, finding->context, fact.path);
	if (fault != NULL) {
		host->link_count = links;
		add_fact(finding, toolchain, fact.path, why, fault);
		return 0;
	}
	return show_all(finding, add_fact(finding, toolchain, fact.path, why, NULL));
}

/* ---- one row ---- */

static int try_variable(struct finding *finding, const struct toolchain *toolchain)
{
	const char *value = toolchain->variable != NULL ? getenv(toolchain->variable) : NULL;

	if (value == NULL || value[0] == '\0')
		return 0;
	/* GOPATH is a list; its first folder is where programs are */
	if (strchr(value, ':') != NULL)
		value = arena_strndup(finding->arena, value, strcspn(value, ":"));
	if (is_plain_path(value))
		return try_root(finding, toolchain, trimmed(finding->arena, value),
				toolchain->variable);
	add_fact(finding, toolchain, arena_strdup(finding->arena, value), toolchain->variable,
		 "not an absolute path without . and ..");
	return 0;
}

static int try_folders(struct finding *finding, const struct toolchain *toolchain)
{
	const char *folders = toolchain->folders, *folder;

	if (finding->hint_count == 0)
		return 0;
	while ((folder = next_word(finding->arena, &folders)) != NULL) {
		if (folder[0] == '/') {
			if (try_root(finding, toolchain, folder, folder) != 0)
				return -1;
			continue;
		}
		for (size_t i = 0; i < finding->home_count; i++)
			if (try_root(finding, toolchain,
				     arena_printf(finding->arena, "%s/%s", finding->homes[i],
						  folder),
				     arena_printf(finding->arena, "~/%s", folder)) != 0)
				return -1;
	}
	return 0;
}

/* "pyenv" is as good as ".pyenv". */
static bool is_same_name(const char *a, const char *b)
{
	return strcmp(a + (a[0] == '.'), b + (b[0] == '.')) == 0;
}

/* With a mark that others have too the root has to be called as usual. */
static bool is_called_so(struct arena *arena, const struct toolchain *toolchain, const char *root)
{
	const char *folders = toolchain->folders, *folder;

	if (!toolchain->named)
		return true;
	while ((folder = next_word(arena, &folders)) != NULL)
		if (is_same_name(last_name(folder), last_name(root)))
			return true;
	return false;
}

static int try_hints(struct finding *finding, const struct toolchain *toolchain)
{
	const char *entries = toolchain->entries, *entry;

	while ((entry = next_word(finding->arena, &entries)) != NULL)
		for (size_t i = 0; i < finding->hint_count; i++) {
			const char *root =
				root_by_entry(finding->arena, finding->hints[i].path, entry);

			if (root != NULL && is_called_so(finding->arena, toolchain, root) &&
			    try_root(finding, toolchain, root, finding->hints[i].why) != 0)
				return -1;
		}
	return 0;
}

static bool is_asked(const struct profile *profile, const struct toolchain *toolchain)
{
	const struct string_list *list = &profile->file.toolchains;

	for (size_t i = 0; i < list->count; i++)
		if (strcmp(list->items[i], "@all") == 0 ||
		    strcmp(list->items[i], toolchain->name) == 0)
			return true;
	return false;
}

int toolchain_find(struct arena *arena, const struct profile_context *context,
		   const struct profile *profile, const char *program, struct host *host,
		   struct error *err)
{
	struct finding *finding = arena_alloc(arena, sizeof(*finding));

	if (profile->file.toolchains.count == 0)
		return 0;
	*finding = (struct finding){.arena = arena, .context = context, .host = host, .err = err};
	toolchain_hints(finding, program);
	for (size_t i = 0; i < toolchain_count; i++) {
		const struct toolchain *toolchain = &toolchain_table[i];

		if (is_asked(profile, toolchain) &&
		    (try_variable(finding, toolchain) != 0 ||
		     try_folders(finding, toolchain) != 0 || try_hints(finding, toolchain) != 0))
			return -1;
	}
	return 0;
}

/* ---- in words ---- */

const char *toolchain_list(struct arena *arena, const struct host *host, bool shown)
{
	const char *text = "";

	for (size_t i = 0; i < host->toolchain_count; i++) {
		const struct toolchain_fact *fact = &host->toolchains[i];

		if ((fact->fault == NULL) != shown || fact->own)
			continue;
		text = arena_printf(arena, "%s%s%s %s (%s%s%s)", text, *text != '\0' ? ", " : "",
				    fact->toolchain->name, fact->root, fact->why, shown ? "" : ": ",
				    shown ? "" : fact->fault);
	}
	return text;
}

const struct toolchain *toolchain_showing(struct arena *arena,
					  const struct profile_context *context, const char *path,
					  const char *real)
{
	static const char *all[] = {"@all"};
	struct profile profile = {.file.toolchains = {.items = all, .count = 1}};
	struct host host = {.path = arena_printf(arena, "%s:%s", folder_of(arena, path),
						 folder_of(arena, real))};
	struct error err;

	if (toolchain_find(arena, context, &profile, NULL, &host, &err) != 0)
		return NULL;
	bool shown = is_below_any(&host, PATH_EXEC, real);
	for (size_t i = 0; shown && i < host.toolchain_count; i++)
		if (path_is_below(real, host.toolchains[i].root))
			return host.toolchains[i].toolchain;
	return NULL;
}
