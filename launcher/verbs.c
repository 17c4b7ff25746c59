// SPDX-License-Identifier: Apache-2.0
#include "verbs.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cache.h"
#include "filter.h"
#include "json.h"
#include "keys.h"
#include "locate.h"
#include "plan.h"
#include "text_diff.h"
#include "toolchain.h"

static int complain(const struct error *err)
{
	char text[2048];

	error_format(err, text, sizeof(text));
	fprintf(stderr, "sbox: %s\n", text);
	return 125;
}

static int load(struct arena *arena, const struct options *options, const char *name,
		struct profile_context *ret_context, struct profile *ret_profile, struct error *err)
{
	const char *note = NULL;

	if (locate_context(arena, options, ret_context, err) != 0 ||
	    profile_load(arena, ret_context, name, NULL, 0, ret_profile, &note, err) != 0)
		return -1;
	if (note != NULL)
		fprintf(stderr, "sbox: %s\n", note);
	return 0;
}

static int verb_check(struct arena *arena, const struct options *options, struct error *err)
{
	struct profile_context context;
	struct profile profile;

	if (options->argument_count != 1)
		return error_set(err, ERROR_USAGE,
				 "usage: sbox check PROFILE|--schema|--reference");
	if (strcmp(options->arguments[0], "--schema") == 0) {
		puts(keys_schema(arena));
		return 0;
	}
	if (strcmp(options->arguments[0], "--reference") == 0) {
		fputs(keys_reference(arena), stdout);
		return 0;
	}
	if (load(arena, options, options->arguments[0], &context, &profile, err) != 0)
		return -1;
	const struct filter_policy policy = {.syscalls = &profile.privilege.syscalls};
	struct sock_fprog program;
	if (filter_build(arena, &policy, &program, err) != 0)
		return profile_blame(&profile, KEY_PRIVILEGE_SYSCALLS, err);
	printf("%s: right (%s, sha256 %.16s)\n", profile.path, profile.description, profile.sha256);
	size_t count;
	const char *const *warnings = profile_warnings(arena, &context, &profile, &count);
	for (size_t i = 0; i < count; i++)
		printf("wide: %s\n", warnings[i]);
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

/* What the second profile gives or takes beside the first, as a diff of both in full. */
static int show_difference(struct arena *arena, const struct options *options, struct error *err)
{
	struct profile_context context;
	struct profile profiles[2];
	char *const *names = options->arguments + 1;

	if (options->argument_count != 3)
		return error_set(err, ERROR_USAGE, "usage: sbox show --diff PROFILE PROFILE");
	for (size_t i = 0; i < 2; i++)
		if (load(arena, options, names[i], &context, &profiles[i], err) != 0)
			return -1;
	fputs(text_diff(arena, profiles[0].path, profiles[1].path,
			profile_dump(arena, &profiles[0]), profile_dump(arena, &profiles[1])),
	      stdout);
	return 0;
}

/* The profile as INI that reads back the same, then the plan as comments; or JSON. */
static int verb_show(struct arena *arena, const struct options *options, struct error *err)
{
	struct profile_context context;
	struct profile profile;
	struct host host = {0};
	struct plan plan;
	bool json = options->argument_count == 2 && strcmp(options->arguments[1], "--json") == 0;

	if (options->argument_count > 0 && strcmp(options->arguments[0], "--diff") == 0)
		return show_difference(arena, options, err);
	if (options->argument_count < 1 || options->argument_count > 1 + json)
		return error_set(
			err, ERROR_USAGE,
			"usage: sbox show PROFILE [--json], sbox show --diff PROFILE PROFILE");
	if (load(arena, options, options->arguments[0], &context, &profile, err) != 0)
		return -1;
	if (host_probe(arena, &host, err) != 0 ||
	    host_probe_paths(arena, &profile, &host, err) != 0 ||
	    toolchain_find(arena, &context, &profile, NULL, &host, err) != 0)
		return -1;
	cache_probe(arena, &profile, context.store, &host);
	host_look(arena, &host);
	if (profile.network.mode == NETWORK_ALLOW)
		host_look_gate(arena, &host);
	host_look_label(arena, &profile, &host);
	plan_make(arena, &profile, &host, &plan);
	if (json) {
		puts(plan_text(arena, &profile, &plan));
		return 0;
	}
	fputs(profile_dump(arena, &profile), stdout);
	printf("\n# on this machine:\n");
	fputs(plan_print(arena, &plan), stdout);
	return 0;
}

/* The verb's own program takes over, with `extra` before the caller's arguments. */
static int execute_helper(struct arena *arena, const struct options *options, const char *name,
			  const char *shown, char *const extra[2], struct error *err)
{
	const char *helper = locate_helper(arena, name);
	size_t at = 0;

	if (helper == NULL)
		return error_set(err, ERROR_SYSTEM,
				 "%s is not where it belongs (libexec/sbox next to bin)", name);
	char **argv = arena_alloc(arena, ((size_t)options->argument_count + 4) * sizeof(*argv));
	argv[at++] = arena_strdup(arena, shown);
	for (size_t i = 0; extra != NULL && i < 2; i++)
		argv[at++] = extra[i];
	memcpy(argv + at, options->arguments, (size_t)options->argument_count * sizeof(*argv));
	execv(helper, argv);
	return error_sys(err, "cannot execute %s", helper);
}

/* A run answers to signals itself; a verb that leaves nothing half done ends by them. */
static void unblock_signals(void)
{
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static int verb_audit(struct arena *arena, const struct options *options, struct error *err)
{
	unblock_signals();
	return execute_helper(arena, options, "sbox-audit", "sbox audit", NULL, err);
}

/* It starts this very program for its trial, so it is told where that is. */
static int verb_doctor(struct arena *arena, const struct options *options, struct error *err)
{
	const char *own = locate_own_file(arena);

	if (own == NULL)
		return error_sys(err, "/proc does not show sbox itself; is it mounted?");
	char *const extra[2] = {arena_strdup(arena, "--launcher"), arena_strdup(arena, own)};
	return execute_helper(arena, options, "sbox-doctor", "sbox doctor", extra, err);
}

/* It checks what it writes by the profiles that this very program finds. */
static int verb_explain(struct arena *arena, const struct options *options, struct error *err)
{
	const char *own = locate_own_file(arena);

	if (own == NULL)
		return error_sys(err, "/proc does not show sbox itself; is it mounted?");
	char *const extra[2] = {arena_strdup(arena, "--launcher"), arena_strdup(arena, own)};
	return execute_helper(arena, options, "sbox-explain", "sbox explain", extra, err);
}

/* Its learning run is one of this very program. */
static int verb_learn(struct arena *arena, const struct options *options, struct error *err)
{
	const char *own = locate_own_file(arena);

	if (own == NULL)
		return error_sys(err, "/proc does not show sbox itself; is it mounted?");
	char *const extra[2] = {arena_strdup(arena, "--launcher"), arena_strdup(arena, own)};
	return execute_helper(arena, options, "sbox-learn", "sbox learn", extra, err);
}

int verb_run(struct arena *arena, const struct options *options)
{
	static const struct {
		const char *name;
		int (*run)(struct arena *, const struct options *, struct error *);
	} verbs[] = {{"check", verb_check},       {"show", verb_show},
		     {"profiles", verb_profiles}, {"doctor", verb_doctor},
		     {"audit", verb_audit},       {"--complete", verb_complete},
		     {"explain", verb_explain},   {"learn", verb_learn}};
	struct error err = {0};

	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
		if (strcmp(options->verb, verbs[i].name) == 0)
			return verbs[i].run(arena, options, &err) == 0 ? 0 : complain(&err);
	return 125;
}
