// SPDX-License-Identifier: Apache-2.0
/* A file that is about to be executed: which interpreter or loader the kernel would open for it. */
#include "fuzz.h"

#include <sys/mman.h>

#include "judge_exec.c"

/* The kernel takes it from the first line, where a blank or that line's end follows it. */
static void check_script(const char *bytes, size_t len, const char *path)
{
	const char *line_end = memchr(bytes, '\n', len);
	const char *at = memmem(bytes, len, path, strlen(path));

	REQUIRE(strpbrk(path, " \t\n") == NULL && strlen(path) < START_MAX);
	REQUIRE(at != NULL && (line_end == NULL || at < line_end));
	REQUIRE(at + strlen(path) < bytes + (len < START_MAX ? len : START_MAX));
}

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
			check_script((const char *)bytes, len, path);
	}
	close(fd);
	return 0;
}
