// SPDX-License-Identifier: Apache-2.0

/*
 * sbox learn: a profile of what a program uses. `sbox learn` executes this program and names
 * itself in the first two arguments.
 *
 *   sbox learn [--profile P] [--open] [--allow-read|-write|-secret PATH] [--allow-net RULE]
 *              [--trim] [--store DIR] -o FILE [--] PROGRAM [ARG]...
 *
 * Exit status: that of the run, as sbox has it; 125 when nothing was written.
 */

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "file_entries.h"
#include "learn.h"
#include "learn_merge.h"
#include "locate.h"
#include "profile_internal.h"
#include "profile_save.h"
#include "verbs.h"

enum { FAILED = 125 };

static int complain(const struct error *err)
{
	char text[2048];

	error_format(err, text, sizeof(text));
	fprintf(stderr, "sbox learn: %s\n", text);
	return FAILED;
}

static int usage(struct learn *learn, struct error *err, const char *text)
{
	const char *options = "";

	for (size_t i = 0; i < learn_option_count; i++) {
		const struct option *option = &learn_option_table[i];

		if (strcmp(option->name, "-o") != 0)
			options = arena_printf(learn->arena, "%s [%s%s%s]", options, option->name,
					       option->value != NULL ? " " : "",
					       option->value != NULL ? option->value : "");
	}
	return error_set(err, ERROR_USAGE, "%s\nusage: sbox learn%s -o FILE [--] PROGRAM [ARG]...",
			 text, options);
}

/* ---- words ---- */

/* As it really is: everything is compared with what the kernel tells. */
static int take_path(struct learn *learn, const char *option, const char *value,
		     struct string_list *list, struct error *err)
{
	char real[PATH_MAX];

	if (realpath(value, real) == NULL)
		return error_sys(err, "%s %s", option, value);
	if (strcmp(real, "/") == 0)
		return error_set(err, ERROR_USAGE, "%s /: name the folders that are needed",
				 option);
	*ARENA_PUSH(learn->arena, list->items, list->count) = arena_strdup(learn->arena, real);
	return 0;
}

/* Where a cloud's machines get their keys: a credential, whatever asks for it. */
static int take_rule(struct learn *learn, const char *value, struct error *err)
{
	static const char *const metadata[] = {"169.254.", "metadata.google.internal",
					       "fd00:ec2::254", "100.100.100.200",
					       "metadata.azure"};
	struct string_list *list = &learn->wishes.net;

	for (size_t i = 0; i < sizeof(metadata) / sizeof(metadata[0]); i++)
		if (strcasestr(value, metadata[i]) != NULL)
			return error_set(err, ERROR_USAGE,
					 "--allow-net %s: that is where a cloud keeps credentials; "
					 "write it into a profile by hand if it must be",
					 value);
	*ARENA_PUSH(learn->arena, list->items, list->count) = value;
	return 0;
}

static int take_value(struct learn *learn, const char *name, const char *value, struct error *err)
{
	struct wishes *wishes = &learn->wishes;

	if (strcmp(name, "--profile") == 0)
		wishes->profile = value;
	else if (strcmp(name, "--store") == 0)
		wishes->store_dir = value;
	else if (strcmp(name, "-o") == 0)
		wishes->output = value;
	else if (strcmp(name, "--allow-net") == 0)
		return take_rule(learn, value, err);
	else if (strcmp(name, "--allow-read") == 0)
		return take_path(learn, name, value, &wishes->read, err);
	else if (strcmp(name, "--allow-write") == 0)
		return take_path(learn, name, value, &wishes->write, err);
	else
		return take_path(learn, name, value, &wishes->secret, err);
	return 0;
}

static int take_flag(struct learn *learn, const char *name)
{
	*(strcmp(name, "--open") == 0 ? &learn->wishes.open : &learn->wishes.trim) = true;
	return 0;
}

static int take_word(struct learn *learn, char **argv, int *at, struct error *err)
{
	const char *word = argv[(*at)++];

	for (size_t i = 0; i < learn_option_count; i++) {
		const struct option *option = &learn_option_table[i];
		size_t len = strlen(option->name);

		if (strncmp(word, option->name, len) != 0 ||
		    (word[len] != '\0' && (word[len] != '=' || option->value == NULL)))
			continue;
		if (option->value == NULL)
			return take_flag(learn, option->name);
		const char *value = word[len] == '=' ? word + len + 1 : argv[*at];
		if (value == NULL || *value == '\0')
			return usage(learn, err,
				     arena_printf(learn->arena, "%s needs a value", option->name));
		if (word[len] == '\0')
			(*at)++;
		return take_value(learn, option->name, value, err);
	}
	return usage(learn, err, arena_printf(learn->arena, "unknown option %s", word));
}

static int parse(struct learn *learn, char **argv, struct error *err)
{
	int at = 1;

	learn->wishes.profile = "agent";
	while (argv[at] != NULL && argv[at][0] == '-') {
		if (strcmp(argv[at], "--") == 0) {
			at++;
			break;
		}
		if (take_word(learn, argv, &at, err) != 0)
			return -1;
	}
	learn->wishes.argv = argv + at;
	if (learn->wishes.output == NULL)
		return usage(learn, err, "-o FILE says where the profile goes");
	return argv[at] == NULL ? usage(learn, err, "there is no program to learn from") : 0;
}

/* ---- the order of things ---- */

/* Before the program runs: what cannot be written then is known now. */
static int open_output(struct learn *learn, struct profile_save *save, struct error *err)
{
	save->path = learn->wishes.output;
	if (profile_save_read(learn->arena, save, err) != 0)
		return -1;
	if (save->is_new || strncmp(save->before, learn_mark, strlen(learn_mark)) == 0)
		return 0;
	return error_set(err, ERROR_PROFILE,
			 "%s is there and was not written by sbox learn: nothing is overwritten, "
			 "name another file",
			 save->path);
}

static int prepare(struct learn *learn, struct error *err)
{
	struct options options = {
		.status_fd = -1, .own_file = learn->own, .store_dir = learn->wishes.store_dir};

	if (locate_context(learn->arena, &options, &learn->context, err) != 0)
		return -1;
	/* as the kernel names it: all that is used is compared with it */
	const char *home = learn->context.home;
	if (home != NULL)
		learn->context.home = path_resolved(learn->arena, home);
	if (home != NULL && strcmp(home, learn->context.home) != 0)
		learn->home_link = home;
	if (profile_load(learn->arena, &learn->context, learn->wishes.profile, NULL, 0,
			 &learn->base, NULL, err) != 0 ||
	    learn_know(learn, err) != 0 || learn_look(learn, err) != 0)
		return -1;
	learn_tree(learn);
	return 0;
}

/* A name without a slash would be looked up in the profile folders. */
static const char *path_of(struct learn *learn)
{
	const char *path = learn->wishes.output;

	return strchr(path, '/') == NULL ? arena_printf(learn->arena, "./%s", path) : path;
}

static int write_profile(struct learn *learn, const struct profile_save *save, struct error *err)
{
	struct profile *earlier = NULL;

	if (!save->is_new) {
		earlier = arena_alloc(learn->arena, sizeof(*earlier));
		if (profile_load(learn->arena, &learn->context, path_of(learn), NULL, 0, earlier,
				 NULL, err) != 0)
			return -1;
		learn_merge(learn, earlier);
	}
	if (learn->wishes.trim && learn_trim(learn, earlier, err) != 0)
		return -1;
	const char *text = learn_text(learn, earlier, err);
	if (text == NULL)
		return -1;
	return profile_save_write(learn->arena, save, &learn->context, text, err);
}

/* What `sbox check` would say of it: said at once, since the program chose what it used. */
static void tell_width(struct learn *learn)
{
	struct profile *profile = arena_alloc(learn->arena, sizeof(*profile));
	struct error err = {0};
	size_t count = 0;

	if (profile_load(learn->arena, &learn->context, path_of(learn), NULL, 0, profile, NULL,
			 &err) != 0)
		return;
	const char *const *warnings =
		profile_warnings(learn->arena, &learn->context, profile, &count);
	for (size_t i = 0; i < count; i++)
		fprintf(stderr, "sbox learn: wide: %s\n", warnings[i]);
}

static void tell(const struct learn *learn, const struct profile_save *save)
{
	fprintf(stderr,
		"sbox learn: %s %s: %zu lines for files, %zu for the network, %zu left out\n",
		save->is_new ? "written:" : "added to", save->path, learn->folded.grant_count,
		learn->allow.count,
		learn->folded.left_count + learn->folded.left_more + learn->asked.count);
	if (learn->status != 0)
		fprintf(stderr,
			"sbox learn: the program ended with %d: what it would have used "
			"after that is not in it\n",
			learn->status);
}

int main(int argc, char **argv)
{
	struct arena arena = {0};
	struct learn *learn = arena_alloc(&arena, sizeof(*learn));
	struct profile_save save = {0};
	struct error err = {0};

	if (argc < 3 || strcmp(argv[1], "--launcher") != 0) {
		fputs("sbox learn: this program is started by \"sbox learn\"\n", stderr);
		return FAILED;
	}
	learn->arena = &arena;
	learn->own = argv[2];
	if (parse(learn, argv + 2, &err) != 0 || open_output(learn, &save, &err) != 0 ||
	    prepare(learn, &err) != 0 || learn_run(learn, &err) != 0)
		return complain(&err);
	learn_fold(learn);
	learn_measure(learn);
	if (write_profile(learn, &save, &err) != 0)
		return complain(&err);
	tell(learn, &save);
	tell_width(learn);
	return learn->status;
}
