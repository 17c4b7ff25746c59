// SPDX-License-Identifier: Apache-2.0
/* noargv PATH: executes PATH with no argument at all, not even its own name. */
#define _GNU_SOURCE
#include <unistd.h>

int main(int argc, char **argv)
{
	char *nothing[] = {NULL};

	if (argc == 2)
		execve(argv[1], nothing, environ);
	return 99;
}
