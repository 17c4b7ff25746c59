// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_TOOLCHAIN_TABLE_H
#define SBOX_TOOLCHAIN_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "arena.h"

/*
 * Version managers and other places below a home folder where programs are
 * installed: one row a manager, all that sbox knows about it. Only what is
 * listed under `shown` becomes visible, read and execute; settings, caches and
 * credentials that lie beside it do not. Words are separated by blanks.
 */
struct toolchain {
	const char *name;
	const char *variable; /* the caller's, that holds the root; NULL: none */
	bool passed;          /* set inside to the root, since its programs look there */
	const char *also;     /* other variables of the caller to pass on when it is there */
	const char *folders;  /* usual roots: absolute, or below the home folder */
	const char *mark;     /* what every root of it holds */
	bool named; /* others have that mark too: found by PATH only under its usual name */
	const char *entries;  /* how its folders on a PATH end, below the root; "*": one name */
	const char *shown;    /* below the root */
	const char *searched; /* besides what is shown, folders in which names that look like
				 secrets are hidden; NULL: nowhere, since all may read it and nobody
				 keeps one there */
};

extern const struct toolchain toolchain_table[];
extern const size_t toolchain_count;

/* The table of sbox.ini(5), as roff (mdoc). Allocated in the arena. */
char *toolchain_manual(struct arena *arena);
/* The row of that name, or NULL; "did you mean". */
const struct toolchain *toolchain_named(const char *name);
const char *toolchain_nearest(const char *name);

#endif
