// SPDX-License-Identifier: Apache-2.0
#include "timing.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/mman.h>
#include <time.h>

enum { LINE_MAX_LEN = 64 };

static uint64_t now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

void timing_start(struct timing *timing)
{
	timing->start_us = now_us();
}

/* Pages cost nothing until a step is written to them. */
static bool make_room(struct timing *timing)
{
	if (timing->steps != NULL)
		return true;
	void *steps = mmap(NULL, 2 * TIMING_HALF * sizeof(*timing->steps), PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	timing->steps = steps == MAP_FAILED ? NULL : steps;
	return timing->steps != NULL;
}

static struct timing_step *last_step(const struct timing *timing)
{
	if (timing->tail > 0)
		return &timing->steps[TIMING_HALF +
				      (timing->tail_next + TIMING_HALF - 1) % TIMING_HALF];
	return timing->head > 0 ? &timing->steps[timing->head - 1] : NULL;
}

/* Where the next step goes; a full ring gives its oldest to the middle. */
static struct timing_step *next_step(struct timing *timing)
{
	if (timing->head < TIMING_HALF)
		return &timing->steps[timing->head++];
	struct timing_step *step = &timing->steps[TIMING_HALF + timing->tail_next];
	if (timing->tail == TIMING_HALF) {
		if (timing->middle_us == 0)
			timing->middle_us = step->at_us;
		timing->middle[step->stream] += step->bytes;
	} else {
		timing->tail++;
	}
	timing->tail_next = (timing->tail_next + 1) % TIMING_HALF;
	return step;
}

void timing_add(struct timing *timing, unsigned int stream, uint64_t bytes)
{
	uint64_t at_us = now_us() - timing->start_us;

	if (!make_room(timing))
		return;
	struct timing_step *last = last_step(timing);
	if (last != NULL && last->stream == stream && at_us - last->at_us < TIMING_JOIN_US)
		last->bytes += bytes;
	else
		*next_step(timing) =
			(struct timing_step){.at_us = at_us, .stream = stream, .bytes = bytes};
}

/* Copies one step, whose delay counts from the one before. */
static void put(struct record_step *steps, size_t *count, uint64_t *before_us,
		struct timing_step step)
{
	steps[(*count)++] = (struct record_step){step.at_us - *before_us, step.stream, step.bytes};
	*before_us = step.at_us;
}

size_t timing_steps(const struct timing *timing, struct arena *arena,
		    const struct record_step **ret_steps)
{
	size_t count = 0, oldest = timing->tail == TIMING_HALF ? timing->tail_next : 0;
	uint64_t before_us = 0;
	struct record_step *steps =
		arena_alloc(arena, (timing->head + timing->tail + TIMING_STREAMS) * sizeof(*steps));

	for (size_t i = 0; i < timing->head; i++)
		put(steps, &count, &before_us, timing->steps[i]);
	for (unsigned int stream = 0; stream < TIMING_STREAMS; stream++)
		if (timing->middle[stream] > 0)
			put(steps, &count, &before_us,
			    (struct timing_step){timing->middle_us, stream & 3,
						 timing->middle[stream]});
	for (size_t i = 0; i < timing->tail; i++)
		put(steps, &count, &before_us,
		    timing->steps[TIMING_HALF + (oldest + i) % TIMING_HALF]);
	*ret_steps = steps;
	return count;
}

char *timing_text(struct arena *arena, const struct record_step *steps, size_t count)
{
	char *text = arena_alloc(arena, (count + 1) * LINE_MAX_LEN);
	int len = sprintf(text, "sbox-timing 1\n");

	for (size_t i = 0; i < count; i++)
		len += sprintf(text + len, "%" PRIu64 " %u %" PRIu64 "\n", steps[i].delay_us,
			       steps[i].stream, steps[i].bytes);
	return text;
}

void timing_free(struct timing *timing)
{
	if (timing->steps != NULL)
		munmap(timing->steps, 2 * TIMING_HALF * sizeof(*timing->steps));
	timing->steps = NULL;
}
