// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_STRING_LIST_H
#define SBOX_STRING_LIST_H

#include <stddef.h>

struct string_list {
	const char **items;
	size_t count;
};

#endif
