// SPDX-License-Identifier: Apache-2.0
/* args [ARG...]: its arguments, each ended by NUL, byte for byte. */
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		fwrite(argv[i], 1, strlen(argv[i]) + 1, stdout);
	return fflush(stdout) == 0 ? 0 : 1;
}
