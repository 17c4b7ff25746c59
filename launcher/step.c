// SPDX-License-Identifier: Apache-2.0
#include "step.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const step_names[STEP_MAX] = {
#define STEP(id, name, reason) [STEP_##id] = name,
	STEP_LIST(STEP)
#undef STEP
};

/* Room for all at once: callers keep pointers to steps while they add others. Pages
 * that no step touches are never there. */
struct step *steps_add(struct steps *steps, enum step_id id)
{
	if (steps->items == NULL)
		steps->items = arena_alloc(steps->arena, STEPS_MAX * sizeof(*steps->items));
	if (steps->count == STEPS_MAX)
		abort();
	struct step *step = &steps->items[steps->count++];
	step->id = id;
	step->idmap = -1;
	return step;
}

/* By counting: stable, and linear for profiles of a thousand paths. */
void steps_sort(struct steps *steps)
{
	struct step *sorted = arena_alloc(steps->arena, (steps->count + 1) * sizeof(*sorted));
	size_t next[STEP_MAX + 1] = {0};

	for (size_t i = 0; i < steps->count; i++)
		next[steps->items[i].id + 1]++;
	for (size_t id = 1; id <= STEP_MAX; id++)
		next[id] += next[id - 1];
	for (size_t i = 0; i < steps->count; i++)
		sorted[next[steps->items[i].id]++] = steps->items[i];
	steps->items = sorted;
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

size_t steps_begin_with(const struct steps *steps, const struct steps *first)
{
	if (steps->count < first->count)
		return 0;
	for (size_t i = 0; i < first->count; i++) {
		const struct step *a = &steps->items[i], *b = &first->items[i];

		if (a->id != b->id || a->value[0] != b->value[0] || !same_text(a->text, b->text) ||
		    !same_text(a->source, b->source) || a->slot != b->slot ||
		    a->flags != b->flags || a->skeleton != b->skeleton)
			return 0;
	}
	return first->count;
}

char *steps_print(struct arena *arena, const struct steps *steps)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (out == NULL)
		return arena_strdup(arena, "");
	for (size_t i = 0; i < steps->count; i++) {
		const struct step *step = &steps->items[i];

		fprintf(out, "%-18s", step_names[step->id]);
		if (step->source != NULL)
			fprintf(out, " from=%s", step->source);
		if (step->path != NULL)
			fprintf(out, " path=/%s", step->path);
		if (step->text != NULL && step->id != STEP_CONTENT)
			fprintf(out, " text=%s", step->text);
		if (step->id == STEP_SOURCE || step->id == STEP_DEVICE)
			fprintf(out, " attr=%#llx", (unsigned long long)step->value[2]);
		else if (step->id == STEP_NAMESPACES)
			fprintf(out, " flags=%#llx", (unsigned long long)step->value[0]);
		else if (step->id == STEP_LIMIT)
			fprintf(out, " %llu=%llu", (unsigned long long)step->value[0],
				(unsigned long long)step->value[1]);
		for (size_t r = 0; r < step->rule_count; r++)
			fprintf(out, "\n    %#08llx %s", (unsigned long long)step->rules[r].access,
				step->rules[r].path);
		fputc('\n', out);
	}
	fclose(out);
	char *copy = arena_strdup(arena, text != NULL ? text : "");
	free(text);
	return copy;
}
