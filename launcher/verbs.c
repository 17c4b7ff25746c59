// SPDX-License-Identifier: Apache-2.0
#include "verbs.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "filter.h"
#include "json.h"
#include "locate.h"
#include "plan.h"

static int complain(const struct error *err)
{
	char text[2048];

	error_format(err, text, sizeof(text));
	fprintf(stderr, "sbox: %s\n", text);
	return 125;
}

static int load(struct arena *arena, const struct options *options, const char *name,
		struct profile *ret_profile, struct error *err)
{
	struct profile_context context;
	const char *note = NULL;

	if (locate_context(arena, options, &context, err) != 0 ||
	    profile_load(arena, &context, name, NULL, 0, ret_profile, &note, err) != 0)
		return -1;
	if (note != NULL)
		fprintf(stderr, "sbox: %s\n", note);
	return 0;
}

static int verb_check(struct arena *arena, const struct options *options, struct error *err)
{
	struct profile profile;

	if (options->argument_count != 1)
		return error_set(err, ERROR_USAGE, "usage: sbox check PROFILE");
	if (load(arena, options, options->arguments[0], &profile, err) != 0)
		return -1;
	const struct filter_policy policy = {.syscalls = &profile.privilege.syscalls};
	struct sock_fprog program;
	if (filter_build(arena, &policy, &program, err) != 0)
		return profile_blame(&profile, KEY_PRIVILEGE_SYSCALLS, err);
	printf("%s: right (%s, sha256 %.16s)\n", profile.path, profile.description, profile.sha256);
	return 0;
}

static char *plan_text(struct arena *arena, const struct profile *profile, const struct plan *plan)
{
	struct json json;

	json_begin(&json, arena);
	json_object_begin(&json);
	json_put_key(&json, "profile");
	json_put_text(&json, profile->name);
	json_put_key(&json, "path");
	json_put_text(&json, profile->path);
	json_put_key(&json, "sha256");
	json_put_text(&json, profile->sha256);
	json_put_key(&json, "impossible");
	json_put_text(&json, plan->impossible);
	json_put_key(&json, "items");
	json_array_begin(&json);
	for (size_t i = 0; i < plan->item_count; i++) {
		const struct plan_item *item = &plan->items[i];
		const struct {
			const char *key, *value;
		} fields[] = {{"boundary", boundary_names[item->boundary]},
			      {"name", item->name},
			      {"asked", item->asked},
			      {"state", item_state_names[item->state]},
			      {"mechanism", item->mechanism},
			      {"reason", item->reason},
			      {"residual", item->residual}};

		json_object_begin(&json);
		for (size_t f = 0; f < sizeof(fields) / sizeof(fields[0]); f++) {
			json_put_key(&json, fields[f].key);
			json_put_text(&json, fields[f].value);
		}
		json_object_end(&json);
	}
	json_array_end(&json);
	json_object_end(&json);
	return json_finish(&json);
}

static void print_plan(const struct plan *plan)
{
	for (size_t i = 0; i < plan->item_count; i++) {
		const struct plan_item *item = &plan->items[i];
		const char *detail = item->mechanism != NULL ? item->mechanism : "";

		printf("# %-9s %-18s %-9s %s", boundary_names[item->boundary], item->name,
		       item_state_names[item->state], detail);
		if (item->reason != NULL)
			printf("%s%s", detail[0] != '\0' ? ": " : "", item->reason);
		if (item->residual != NULL)
			printf(" [%s]", item->residual);
		putchar('\n');
	}
	if (plan->impossible != NULL)
		printf("# cannot run here: %s\n", plan->impossible);
}

/* The profile as INI that reads back the same, then the plan as comments; or JSON. */
static int verb_show(struct arena *arena, const struct options *options, struct error *err)
{
	struct profile profile;
	struct host host;
	struct plan plan;
	bool json = options->argument_count == 2 && strcmp(options->arguments[1], "--json") == 0;

	if (options->argument_count < 1 || options->argument_count > 1 + json)
		return error_set(err, ERROR_USAGE, "usage: sbox show PROFILE [--json]");
	if (load(arena, options, options->arguments[0], &profile, err) != 0)
		return -1;
	if (host_probe(arena, &host, err) != 0 ||
	    host_probe_paths(arena, &profile, &host, err) != 0)
		return -1;
	plan_make(arena, &profile, &host, &plan);
	if (json) {
		puts(plan_text(arena, &profile, &plan));
		return 0;
	}
	fputs(profile_dump(arena, &profile), stdout);
	printf("\n# on this machine:\n");
	print_plan(&plan);
	return 0;
}

static int verb_audit(struct arena *arena, const struct options *options, struct error *err)
{
	const char *helper = locate_helper(arena, "sbox-audit");

	if (helper == NULL)
		return error_set(err, ERROR_SYSTEM,
				 "sbox-audit is not where it belongs (libexec/sbox next to bin)");
	char **argv = arena_alloc(arena, ((size_t)options->argument_count + 2) * sizeof(*argv));
	argv[0] = arena_strdup(arena, "sbox audit");
	memcpy(argv + 1, options->arguments, (size_t)options->argument_count * sizeof(*argv));
	execv(helper, argv);
	return error_sys(err, "cannot execute %s", helper);
}

int verb_run(struct arena *arena, const struct options *options)
{
	static const struct {
		const char *name;
		int (*run)(struct arena *, const struct options *, struct error *);
	} verbs[] = {{"check", verb_check}, {"show", verb_show}, {"audit", verb_audit}};
	struct error err = {0};

	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
		if (strcmp(options->verb, verbs[i].name) == 0)
			return verbs[i].run(arena, options, &err) == 0 ? 0 : complain(&err);
	return 125;
}
