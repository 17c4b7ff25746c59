// SPDX-License-Identifier: Apache-2.0
/* A fuzz target without a fuzzer: every seed and every past finding, each in a process of its own.
 */
#include "fuzz.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SECONDS = 60 }; /* for one file, on a busy machine, with a sanitizer */

static unsigned passed, failed;

static void feed(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) != 0)
		_exit(1);
	size_t size = (size_t)st.st_size, len = 0;
	uint8_t *bytes = malloc(size > 0 ? size : 1);
	for (ssize_t got; len < size && (got = read(fd, bytes + len, size - len)) > 0;)
		len += (size_t)got;
	close(fd);
	alarm(SECONDS);
	LLVMFuzzerTestOneInput(bytes, len);
	free(bytes);
	/* exit(3): where coverage is measured it is written there */
	exit(0);
}

static void replay(const char *path)
{
	int status = -1;

	fflush(NULL);
	pid_t pid = fork();
	if (pid == 0)
		feed(path);
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0) {
		printf("FAILED  %s: status %#x\n", path, (unsigned)status);
		failed++;
	} else {
		passed++;
	}
}

static int is_file(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static void replay_all(const char *folder)
{
	struct dirent **entries = NULL;
	int count = scandir(folder, &entries, is_file, alphasort);

	for (int i = 0; i < count; i++) {
		char path[PATH_MAX];

		snprintf(path, sizeof(path), "%s/%s", folder, entries[i]->d_name);
		replay(path);
		free(entries[i]);
	}
	free(entries);
}

/* Folders or files as arguments; without any the target's own. */
int main(int argc, char **argv)
{
	char seeds[PATH_MAX], past[PATH_MAX], own[PATH_MAX];
	struct stat st;

	snprintf(own, sizeof(own), "%s", argv[0]);
	const char *name = basename(argv[0]);
	snprintf(seeds, sizeof(seeds), "%s/seeds/%s", dirname(own), name);
	snprintf(past, sizeof(past), "tests/fuzz/regress/%s", name);
	for (int i = 1; i < argc; i++)
		if (stat(argv[i], &st) == 0 && S_ISDIR(st.st_mode))
			replay_all(argv[i]);
		else
			replay(argv[i]);
	if (argc == 1) {
		replay_all(seeds);
		replay_all(past);
	}
	if (passed + failed == 0) {
		printf("FAILED  %s: no seeds in %s\n", name, seeds);
		failed = 1;
	}
	printf("%u passed, %u failed, 0 skipped\n", passed, failed);
	return failed > 0;
}
