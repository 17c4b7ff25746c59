// SPDX-License-Identifier: Apache-2.0
/* A file that is about to be executed: which interpreter or loader the kernel would open for it. */
#include "fuzz.h"

#include <sys/mman.h>

#include "judge_exec.c"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	char path[PATH_MAX];
	int fd = memfd_create("program", MFD_CLOEXEC);

	REQUIRE(fd >= 0 && write(fd, bytes, len) == (ssize_t)len);
	memset(path, 0xa5, sizeof(path));
	if (judge_interpreter_of(fd, path)) {
		REQUIRE(memchr(path, '\0', sizeof(path)) != NULL);
		REQUIRE(path[0] == '/');
		if (bytes[0] == '#')
			REQUIRE(strpbrk(path, " \t\n") == NULL && strlen(path) < START_MAX);
	}
	close(fd);
	return 0;
}
