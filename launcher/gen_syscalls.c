// SPDX-License-Identifier: Apache-2.0

/*
 * Run while building: prints syscall_table.c, the table from system-call
 * number to set and name. libseccomp's own tables cost 0.1-0.2 ms when they
 * are touched first, which a start has no time for.
 */

#include <stdio.h>
#include <string.h>

#include "syscalls.h"

static void fill_from_set(struct syscall_info *table, uint8_t index)
{
	const char *members = syscall_sets[index].members;
	char name[SYSCALL_NAME_MAX];
	const char *at = syscall_next_name(members, name);

	for (; name[0] != '\0'; at = syscall_next_name(at, name)) {
		size_t length = strlen(name);
		int number = syscall_number(name);

		if (number >= 0)
			table[number] = (struct syscall_info){
				.set = index,
				.length = (uint8_t)length,
				.at = (uint16_t)((size_t)(at - members) - length),
			};
	}
}

/* syscalls.c is linked here for its names; the table itself is what this makes. */
const struct syscall_info *syscall_table(void)
{
	return NULL;
}

int main(void)
{
	static struct syscall_info table[SYSCALL_NUMBERS];

	for (uint8_t i = 0; syscall_sets[i].name != NULL; i++)
		if (!syscall_set_is_group(&syscall_sets[i]))
			fill_from_set(table, i);
	puts("/* made by gen_syscalls.c */");
	puts("#include \"syscalls.h\"\n");
	puts("static const struct syscall_info table[SYSCALL_NUMBERS] = {");
	for (int i = 0; i < SYSCALL_NUMBERS; i++)
		if (table[i].length != 0)
			printf("\t[%d] = {.set = %u, .length = %u, .at = %u},\n", i, table[i].set,
			       table[i].length, table[i].at);
	puts("};\n");
	puts("const struct syscall_info *syscall_table(void)\n{\n\treturn table;\n}");
	return 0;
}
