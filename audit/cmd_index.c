// SPDX-License-Identifier: Apache-2.0
#include "cmd_index.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store_internal.h"

/* The first seq of each segment: of the one that grows it is in its first line. */
static void find_first_seqs(struct index *index)
{
	const struct store_segments *segments = &index->log->segments;
	struct cmd_line line;

	index->first_seqs = calloc(segments->count + 1, sizeof(*index->first_seqs));
	if (index->first_seqs == NULL)
		abort();
	for (size_t i = 0; i < segments->count; i++) {
		index->first_seqs[i] = segments->item[i].first_seq;
		if (index->first_seqs[i] == 0 && segments->item[i].bytes > 0 &&
		    cmd_log_seek(index->log, segments->item[i].name, 0) &&
		    cmd_log_line(index->log, &line))
			index->first_seqs[i] = scan_number(
				scan_find((struct span){line.text, line.len}, "seq"), 0);
	}
}

/* Brought up to date, or made anew when it does not fit the log; 0 or -1. */
static int fill(struct index *index, bool in_memory)
{
	if (index_files_open(index, in_memory) < 0)
		return -1;
	if (!index_build(index)) {
		index_files_forget(index);
		if (!index_build(index))
			return -1;
	}
	if (index_files_write(index) < 0)
		return -1;
	return index_files_map(index);
}

int index_open(struct index *index, struct cmd_log *log, const char *dir, struct arena *arena)
{
	if (cmd_log_open(log, dir, arena) < 0)
		return -1;
	*index = (struct index){.log = log, .rows_fd = -1, .folder_fd = -1, .lock_fd = -1};
	index->text.fd = index->json.fd = -1;
	find_first_seqs(index);
	if (fill(index, false) == 0)
		return 0;
	/* no room, no right, or a lock that is never free: then for this once */
	index_files_close(index);
	index->user = index->profile = (struct index_seen){0};
	if (fill(index, true) == 0)
		return 0;
	fprintf(stderr, "sbox-audit: %s: no memory for its index\n", log->store.dir);
	index_close(index);
	return -1;
}

void index_close(struct index *index)
{
	for (size_t i = 0; index->maps != NULL && i < index->log->segments.count; i++)
		if (index->maps[i].at != NULL)
			munmap((void *)index->maps[i].at, index->maps[i].len);
	free(index->maps);
	free(index->first_seqs);
	index->maps = NULL;
	index->first_seqs = NULL;
	index_files_close(index);
	arena_free(&index->arena);
	cmd_log_close(index->log);
}

int index_status(const struct index *index)
{
	if (index->head.bad == 0)
		return EXIT_OK;
	fprintf(stderr,
		"sbox-audit: %s: lines that are no records were skipped: %ju; "
		"sbox audit verify says more\n",
		index->log->store.dir, (uintmax_t)index->head.bad);
	return EXIT_BAD;
}

static struct bytes piece(const struct index_area *area, struct index_ref ref)
{
	if (area->map == NULL || ref.at + ref.len > area->len)
		return (struct bytes){"", 0};
	return (struct bytes){area->map + ref.at, ref.len};
}

struct bytes index_text(const struct index *index, struct index_ref ref)
{
	return piece(&index->text, ref);
}

struct bytes index_json(const struct index *index, struct index_ref ref)
{
	return piece(&index->json, ref);
}

/* A list that somebody changed ends early. */
bool index_kept_next(struct bytes *list, struct index_kept *ret)
{
	size_t where = list->len < 2 ? 0 : strnlen(list->data + 1, list->len - 1);
	size_t name =
		where + 2 >= list->len ? 0 : strnlen(list->data + where + 2, list->len - where - 2);

	if (name == 0 || where + name + 3 > list->len)
		return false;
	*ret = (struct index_kept){list->data[0], list->data + 1, list->data + where + 2};
	list->data += where + name + 3;
	list->len -= where + name + 3;
	return true;
}

struct span index_member(struct bytes members, const char *key)
{
	struct scan scan = {.at = members.data, .end = members.data + members.len};
	struct span name, value;

	while (scan_member(&scan, &name, &value))
		if (span_is(name, key))
			return value;
	return (struct span){0};
}

static struct span map_segment(struct index *index, size_t at)
{
	const struct store_segment *segment = &index->log->segments.item[at];
	struct error err;
	struct stat st;
	struct span map = {0};
	int fd = segment->first_seq == 0
			 ? dup(index->log->store.log_fd)
			 : store_file_open(index->log->store.dir_fd, index->log->store.dir,
					   segment->name, O_RDONLY, index->log->store.owner, NULL,
					   &err);

	if (fd < 0)
		return map;
	if (fstat(fd, &st) == 0 && st.st_size > 0) {
		void *data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);

		if (data != MAP_FAILED)
			map = (struct span){data, (size_t)st.st_size};
	}
	close(fd);
	return map;
}

struct span index_line(struct index *index, const struct index_place *place)
{
	size_t at = 0, count = index->log->segments.count;

	if (index->maps == NULL)
		index->maps = calloc(count + 1, sizeof(*index->maps));
	if (index->maps == NULL)
		abort();
	while (at < count && index->first_seqs[at] != place->segment)
		at++;
	if (at == count || place->len == 0)
		return (struct span){0};
	if (index->maps[at].at == NULL)
		index->maps[at] = map_segment(index, at);
	if (index->maps[at].at == NULL || place->offset > index->maps[at].len ||
	    place->len > index->maps[at].len - place->offset)
		return (struct span){0};
	return (struct span){index->maps[at].at + place->offset, place->len};
}

json_t *index_record(struct index *index, const struct index_place *place)
{
	struct span line = index_line(index, place);

	return line.at == NULL ? NULL : json_loadb(line.at, line.len, JSON_ALLOW_NUL, NULL);
}

const char *index_state(const struct index *index, const struct index_row *row)
{
	char run[INDEX_RUN + 1];

	memcpy(run, row->run, INDEX_RUN);
	run[INDEX_RUN] = '\0';
	return cmd_run_state(index->log, run, (row->flags & INDEX_HAS_END) != 0);
}
