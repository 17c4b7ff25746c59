// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "file_entries.h"
#include "learn_text.h"

/* The sections that say what was used, and how much of it. */

/* ---- [file] ---- */

static const char *grant_comment(struct learn *learn, const struct grant *grant, bool is_cwd)
{
	struct arena *arena = learn->arena;

	if (is_cwd && grant->count == 0 && !learn->folded.asked_cwd)
		return "used: the folder it was started in, in an earlier run";
	if (is_cwd && grant->count == 0)
		return learn->trimmed
			       ? "used: it asked where it was started"
			       : "head-room: it asked where it was started, and used nothing "
				 "there";
	if (is_cwd)
		return arena_printf(arena, "used: the folder it was started in (%zu uses in it)",
				    grant->count);
	if (grant->only_looked)
		return arena_printf(arena,
				    "%s: only looked at; to read%s is the least that can be given",
				    learn->trimmed ? "used" : "head-room",
				    grant->listed ? " all below it" : "");
	if (grant->count > 0)
		return arena_printf(arena,
				    "used: %zu files in it, which is most of it; this gives "
				    "the rest of it too",
				    grant->count);
	if (grant->rank == RANK_WRITE)
		return grant->listed ? "used: things are made or removed in it; this gives all "
				       "below it"
				     : "used: written to";
	if (grant->rank == RANK_EXEC)
		return "used: executed";
	if (grant->listed)
		return "used: entered, or its names were read; this gives all below it";
	return learn->trimmed
		       ? "used: read"
		       : "used: read; head-room where the program can do without it (--trim)";
}

static void put_grants(struct writing *writing)
{
	static const enum key_id keys[] = {[RANK_READ] = KEY_FILE_READ,
					   [RANK_EXEC] = KEY_FILE_EXEC,
					   [RANK_WRITE] = KEY_FILE_WRITE};
	struct learn *learn = writing->learn;
	const struct folded *folded = &learn->folded;

	for (size_t i = 0; i < folded->grant_count; i++) {
		const struct grant *grant = &folded->grants[i];
		bool is_cwd =
			learn->context.cwd != NULL && strcmp(grant->path, learn->context.cwd) == 0;
		const char *comment = grant_comment(learn, grant, is_cwd);

		/* agent gives it already, with what is protected in it */
		if (is_cwd && grant->rank == RANK_WRITE)
			continue;
		text_line_of(writing, "file", comment,
			     text_path(writing, keys[grant->rank], grant->absent, grant->path));
	}
}

static bool is_in_a_line(const struct learn *learn, const char *path)
{
	for (size_t i = 0; i < learn->folded.grant_count; i++)
		if (path_is_below(path, learn->folded.grants[i].path) &&
		    strcmp(path, learn->folded.grants[i].path) != 0)
			return true;
	return false;
}

static bool is_written(const struct learn *learn, const char *path)
{
	for (size_t i = 0; i < learn->folded.grant_count; i++)
		if (learn->folded.grants[i].rank == RANK_WRITE &&
		    path_is_below(path, learn->folded.grants[i].path))
			return true;
	return false;
}

static bool is_listed(const struct path_list *list, const char *path)
{
	for (size_t i = 0; i < list->count; i++)
		if (strcmp(list->items[i].path, path) == 0)
			return true;
	return false;
}

static void take_away(struct writing *writing, enum key_id key, const char *path,
		      struct string_list *done)
{
	const struct path_list *have =
		key == KEY_FILE_HIDE ? &writing->parent.file.hide : &writing->parent.file.protect;

	if (!is_in_a_line(writing->learn, path) || is_listed(have, path))
		return;
	for (size_t i = 0; i < done->count; i++)
		if (strcmp(done->items[i], path) == 0)
			return;
	*ARENA_PUSH(writing->learn->arena, done->items, done->count) = path;
	text_line_of(writing, "file", "takes away: it lies in what is given",
		     text_path(writing, key, true, path));
}

/* Credentials in what is given; what the learning run's profile hides, and protects from writes. */
static void put_hidden(struct writing *writing)
{
	struct learn *learn = writing->learn;
	const struct path_list *hide = &learn->base.file.hide;
	const struct path_list *protect = &learn->base.file.protect;
	struct string_list hidden = {0}, protected = {0};

	for (size_t i = 0; i < learn->hidden.count; i++)
		take_away(writing, KEY_FILE_HIDE, learn->hidden.items[i], &hidden);
	for (size_t i = 0; i < learn->unseen.count; i++)
		take_away(writing, KEY_FILE_HIDE, learn->unseen.items[i], &hidden);
	for (size_t i = 0; i < hide->count; i++)
		take_away(writing, KEY_FILE_HIDE, hide->items[i].path, &hidden);
	for (size_t i = 0; i < protect->count; i++)
		if (is_written(learn, protect->items[i].path))
			take_away(writing, KEY_FILE_PROTECT, protect->items[i].path, &protected);
	/* a repository that is written to: its hooks are the caller's own git's to run */
	for (size_t i = 0; i < learn->folded.grant_count; i++) {
		const struct grant *grant = &learn->folded.grants[i];
		const char *git = arena_printf(learn->arena, "%s/.git", grant->path);

		if (grant->rank == RANK_WRITE && access(git, F_OK) == 0)
			take_away(writing, KEY_FILE_PROTECT,
				  arena_printf(learn->arena, "%s/hooks", git), &protected);
	}
}

static void put_toolchains(struct writing *writing)
{
	const struct string_list *used = &writing->learn->folded.toolchains;

	if (writing->parent.file.toolchains.count > 0)
		text_line_of(writing, "file", "takes away: version managers that were not used",
			     "toolchains =");
	for (size_t i = 0; i < used->count; i++)
		text_line_of(
			writing, "file",
			"used: programs of this version manager, as it lays them out",
			arena_printf(writing->learn->arena, "toolchains = %s", used->items[i]));
}

void text_put_file(struct writing *writing)
{
	struct learn *learn = writing->learn;

	put_grants(writing);
	put_hidden(writing);
	put_toolchains(writing);
	if (learn->uses_scratch_exec && writing->parent.file.scratch_exec == NO)
		text_line_of(writing, "file",
			     "used: something in /tmp or the private home was executed",
			     "scratch_exec = yes");
	else if (!learn->uses_scratch_exec && writing->parent.file.scratch_exec == YES)
		text_line_of(writing, "file",
			     "takes away: nothing in /tmp or the private home was executed",
			     "scratch_exec = no");
}

/* ---- [network] ---- */

void text_put_network(struct writing *writing)
{
	struct learn *learn = writing->learn;
	const struct string_list *deny = &learn->base.network.deny;

	/* a port that is published needs the gate too */
	if (learn->allow.count + learn->base.network.listen.count == 0) {
		text_line_of(writing, "network", "takes away: nothing was reached", "mode = none");
	} else {
		text_line_of(writing, "network", "used: what follows", "mode = allow");
		for (size_t i = 0; i < learn->allow.count; i++)
			text_line_of(writing, "network", "used: connected to, or looked up",
				     profile_line(learn->arena, &key_table[KEY_NETWORK_ALLOW], "",
						  learn->allow.items[i], false));
		for (size_t i = 0; i < deny->count; i++)
			text_line_of(writing, "network",
				     "takes away: as in the profile that was learnt with",
				     profile_line(learn->arena, &key_table[KEY_NETWORK_DENY], "",
						  deny->items[i], false));
	}
	for (size_t i = 0; i < learn->uses.ports.count; i++)
		text_printf(&writing->text,
			    "; it listened on port %s; for the host's loopback to "
			    "lead there: listen = %s\n",
			    learn->uses.ports.items[i], learn->uses.ports.items[i]);
}

/* ---- limits ---- */

static uint64_t at_least(uint64_t value, uint64_t other)
{
	return value > other ? value : other;
}

/* A limit that an earlier run was given room for stays, where it is more. */
static void put_limit(struct writing *writing, enum key_id id, const char *what,
		      const char *measured, uint64_t value)
{
	struct learn *learn = writing->learn;
	const struct key *key = &key_table[id];
	struct profile *one = arena_alloc(learn->arena, sizeof(*one));
	uint64_t before = 0;

	if (value == 0)
		return;
	if (writing->earlier != NULL)
		memcpy(&before, (const char *)writing->earlier + key->offset, sizeof(before));
	value = at_least(value, before);
	memcpy((char *)one + key->offset, &value, sizeof(value));
	char *text = profile_key_text(learn->arena, one, key);
	text[strcspn(text, "\n")] = '\0';
	text_line_of(writing, key->section,
		     arena_printf(learn->arena, "head-room: %s %s", measured, what), text);
}

static const char *number_text(struct arena *arena, uint64_t value)
{
	return arena_printf(arena, "%" PRIu64, value);
}

/* Whole seconds, ten at least. */
static uint64_t time_room(uint64_t ms)
{
	return learn_room(ms / 1000 + 1, 10, 10) * 1000;
}

static const char *size_text(struct arena *arena, uint64_t bytes)
{
	return bytes < 10 << 20
		       ? arena_printf(arena, "%" PRIu64 "K", (bytes + 1023) >> 10)
		       : arena_printf(arena, "%" PRIu64 "M", (bytes + (1 << 20) - 1) >> 20);
}

void text_put_process(struct writing *writing)
{
	const struct measured *measured = &writing->learn->measured;
	struct arena *arena = writing->learn->arena;
	uint64_t files = measured->files != 0 ? learn_room(measured->files, 2, 64) : 0;

	put_limit(writing, KEY_PROCESS_PROCESSES, "tasks at once were seen; room for twice as many",
		  number_text(arena, measured->tasks), learn_room(measured->tasks, 2, 16));
	put_limit(writing, KEY_PROCESS_MEMORY, "of memory was the most; room for twice as much",
		  size_text(arena, measured->memory_bytes),
		  learn_room(measured->memory_bytes, 2, 64 << 20));
	put_limit(writing, KEY_PROCESS_OPEN_FILES,
		  "descriptors at once were seen in one process; room for twice as many",
		  number_text(arena, measured->files), files);
	put_limit(writing, KEY_PROCESS_OUTPUT, "of output; room for four times as much",
		  size_text(arena, measured->output_bytes),
		  learn_room(measured->output_bytes, 4, 1 << 20));
	if (writing->learn->base.process.on_missing != writing->parent.process.on_missing) {
		char *text = profile_key_text(arena, &writing->learn->base,
					      &key_table[KEY_PROCESS_ON_MISSING]);

		text[strcspn(text, "\n")] = '\0';
		text_line_of(writing, "process",
			     "head-room: as learnt with; without a control group memory is sampled",
			     text);
	}
}

void text_put_time(struct writing *writing)
{
	const struct measured *measured = &writing->learn->measured;
	struct arena *arena = writing->learn->arena;

	put_limit(writing, KEY_TIME_WALL,
		  "ms by the clock while it was watched; room for ten times as long",
		  number_text(arena, measured->wall_ms), time_room(measured->wall_ms));
	put_limit(writing, KEY_TIME_CPU, "ms of processor time; room for ten times as much",
		  number_text(arena, measured->cpu_ms), time_room(measured->cpu_ms));
}
