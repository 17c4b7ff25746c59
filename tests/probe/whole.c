// SPDX-License-Identifier: Apache-2.0
/*
 * whole MARKER SECRET: is every boundary of a run there? Writes "whole", or what is lacking, into
 * MARKER, so that a file there says that the program ran at all.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static char lacking[512];

static void expect(int holds, const char *what)
{
	if (!holds && strlen(lacking) + strlen(what) + 2 < sizeof(lacking))
		strcat(strcat(lacking, " "), what);
}

static const char *file_text(const char *path)
{
	static char text[8192];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t len = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);

	text[len > 0 ? len : 0] = '\0';
	if (fd >= 0)
		close(fd);
	return text;
}

static int count(const char *text, char letter)
{
	int found = 0;

	for (; *text != '\0'; text++)
		found += *text == letter;
	return found;
}

static unsigned long limit_of(int resource)
{
	struct rlimit limit = {0};

	return getrlimit(resource, &limit) == 0 ? limit.rlim_max : RLIM_INFINITY;
}

int main(int argc, char **argv)
{
	char host[64] = "";

	if (argc != 3)
		return 2;
	const char *status = file_text("/proc/self/status");
	expect(strstr(status, "\nSeccomp:\t2\n") != NULL, "seccomp");
	expect(strstr(status, "\nNoNewPrivs:\t1\n") != NULL, "no_new_privs");
	expect(strstr(status, "\nCapEff:\t0000000000000000\n") != NULL, "capabilities");
	expect(strstr(status, "\nCapBnd:\t0000000000000000\n") != NULL, "bounding set");
	expect(getuid() == 1000 && getgid() == 1000, "identity");
	expect(getpid() < 100 && getppid() == 1, "pid namespace");
	expect(count(file_text("/proc/net/dev"), ':') == 1, "network namespace");
	gethostname(host, sizeof(host) - 1);
	expect(strcmp(host, "sandbox") == 0, "uts namespace");
	expect(open(argv[2], O_RDONLY | O_CLOEXEC) < 0, "hidden files");
	expect(open("/usr/sbox-whole", O_WRONLY | O_CREAT | O_CLOEXEC, 0600) < 0,
	       "read-only files");
	expect(fcntl(3, F_GETFD) < 0 && fcntl(4, F_GETFD) < 0, "closed descriptors");
	/* 1 byte of core: with 0 a core pattern that is a pipe would still be fed */
	expect(limit_of(RLIMIT_CORE) <= 1 && limit_of(RLIMIT_NOFILE) <= 1024, "limits");

	int fd = open(argv[1], O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	if (fd < 0)
		return 3;
	dprintf(fd, "%s\n", lacking[0] != '\0' ? lacking : "whole");
	close(fd);
	return 0;
}
