// SPDX-License-Identifier: Apache-2.0

/*
 * sbox explain: why a run was refused what, and what would change that. `sbox
 * explain` executes this program and names itself in the first two arguments.
 *
 *   sbox explain RUN|--last [--json] [--all] [--apply FILE] [--store DIR]
 *
 * Exit status: 0, 1 the run is not there or the file was not written, 2 wrong use.
 */

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cmd_index.h"
#include "cmd_read.h"
#include "explain.h"
#include "locate.h"
#include "text_diff.h"

struct wishes {
	struct query query;
	const char *apply;
	bool all;
};

static int usage(const char *text)
{
	fprintf(stderr,
		"sbox explain: %s\nusage: sbox explain RUN|--last [--json] [--all] [--apply FILE] "
		"[--store DIR]\n",
		text);
	return EXIT_USAGE;
}

/* "--name VALUE" and "--name=VALUE": the value, or NULL when it is another word. */
static const char *value_of(const char *name, char **argv, int *at)
{
	size_t len = strlen(name);

	if (strncmp(argv[*at], name, len) != 0)
		return NULL;
	if (argv[*at][len] == '=')
		return argv[*at] + len + 1;
	return argv[*at][len] == '\0' && argv[*at + 1] != NULL ? argv[++*at] : NULL;
}

static bool take_flag(struct wishes *wishes, const char *word)
{
	const struct {
		const char *name;
		bool *flag;
	} flags[] = {{"--last", &wishes->query.last},
		     {"--json", &wishes->query.json},
		     {"--all", &wishes->all}};

	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		if (strcmp(word, flags[i].name) == 0)
			return *flags[i].flag = true;
	return false;
}

static int parse(char **argv, struct wishes *wishes)
{
	for (int at = 1; argv[at] != NULL; at++) {
		const char *value;

		if (take_flag(wishes, argv[at]))
			continue;
		if ((value = value_of("--apply", argv, &at)) != NULL)
			wishes->apply = value;
		else if ((value = value_of("--store", argv, &at)) != NULL)
			wishes->query.store_dir = value;
		else if (argv[at][0] == '-' || wishes->query.word != NULL)
			return usage("one run is to be named, or --last");
		else
			wishes->query.word = argv[at];
	}
	if ((wishes->query.word != NULL) == wishes->query.last)
		return usage("one run is to be named, or --last");
	return EXIT_OK;
}

/* A file of the caller's own is changed; else a new one that begins with the run's profile. */
static const char *choose_file(struct explain *explain)
{
	const json_t *profile = json_object_get(explain->start, "profile");
	const char *path = json_string_value(json_object_get(profile, "path"));
	const char *name = json_string_value(json_object_get(profile, "name"));

	if (path != NULL && access(path, W_OK) == 0 && strncmp(path, "/usr/", 5) != 0)
		return path;
	return arena_printf(explain->arena, "%s-more.ini", name != NULL ? name : "profile");
}

/* By name where that finds the same file, else by its path. */
static const char *base_of(const struct explain *explain, const struct profile_context *context)
{
	const json_t *profile = json_object_get(explain->start, "profile");
	const char *name = json_string_value(json_object_get(profile, "name"));
	const char *path = json_string_value(json_object_get(profile, "path"));
	const char *const folders[] = {context->user_dir, context->system_dir,
				       context->shipped_dir};

	if (name == NULL || path == NULL)
		return "agent";
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		size_t len = folders[i] != NULL ? strlen(folders[i]) : 0;

		if (len > 0 && strncmp(path, folders[i], len) == 0 && path[len] == '/')
			return name;
	}
	return path;
}

static int make_change(struct explain *explain, const struct wishes *wishes,
		       const struct profile_context *context, struct error *err)
{
	explain->diff = explain->save.before = explain->after = "";
	explain->save.path = wishes->apply != NULL ? wishes->apply : choose_file(explain);
	if (profile_save_read(explain->arena, &explain->save, err) != 0)
		return -1;
	const char *text = explain->save.before;
	if (explain->save.is_new)
		text = arena_printf(explain->arena, "[profile]\nextends = %s\n",
				    base_of(explain, context));
	explain->after =
		explain_edit(explain->arena, text, explain->changes, explain->change_count);
	if (explain->change_count > 0)
		explain->diff = text_diff(explain->arena,
					  explain->save.is_new ? "/dev/null" : explain->save.path,
					  explain->save.path, explain->save.before, explain->after);
	return 0;
}

static int complain(const struct error *err)
{
	char text[2048];

	error_format(err, text, sizeof(text));
	fprintf(stderr, "sbox explain: %s\n", text);
	return EXIT_BAD;
}

static int write_change(struct explain *explain, const struct profile_context *context)
{
	struct error err = {0};

	if (*explain->diff == '\0') {
		fprintf(stderr, "sbox explain: nothing to write: no line would allow more\n");
		return EXIT_BAD;
	}
	if (profile_save_write(explain->arena, &explain->save, context, explain->after, &err) != 0)
		return complain(&err);
	fprintf(stderr, "sbox explain: written: %s\n", explain->save.path);
	return EXIT_OK;
}

static int explain_run(struct explain *explain, const struct wishes *wishes,
		       const struct options *options)
{
	struct profile_context context;
	struct error err = {0};

	if (locate_context(explain->arena, options, &context, &err) != 0)
		return complain(&err);
	explain_find_changes(explain, &context, wishes->all);
	if (make_change(explain, wishes, &context, &err) != 0)
		return complain(&err);
	if (wishes->query.json)
		explain_print_json(explain);
	else
		explain_print(explain);
	return wishes->apply != NULL ? write_change(explain, &context) : EXIT_OK;
}

int main(int argc, char **argv)
{
	struct arena arena = {0};
	struct wishes wishes = {0};
	struct options options = {.status_fd = -1};
	struct explain explain = {.arena = &arena};
	struct index index;
	struct cmd_log log;
	char run[INDEX_RUN + 1] = "";

	if (argc < 3 || strcmp(argv[1], "--launcher") != 0)
		return usage("this program is started by \"sbox explain\"");
	options.own_file = argv[2];
	int rc = parse(argv + 2, &wishes);
	if (rc != EXIT_OK)
		return rc;
	if (index_open(&index, &log, wishes.query.store_dir, &arena) < 0)
		return EXIT_BAD;
	const struct index_row *row = query_run(&wishes.query, &index);
	if (row != NULL) {
		memcpy(run, row->run, INDEX_RUN);
		explain.run = run;
		explain.start = index_record(&index, &row->start);
		explain.end = index_record(&index, &row->end);
		explain.state = index_state(&index, row);
	}
	rc = row == NULL ? EXIT_BAD : explain_run(&explain, &wishes, &options);
	index_close(&index);
	if (fflush(stdout) != 0 || ferror(stdout))
		rc = EXIT_BAD;
	return rc;
}
