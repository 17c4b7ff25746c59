// SPDX-License-Identifier: Apache-2.0
#include "cmd_read.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "store_internal.h"

/* A file that says it grows beyond this is none that sbox has written. */
enum { GROWTH_MAX = 1100, GZIP_WINDOW = 15 + 16 };

static int open_kept(struct store *store, const char *kept)
{
	struct error err;
	const char *slash = strchr(kept, '/');
	char folder[64];

	if (slash == NULL || (size_t)(slash - kept) >= sizeof(folder))
		return -1;
	memcpy(folder, kept, (size_t)(slash - kept));
	folder[slash - kept] = '\0';
	if (store_check_name(folder, &err) < 0 || store_check_name(slash + 1, &err) < 0)
		return -1;
	int folder_fd = store_folder_open(store, folder, false, &err);
	if (folder_fd < 0)
		return -1;
	int fd = store_file_open(folder_fd, folder, slash + 1, O_RDONLY, store->owner, NULL, &err);
	close(folder_fd);
	return fd;
}

/* A file can have any size: its owner made it larger, or put a sparse one there. */
static struct bytes read_most(struct arena *arena, int fd, size_t max)
{
	struct bytes bytes = {0};
	struct stat st;
	size_t got = 0;
	ssize_t len;

	if (fstat(fd, &st) < 0)
		return bytes;
	size_t want = (uint64_t)st.st_size < max ? (size_t)st.st_size : max;
	char *data = arena_alloc(arena, want + 1);
	while (got < want && (len = read(fd, data + got, want - got)) > 0)
		got += (size_t)len;
	return (struct bytes){data, got};
}

/* What can be had of it: a file that was cut gives its beginning. */
static struct bytes expand(struct arena *arena, struct bytes packed, size_t max)
{
	z_stream stream = {.next_in = (unsigned char *)packed.data,
			   .avail_in = (unsigned int)packed.len};
	size_t room = packed.len * 4 + 4096, len = 0;
	char *data = malloc(room);
	int rc = Z_OK;

	if (data == NULL || inflateInit2(&stream, GZIP_WINDOW) != Z_OK)
		abort();
	if (max > packed.len * GROWTH_MAX + 4096)
		max = packed.len * GROWTH_MAX + 4096;
	while (rc == Z_OK && len < max) {
		if (len == room && (data = realloc(data, room *= 2)) == NULL)
			abort();
		stream.next_out = (unsigned char *)data + len;
		stream.avail_out = room - len < (1 << 30) ? (unsigned int)(room - len) : 1 << 30;
		rc = inflate(&stream, Z_NO_FLUSH);
		len = (size_t)((char *)stream.next_out - data);
	}
	inflateEnd(&stream);
	len = len < max ? len : max;
	char *copy = arena_strndup(arena, "", 0);
	if (len > 0)
		copy = memcpy(arena_alloc(arena, len + 1), data, len);
	free(data);
	return (struct bytes){copy, len};
}

struct bytes kept_read(struct arena *arena, struct store *store, const char *kept, size_t max)
{
	size_t len = strlen(kept);
	int fd = open_kept(store, kept);

	if (fd < 0)
		return (struct bytes){0};
	struct bytes bytes = read_most(arena, fd, max);
	close(fd);
	if (bytes.data != NULL && len > 3 && strcmp(kept + len - 3, ".gz") == 0)
		return expand(arena, bytes, max);
	return bytes;
}

/* Program text is named by its hash; of all else the record says it. "": nobody knows. */
static const char *hash_of(const json_t *object, const char *kept)
{
	static const char scripts[] = "scripts/";
	const char *hash = json_string_value(json_object_get(object, "sha256"));

	if (strncmp(kept, scripts, sizeof(scripts) - 1) == 0)
		return kept + sizeof(scripts) - 1;
	return hash != NULL ? hash : "";
}

/* What the record says, and one more byte that shows when the file has more. */
static size_t size_of(const json_t *object)
{
	const json_t *head = json_object_get(object, "head_bytes");
	json_int_t size = json_integer_value(head) +
			  json_integer_value(json_object_get(object, "tail_bytes"));

	return head == NULL || size < 0 ? KEPT_MAX : (size_t)size + 1;
}

struct bytes kept_of(struct arena *arena, struct store *store, const json_t *object,
		     bool *ret_is_changed)
{
	const char *kept = kept_name(object);
	struct bytes bytes = {0};
	char hash[SHA256_HEX];

	*ret_is_changed = false;
	if (kept == NULL)
		return bytes;
	bytes = kept_read(arena, store, kept, size_of(object));
	const char *wanted = hash_of(object, kept);
	if (bytes.data != NULL && wanted[0] != '\0') {
		sha256_hex_of(bytes.data, bytes.len, hash);
		*ret_is_changed = strncmp(hash, wanted, SHA256_HEX - 1) != 0;
	}
	return bytes;
}

const char *kept_name(const json_t *object)
{
	return json_string_value(json_object_get(object, "kept"));
}
