// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_TOOLCHAIN_H
#define SBOX_TOOLCHAIN_H

#include <stdbool.h>
#include <stddef.h>

#include "arena.h"
#include "error.h"
#include "host.h"
#include "profile.h"
#include "toolchain_table.h"

/*
 * Finds what [file] toolchains asks for and adds it to the host's facts: paths to show,
 * names to hide in them. `program` is argv[0], or NULL. What a variable names is taken
 * no more on trust than ${cwd} is: never a home folder, a system folder or the store.
 */
int toolchain_find(struct arena *arena, const struct profile_context *context,
		   const struct profile *profile, const char *program, struct host *host,
		   struct error *err);
/* The row that would show a program if it were asked for, or NULL: for messages. `real` is
 * `path` with every link resolved. */
const struct toolchain *toolchain_showing(struct arena *arena,
					  const struct profile_context *context, const char *path,
					  const char *real);
/* "pyenv /home/ana/.pyenv (PYENV_ROOT), ..." of those shown, or of those not; "" for none. */
const char *toolchain_list(struct arena *arena, const struct host *host, bool shown);

/* toolchain_secret.c: in each folder below `root` that a pattern ("versions/X") stands for,
 * hides the names that look like those of secrets. No link is followed. */
int toolchain_hide_secrets(struct arena *arena, struct host *host, const char *root,
			   const char *pattern, struct error *err);
bool toolchain_is_secret(const char *name, bool executable);

#endif
