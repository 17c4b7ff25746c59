// SPDX-License-Identifier: Apache-2.0
#include "cmd_read.h"

/* For the rows of list and show with .run, until they have .main. */

static int call(int (*verb)(int, char **), const struct cmd_options *options)
{
	char limit[32], *argv[12] = {(char *)"sbox-audit"};
	int argc = 1;

	if (options->store_dir != NULL) {
		argv[argc++] = (char *)"--store";
		argv[argc++] = (char *)options->store_dir;
	}
	if (options->limit > 0) {
		snprintf(limit, sizeof(limit), "%lu", options->limit);
		argv[argc++] = (char *)"--limit";
		argv[argc++] = limit;
	}
	if (options->json)
		argv[argc++] = (char *)"--json";
	if (options->unfinished)
		argv[argc++] = (char *)"--unfinished";
	if (options->last)
		argv[argc++] = (char *)"--last";
	if (options->run != NULL)
		argv[argc++] = (char *)options->run;
	extern int optind;
	optind = 0;
	return verb(argc, argv);
}

int cmd_list(const struct cmd_options *options)
{
	return call(list_main, options);
}

int cmd_show(const struct cmd_options *options)
{
	return call(show_main, options);
}
