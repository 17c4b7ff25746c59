// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "learn.h"

/* What the learning run had, from the record of its end; 0 where nobody knows. */

static uint64_t number(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return json_is_integer(value) && json_integer_value(value) > 0
		       ? (uint64_t)json_integer_value(value)
		       : 0;
}

static uint64_t to_ms(uint64_t ns)
{
	return (ns + 999999) / 1000000;
}

void learn_measure(struct learn *learn)
{
	const json_t *usage = json_object_get(learn->end, "usage");

	learn->measured = (struct measured){
		.wall_ms = to_ms(number(usage, "wall_ns")),
		.cpu_ms = to_ms(number(usage, "user_ns") + number(usage, "sys_ns")),
		.memory_bytes = number(usage, "peak_memory_bytes"),
		.tasks = number(usage, "peak_tasks"),
		.files = learn->uses.files,
		.output_bytes = number(json_object_get(learn->end, "stdout"), "bytes") +
				number(json_object_get(learn->end, "stderr"), "bytes"),
	};
}

/* The next power of two above so many times what was measured: a round number, and a second
 * run that needs a little more writes the same one. */
uint64_t learn_room(uint64_t measured, uint64_t factor, uint64_t least)
{
	uint64_t room = least;

	while (room < UINT64_MAX / 4 && room / factor < measured)
		room *= 2;
	return room;
}
