// SPDX-License-Identifier: Apache-2.0
/*
 * call NR [ARG...] [-- NR [ARG...]]...: makes system calls, one after the
 * other, and prints a line for each: "NR RESULT" or "NR -1 ERRNO".
 *
 * ARG is a number, s:TEXT (pointer to text), z:N (pointer to N zero bytes),
 * x:HEX (pointer to bytes), or $K (result of the K-th call, from 1).
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { CALLS_MAX = 2048, ARGS_MAX = 6 };

static long results[CALLS_MAX + 1];

static long bytes_of(const char *hex)
{
	size_t len = strlen(hex) / 2;
	unsigned char *bytes = malloc(len + 1);

	for (size_t i = 0; i < len; i++)
		sscanf(hex + 2 * i, "%2hhx", &bytes[i]);
	return (long)bytes;
}

static long value_of(const char *text)
{
	if (strncmp(text, "s:", 2) == 0)
		return (long)(text + 2);
	if (strncmp(text, "x:", 2) == 0)
		return bytes_of(text + 2);
	if (strncmp(text, "z:", 2) == 0)
		return (long)calloc(1, strtoul(text + 2, NULL, 0) + 1);
	if (text[0] == '$')
		return results[atoi(text + 1) % CALLS_MAX];
	return (long)strtoull(text, NULL, 0);
}

static void print_result(long number, long result, int error)
{
	const char *name = strerrorname_np(error);

	if (result == -1 && name != NULL)
		printf("%ld -1 %s\n", number, name);
	else if (result == -1)
		printf("%ld -1 %d\n", number, error);
	else
		printf("%ld %ld\n", number, result);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	int calls = 0;

	for (int i = 1; i < argc && calls < CALLS_MAX; i++) {
		long number = value_of(argv[i]), args[ARGS_MAX] = {0};

		for (int n = 0; i + 1 < argc && strcmp(argv[i + 1], "--") != 0; i++, n++)
			if (n < ARGS_MAX)
				args[n] = value_of(argv[i + 1]);
		i++;
		errno = 0;
		results[++calls] =
			syscall(number, args[0], args[1], args[2], args[3], args[4], args[5]);
		print_result(number, results[calls], errno);
	}
	return 0;
}
