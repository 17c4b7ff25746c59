// SPDX-License-Identifier: Apache-2.0
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "json.h"
#include "locate.h"
#include "plan.h"
#include "verbs.h"

/*
 * The profiles there are. The folders are looked through in the order in which a name is
 * looked up, so the first of a name is the one that is used. Nothing on this machine is
 * looked at but what the kernel can do: a profile that needs what this version lacks says so.
 */

void profile_list(struct arena *arena, const struct profile_context *context,
		  struct listed_profile **ret, size_t *ret_count)
{
	const struct {
		const char *path, *from;
	} folders[] = {{context->user_dir, "user"},
		       {context->system_dir, "system"},
		       {context->shipped_dir, "shipped"}};

	*ret = NULL;
	*ret_count = 0;
	for (size_t f = 0; f < sizeof(folders) / sizeof(folders[0]); f++) {
		struct dirent **entries = NULL;
		int count = folders[f].path != NULL
				    ? scandir(folders[f].path, &entries, NULL, alphasort)
				    : 0;

		for (int i = 0; i < count; i++) {
			const char *file = entries[i]->d_name;
			size_t len = strlen(file);

			if (len <= 4 || file[0] == '.' || strcmp(file + len - 4, ".ini") != 0)
				continue;
			struct listed_profile profile = {
				.name = arena_strndup(arena, file, len - 4),
				.path = arena_printf(arena, "%s/%s", folders[f].path, file),
				.from = folders[f].from};
			for (size_t j = 0; j < *ret_count; j++)
				if (strcmp((*ret)[j].name, profile.name) == 0 &&
				    profile.used_instead == NULL)
					profile.used_instead = (*ret)[j].path;
			*ARENA_PUSH(arena, *ret, *ret_count) = profile;
		}
	}
}

/* What it is for, and why it cannot be used, as far as its paths have nothing to do with it. */
static void describe(struct arena *arena, const struct profile_context *context,
		     const struct host *host, struct listed_profile *listed)
{
	struct profile *profile = arena_alloc(arena, sizeof(*profile));
	struct plan *plan = arena_alloc(arena, sizeof(*plan));
	struct error err = {0};
	char *text = arena_alloc(arena, 2048);

	if (profile_load(arena, context, listed->path, NULL, 0, profile, NULL, &err) != 0) {
		error_format(&err, text, 2048);
		listed->fault = text;
		return;
	}
	listed->description = profile->description;
	listed->sha256 = profile->sha256;
	plan_make(arena, profile, host, plan);
	if (plan_judge(plan, profile, false, NULL, &err) != 0) {
		error_format(&err, text, 2048);
		listed->fault = text;
	}
}

static void print_json(struct arena *arena, const struct listed_profile *profiles, size_t count)
{
	struct json json;

	json_begin(&json, arena);
	json_array_begin(&json);
	for (size_t i = 0; i < count; i++) {
		const struct {
			const char *key, *value;
		} fields[] = {
			{"name", profiles[i].name},     {"from", profiles[i].from},
			{"path", profiles[i].path},     {"description", profiles[i].description},
			{"sha256", profiles[i].sha256}, {"shadowed_by", profiles[i].used_instead},
			{"unusable", profiles[i].fault}};

		json_object_begin(&json);
		for (size_t f = 0; f < sizeof(fields) / sizeof(fields[0]); f++) {
			json_put_key(&json, fields[f].key);
			json_put_text(&json, fields[f].value);
		}
		json_object_end(&json);
	}
	json_array_end(&json);
	puts(json_finish(&json));
}

static void print_text(const struct listed_profile *profiles, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct listed_profile *profile = &profiles[i];

		printf("%-12s %-8s %s", profile->name, profile->from,
		       profile->description != NULL ? profile->description : "");
		if (profile->used_instead != NULL)
			printf(" [not used: %s comes first]", profile->used_instead);
		if (profile->fault != NULL)
			printf(" [cannot be used: %s]", profile->fault);
		putchar('\n');
	}
}

/* Asking package managers takes their programs: a helper's business. */
static int write_registries(struct arena *arena, const struct profile_context *context,
			    struct error *err)
{
	const char *helper = locate_helper(arena, "sbox-registries");

	if (context->user_dir == NULL)
		return error_set(err, ERROR_SYSTEM,
				 "there is no folder for profiles of your own: set HOME");
	if (helper == NULL)
		return error_set(err, ERROR_SYSTEM,
				 "sbox-registries is not where it belongs (libexec/sbox next to "
				 "bin)");
	const char *file = arena_printf(arena, "%s/registries.ini", context->user_dir);
	execl(helper, "sbox profiles --registries", file, NULL);
	return error_sys(err, "cannot execute %s", helper);
}

int verb_profiles(struct arena *arena, const struct options *options, struct error *err)
{
	struct profile_context context;
	struct listed_profile *profiles;
	struct host host = {0};
	size_t count;
	bool json = options->argument_count == 1 && strcmp(options->arguments[0], "--json") == 0;

	bool registries =
		options->argument_count == 1 && strcmp(options->arguments[0], "--registries") == 0;

	if (options->argument_count != json + registries)
		return error_set(err, ERROR_USAGE, "usage: sbox profiles [--json|--registries]");
	if (locate_context(arena, options, &context, err) != 0)
		return -1;
	if (registries)
		return write_registries(arena, &context, err);
	if (host_probe(arena, &host, err) != 0)
		return -1;
	/* what a profile is for does not depend on where one stands */
	context.cwd = "/nonexistent/workspace";
	profile_list(arena, &context, &profiles, &count);
	for (size_t i = 0; i < count; i++)
		describe(arena, &context, &host, &profiles[i]);
	if (json)
		print_json(arena, profiles, count);
	else
		print_text(profiles, count);
	return 0;
}
