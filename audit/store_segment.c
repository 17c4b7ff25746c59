// SPDX-License-Identifier: Apache-2.0
#include "store_segment.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store_internal.h"

enum { DIGITS = 20 };

void store_segment_name(char name[STORE_SEGMENT_NAME], uint64_t first_seq)
{
	snprintf(name, STORE_SEGMENT_NAME, "log-%020llu.jsonl", (unsigned long long)first_seq);
}

/* Whether it is such a name, and of which number. */
static bool read_name(const char *name, uint64_t *ret_first_seq)
{
	char again[STORE_SEGMENT_NAME];

	if (strncmp(name, "log-", 4) != 0 || strspn(name + 4, "0123456789") != DIGITS)
		return false;
	*ret_first_seq = strtoull(name + 4, NULL, 10);
	store_segment_name(again, *ret_first_seq);
	return strcmp(name, again) == 0;
}

static int by_age(const void *left, const void *right)
{
	const struct store_segment *a = left, *b = right;

	/* log.jsonl is the last one */
	if ((a->first_seq == 0) != (b->first_seq == 0))
		return a->first_seq == 0 ? 1 : -1;
	return a->first_seq < b->first_seq ? -1 : a->first_seq > b->first_seq;
}

static void add(struct store_segments *segments, int dir_fd, const char *name, uint64_t first_seq)
{
	size_t size = (segments->count + 1) * sizeof(*segments->item);
	struct stat st = {0};

	segments->item = realloc(segments->item, size);
	if (segments->item == NULL)
		abort();
	struct store_segment *segment = &segments->item[segments->count++];

	if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		st.st_size = 0;
	*segment = (struct store_segment){.first_seq = first_seq,
					  .bytes = (uint64_t)st.st_size,
					  .changed = st.st_mtim.tv_sec};
	snprintf(segment->name, sizeof(segment->name), "%s", name);
}

int store_segments_list(const struct store *store, struct store_segments *ret, struct error *err)
{
	struct store_segments segments = {0};
	uint64_t first_seq;
	int fd = openat(store->dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (dir == NULL) {
		store_fail(err, "audit store %s: cannot list", store->dir);
		if (fd >= 0)
			close(fd);
		return -1;
	}
	for (struct dirent *entry; (entry = readdir(dir)) != NULL;)
		if (read_name(entry->d_name, &first_seq))
			add(&segments, store->dir_fd, entry->d_name, first_seq);
	closedir(dir);
	/* a rotation that was interrupted between its two renames: see store_rotate.c */
	bool is_halfway = faccessat(store->dir_fd, "log.jsonl", F_OK, 0) < 0 && errno == ENOENT;
	add(&segments, store->dir_fd, is_halfway ? "log.next" : "log.jsonl", 0);
	qsort(segments.item, segments.count, sizeof(*segments.item), by_age);
	*ret = segments;
	return 0;
}

void store_segments_free(struct store_segments *segments)
{
	free(segments->item);
	*segments = (struct store_segments){0};
}
