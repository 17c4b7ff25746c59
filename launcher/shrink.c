// SPDX-License-Identifier: Apache-2.0
#include "shrink.h"

#include <zlib.h>

enum { LEVEL = 1, GZIP_WINDOW = 15 + 16, MEMORY_LEVEL = 8, TRIAL = 64 * 1024, PIECE = 1 << 30 };

/* At least an eighth smaller. */
static bool pays(size_t from, size_t to)
{
	return to < from - from / 8;
}

/* Gives all of it to zlib, in pieces that its counters can hold. */
static bool feed(z_stream *stream, const unsigned char *data, size_t len)
{
	size_t done = 0;
	int rc = Z_OK;

	while (rc == Z_OK && done < len) {
		/* a first part of random bytes tells enough: the rest is not even tried */
		size_t piece = done == 0 && len > TRIAL ? TRIAL : len - done;
		piece = piece > PIECE ? PIECE : piece;
		bool is_last = done + piece == len;

		stream->next_in = (unsigned char *)data + done;
		stream->avail_in = (unsigned int)piece;
		rc = deflate(stream, is_last ? Z_FINISH : Z_BLOCK);
		done += piece;
		if (!is_last && !pays(stream->total_in, stream->total_out))
			return false;
	}
	return rc == Z_STREAM_END;
}

bool shrink(struct arena *arena, const void *data, size_t len, const void **ret_data,
	    size_t *ret_len)
{
	z_stream stream = {0};

	if (len < SHRINK_MIN || len > PIECE)
		return false;
	if (deflateInit2(&stream, LEVEL, Z_DEFLATED, GZIP_WINDOW, MEMORY_LEVEL,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		return false;
	size_t room = deflateBound(&stream, len);
	unsigned char *out = arena_alloc(arena, room);
	stream.next_out = out;
	stream.avail_out = (unsigned int)room;
	bool done = feed(&stream, data, len) && pays(len, stream.total_out);
	if (done) {
		*ret_data = out;
		*ret_len = stream.total_out;
	}
	deflateEnd(&stream);
	return done;
}
