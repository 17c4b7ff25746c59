// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>
#include <string.h>

#include "run.h"

enum { LINES_MAX = 3, TEXT_MAX = 300 };

/* What the program named must not steer the caller's terminal. */
static const char *safe(struct arena *arena, const char *text)
{
	char *copy = arena_strndup(arena, text, strnlen(text, TEXT_MAX));

	for (char *at = copy; *at != '\0'; at++)
		if ((unsigned char)*at < ' ' || (unsigned char)*at >= 0x7f)
			*at = '?';
	return copy;
}

/* What a shell reads when it starts, of the machine's: "bash -lc COMMAND" fails for COMMAND. */
static bool is_start_file(const char *path)
{
	static const char *const files[] = {"/etc/profile", "/etc/profile.d",  "/etc/bash.bashrc",
					    "/etc/bashrc",  "/etc/zsh",        "/etc/zshenv",
					    "/etc/zshrc",   "/etc/zprofile",   "/etc/zlogin",
					    "/etc/fish",    "/etc/environment"};

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (path_is_below(path, files[i]))
			return true;
	return false;
}

/* Neither a name that is only asked about nor these is what a program fails for. */
static bool is_worth_a_line(const struct record_denial *denial)
{
	if (strcmp(denial->op, "look") == 0)
		return false;
	return strcmp(denial->op, "read") != 0 || denial->object == NULL ||
	       !is_start_file(denial->object);
}

static const char *line_of(struct arena *arena, const struct record_denial *denial)
{
	const char *name = denial->errnum != 0 ? strerrorname_np(denial->errnum) : NULL;
	const char *object = denial->object != NULL ? denial->object : "";

	/* no name: those that were beyond what is kept of one operation */
	if (strcmp(object, "others") == 0)
		object = arena_printf(arena, "%" PRIu64 " others", denial->count);
	return arena_printf(arena, "sbox: refused: %s%s%s%s%s%s%s%s\n", denial->op,
			    *object != '\0' ? " " : "", safe(arena, object),
			    name != NULL ? " (" : "", name != NULL ? name : "",
			    name != NULL ? ")" : "",
			    denial->permit != NULL  ? "; to allow it: "
			    : denial->never != NULL ? "; never allowed: "
						    : "",
			    safe(arena, denial->permit != NULL  ? denial->permit
					: denial->never != NULL ? denial->never
								: ""));
}

/* The last ones: what a program fails for comes shortly before its end. */
const char *outcome_denials(const struct run *run)
{
	const struct denials *denials = &run->denials;
	size_t first = denials->count, shown = 0, worth = 0;
	const char *text = "";

	for (size_t i = denials->count; i-- > 0;) {
		bool shows = is_worth_a_line(&denials->items[i]);

		worth += shows;
		if (shows && shown < LINES_MAX) {
			first = i;
			shown++;
		}
	}
	for (size_t i = first; i < denials->count; i++)
		if (is_worth_a_line(&denials->items[i]))
			text = arena_printf(run->arena, "%s%s", text,
					    line_of(run->arena, &denials->items[i]));
	if (worth > shown || denials->dropped > 0)
		text = arena_printf(run->arena, "%ssbox: %zu more: sbox explain %s\n", text,
				    worth - shown + denials->dropped, run->id);
	return text;
}
