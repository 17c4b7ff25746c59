// SPDX-License-Identifier: Apache-2.0
#include "profile_internal.h"

#include <string.h>

/* ---- paths ---- */

/* Does another path begin at `at`? "/x", "-/x", "${cwd}..." */
static bool begins_path(const char *at)
{
	at += *at == '!';
	at += *at == '-';
	return *at == '/' || (at[0] == '$' && at[1] == '{' && strncmp(at, "${0x", 4) != 0);
}

/* Two paths on one line would silently be one path that does not exist. */
static const char *find_second_path(const char *raw)
{
	for (const char *at = raw; *at != '\0'; at++) {
		const char *next = at + strspn(at, ", \t");

		if (next > at && (begins_path(next) || *next == '\0'))
			return at;
	}
	return NULL;
}

/* What can be seen before variables are expanded. */
static int check_raw_path(const struct place *place, const char *raw, struct error *err)
{
	if (strcmp(raw, "*") == 0)
		return place_error(place, err, "\"*\" would be every path: name them, one a line");
	if (raw[0] == '/' && raw[strspn(raw, "/")] == '\0')
		return place_error(place, err, "\"/\" is " WHOLE_SYSTEM);
	if (strpbrk(raw, "*?[") != NULL)
		return place_error(place, err,
				   "%s: patterns are not expanded: name the path, or the folder "
				   "above it (in a file's name: ${0x2a} is *, ${0x3f} is ?, "
				   "${0x5b} is [)",
				   text_show(place->arena, raw));
	if (raw[0] == '"' || raw[0] == '\'')
		return place_error(place, err, "%s: write the path without quotes",
				   text_show(place->arena, raw));
	if (find_second_path(raw) != NULL)
		return place_error(place, err,
				   "%s: one path a line, each further one indented on its own (in "
				   "a file's name: ${0x2c} is a comma, ${0x20} a blank)",
				   text_show(place->arena, raw));
	return 0;
}

static int relative_error(const struct place *place, const char *path, struct error *err)
{
	const char *shown = text_show(place->arena, path);
	const char *rest = path;

	if (path[0] == '\0')
		return place_error(place, err, "a path is missing");
	if (strncmp(path, "$HOME", 5) == 0)
		rest = path + 5;
	else if (path[0] == '~')
		rest = path + 1;
	if (rest != path && (*rest == '/' || *rest == '\0'))
		return place_error(place, err, "%s: write ${home}%s", shown,
				   text_show_bare(place->arena, rest));
	if (strncmp(path, "./", 2) == 0)
		rest = path + 2;
	return place_error(place, err, "%s is not an absolute path: write /%s or ${cwd}/%s", shown,
			   text_show_bare(place->arena, rest), text_show_bare(place->arena, rest));
}

/* Double and trailing slashes go; "." and ".." are refused, since links make them lie. */
static int clean_path(const struct place *place, char *path, struct error *err)
{
	const char *from = path;
	char *to = path;

	if (path[0] != '/')
		return relative_error(place, path, err);
	if (strlen(path) > PROFILE_PATH_BYTES)
		return place_error(place, err, "a path of %zu bytes: %d is the most", strlen(path),
				   PROFILE_PATH_BYTES);
	while (*from != '\0') {
		from += strspn(from, "/");
		size_t len = strcspn(from, "/");

		if (len > 0 && len <= 2 && strspn(from, ".") >= len)
			return place_error(place, err,
					   "%s has \"%.*s\" in it: write the path that it leads to",
					   text_show(place->arena, path), (int)len, from);
		if (len == 0)
			break;
		*to++ = '/';
		memmove(to, from, len);
		to += len;
		from += len;
	}
	if (to == path)
		*to++ = '/';
	*to = '\0';
	return 0;
}

bool path_below(const char *path, const char *root)
{
	size_t len = strlen(root);

	if (strcmp(root, "/") == 0)
		return path[0] == '/';
	return strncmp(path, root, len) == 0 && (path[len] == '\0' || path[len] == '/');
}

/* ---- adding ---- */

/* The element that the new one replaces: the same text, or the same variable. */
static struct element *find_same(const struct key *key, struct element_list *list, const char *text)
{
	size_t name = strcspn(text, "=") + 1;

	for (size_t i = 0; i < list->count; i++) {
		const char *have = list->items[i].text;

		if (strcmp(have, text) == 0 ||
		    (key->type == KEY_LINES && strncmp(have, text, name) == 0))
			return &list->items[i];
	}
	return NULL;
}

static void add_element(const struct place *place, struct element_list *list,
			const struct element *element)
{
	struct element *same = find_same(place->key, list, element->text);

	if (same == NULL) {
		*ARENA_PUSH(place->arena, list->items, list->count) = *element;
		return;
	}
	bool optional = same->optional && element->optional;
	bool cwd = same->cwd || element->cwd;

	*same = *element;
	same->optional = optional;
	same->cwd = cwd;
}

static int add_text(const struct place *place, const struct profile_context *context,
		    const char *raw, struct element_list *list, struct error *err)
{
	struct element element = {.file = place->file, .line = place->line};
	char *text;

	if (value_expand(place, context, raw, &text, &element.cwd, err) < 0)
		return -1;
	const char *wrong = token_fault(place->arena, place->key, text);

	if (wrong != NULL)
		return place_error(place, err, "%s", wrong);
	element.text = text;
	add_element(place, list, &element);
	return 0;
}

/* "!" before a path takes it out of what was inherited. */
static int take_out(const struct place *place, const char *path, struct element_list *list,
		    struct error *err)
{
	for (size_t i = 0; i < list->count; i++) {
		if (strcmp(list->items[i].text, path) != 0)
			continue;
		memmove(&list->items[i], &list->items[i + 1],
			(--list->count - i) * sizeof(*list->items));
		return 0;
	}
	return place_error(place, err, "%s is not in the list, so it cannot be taken out",
			   text_show(place->arena, path));
}

static int add_path(const struct place *place, const struct profile_context *context,
		    const char *raw, struct element_list *list, struct error *err)
{
	bool out = raw[0] == '!';
	struct element element = {
		.optional = raw[out] == '-', .file = place->file, .line = place->line};
	char *path;

	raw += out + element.optional;
	if (check_raw_path(place, raw, err) < 0 ||
	    value_expand(place, context, raw, &path, &element.cwd, err) < 0 ||
	    clean_path(place, path, err) < 0)
		return -1;
	if (place->key == &key_table[KEY_FILE_DEVICE] &&
	    (!path_below(path, "/dev") || strcmp(path, "/dev") == 0))
		return place_error(place, err, "%s is not below /dev",
				   text_show(place->arena, path));
	if (out)
		return take_out(place, path, list, err);
	element.text = path;
	add_element(place, list, &element);
	return 0;
}

/* Commas separate; one at the end of the line is the start of the next. */
static int add_tokens(const struct place *place, const struct profile_context *context,
		      const char *raw, struct element_list *list, struct error *err)
{
	while (*raw != '\0') {
		size_t len = strcspn(raw, ",");
		const char *next = raw + len + (raw[len] == ',');

		raw += strspn(raw, " \t");
		len = strcspn(raw, ",");
		while (len > 0 && strchr(" \t", raw[len - 1]) != NULL)
			len--;
		if (len == 0)
			return place_error(place, err, "nothing before the comma");
		if (add_text(place, context, arena_strndup(place->arena, raw, len), list, err) < 0)
			return -1;
		raw = next + strspn(next, " \t");
	}
	return 0;
}

int list_add(const struct place *place, const struct profile_context *context, const char *text,
	     struct element_list *list, struct error *err)
{
	if (place->key->type == KEY_PATHS)
		return add_path(place, context, text, list, err);
	if (place->key->type == KEY_TOKENS)
		return add_tokens(place, context, text, list, err);
	return add_text(place, context, text, list, err);
}

/* ---- into the profile ---- */

static void store_paths(struct arena *arena, const struct element_list *list,
			struct path_list *paths)
{
	paths->items = arena_alloc(arena, list->count * sizeof(*paths->items));
	paths->count = list->count;
	for (size_t i = 0; i < list->count; i++)
		paths->items[i] = (struct path_rule){
			.path = list->items[i].text,
			.optional = list->items[i].optional,
			.file = list->items[i].file,
			.line = list->items[i].line,
		};
}

void list_store(struct arena *arena, const struct key *key, const struct element_list *list,
		struct profile *profile)
{
	void *field = (char *)profile + key->offset;

	if (key->type == KEY_PATHS) {
		store_paths(arena, list, field);
		return;
	}
	struct string_list *strings = field;

	strings->items = arena_alloc(arena, list->count * sizeof(*strings->items));
	strings->count = list->count;
	for (size_t i = 0; i < list->count; i++)
		strings->items[i] = list->items[i].text;
}
