// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "file_entries.h"
#include "learn_text.h"
#include "utf8.h"

/*
 * The profile's text. Every line has a comment above it that says which of four it is:
 *
 *   used          the program used it
 *   head-room     a limit above what was measured, or what the program may do without
 *   takes away    gives nothing: removed, the profile is wider
 *   as in NAME    what the profile of the learning run says, and nobody watched
 *
 * Names come from a program that nobody vouches for: as values they are written so that
 * they read back the same, in comments so that they stay on their line.
 */

const char learn_mark[] = "; Written by sbox learn (1).";

enum { COMMENT_NAME = 120 };

/* ---- pieces ---- */

void text_line_of(struct writing *writing, const char *section, const char *comment,
		  const char *text)
{
	if (writing->section == NULL || strcmp(writing->section, section) != 0)
		text_printf(&writing->text, "\n[%s]\n", section);
	writing->section = section;
	if (comment != NULL)
		text_printf(&writing->text, "; %s\n", comment);
	text_puts(&writing->text, text);
	text_puts(&writing->text, "\n");
}

/* On one line, cut, and without what a terminal acts on. */
static const char *shown(struct arena *arena, const char *name)
{
	char *out = arena_alloc(arena, 4 * strlen(name) + 8);
	size_t len = strlen(name), at = 0;

	for (size_t i = 0; i < len && at < COMMENT_NAME;) {
		uint32_t point;
		size_t size = utf8_decode((const unsigned char *)name + i, len - i, &point);
		bool plain = size > 0 && !utf8_is_active(point);

		if (size == 0)
			size = 1;
		for (size_t b = 0; b < size; b++) {
			if (plain)
				out[at++] = name[i + b];
			else
				at += (size_t)sprintf(out + at, "\\x%02x",
						      (unsigned char)name[i + b]);
		}
		i += size;
		if (at >= COMMENT_NAME && i < len)
			strcpy(out + at, "..."), at += 3;
	}
	out[at] = '\0';
	return out;
}

/* In terms of the caller's folders, so that the profile means the same for another one. */
const char *text_path(struct writing *writing, enum key_id key, bool optional, const char *path)
{
	struct learn *learn = writing->learn;
	const struct {
		const char *folder, *variable;
	} rows[] = {{learn->context.cwd, "${cwd}"}, {learn->context.home, "${home}"}};

	for (size_t i = 0; i < 2; i++) {
		size_t len = rows[i].folder != NULL ? strlen(rows[i].folder) : 0;

		if (len > 1 && path_is_below(path, rows[i].folder))
			return profile_line(learn->arena, &key_table[key],
					    arena_printf(learn->arena, "%s%s", optional ? "-" : "",
							 rows[i].variable),
					    path + len, false);
	}
	return profile_line(learn->arena, &key_table[key], optional ? "-" : "", path, false);
}

/* ---- the rest ---- */

static void put_calls(struct writing *writing)
{
	struct learn *learn = writing->learn;
	const struct string_list *calls = &learn->base.privilege.syscalls;
	const char *text = "syscalls = ";

	for (size_t i = 0; i < calls->count; i++)
		text = arena_printf(learn->arena, "%s%s%s", text, i > 0 ? ", " : "",
				    calls->items[i]);
	text = arena_printf(learn->arena, "%s%s%s", text, learn->uses_aio ? "" : ", !@aio",
			    learn->uses_ipc ? "" : ", !@ipc");
	text_line_of(writing, "privilege",
		     learn->uses_aio && learn->uses_ipc
			     ? "as in the profile that was learnt with"
			     : "takes away: whole sets of calls that were not used; the others as "
			       "learnt with",
		     text);
}

/* What is watched by nobody, where the learning run's profile differs from the parent. */
static bool is_copied(const struct key *key)
{
	static const enum key_id not_copied[] = {KEY_PROFILE_DESCRIPTION, KEY_FILE_EXEC,
						 KEY_FILE_READ,           KEY_FILE_WRITE,
						 KEY_FILE_TOOLCHAINS,     KEY_FILE_HIDE,
						 KEY_FILE_PROTECT,        KEY_FILE_NOEXEC,
						 KEY_FILE_SCRATCH_EXEC,   KEY_NETWORK_MODE,
						 KEY_NETWORK_ALLOW,       KEY_NETWORK_DENY,
						 KEY_PROCESS_PROCESSES,   KEY_PROCESS_MEMORY,
						 KEY_PROCESS_OPEN_FILES,  KEY_PROCESS_OUTPUT,
						 KEY_PROCESS_ON_MISSING,  KEY_PRIVILEGE_SYSCALLS,
						 KEY_TIME_WALL,           KEY_TIME_CPU};

	for (size_t i = 0; i < sizeof(not_copied) / sizeof(not_copied[0]); i++)
		if (key == &key_table[not_copied[i]])
			return false;
	return true;
}

static bool is_about_writing(const struct key *key)
{
	return key == &key_table[KEY_FILE_GROWTH] || key == &key_table[KEY_FILE_MAX_FILE] ||
	       key == &key_table[KEY_FILE_WRITES];
}

static bool writes_any(const struct learn *learn)
{
	for (size_t i = 0; i < learn->folded.grant_count; i++)
		if (learn->folded.grants[i].rank == RANK_WRITE)
			return true;
	return false;
}

static void put_copies(struct writing *writing, const char *section)
{
	struct learn *learn = writing->learn;

	for (size_t i = 0; i < KEY_MAX; i++) {
		const struct key *key = &key_table[i];
		char *had = profile_key_text(learn->arena, &writing->parent, key);
		char *text = profile_key_text(learn->arena, &learn->base, key);

		if (strcmp(key->section, section) != 0 || !is_copied(key) ||
		    strcmp(had, text) == 0 || (is_about_writing(key) && !writes_any(learn)))
			continue;
		text[strlen(text) - 1] = '\0';
		/* a list adds to the parent's, unless that is taken away first */
		if (key_is_list(key) && had[strlen(key->name) + 2] != '\n')
			text_line_of(writing, key->section, "takes away: what the parent has",
				     arena_printf(learn->arena, "%s =", key->name));
		text_line_of(writing, key->section,
			     arena_printf(learn->arena,
					  "head-room: as in %s, which it was learnt with",
					  shown(learn->arena, learn->base.name)),
			     text);
	}
}

static void put_left_out(struct writing *writing)
{
	struct learn *learn = writing->learn;
	const struct folded *folded = &learn->folded;

	text_puts(
		&writing->text,
		"\n; Left out on purpose: credentials (.ssh, .env, tokens, keys, browsers), cloud "
		"metadata,\n; other users' files");
	text_puts(&writing->text, folded->left_count + learn->asked.count > 0 ? ", and:\n" : ".\n");
	for (size_t i = 0; i < folded->left_count; i++)
		text_printf(&writing->text, ";   %s\n;       %s\n",
			    shown(learn->arena, folded->left[i].path),
			    shown(learn->arena, folded->left[i].why));
	for (size_t i = 0; i < learn->asked.count; i++)
		text_printf(&writing->text,
			    ";   %s\n;       asked for and refused: --allow-net NAME:PORT\n",
			    shown(learn->arena, learn->asked.items[i]));
	if (folded->left_more > 0)
		text_printf(&writing->text, ";   %zu more\n", folded->left_more);
	if (learn->uses.dropped > 0)
		text_printf(&writing->text,
			    "; The run used more different paths than are watched: %" PRIu64
			    " uses are not in here.\n",
			    learn->uses.dropped);
	if (learn->uses_cache && learn->base.file.cache_bytes == 0)
		text_puts(&writing->text,
			  "; It wrote to ~/.cache, which is gone at the end; \"cache = 256M\" in "
			  "[file] keeps it.\n");
}

static void put_sections(struct writing *writing)
{
	text_put_file(writing);
	put_copies(writing, "file");
	text_put_network(writing);
	if (writing->learn->allow.count + writing->learn->base.network.listen.count > 0)
		put_copies(writing, "network");
	text_put_process(writing);
	put_copies(writing, "process");
	put_calls(writing);
	put_copies(writing, "privilege");
	text_put_time(writing);
	put_copies(writing, "time");
	put_copies(writing, "environment");
	if (writing->learn->wishes.open)
		text_line_of(writing, "environment",
			     "used: with --open the home folder is your own", "set = HOME=${home}");
	put_copies(writing, "audit");
}

const char *learn_text(struct learn *learn, const struct profile *earlier, struct error *err)
{
	struct writing *writing = arena_alloc(learn->arena, sizeof(*writing));
	const char *slash = strrchr(learn->wishes.argv[0], '/');
	const char *program =
		shown(learn->arena, slash != NULL ? slash + 1 : learn->wishes.argv[0]);

	*writing = (struct writing){.learn = learn, .text.arena = learn->arena, .earlier = earlier};
	writing->parent_name = learn->folded.cwd == RANK_WRITE ? "agent" : "base";
	if (profile_load(learn->arena, &learn->context, writing->parent_name, NULL, 0,
			 &writing->parent, NULL, err) != 0)
		return NULL;
	text_printf(
		&writing->text,
		"%s A further \"sbox learn -o\" with this file adds to it.\n"
		"; A line is what the comment above it says: used; head-room, which is a limit or "
		"what\n; the program may do without; or it takes away and gives nothing.\n",
		learn_mark);
	text_line_of(writing, "profile", NULL,
		     profile_line(learn->arena, &key_table[KEY_PROFILE_DESCRIPTION], "",
				  arena_printf(learn->arena, "learnt from %s", program), false));
	text_line_of(writing, "profile",
		     learn->folded.cwd == RANK_WRITE
			     ? "used: it writes to ${cwd}; agent protects in it what your own "
			       "tools execute"
			     : "used: the system's programs, libraries and tables",
		     arena_printf(learn->arena, "extends = %s", writing->parent_name));
	put_sections(writing);
	put_left_out(writing);
	return text_string(&writing->text);
}
