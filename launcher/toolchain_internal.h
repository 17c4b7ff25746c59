// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_TOOLCHAIN_INTERNAL_H
#define SBOX_TOOLCHAIN_INTERNAL_H

#include "file_entries.h"
#include "toolchain.h"

/*
 * toolchain_table.c    what sbox knows about each manager
 * toolchain_hint.c     which folders outside the system the caller uses: PATH, venvs, variables
 * toolchain.c          from hints and usual places to roots, and what of a root is shown
 * toolchain_secret.c   which names in what is shown are hidden
 */

enum { HOMES_MAX = 4, HINTS_MAX = 64, VENV_BYTES = 4096 };

struct finding {
	struct arena *arena;
	const struct profile_context *context;
	struct host *host;
	struct error *err;
	const char *homes[HOMES_MAX];
	size_t home_count;
	struct hint {
		const char *path, *why;
	} hints[HINTS_MAX]; /* folders that programs lie in */
	size_t hint_count;
};

/* toolchain_hint.c: fills homes and hints. */
void toolchain_hints(struct finding *finding, const char *program);

const char *last_name(const char *path);
/* Absolute, and every name in it is one: no "." or "..", no control byte. */
bool is_plain_path(const char *path);
/* Without slashes at the end. */
const char *trimmed(struct arena *arena, const char *path);
const char *folder_of(struct arena *arena, const char *path);
bool is_below_any(const struct host *host, enum path_kind kind, const char *path);

#endif
