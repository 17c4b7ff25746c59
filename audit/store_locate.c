// SPDX-License-Identifier: Apache-2.0
#include "store.h"

#include <stdlib.h>

int store_default_dir(struct arena *arena, uid_t euid, const char **ret, struct error *err)
{
	const char *state = getenv("XDG_STATE_HOME");
	const char *home = getenv("HOME");

	if (euid == 0)
		*ret = "/var/log/sbox";
	else if (state != NULL && state[0] == '/')
		*ret = arena_printf(arena, "%s/sbox", state);
	else if (home != NULL && home[0] == '/')
		*ret = arena_printf(arena, "%s/.local/state/sbox", home);
	else
		return error_set(err, ERROR_AUDIT,
				 "no place for the audit record: neither HOME nor XDG_STATE_HOME "
				 "is set to an absolute path: set one");
	return 0;
}
