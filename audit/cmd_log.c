// SPDX-License-Identifier: Apache-2.0
#include "cmd.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store_internal.h"

/* A record that is just being written is no torn one: the size is taken under the lock. */
static off_t whole_size(struct cmd_log *log)
{
	struct error ignored;
	struct stat st;

	store_lock_wait_ms = 2000;
	bool locked = log->store.lock_fd >= 0 && store_lock(&log->store, &ignored) == 0;
	int rc = fstat(log->store.log_fd, &st);
	if (locked)
		store_unlock(&log->store);
	return rc < 0 ? 0 : st.st_size;
}

int cmd_log_open(struct cmd_log *log, const char *dir, struct arena *arena)
{
	struct error err;

	*log = (struct cmd_log){0};
	if (dir == NULL && store_default_dir(arena, geteuid(), &dir, &err) < 0)
		goto fail;
	if (dir[0] != '/') {
		char *absolute = realpath(dir, NULL);

		dir = absolute == NULL ? dir : arena_strdup(arena, absolute);
		free(absolute);
	}
	if (store_open_to_read(&log->store, dir, &err) < 0)
		goto fail;
	log->left = whole_size(log);
	log->file = fdopen(dup(log->store.log_fd), "r");
	if (log->file == NULL)
		abort();
	return 0;
fail:
	fprintf(stderr, "sbox-audit: %s\n", err.text);
	return -1;
}

void cmd_log_close(struct cmd_log *log)
{
	fclose(log->file);
	free(log->line);
	store_close(&log->store);
}

static json_t *parse(struct cmd_log *log, size_t len, const char **ret_why)
{
	json_error_t error;
	json_t *record =
		json_loadb(log->line, len, JSON_ALLOW_NUL | JSON_REJECT_DUPLICATES, &error);

	if (log->line[len - 1] != '\n')
		*ret_why = "its end is missing";
	else if (record == NULL)
		*ret_why = "not JSON";
	else if (!json_is_string(json_object_get(record, "type")) ||
		 !json_is_integer(json_object_get(record, "seq")))
		*ret_why = "no type or no seq";
	else
		return record;
	json_decref(record);
	return NULL;
}

json_t *cmd_log_next(struct cmd_log *log)
{
	const char *why;

	while (log->left > 0) {
		ssize_t len = getline(&log->line, &log->room, log->file);

		if (len <= 0)
			return NULL;
		log->left -= len;
		log->number++;
		json_t *record = parse(log, (size_t)len, &why);
		if (record != NULL)
			return record;
		log->bad++;
		fprintf(stderr, "sbox-audit: %s/log.jsonl:%lu: not a record: %s\n", log->store.dir,
			log->number, why);
	}
	return NULL;
}

const char *cmd_run_state(struct cmd_log *log, const char *run, bool has_end)
{
	if (has_end)
		return "finished";
	return store_run_alive(&log->store, run) ? "running" : "unfinished";
}
