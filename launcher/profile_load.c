// SPDX-License-Identifier: Apache-2.0
#include "network_rules.h"
#include "profile_internal.h"

#include <string.h>

#include "network_rules.h"

/*
 * A profile is put together from the bottom up: the key table's defaults, then
 * the files it extends, each once, then its own keys, then --set. Scalars
 * replace, lists add. Lists stay growable until all has been read; only then
 * is it known what is writable, so those checks come last.
 */

struct loader {
	struct arena *arena;
	const struct profile_context *context;
	struct error *err;
	struct profile profile;
	struct element_list lists[KEY_MAX];
	struct source *sources[PROFILE_FILES]; /* every file read, in reading order */
	size_t source_count, depth;
	struct sha256 hash;
};

/* ---- values ---- */

static void set_origin(struct loader *loader, const struct place *place)
{
	loader->profile.origin[key_id(place->key)] =
		(struct origin){.file = place->file, .line = place->line};
}

static int apply_defaults(struct loader *loader)
{
	for (size_t i = 0; i < KEY_MAX; i++) {
		const struct key *key = &key_table[i];
		struct place place = {.arena = loader->arena, .file = "default", .key = key};
		bool empty = key->default_text[0] == '\0';
		int rc = 0;

		if (!key_is_list(key))
			rc = value_store(&place, loader->context, key->default_text,
					 &loader->profile, loader->err);
		else if (!empty)
			rc = list_add(&place, loader->context, key->default_text, &loader->lists[i],
				      loader->err);
		if (rc < 0)
			return -1;
	}
	return 0;
}

static int apply_list(struct loader *loader, struct place *place, const struct entry *entry)
{
	size_t id = (size_t)key_id(entry->key);
	struct element_list *list = &loader->lists[id];

	/* A default stands for an absent key only: what is written out replaces it. */
	if (entry->count == 0 || loader->profile.origin[id].file == NULL)
		list->count = 0;
	set_origin(loader, place);
	for (size_t i = 0; i < entry->count; i++) {
		place->line = entry->pieces[i].line;
		if (list_add(place, loader->context, entry->pieces[i].text, list, loader->err) < 0)
			return -1;
	}
	return 0;
}

static int apply_entry(struct loader *loader, const struct source *source,
		       const struct entry *entry)
{
	struct place place = {
		.arena = loader->arena,
		.file = source->shown,
		.line = entry->line,
		.key = entry->key,
	};

	if (entry->key == &key_extends)
		return 0;
	if (key_is_list(entry->key))
		return apply_list(loader, &place, entry);
	if (entry->count > 0)
		place.line = entry->pieces[0].line;
	set_origin(loader, &place);
	return value_store(&place, loader->context, entry->count ? entry->pieces[0].text : "",
			   &loader->profile, loader->err);
}

/* ---- files ---- */

static int load_source(struct loader *loader, struct source *source, const struct place *from);

/* "a -> b -> a": the files on the way down, from the one that comes again. */
static int cycle_error(struct loader *loader, const struct source *again, const struct place *from)
{
	struct text way = {.arena = loader->arena};

	for (size_t i = 0; i < loader->source_count; i++)
		if (loader->sources[i]->open && (way.len > 0 || loader->sources[i] == again))
			text_printf(&way, "%s -> ",
				    text_show_bare(loader->arena, loader->sources[i]->shown));
	return place_error(from, loader->err,
			   "goes round in a circle: %s%s (a shipped profile of the same name is "
			   "reached by its path)",
			   text_string(&way), text_show_bare(loader->arena, again->shown));
}

static struct source *find_source(const struct loader *loader, const struct source *source)
{
	for (size_t i = 0; i < loader->source_count; i++)
		if (loader->sources[i]->device == source->device &&
		    loader->sources[i]->inode == source->inode)
			return loader->sources[i];
	return NULL;
}

/* A path in extends is relative to the folder of the file that says it. */
static int load_parent(struct loader *loader, const struct source *child, const struct place *from,
		       const char *name)
{
	struct source *parent = arena_alloc(loader->arena, sizeof(*parent));
	const char *slash = strrchr(child->path, '/');
	bool optional = name[0] == '-';

	name += optional;
	if (strchr(name, '/') != NULL && name[0] != '/')
		name = arena_printf(loader->arena, "%.*s/%s", (int)(slash - child->path),
				    child->path, name);
	if (optional && lookup_is_absent(loader->arena, loader->context, name))
		return 0;
	if (lookup_profile(loader->arena, loader->context, name, parent, loader->err) < 0)
		return place_error(from, loader->err, "%s",
				   arena_strdup(loader->arena, loader->err->text));
	return load_source(loader, parent, from);
}

static int load_parents(struct loader *loader, const struct source *child,
			const struct document *document)
{
	for (size_t i = 0; i < document->count; i++) {
		const struct entry *entry = &document->entries[i];
		struct element_list names = {NULL, 0};
		struct place place = {
			.arena = loader->arena, .file = child->shown, .key = entry->key};

		for (size_t j = 0; entry->key == &key_extends && j < entry->count; j++) {
			place.line = entry->pieces[j].line;
			if (list_add(&place, loader->context, entry->pieces[j].text, &names,
				     loader->err) < 0)
				return -1;
		}
		for (size_t j = 0; j < names.count; j++) {
			place.line = names.items[j].line;
			if (load_parent(loader, child, &place, names.items[j].text) < 0)
				return -1;
		}
	}
	return 0;
}

/* A file that cannot be used is reported where it is asked for, if that is in a file. */
static int read_source(struct loader *loader, struct source *source, const struct place *from)
{
	struct error *err = loader->err;

	if (source_read(loader->arena, loader->context->uid, source, err) == 0)
		return 0;
	if (from == NULL)
		return -1;
	int errnum = err->errnum;

	place_error(from, err, "%s %s", text_show_bare(loader->arena, source->shown),
		    arena_strdup(loader->arena, err->text));
	err->errnum = errnum;
	return -1;
}

static int load_keys(struct loader *loader, struct source *source)
{
	struct document document;

	if (ini_document(loader->arena, source, &document, loader->err) < 0 ||
	    load_parents(loader, source, &document) < 0)
		return -1;
	for (size_t i = 0; i < document.count; i++)
		if (apply_entry(loader, source, &document.entries[i]) < 0)
			return -1;
	return 0;
}

static int load_source(struct loader *loader, struct source *source, const struct place *from)
{
	if (read_source(loader, source, from) < 0)
		return -1;
	const struct source *again = find_source(loader, source);

	if (again != NULL && again->open)
		return cycle_error(loader, again, from);
	if (again != NULL)
		return 0;
	if (loader->depth == PROFILE_EXTENDS_DEPTH || loader->source_count == PROFILE_FILES)
		return place_error(from, loader->err,
				   "profiles extend each other %d deep, in %d files, at most",
				   PROFILE_EXTENDS_DEPTH, PROFILE_FILES);
	loader->sources[loader->source_count++] = source;
	sha256_add(&loader->hash, source->bytes, source->size);
	source->open = true;
	loader->depth++;
	int rc = load_keys(loader, source);
	loader->depth--;
	source->open = false;
	return rc;
}

/* ---- --set ---- */

static const struct key *override_key(struct loader *loader, const struct place *place,
				      const char *name)
{
	const char *dot = strchr(name, '.');
	const char *section = dot ? arena_strndup(loader->arena, name, (size_t)(dot - name)) : name;
	const struct key *key = dot ? key_find(section, dot + 1) : NULL;
	const char *near;

	if (key != NULL)
		return key;
	if (dot == NULL)
		place_error(place, loader->err, "is not SECTION.KEY=VALUE");
	else if (strcmp(name, "profile.extends") == 0)
		place_error(place, loader->err, "extends works in a file only");
	else if (!key_is_section(section) && (near = key_nearest_section(section)) != NULL)
		place_error(place, loader->err, "no section %s; did you mean %s?",
			    text_show_bare(loader->arena, section), near);
	else if (!key_is_section(section))
		place_error(place, loader->err, "no section %s: see sbox.ini(5)",
			    text_show_bare(loader->arena, section));
	else if ((near = key_nearest(section, dot + 1)) != NULL)
		place_error(place, loader->err, "[%s] has no key %s; did you mean %s?", section,
			    text_show_bare(loader->arena, dot + 1), near);
	else
		place_error(place, loader->err, "[%s] has no key %s: see sbox.ini(5)", section,
			    text_show_bare(loader->arena, dot + 1));
	return NULL;
}

static int apply_override_value(struct loader *loader, struct place *place, const char *value,
				bool adds)
{
	if (!key_is_list(place->key) && adds)
		return place_error(place, loader->err,
				   "%s is one value, not a list: write =", place->key->name);
	if (!key_is_list(place->key)) {
		set_origin(loader, place);
		return value_store(place, loader->context, value, &loader->profile, loader->err);
	}
	struct element_list *list = &loader->lists[key_id(place->key)];

	if (!adds)
		list->count = 0;
	set_origin(loader, place);
	return value[0] ? list_add(place, loader->context, value, list, loader->err) : 0;
}

static int apply_override(struct loader *loader, const char *text)
{
	struct place place = {.arena = loader->arena, .file = "--set", .override = text};
	const char *equals = strchr(text, '=');

	sha256_add(&loader->hash, text, strlen(text) + 1);
	for (const char *at = text; *at != '\0'; at++)
		if ((unsigned char)*at < ' ' || *at == 0x7f)
			return place_error(&place, loader->err,
					   "a control byte: write it as ${0x%02x}",
					   (unsigned char)*at);
	if (equals == NULL || equals == text)
		return place_error(&place, loader->err, "is not SECTION.KEY=VALUE");
	bool adds = equals[-1] == '+';
	const char *name = arena_strndup(loader->arena, text, (size_t)(equals - text) - adds);
	const char *value = equals + 1 + strspn(equals + 1, " ");
	size_t len = strlen(value);

	while (len > 0 && value[len - 1] == ' ')
		len--;
	place.key = override_key(loader, &place, name);
	if (place.key == NULL)
		return -1;
	return apply_override_value(loader, &place, arena_strndup(loader->arena, value, len), adds);
}

/* ---- the whole ---- */

/* Taking out of nothing leaves nothing, which nobody means. */
static int check_syscalls(struct loader *loader)
{
	const struct element_list *list = &loader->lists[KEY_PRIVILEGE_SYSCALLS];

	for (size_t i = 0; i < list->count; i++)
		if (list->items[i].text[0] != '!')
			return 0;
	if (list->count == 0)
		return 0;
	struct place place = {
		.arena = loader->arena,
		.file = list->items[0].file,
		.line = list->items[0].line,
		.key = &key_table[KEY_PRIVILEGE_SYSCALLS],
	};
	return place_error(&place, loader->err,
			   "%s takes out of a list that has nothing in it: write @default, %s",
			   text_show(loader->arena, list->items[0].text),
			   text_show_bare(loader->arena, list->items[0].text));
}

static int check_network(struct loader *loader)
{
	enum key_id id;
	struct error wrong;

	if (network_rules_check(loader->arena, &loader->profile, &id, &wrong) == 0)
		return 0;
	const struct element_list *list = &loader->lists[id];
	struct place place = {.arena = loader->arena,
			      .file = list->items[0].file,
			      .line = list->items[0].line,
			      .key = &key_table[id]};
	return place_error(&place, loader->err, "%s", wrong.text);
}

static int finish(struct loader *loader)
{
	struct element_list *writes = &loader->lists[KEY_FILE_WRITE];

	if (write_check(loader->arena, loader->context, writes, loader->err) < 0 ||
	    check_syscalls(loader) < 0)
		return -1;
	for (size_t i = 0; i < loader->source_count; i++)
		write_protect_source(loader->arena, writes, loader->sources[i],
				     &loader->lists[KEY_FILE_PROTECT]);
	for (size_t i = 0; i < KEY_MAX; i++)
		if (key_is_list(&key_table[i]))
			list_store(loader->arena, &key_table[i], &loader->lists[i],
				   &loader->profile);
	if (check_network(loader) < 0)
		return -1;
	sha256_finish_hex(&loader->hash, loader->profile.sha256);
	return 0;
}

int profile_load(struct arena *arena, const struct profile_context *context, const char *name,
		 const struct profile_override *overrides, size_t override_count,
		 struct profile *ret_profile, const char **ret_note, struct error *err)
{
	struct loader *loader = arena_alloc(arena, sizeof(*loader));
	struct source *source = arena_alloc(arena, sizeof(*source));

	*loader = (struct loader){.arena = arena, .context = context, .err = err};
	sha256_start(&loader->hash);
	if (apply_defaults(loader) < 0 || lookup_profile(arena, context, name, source, err) < 0 ||
	    load_source(loader, source, NULL) < 0)
		return -1;
	for (size_t i = 0; i < override_count; i++)
		if (apply_override(loader, overrides[i].text) < 0)
			return -1;
	if (finish(loader) < 0)
		return -1;
	loader->profile.name = lookup_bare_name(arena, name);
	loader->profile.path = source->path;
	*ret_profile = loader->profile;
	if (ret_note != NULL)
		*ret_note = lookup_note(arena, context, name, source);
	return 0;
}
