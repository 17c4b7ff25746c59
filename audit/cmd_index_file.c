// SPDX-License-Identifier: Apache-2.0
#include "cmd_index.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store_internal.h"

enum { PAGE = 4096, HELD_MAX = 4 << 20, LOCK_WAIT_MS = 60000, LOCK_STEP_MS = 20 };

static const char magic[8] = "sboxidx";

static int open_file(struct index *index, int folder_fd, const char *name)
{
	struct error err;

	if (folder_fd < 0)
		return memfd_create(name, MFD_CLOEXEC);
	return store_file_open(folder_fd, index->log->store.dir, name, O_RDWR | O_CREAT,
			       index->log->store.owner, NULL, &err);
}

/* Whoever builds it is waited for: to build it twice at once takes longer. */
static int lock_folder(struct index *index, int folder_fd)
{
	int fd = open_file(index, folder_fd, "lock");

	for (int waited = 0; fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0; waited += LOCK_STEP_MS) {
		if (waited >= LOCK_WAIT_MS) {
			close(fd);
			return -1;
		}
		usleep(LOCK_STEP_MS * 1000);
	}
	return fd;
}

static bool read_head(struct index *index)
{
	struct index_head *head = &index->head;
	struct stat rows, text, json;

	if (pread(index->rows_fd, head, sizeof(*head), 0) != sizeof(*head) ||
	    memcmp(head->magic, magic, sizeof(magic)) != 0 || head->version != INDEX_VERSION ||
	    head->row_size != sizeof(struct index_row) || head->rows > UINT32_MAX)
		return false;
	head->last_sha256[64] = '\0';
	return fstat(index->rows_fd, &rows) == 0 && fstat(index->text.fd, &text) == 0 &&
	       fstat(index->json.fd, &json) == 0 &&
	       (uint64_t)rows.st_size >= PAGE + head->rows * sizeof(struct index_row) &&
	       (uint64_t)text.st_size >= head->text_bytes &&
	       (uint64_t)json.st_size >= head->json_bytes;
}

static void *map_file(int fd, uint64_t offset, uint64_t len, int protection, int flags)
{
	void *at = mmap(NULL, len > 0 ? len : 1, protection, flags, fd, (off_t)offset);

	return at == MAP_FAILED ? NULL : at;
}

static struct index_row *room_for(uint64_t rows)
{
	void *at = mmap(NULL, rows * sizeof(struct index_row), PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (at == MAP_FAILED)
		abort();
	return at;
}

/* Rows are changed in a copy of our own: others may be reading the file. */
static bool load_rows(struct index *index)
{
	uint64_t size = index->head.rows * sizeof(struct index_row);

	index->loaded = index->head.rows;
	index->room = index->loaded + index->loaded / 8 + 4096;
	index->rows = room_for(index->room);
	return size == 0 || mmap(index->rows, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED,
				 index->rows_fd, PAGE) == index->rows;
}

static void start_empty(struct index *index)
{
	index->head =
		(struct index_head){.version = INDEX_VERSION, .row_size = sizeof(struct index_row)};
	memcpy(index->head.magic, magic, sizeof(magic));
	index->text.len = index->json.len = 0;
}

/* The files that are in use stay what they are for those who read them. */
static void make_anew(struct index *index, int folder_fd)
{
	static const char *const names[] = {"rows", "text", "json"};
	int *const fds[] = {&index->rows_fd, &index->text.fd, &index->json.fd};

	for (size_t i = 0; i < 3; i++) {
		close(*fds[i]);
		if (folder_fd >= 0)
			unlinkat(folder_fd, names[i], 0);
		*fds[i] = open_file(index, folder_fd, names[i]);
	}
	start_empty(index);
	index->is_changed = true;
}

int index_files_open(struct index *index, bool in_memory)
{
	struct error err;
	const struct store *store = &index->log->store;
	bool is_ours = !in_memory && store->owner == geteuid();
	int folder_fd = is_ours ? store_folder_open(store, "index", true, &err) : -1;

	index->folder_fd = folder_fd;
	index->lock_fd = folder_fd >= 0 ? lock_folder(index, folder_fd) : -1;
	if (folder_fd >= 0 && index->lock_fd < 0) {
		close(folder_fd);
		index->folder_fd = folder_fd = -1;
	}
	index->rows_fd = open_file(index, folder_fd, "rows");
	index->text.fd = open_file(index, folder_fd, "text");
	index->json.fd = open_file(index, folder_fd, "json");
	if (index->rows_fd < 0 || index->text.fd < 0 || index->json.fd < 0)
		return -1;
	if (!read_head(index))
		make_anew(index, folder_fd);
	index->text.len = index->head.text_bytes;
	index->json.len = index->head.json_bytes;
	return load_rows(index) ? 0 : -1;
}

void index_files_forget(struct index *index)
{
	munmap(index->rows, index->room * sizeof(struct index_row));
	make_anew(index, index->folder_fd);
	load_rows(index);
}

struct index_row *index_row_add(struct index *index)
{
	if (index->head.rows == index->room) {
		struct index_row *larger = room_for(index->room * 2);

		memcpy(larger, index->rows, index->room * sizeof(*larger));
		munmap(index->rows, index->room * sizeof(*larger));
		index->rows = larger;
		index->room *= 2;
	}
	struct index_row *row = &index->rows[index->head.rows++];
	memset(row, 0, sizeof(*row));
	return row;
}

static int write_at(int fd, const void *data, size_t len, uint64_t offset)
{
	const char *from = data;

	while (len > 0) {
		ssize_t done = pwrite(fd, from, len, (off_t)offset);

		if (done <= 0)
			return -1;
		from += done;
		offset += (uint64_t)done;
		len -= (size_t)done;
	}
	return 0;
}

static int flush_area(struct index_area *area)
{
	int rc = area->held == 0 || area->is_full
			 ? 0
			 : write_at(area->fd, area->buffer, area->held, area->len - area->held);

	area->held = 0;
	area->is_full |= rc < 0;
	return area->is_full ? -1 : 0;
}

void index_put(struct index_area *area, const void *data, size_t len, struct index_ref *ret)
{
	enum { LEN_MAX = (1 << 24) - 1 };

	if (area->buffer == NULL && (area->buffer = malloc(HELD_MAX)) == NULL)
		abort();
	len = len > LEN_MAX ? 0 : len;
	*ret = (struct index_ref){.at = area->len & ((1ull << 40) - 1), .len = len & LEN_MAX};
	for (size_t done = 0; done < len;) {
		size_t piece =
			len - done < HELD_MAX - area->held ? len - done : HELD_MAX - area->held;

		memcpy(area->buffer + area->held, (const char *)data + done, piece);
		area->held += piece;
		area->len += piece;
		done += piece;
		if (area->held == HELD_MAX)
			flush_area(area);
	}
}

/* At once: until the head says so, such an end counts as not yet seen (see index_build()). */
void index_row_changed(struct index *index, uint64_t number)
{
	if (number < index->loaded)
		write_at(index->rows_fd, &index->rows[number], sizeof(struct index_row),
			 PAGE + number * sizeof(struct index_row));
}

int index_files_write(struct index *index)
{
	struct index_head *head = &index->head;
	uint64_t from = index->loaded;

	if (!index->is_changed)
		return 0;
	if (flush_area(&index->text) < 0 || flush_area(&index->json) < 0)
		return -1;
	head->text_bytes = index->text.len;
	head->json_bytes = index->json.len;
	if (from < head->rows && write_at(index->rows_fd, index->rows + from,
					  (head->rows - from) * sizeof(struct index_row),
					  PAGE + from * sizeof(struct index_row)) < 0)
		return -1;
	return write_at(index->rows_fd, head, sizeof(*head), 0);
}

int index_files_map(struct index *index)
{
	index->text.map = map_file(index->text.fd, 0, index->text.len, PROT_READ, MAP_SHARED);
	index->json.map = map_file(index->json.fd, 0, index->json.len, PROT_READ, MAP_SHARED);
	if (index->lock_fd >= 0)
		close(index->lock_fd);
	index->lock_fd = -1;
	return index->text.map == NULL || index->json.map == NULL ? -1 : 0;
}

static void close_area(struct index_area *area)
{
	if (area->map != NULL)
		munmap((void *)area->map, area->len > 0 ? area->len : 1);
	free(area->buffer);
	if (area->fd >= 0)
		close(area->fd);
	*area = (struct index_area){.fd = -1};
}

void index_files_close(struct index *index)
{
	const int fds[] = {index->rows_fd, index->folder_fd, index->lock_fd};

	if (index->rows != NULL)
		munmap(index->rows, index->room * sizeof(struct index_row));
	index->rows = NULL;
	close_area(&index->text);
	close_area(&index->json);
	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
		if (fds[i] >= 0)
			close(fds[i]);
	index->rows_fd = index->folder_fd = index->lock_fd = -1;
}
