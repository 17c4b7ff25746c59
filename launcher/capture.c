// SPDX-License-Identifier: Apache-2.0
#include "relay.h"

#include <string.h>
#include <sys/mman.h>

#include "sha256.h"

static size_t head_size(const struct capture *capture)
{
	return capture->limit / 2;
}

static size_t tail_size(const struct capture *capture)
{
	return capture->limit - capture->limit / 2;
}

int capture_init(struct capture *capture, uint64_t limit, struct error *err)
{
	memset(capture, 0, sizeof(*capture));
	capture->limit = limit;
	if (limit == 0)
		return 0;
	if (limit > SIZE_MAX / 2)
		return error_set(err, ERROR_SYSTEM, "audit.capture: %ju bytes do not fit in memory",
				 (uintmax_t)limit);
	/* Pages cost nothing until a byte is kept in them. */
	void *kept = mmap(NULL, limit, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (kept == MAP_FAILED)
		return error_sys(err, "audit.capture: cannot get %ju bytes of memory",
				 (uintmax_t)limit);
	capture->head = kept;
	capture->tail = capture->head + head_size(capture);
	return 0;
}

/* Only the last ring-full of `data` can stay; the rest is not even copied. */
static void tail_add(struct capture *capture, const unsigned char *data, size_t len)
{
	size_t size = tail_size(capture);

	if (len > size) {
		data += len - size;
		len = size;
	}
	size_t first = size - capture->tail_next;
	if (first > len)
		first = len;
	memcpy(capture->tail + capture->tail_next, data, first);
	memcpy(capture->tail, data + first, len - first);
	capture->tail_next = (capture->tail_next + len) % size;
	capture->tail_len = capture->tail_len + len > size ? size : capture->tail_len + len;
}

void capture_add(struct capture *capture, const unsigned char *data, size_t len)
{
	capture->bytes += len;
	if (capture->limit == 0)
		return;
	if (capture->timing != NULL)
		timing_add(capture->timing, capture->stream, len);
	size_t room = head_size(capture) - capture->head_len;
	size_t first = len < room ? len : room;
	if (first > 0) {
		memcpy(capture->head + capture->head_len, data, first);
		capture->head_len += first;
	}
	if (len > first)
		tail_add(capture, data + first, len - first);
}

void capture_skip(struct capture *capture, uint64_t len)
{
	capture->bytes += len;
	capture->tail_len = capture->tail_next = 0;
	if (capture->timing != NULL)
		timing_add(capture->timing, capture->stream, len);
}

static bool is_of_no_use(const struct capture *capture)
{
	return capture->whole_or_none && capture->bytes > capture->limit;
}

bool capture_wants_next(const struct capture *capture)
{
	return capture->head_len < head_size(capture) ||
	       (capture->whole_or_none && !is_of_no_use(capture));
}

size_t capture_keeps(const struct capture *capture)
{
	return is_of_no_use(capture) ? 0 : tail_size(capture);
}

static void reverse(unsigned char *data, size_t len)
{
	for (size_t i = 0; i < len / 2; i++) {
		unsigned char swap = data[i];

		data[i] = data[len - 1 - i];
		data[len - 1 - i] = swap;
	}
}

/* Turns a full ring in place so that the oldest byte comes first. */
static void tail_linearise(struct capture *capture)
{
	size_t size = tail_size(capture);

	if (capture->tail_len < size || capture->tail_next == 0)
		return;
	reverse(capture->tail, capture->tail_next);
	reverse(capture->tail + capture->tail_next, size - capture->tail_next);
	reverse(capture->tail, size);
	capture->tail_next = 0;
}

static void hash_kept(const struct capture *capture, char ret_hex[SHA256_HEX])
{
	struct sha256 hash;

	sha256_start(&hash);
	sha256_add(&hash, capture->head, capture->head_len);
	sha256_add(&hash, capture->tail, capture->tail_len);
	sha256_finish_hex(&hash, ret_hex);
}

void capture_report(struct capture *capture, struct record_stream *ret_stream)
{
	tail_linearise(capture);
	ret_stream->bytes = capture->bytes;
	ret_stream->head = capture->head;
	ret_stream->head_len = capture->head_len;
	ret_stream->tail = capture->tail;
	ret_stream->tail_len = capture->tail_len;
	ret_stream->truncated = capture->bytes > capture->limit;
	ret_stream->sha256[0] = '\0';
	/* Hashing every byte would halve the throughput (about 1.3 GB/s with SHA-NI),
	 * so a hash speaks of what is kept: all of it unless truncated. */
	if (capture->limit > 0)
		hash_kept(capture, ret_stream->sha256);
}

void capture_free(struct capture *capture)
{
	if (capture->head != NULL)
		munmap(capture->head, capture->limit);
	memset(capture, 0, sizeof(*capture));
}
