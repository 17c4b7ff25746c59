// SPDX-License-Identifier: Apache-2.0
#include "cmd_read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "record.h"
#include "utf8.h"

/*
 * Says again what a run said, on the same streams, with the pauses that it
 * made. What a terminal would act on is shown instead, unless --raw.
 */

enum { STREAMS = 3, DELAY_MAX_S = 366 * 86400 };

struct stream {
	struct bytes kept;   /* head, then tail */
	uint64_t head, tail; /* how much of each */
	uint64_t bytes, at;  /* all that was said; said again so far */
	char held[4];        /* the beginning of a character whose end is still to come */
	size_t held_len;
	bool told; /* that something is missing */
};

struct replay {
	const struct query *query;
	struct arena *arena;
	struct stream stream[STREAMS];
	struct record_step *steps;
	size_t count;
	bool is_changed; /* something kept is not what the record says */
};

static uint64_t number_of(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return json_is_integer(value) && json_integer_value(value) > 0
		       ? (uint64_t)json_integer_value(value)
		       : 0;
}

static struct bytes load_kept(struct replay *replay, struct store *store, const json_t *object,
			      const char *name)
{
	bool is_changed;
	struct bytes bytes = kept_of(replay->arena, store, object, &is_changed);

	if (bytes.data == NULL)
		fprintf(stderr, "sbox-audit: replay: %s is no longer in the store\n", name);
	else if (is_changed)
		fprintf(stderr,
			"sbox-audit: replay: %s was changed in the store: this is not "
			"what was kept\n",
			name);
	replay->is_changed = replay->is_changed || is_changed;
	return bytes;
}

static void load_stream(struct replay *replay, struct store *store, const json_t *record,
			unsigned int which)
{
	static const char *const names[STREAMS] = {"stdin", "stdout", "stderr"};
	const json_t *object = json_object_get(record, names[which]);
	struct stream *stream = &replay->stream[which];

	stream->bytes = number_of(object, "bytes");
	if (kept_name(object) == NULL)
		return;
	stream->kept = load_kept(replay, store, object, names[which]);
	stream->head = number_of(object, "head_bytes");
	if (stream->head > stream->kept.len)
		stream->head = stream->kept.len;
	stream->tail = stream->kept.len - stream->head;
	if (stream->tail > stream->bytes)
		stream->tail = stream->bytes;
}

static void add_step(struct replay *replay, uint64_t delay_us, uint64_t stream, uint64_t bytes)
{
	struct record_step *step = ARENA_PUSH(replay->arena, replay->steps, replay->count);

	*step = (struct record_step){delay_us, stream < STREAMS ? (unsigned int)stream : 0, bytes};
}

/* "sbox-timing 1", then "DELAY_US STREAM BYTES" a line; whatever else ends it. */
static void parse_timing(struct replay *replay, struct bytes text)
{
	const char *at = arena_strndup(replay->arena, text.data, text.len);
	unsigned long long delay, bytes;
	unsigned int stream;

	if (strncmp(at, "sbox-timing 1\n", 14) != 0)
		return;
	for (at += 14; sscanf(at, "%llu %u %llu", &delay, &stream, &bytes) == 3; at++) {
		add_step(replay, delay, stream, bytes);
		at = strchr(at, '\n');
		if (at == NULL)
			break;
	}
}

static void load_timing(struct replay *replay, struct store *store, const json_t *record)
{
	const json_t *timing = json_object_get(record, "timing"), *step;
	struct bytes text = {0};
	size_t i;

	json_array_foreach(json_object_get(timing, "steps"), i, step)
		add_step(replay, (uint64_t)json_integer_value(json_array_get(step, 0)),
			 (uint64_t)json_integer_value(json_array_get(step, 1)),
			 (uint64_t)json_integer_value(json_array_get(step, 2)));
	if (kept_name(timing) != NULL)
		text = load_kept(replay, store, timing, "timing");
	if (text.data != NULL)
		parse_timing(replay, text);
}

static FILE *target(unsigned int which)
{
	return which == 2 ? stderr : stdout;
}

/* Bytes at the end that are only the beginning of a character. */
static size_t open_end(const char *data, size_t len)
{
	for (size_t back = 1; back <= 3 && back <= len; back++) {
		unsigned char byte = (unsigned char)data[len - back];
		size_t size = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;

		if ((byte & 0xc0) != 0x80)
			return size > back ? back : 0;
	}
	return 0;
}

/* Lines stay lines; all else that is active is shown as \e, \x07, \u202e. */
static void put_safe(struct arena *arena, FILE *out, struct bytes text)
{
	while (text.len > 0) {
		const char *newline = memchr(text.data, '\n', text.len);
		size_t len = newline == NULL ? text.len : (size_t)(newline - text.data);
		bool has_return = newline != NULL && len > 0 && text.data[len - 1] == '\r';

		fputs(text_line(arena, (struct bytes){text.data, len - has_return}), out);
		if (newline == NULL)
			return;
		fputc('\n', out);
		text.data += len + 1;
		text.len -= len + 1;
	}
}

static void put(struct replay *replay, unsigned int which, struct bytes text)
{
	struct stream *stream = &replay->stream[which];
	struct arena arena = {0};

	if (which == 0)
		return; /* what was typed: a terminal echoed it */
	if (replay->query->raw) {
		fwrite(text.data, 1, text.len, target(which));
		return;
	}
	char *joined = arena_alloc(&arena, text.len + stream->held_len + 1);
	memcpy(joined, stream->held, stream->held_len);
	memcpy(joined + stream->held_len, text.data, text.len);
	size_t len = text.len + stream->held_len, held = open_end(joined, len);
	put_safe(&arena, target(which), (struct bytes){joined, len - held});
	memcpy(stream->held, joined + len - held, held);
	stream->held_len = held;
	arena_free(&arena);
}

/* From where the stream is: what was kept of the next bytes. */
static void say(struct replay *replay, unsigned int which, uint64_t bytes)
{
	struct stream *stream = &replay->stream[which];
	uint64_t end = stream->at + bytes, tail_from = stream->bytes - stream->tail;

	if (end > stream->bytes || end < stream->at)
		end = stream->bytes;
	if (stream->at < stream->head) {
		uint64_t to = end < stream->head ? end : stream->head;

		put(replay, which, (struct bytes){stream->kept.data + stream->at, to - stream->at});
		stream->at = to;
	}
	if (stream->at < end && stream->at < tail_from && which > 0 && !stream->told) {
		stream->told = true;
		fprintf(target(which), "\n[%ju bytes were not kept]\n",
			(uintmax_t)(tail_from - stream->head));
	}
	if (end > tail_from && stream->tail > 0) {
		uint64_t from = stream->at > tail_from ? stream->at : tail_from;

		put(replay, which,
		    (struct bytes){stream->kept.data + stream->head + (from - tail_from),
				   end - from});
	}
	stream->at = end > stream->at ? end : stream->at;
}

static void wait_for(const struct query *query, uint64_t delay_us)
{
	double seconds = (double)delay_us / 1e6 / query->speed;

	if (query->max_wait_s >= 0 && seconds > query->max_wait_s)
		seconds = query->max_wait_s;
	if (seconds > DELAY_MAX_S)
		seconds = DELAY_MAX_S;
	struct timespec left = {.tv_sec = (time_t)seconds,
				.tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9)};
	while (left.tv_sec + left.tv_nsec > 0 && nanosleep(&left, &left) < 0 && errno == EINTR)
		continue;
}

static void play(struct replay *replay)
{
	for (size_t i = 0; i < replay->count; i++) {
		const struct record_step *step = &replay->steps[i];

		wait_for(replay->query, step->delay_us);
		say(replay, step->stream, step->bytes);
		fflush(stdout);
		fflush(stderr);
		if (ferror(stdout))
			return;
	}
	for (unsigned int which = 1; which < STREAMS; which++) {
		struct stream *stream = &replay->stream[which];

		say(replay, which, stream->bytes);
		put_safe(replay->arena, target(which),
			 (struct bytes){stream->held, stream->held_len});
	}
	if (replay->query->raw && isatty(STDOUT_FILENO))
		fputs("\033[0m\033[?25h", stdout);
}

static int replay_record(struct replay *replay, struct store *store, const json_t *end)
{
	if (end == NULL) {
		fprintf(stderr, "sbox-audit: replay: the run has no end yet: its output is kept "
				"when it ends\n");
		return EXIT_BAD;
	}
	for (unsigned int which = 0; which < STREAMS; which++)
		load_stream(replay, store, end, which);
	load_timing(replay, store, end);
	play(replay);
	return replay->is_changed ? EXIT_BAD : EXIT_OK;
}

int replay_main(int argc, char **argv)
{
	struct arena arena = {0};
	struct query query;
	struct index index;
	struct cmd_log log;
	struct replay replay = {.query = &query, .arena = &arena};
	int rc = query_parse("replay", TAKES_RUN | TAKES_REPLAY, argc, argv, &query);

	if (rc != EXIT_OK)
		return rc;
	if (index_open(&index, &log, query.store_dir, &arena) < 0)
		return EXIT_BAD;
	const struct index_row *row = query_run(&query, &index);
	json_t *end = row == NULL ? NULL : index_record(&index, &row->end);
	rc = row == NULL ? EXIT_BAD : replay_record(&replay, &log.store, end);
	json_decref(end);
	index_close(&index);
	arena_free(&arena);
	return rc;
}
