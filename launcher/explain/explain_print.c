// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "cmd.h"
#include "cmd_read.h"
#include "explain.h"

static const char *member(const struct explain *explain, const json_t *object, const char *key)
{
	return text_member(explain->arena, object, key);
}

static bool is_known(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return value != NULL && !json_is_null(value);
}

static void print_asked(const struct explain *explain)
{
	const json_t *profile = json_object_get(explain->start, "profile");

	printf("run       %s, %s\n", explain->run, explain->state);
	printf("command   %s\n",
	       text_arguments(explain->arena, json_object_get(explain->start, "argv")));
	printf("profile   %s (%s)\n", member(explain, profile, "name"),
	       member(explain, profile, "path"));
	if (explain->end == NULL)
		return;
	printf("end       %s", text_end(explain->arena, explain->end));
	const json_t *end = json_object_get(explain->end, "end");
	printf(is_known(end, "message") ? ": %s\n" : "\n", member(explain, end, "message"));
}

/* Items that are as asked are counted; the others are what a person looks for. */
static void print_enforced(const struct explain *explain)
{
	const json_t *items = json_object_get(explain->start, "enforced"), *item;
	size_t i, whole = 0;

	json_array_foreach((json_t *)items, i, item)
	{
		whole += strcmp(member(explain, item, "state"), "enforced") == 0;
	}
	printf("enforced  %zu items in full", whole);
	json_array_foreach((json_t *)items, i, item)
	{
		const char *state = member(explain, item, "state");

		if (strcmp(state, "reduced") == 0 || strcmp(state, "missing") == 0)
			printf("\n          %s.%s %s: %s", member(explain, item, "boundary"),
			       member(explain, item, "name"), state,
			       member(explain, item, "reason"));
	}
	putchar('\n');
}

static void print_denial(const struct explain *explain, size_t number, const json_t *denial)
{
	printf("%3zu. %s: %s%s%s", number, member(explain, denial, "boundary"),
	       member(explain, denial, "op"), is_known(denial, "object") ? " " : "",
	       is_known(denial, "object") ? member(explain, denial, "object") : "");
	if (is_known(denial, "errno"))
		printf(", %s", member(explain, denial, "errno"));
	printf(", at least %s times", member(explain, denial, "count"));
	if (is_known(denial, "exe"))
		printf(", first by %s (pid %s)", member(explain, denial, "exe"),
		       member(explain, denial, "pid"));
	putchar('\n');
	if (is_known(denial, "permit"))
		printf("     to allow it: %s\n", member(explain, denial, "permit"));
	else if (is_known(denial, "never"))
		printf("     never allowed: %s\n", member(explain, denial, "never"));
}

static const json_t *find_item(const struct explain *explain, const char *name)
{
	const json_t *items = json_object_get(explain->start, "enforced"), *item;
	size_t i;

	json_array_foreach((json_t *)items, i, item)
	{
		if (strcmp(member(explain, item, "name"), name) == 0)
			return item;
	}
	return NULL;
}

/* With what is never written down, so that nobody takes it for nothing at all. */
static void print_none(const struct explain *explain)
{
	const json_t *item = find_item(explain, "denials");

	puts("refused   nothing that was written down");
	if (is_known(item, "residual"))
		printf("          %s\n", member(explain, item, "residual"));
	if (strcmp(member(explain, item, "asked"), "full") != 0)
		puts("          --set audit.denials=full names files that are only read too");
}

static void print_refused(const struct explain *explain)
{
	const json_t *denials = json_object_get(explain->end, "denials"), *denial;
	size_t i;

	if (json_array_size(denials) == 0) {
		print_none(explain);
		return;
	}
	puts("\nrefused, in the order in which each was first seen");
	json_array_foreach((json_t *)denials, i, denial)
	{
		print_denial(explain, i + 1, denial);
	}
	const json_t *dropped = json_object_get(explain->end, "denials_dropped");
	if (json_integer_value(dropped) > 0)
		printf("     %s more were not kept\n",
		       member(explain, explain->end, "denials_dropped"));
}

static const char *line_of(const struct explain *explain, const struct change *change)
{
	const char *line = arena_printf(explain->arena, "[%s] %s = %s", change->section,
					change->key, change->value);

	return text_line(explain->arena, (struct bytes){line, strlen(line)});
}

void explain_print(const struct explain *explain)
{
	print_asked(explain);
	print_enforced(explain);
	if (explain->end == NULL)
		return;
	print_refused(explain);
	if (*explain->diff != '\0')
		printf("\nthe smallest change that allows it (--apply FILE writes it):\n\n%s",
		       explain->diff);
	for (size_t i = 0; i < explain->left_out_count; i++)
		printf("%snot in it, since it is yours to decide (--all): %s\n", i == 0 ? "\n" : "",
		       line_of(explain, &explain->left_out[i]));
}

static json_t *change_list(const struct change *changes, size_t count)
{
	json_t *list = json_array();

	for (size_t i = 0; i < count; i++) {
		json_t *one = json_object();

		json_object_set_new(one, "section", json_string(changes[i].section));
		json_object_set_new(one, "key", json_string(changes[i].key));
		json_object_set_new(one, "value", json_string(changes[i].value));
		json_array_append_new(list, one);
	}
	return list;
}

static void copy(json_t *to, const char *name, const json_t *from, const char *key)
{
	json_t *value = json_object_get(from, key);

	json_object_set_new(to, name, value != NULL ? json_incref(value) : json_null());
}

void explain_print_json(const struct explain *explain)
{
	json_t *object = json_object();

	json_object_set_new(object, "run", json_string(explain->run));
	json_object_set_new(object, "state", json_string(explain->state));
	copy(object, "argv", explain->start, "argv");
	copy(object, "profile", explain->start, "profile");
	copy(object, "enforced", explain->start, "enforced");
	copy(object, "end", explain->end, "end");
	copy(object, "refused", explain->end, "denials");
	copy(object, "refused_dropped", explain->end, "denials_dropped");
	json_object_set_new(object, "change", change_list(explain->changes, explain->change_count));
	json_object_set_new(object, "left_out",
			    change_list(explain->left_out, explain->left_out_count));
	json_object_set_new(object, "file", json_string(explain->save.path));
	json_object_set_new(object, "diff", json_string(explain->diff));
	json_write_line(object);
	json_decref(object);
}
