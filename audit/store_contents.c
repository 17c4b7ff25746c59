// SPDX-License-Identifier: Apache-2.0
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store_internal.h"
#include "store_prune.h"

void store_kept_path(const struct store_kept *file, char path[STORE_KEPT_NAME + 16])
{
	snprintf(path, STORE_KEPT_NAME + 16, "%s/%s", file->is_script ? "scripts" : "output",
		 file->name);
}

static struct store_kept *grow(struct store_kept *files, size_t count)
{
	/* doubles at each power of two */
	if (count != 0 && (count & (count - 1)) != 0)
		return files;
	files = realloc(files, (count == 0 ? 1 : 2 * count) * sizeof(*files));
	if (files == NULL)
		abort();
	return files;
}

/* Only what could be the store's own; a file that is just being written has a dot in front. */
static void add(struct store_contents *contents, int folder_fd, const char *name, bool is_script)
{
	struct error ignored;
	struct stat st;

	if (store_check_name(name, &ignored) < 0 ||
	    fstatat(folder_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode))
		return;
	contents->files = grow(contents->files, contents->file_count);
	struct store_kept *file = &contents->files[contents->file_count++];

	*file = (struct store_kept){.name = strdup(name),
				    .is_script = is_script,
				    .bytes = (uint64_t)st.st_blocks * 512,
				    .changed = st.st_mtim.tv_sec};
	if (file->name == NULL)
		abort();
	contents->bytes += file->bytes;
}

static int list_folder(const struct store *store, struct store_contents *contents,
		       const char *folder, bool is_script, struct error *err)
{
	int fd = store_folder_open(store, folder, false, err);

	if (fd < 0)
		return err->errnum == ENOENT ? 0 : -1;
	DIR *dir = fdopendir(fd);
	if (dir == NULL) {
		close(fd);
		return store_fail(err, "audit store %s/%s: cannot list", store->dir, folder);
	}
	for (struct dirent *entry; (entry = readdir(dir)) != NULL;)
		add(contents, fd, entry->d_name, is_script);
	closedir(dir);
	return 0;
}

static int by_age(const void *left, const void *right)
{
	const struct store_kept *a = left, *b = right;

	if (a->changed != b->changed)
		return a->changed < b->changed ? -1 : 1;
	return strcmp(a->name, b->name);
}

int store_contents_list(const struct store *store, struct store_contents *ret, struct error *err)
{
	struct store_contents contents = {0};

	if (list_folder(store, &contents, "output", false, err) < 0 ||
	    list_folder(store, &contents, "scripts", true, err) < 0 ||
	    store_segments_list(store, &contents.segments, err) < 0) {
		store_contents_free(&contents);
		return -1;
	}
	if (contents.file_count > 0)
		qsort(contents.files, contents.file_count, sizeof(*contents.files), by_age);
	for (size_t i = 0; i < contents.segments.count; i++)
		contents.bytes += contents.segments.item[i].bytes;
	*ret = contents;
	return 0;
}

void store_contents_free(struct store_contents *contents)
{
	for (size_t i = 0; i < contents->file_count; i++)
		free(contents->files[i].name);
	free(contents->files);
	store_segments_free(&contents->segments);
	*contents = (struct store_contents){0};
}

int store_segment_start(struct store *store, const struct store_segment *segment, uint64_t *ret_seq,
			char ret_prev[65], struct error *err)
{
	char start[256];
	struct store_line line;
	int fd = store_file_open(store->dir_fd, store->dir, segment->name, O_RDONLY, store->owner,
				 NULL, err);

	if (fd < 0)
		return -1;
	ssize_t len = pread(fd, start, sizeof(start) - 2, 0);
	close(fd);
	if (len > 0) {
		memcpy(start + len, "}\n", 2); /* the start is all that is looked at */
		if (store_line_parse(start, (size_t)len + 2, &line)) {
			*ret_seq = line.seq;
			memcpy(ret_prev, line.prev, 64);
			ret_prev[64] = '\0';
			return 0;
		}
	}
	return error_set(err, ERROR_AUDIT, "audit store %s/%s: does not begin with a record",
			 store->dir, segment->name);
}
