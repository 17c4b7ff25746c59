// SPDX-License-Identifier: Apache-2.0
#include "cmd_show.h"

#include <string.h>

/* The two records of the run that was asked for. */
struct found {
	json_t *start, *end;
	char run[128];
	bool is_ambiguous;
};

static void keep_record(json_t **slot, json_t *record)
{
	json_decref(*slot);
	*slot = json_incref(record);
}

static bool is_wanted(const struct cmd_options *options, const char *run, bool is_start)
{
	if (options->last)
		return is_start;
	return strncasecmp(run, options->run, strlen(options->run)) == 0;
}

static void look_at(struct found *found, const struct cmd_options *options, json_t *record)
{
	const char *run = json_string_value(json_object_get(record, "run"));
	bool is_start =
		strcmp(json_string_value(json_object_get(record, "type")), "run.start") == 0;

	if (run == NULL || strlen(run) >= sizeof(found->run))
		return;
	if (strcmp(run, found->run) != 0) {
		if (!is_wanted(options, run, is_start))
			return;
		found->is_ambiguous = found->run[0] != '\0' && !options->last;
		keep_record(&found->start, NULL);
		keep_record(&found->end, NULL);
		strcpy(found->run, run);
	}
	keep_record(is_start ? &found->start : &found->end, record);
}

/* Reads on after the first match, so that a second one is noticed. */
static int find_run(struct cmd_log *log, const struct cmd_options *options, struct found *found)
{
	for (json_t *record; (record = cmd_log_next(log)) != NULL; json_decref(record))
		if (!found->is_ambiguous)
			look_at(found, options, record);
	if (found->is_ambiguous)
		fprintf(stderr, "sbox-audit: %s: more than one run starts so: give more of it\n",
			options->run);
	else if (found->run[0] == '\0')
		fprintf(stderr, "sbox-audit: no such run in %s: see sbox audit list\n",
			log->store.dir);
	return found->is_ambiguous || found->run[0] == '\0' ? -1 : 0;
}

static void print_json(const struct found *found, const char *state)
{
	json_t *object = json_object();

	json_object_set_new(object, "run", json_string(found->run));
	json_object_set_new(object, "state", json_string(state));
	json_object_set_new(object, "start",
			    found->start ? json_incref(found->start) : json_null());
	json_object_set_new(object, "end", found->end ? json_incref(found->end) : json_null());
	json_dumpf(object, stdout, JSON_COMPACT | JSON_ENSURE_ASCII);
	putchar('\n');
	json_decref(object);
}

static void print_run(struct show *show, const struct found *found, const char *state)
{
	show_field(show, "run", "%s", found->run);
	show_field(show, "state", "%s%s", state,
		   strcmp(state, "unfinished") == 0 ? ": sbox died or the machine stopped" : "");
	if (found->start != NULL)
		show_start(show, found->start);
	if (found->end != NULL)
		show_end(show, found->end);
	if (found->start != NULL)
		show_enforced(show, found->start);
	show_kept(show, found->start, found->end);
}

int cmd_show(const struct cmd_options *options)
{
	struct arena arena = {0};
	struct found found = {0};
	struct cmd_log log;

	if (cmd_log_open(&log, options->store_dir, &arena) < 0)
		return EXIT_BAD;
	int rc = find_run(&log, options, &found);
	if (rc == 0) {
		const char *state = cmd_run_state(&log, found.run, found.end != NULL);

		if (options->json)
			print_json(&found, state);
		else
			print_run(&(struct show){&arena, &log.store}, &found, state);
	}
	rc = rc < 0 || log.bad > 0 ? EXIT_BAD : EXIT_OK;
	json_decref(found.start);
	json_decref(found.end);
	cmd_log_close(&log);
	arena_free(&arena);
	return rc;
}
