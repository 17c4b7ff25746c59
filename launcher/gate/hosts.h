// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_HOSTS_H
#define SBOX_HOSTS_H

#include "rules.h"

/* hosts(5), read once, before there are no files any more. */

/* 0, also when there is none; -1 and errno. */
int hosts_read(const char *path);
/* The addresses of a name (lower case), in the file's order; at most `most`. */
size_t hosts_find(const char *name, struct rule_address *ret_addresses, size_t most);
/* For tests: the text instead of a file's; it stays the caller's. */
void hosts_use(const char *text, size_t len);

#endif
