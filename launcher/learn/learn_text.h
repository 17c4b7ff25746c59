// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_LEARN_TEXT_H
#define SBOX_LEARN_TEXT_H

#include "learn.h"
#include "profile_internal.h"

/* What the files that write a profile's text share. */

struct writing {
	struct learn *learn;
	struct text text;
	struct profile parent;
	const char *parent_name;
	const struct profile *earlier; /* NULL: a new file */
	const char *section;           /* whose lines come */
};

/* One line of a section, with its comment above it, or none (NULL). */
void text_line_of(struct writing *writing, const char *section, const char *comment,
		  const char *text);
/* A line with a path, in terms of the caller's folders. */
const char *text_path(struct writing *writing, enum key_id key, bool optional, const char *path);
/* learn_lines.c */
void text_put_file(struct writing *writing);
void text_put_network(struct writing *writing);
void text_put_process(struct writing *writing);
void text_put_time(struct writing *writing);

#endif
