// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <string.h>

#include "keys.h"
#include "locate.h"
#include "toolchain_table.h"
#include "verbs.h"

/*
 * sbox --complete WORD...: what could stand in the place of the last word, which may be
 * empty. One candidate a line, a tab, what it means. A line that begins with ':' says
 * what the shell has to add of its own: ":files", ":folders", or ":command N", when word N
 * is the program and the rest is its business. packaging/completion/ has the shells' side.
 */

struct completing {
	struct arena *arena;
	const struct options *options;
	char **words;
	int count;
	const char *word;           /* the last one */
	const struct option *table; /* what stands before the program's name */
	size_t table_count;
};

static void offer(const struct completing *completing, const char *before, const char *text,
		  const char *after, const char *help)
{
	const char *whole = arena_printf(completing->arena, "%s%s%s", before, text, after);

	if (strncmp(whole, completing->word, strlen(completing->word)) == 0)
		printf("%s\t%s\n", whole, help != NULL ? help : "");
}

/* "a|b|c", up to a blank */
static void offer_words(const struct completing *completing, const char *before, const char *words)
{
	size_t all = strcspn(words, " "), len;

	for (size_t at = 0; at < all; at += len + 1) {
		len = strcspn(words + at, "| ");
		if (len > 0 && words[at] >= 'a' && words[at] <= 'z')
			offer(completing, before, arena_strndup(completing->arena, words + at, len),
			      "", NULL);
	}
}

static void offer_profiles(const struct completing *completing)
{
	struct profile_context context;
	struct listed_profile *profiles;
	struct error err;
	size_t count;

	if (strchr(completing->word, '/') != NULL || completing->word[0] == '.') {
		puts(":files");
		return;
	}
	if (locate_context(completing->arena, completing->options, &context, &err) != 0)
		return;
	context.cwd = "/nonexistent/workspace";
	profile_list(completing->arena, &context, &profiles, &count);
	for (size_t i = 0; i < count; i++) {
		struct profile *profile = arena_alloc(completing->arena, sizeof(*profile));
		bool good = profile_load(completing->arena, &context, profiles[i].path, NULL, 0,
					 profile, NULL, &err) == 0;

		if (profiles[i].used_instead == NULL)
			offer(completing, "", profiles[i].name, "",
			      good ? profile->description : "cannot be read");
	}
}

/* SECTION.KEY= with the words it takes, once the key is written. */
static void offer_keys(const struct completing *completing)
{
	const char *equals = strchr(completing->word, '=');

	for (size_t i = 0; i < KEY_MAX; i++) {
		const struct key *key = &key_table[i];
		const char *name =
			arena_printf(completing->arena, "%s.%s=", key->section, key->name);

		if (equals == NULL)
			offer(completing, name, "", "", key->help);
		else if (strncmp(completing->word, name, strlen(name)) != 0)
			continue;
		else if (key->words[0] != '\0')
			offer_words(completing, name, key->words);
		else if (key == &key_table[KEY_FILE_TOOLCHAINS])
			for (size_t t = 0; t < toolchain_count; t++)
				offer(completing, name, toolchain_table[t].name, "", NULL);
	}
}

static void offer_value(const struct completing *completing, const struct option *option)
{
	if (strcmp(option->name, "--profile") == 0)
		offer_profiles(completing);
	else if (strcmp(option->name, "--set") == 0)
		offer_keys(completing);
	else if (strcmp(option->name, "--store") == 0)
		puts(":folders");
	else if (completing->table == learn_option_table &&
		 strcmp(option->name, "--allow-net") != 0)
		puts(":files");
}

static void offer_options(const struct completing *completing)
{
	for (size_t i = 0; i < completing->table_count && completing->table[i].help != NULL; i++)
		offer(completing, "", completing->table[i].name, "", completing->table[i].help);
}

static const struct option *option_named(const struct completing *completing, const char *word)
{
	for (size_t i = 0; i < completing->table_count; i++)
		if (strcmp(completing->table[i].name, word) == 0)
			return &completing->table[i];
	return NULL;
}

/* What a verb takes is in its row: PROFILE, [--json], verbs of its own. */
static void complete_verb(const struct completing *completing, const struct verb *verb)
{
	bool first = completing->count == 2;
	const char *flag = strstr(verb->arguments, "--");

	if (completing->word[0] == '-')
		for (; flag != NULL; flag = strstr(flag + 2, "--"))
			offer(completing, "",
			      arena_strndup(completing->arena, flag, strcspn(flag, " |]")), "",
			      NULL);
	else if (first && strstr(verb->arguments, "PROFILE") != NULL)
		offer_profiles(completing);
	else if (first)
		offer_words(completing, "", verb->arguments);
	else
		puts(":files");
}

/* Options up to the program's name, then the program. */
static void complete_run(const struct completing *completing, int at)
{
	int last = completing->count - 1;
	bool options = true;

	for (; at < last; at++) {
		const char *word = completing->words[at];
		const struct option *option = option_named(completing, word);

		if (strcmp(word, "--") == 0) {
			options = false;
			at++;
			break;
		}
		if (word[0] != '-')
			break;
		if (option != NULL && option->value != NULL && ++at == last) {
			offer_value(completing, option);
			return;
		}
	}
	if (options && at == last && completing->word[0] == '-')
		offer_options(completing);
	else
		printf(":command %d\n", at);
}

int verb_complete(struct arena *arena, const struct options *options, struct error *err)
{
	struct completing completing = {.arena = arena,
					.options = options,
					.words = options->arguments,
					.count = options->argument_count};

	if (completing.count < 1)
		return error_set(err, ERROR_USAGE, "usage: sbox --complete WORD...");
	completing.word = completing.words[completing.count - 1];
	completing.table = option_table;
	completing.table_count = option_count;
	const char *first = completing.words[0];
	if (completing.count > 1 && strcmp(first, "learn") == 0) {
		completing.table = learn_option_table;
		completing.table_count = learn_option_count;
		complete_run(&completing, 1);
		return 0;
	}
	for (size_t i = 0; i < verb_count && verb_table[i].help != NULL; i++) {
		if (completing.count == 1 && completing.word[0] != '-')
			offer(&completing, "", verb_table[i].name, "", verb_table[i].help);
		else if (strcmp(first, verb_table[i].name) == 0 && strcmp(first, "run") != 0) {
			complete_verb(&completing, &verb_table[i]);
			return 0;
		}
	}
	complete_run(&completing, completing.count > 1 && strcmp(first, "run") == 0);
	return 0;
}
