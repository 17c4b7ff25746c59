// SPDX-License-Identifier: Apache-2.0
/* Calls getpid (20) through the 32-bit entry of the kernel and prints what it answers. */
#define _GNU_SOURCE
#include <stdio.h>
#include <unistd.h>

int main(void)
{
#ifdef __x86_64__
	long result;

	__asm__ volatile("int $0x80"
			 : "=a"(result)
			 : "a"(20L)
			 : "memory", "r8", "r9", "r10", "r11");
	printf("%d %s\n", (int)result, (int)result == getpid() ? "works" : "refused");
#else
	puts("0 none");
#endif
	return 0;
}
