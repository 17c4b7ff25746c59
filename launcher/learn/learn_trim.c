// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "learn.h"

/*
 * --trim: which lines the program does without. It runs once more for each, with the profile
 * that lacks that line; changes to files are thrown away, so each run finds the same. A line goes
 * when the end and the output are those of a run with all of them. Write lines stay: what a
 * program leaves behind is not in its output.
 */

struct trial {
	struct learn *learn;
	const struct profile *earlier;
	const char *file; /* the profile that is tried */
	json_t *wanted;   /* the end of a run with all lines */
	bool only_status; /* two such runs differ in their output */
};

static int put_profile(const struct trial *trial, struct error *err)
{
	const char *text = learn_text(trial->learn, trial->earlier, err);
	size_t len = text != NULL ? strlen(text) : 0;

	if (text == NULL)
		return -1;
	(void)unlink(trial->file);
	int fd = open(trial->file, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return error_sys(err, "cannot make %s", trial->file);
	bool done = write(fd, text, len) == (ssize_t)len;
	close(fd);
	return done ? 0 : error_sys(err, "cannot write %s", trial->file);
}

static json_t *try_it(const struct trial *trial, struct error *err)
{
	struct learn *learn = trial->learn;
	char *const options[] = {arena_strdup(learn->arena, "--profile"),
				 arena_strdup(learn->arena, trial->file),
				 arena_strdup(learn->arena, "--set"),
				 arena_strdup(learn->arena, "file.writes=discard"), NULL};
	int status;

	if (put_profile(trial, err) != 0)
		return NULL;
	json_t *end = learn_launch(learn, options, -1, true, &status, err);
	const char *kind = json_string_value(json_object_get(json_object_get(end, "end"), "kind"));
	if (kind != NULL && strcmp(kind, "cancelled") == 0) {
		error_set(err, ERROR_SYSTEM, "--trim: interrupted, nothing is written");
		json_decref(end);
		return NULL;
	}
	return end;
}

static bool same(const json_t *a, const json_t *b, const char *member, const char *key)
{
	return json_equal(json_object_get(json_object_get(a, member), key),
			  json_object_get(json_object_get(b, member), key));
}

static bool is_same_run(const struct trial *trial, const json_t *end)
{
	const json_t *wanted = trial->wanted;

	return same(wanted, end, "end", "kind") && same(wanted, end, "end", "code") &&
	       (trial->only_status ||
		(same(wanted, end, "stdout", "bytes") && same(wanted, end, "stdout", "sha256") &&
		 same(wanted, end, "stderr", "bytes") && same(wanted, end, "stderr", "sha256")));
}

/* Twice with all lines: it has to end as it did while it was watched, and tells what is stable. */
static int try_all(struct trial *trial, struct error *err)
{
	trial->wanted = try_it(trial, err);
	json_t *again = trial->wanted != NULL ? try_it(trial, err) : NULL;

	if (again == NULL)
		return -1;
	if (!same(trial->wanted, trial->learn->end, "end", "kind") ||
	    !same(trial->wanted, trial->learn->end, "end", "code") ||
	    !same(trial->wanted, again, "end", "code"))
		return error_set(err, ERROR_MISSING,
				 "--trim: the program does not end the same when it runs again, so "
				 "no line can be tried; nothing is written");
	trial->only_status = !is_same_run(trial, again);
	if (trial->only_status)
		fputs("sbox learn: --trim: the output differs from run to run, so only how it ends "
		      "is compared\n",
		      stderr);
	return 0;
}

/* 1: not needed, 0: needed, -1: nobody knows. */
static int is_spare(const struct trial *trial, struct error *err)
{
	json_t *end = try_it(trial, err);

	if (end == NULL)
		return -1;
	bool spare = is_same_run(trial, end);
	json_decref(end);
	return spare;
}

static void note(struct learn *learn, const char *what)
{
	struct folded *folded = &learn->folded;

	*ARENA_PUSH(learn->arena, folded->left, folded->left_count) =
		(struct left_out){what, "used, and not needed: the run is the same without"};
}

static int trim_grants(struct trial *trial, struct error *err)
{
	struct learn *learn = trial->learn;
	struct folded *folded = &learn->folded;

	for (size_t i = folded->grant_count; i-- > 0;) {
		const struct folded all = *folded;
		const struct grant grant = all.grants[i];

		/* what it leaves there is what it is run for, and no output tells of it */
		if (grant.rank == RANK_WRITE)
			continue;
		folded->grants = arena_alloc(learn->arena, all.grant_count * sizeof(grant));
		memcpy(folded->grants, all.grants, i * sizeof(grant));
		memcpy(folded->grants + i, all.grants + i + 1,
		       (all.grant_count - i - 1) * sizeof(grant));
		folded->grant_count = folded->grant_room = all.grant_count - 1;
		if (learn->context.cwd != NULL && strcmp(grant.path, learn->context.cwd) == 0)
			folded->cwd = RANK_NONE;
		int spare = is_spare(trial, err);
		if (spare < 0)
			return -1;
		if (spare == 0)
			*folded = all;
		else
			note(learn, grant.path);
	}
	return 0;
}

static int trim_list(struct trial *trial, struct string_list *list, struct error *err)
{
	struct learn *learn = trial->learn;

	for (size_t i = list->count; i-- > 0;) {
		const char *item = list->items[i];

		memmove(list->items + i, list->items + i + 1,
			(--list->count - i) * sizeof(*list->items));
		int spare = is_spare(trial, err);
		if (spare < 0)
			return -1;
		if (spare == 1) {
			note(learn, item);
			continue;
		}
		memmove(list->items + i + 1, list->items + i,
			(list->count++ - i) * sizeof(*list->items));
		list->items[i] = item;
	}
	return 0;
}

int learn_trim(struct learn *learn, const struct profile *earlier, struct error *err)
{
	struct trial trial = {
		.learn = learn,
		.earlier = earlier,
		.file = arena_printf(learn->arena, "%s%s.%d.try",
				     strchr(learn->wishes.output, '/') == NULL ? "./" : "",
				     learn->wishes.output, (int)getpid())};
	int rc = try_all(&trial, err);

	if (rc == 0)
		rc = trim_grants(&trial, err);
	if (rc == 0)
		rc = trim_list(&trial, &learn->folded.toolchains, err);
	if (rc == 0)
		rc = trim_list(&trial, &learn->allow, err);
	(void)unlink(trial.file);
	learn->trimmed = rc == 0;
	return rc;
}
