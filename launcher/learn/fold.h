// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_FOLD_H
#define SBOX_FOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arena.h"
#include "string_list.h"

/*
 * From what a program used to the few lines that allow it. Pure: what has to be known of the
 * machine comes as lists and functions.
 *
 * A line gives what was used, or a folder of which most was. Never a folder that is too wide,
 * nor what the learning run itself did not allow: that is left out, with the reason.
 */

/* One use of a path, as watch.h tells it. */
struct use {
	char want, type;
	struct string_list names; /* as asked for, after each link, as it really is */
};

struct uses {
	struct use *items;
	size_t count;
	struct string_list ports, calls;
	uint64_t dropped, files;
};

/* Each includes the one before, as the keys of [file] do. */
enum rank { RANK_NONE, RANK_READ, RANK_EXEC, RANK_WRITE };

/* Something that is there without a line of its own. */
struct given {
	const char *path;
	enum rank rank;
	const char *toolchain; /* by this version manager's name; NULL: by the parent, or always */
};

struct grant {
	const char *path;
	enum rank rank;
	size_t count;     /* of files in it that were used; 0: it is what was used */
	bool listed;      /* the folder's names were read */
	bool only_looked; /* at a file that was not opened */
	bool absent;      /* not there any more */
};

struct left_out {
	const char *path, *why;
};

/* What the lines are made for. Functions get `about` and an absolute path. */
struct fold_world {
	struct arena *arena;
	const char *cwd;
	const struct given *given;
	size_t given_count;
	void *about;
	/* Why a folder is never given as a whole, or NULL. */
	const char *(*too_wide)(void *about, const char *path);
	/* Why a path is not given, nor anything below it, or NULL. */
	const char *(*forbidden)(void *about, const char *path, enum rank rank);
	/* Whether the run's user could do that on the host. */
	bool (*may)(void *about, const char *path, enum rank rank);
	size_t (*entries)(void *about, const char *folder); /* names in it; 0: it is not there */
	bool (*is_folder)(void *about, const char *path);
	/* What a path is called after each link on its way. */
	struct string_list (*names)(void *about, const char *path);
};

struct folded {
	struct grant *grants; /* sorted by rank, then path */
	size_t grant_count, grant_room;
	struct left_out *left;
	size_t left_count, left_more; /* more: beyond FOLD_LEFT_MAX */
	struct string_list toolchains;
	enum rank cwd;    /* ${cwd} as a whole */
	size_t cwd_count; /* different paths used in it */
	bool asked_cwd;   /* it asked where it is (getcwd) */
};

enum { FOLD_FILES = 4, FOLD_LOOKED_MAX = 16, FOLD_LINES_MAX = 200, FOLD_LEFT_MAX = 40 };

void fold(const struct fold_world *world, const struct uses *uses, struct folded *ret);

/* A line of an earlier profile, unless it is given without one. */
void fold_add_earlier(const struct fold_world *world, struct folded *folded, const char *path,
		      enum rank rank);

/* fold_lines.c: adds a line unless one covers it; takes out those that it covers. */
void fold_add(struct arena *arena, struct folded *folded, const struct grant *grant);
bool fold_covers(const struct grant *wide, const struct grant *narrow);
/* Files of one folder become the folder, where most of it was used. */
void fold_up(const struct fold_world *world, struct folded *folded);
void fold_sort(struct folded *folded);

#endif
