// SPDX-License-Identifier: Apache-2.0
#include "cmd_show.h"

#include <string.h>

#include "cmd_read.h"

/* The records of the run that was asked for; either may be NULL. */
struct found {
	json_t *start, *end;
	char run[INDEX_RUN + 1];
};

static void print_json(const struct found *found, const char *state)
{
	json_t *object = json_object();

	json_object_set_new(object, "run", json_string(found->run));
	json_object_set_new(object, "state", json_string(state));
	json_object_set_new(object, "start",
			    found->start ? json_incref(found->start) : json_null());
	json_object_set_new(object, "end", found->end ? json_incref(found->end) : json_null());
	json_write_line(object);
	json_decref(object);
}

static void print_run(struct show *show, const struct found *found, const char *state)
{
	show_field(show, "run", "%s", found->run);
	show_field(show, "state", "%s%s", state,
		   strcmp(state, "unfinished") == 0 ? ": sbox died or the machine stopped" : "");
	if (found->start != NULL)
		show_start(show, found->start, found->end);
	if (found->end != NULL)
		show_end(show, found->end);
	if (found->start != NULL)
		show_enforced(show, found->start);
	show_kept(show, found->start, found->end);
}

static int show_row(struct index *index, const struct index_row *row, struct arena *arena,
		    bool json)
{
	struct found found = {.start = index_record(index, &row->start),
			      .end = index_record(index, &row->end)};
	struct show show = {.arena = arena, .store = &index->log->store};
	const char *state = index_state(index, row);

	memcpy(found.run, row->run, INDEX_RUN);
	if (json)
		print_json(&found, state);
	else
		print_run(&show, &found, state);
	json_decref(found.start);
	json_decref(found.end);
	return show.is_changed ? EXIT_BAD : index_status(index);
}

int show_main(int argc, char **argv)
{
	struct arena arena = {0};
	struct query query;
	struct index index;
	struct cmd_log log;
	int rc = query_parse("show", TAKES_RUN | TAKES_JSON, argc, argv, &query);

	if (rc != EXIT_OK)
		return rc;
	if (index_open(&index, &log, query.store_dir, &arena) < 0)
		return EXIT_BAD;
	const struct index_row *row = query_run(&query, &index);
	rc = row == NULL ? EXIT_BAD : show_row(&index, row, &arena, query.json);
	index_close(&index);
	arena_free(&arena);
	return rc;
}
