// SPDX-License-Identifier: Apache-2.0
/*
 * eat heap|shm|tmp|file|memfd|sysv|posix|pipe MB [briefly]: takes memory in pieces of 1 MiB, at
 * most MB of them, and touches it. Prints "got N ERRNO" with the number of
 * pieces it had when refused, or "got N -"; then it holds all for two seconds.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <unistd.h>

enum { PIECE = 1 << 20 };

static char piece[PIECE];

static int eat_heap(int unused)
{
	char *memory =
		mmap(NULL, PIECE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return -1;
	memset(memory, 'x', PIECE);
	return unused * 0;
}

static int eat_file(int fd)
{
	ssize_t put = write(fd, piece, PIECE);

	if (put > 0 && put < PIECE)
		put = write(fd, piece, PIECE); /* a short write: the next one tells why */
	return put == PIECE ? 0 : -1;
}

static int eat_sysv(int unused)
{
	int id = shmget(IPC_PRIVATE, PIECE, IPC_CREAT | 0600);
	char *memory = id < 0 ? (void *)-1 : shmat(id, NULL, 0);

	if (id >= 0)
		shmctl(id, IPC_RMID, NULL);
	if (memory == (void *)-1)
		return -1;
	memset(memory, 'x', PIECE);
	return unused * 0;
}

static int eat_pipe(int unused)
{
	int fds[2];

	if (pipe2(fds, O_NONBLOCK) != 0)
		return -1;
	fcntl(fds[1], F_SETPIPE_SZ, PIECE); /* refused: the usual 64 KiB are filled */
	return write(fds[1], piece, PIECE) > 0 ? unused * 0 : -1;
}

static int open_for(const char *way)
{
	if (strcmp(way, "shm") == 0)
		return open("/dev/shm/eaten", O_CREAT | O_RDWR, 0600);
	if (strcmp(way, "tmp") == 0)
		return open("/tmp/eaten", O_CREAT | O_RDWR, 0600);
	if (strcmp(way, "file") == 0)
		return open("eaten", O_CREAT | O_RDWR, 0600);
	if (strcmp(way, "posix") == 0)
		return shm_open("/eaten-posix", O_CREAT | O_RDWR, 0600);
	return memfd_create("eaten", 0);
}

int main(int argc, char **argv)
{
	int (*eat)(int) = eat_file;
	int fd = -1, got = 0;

	if (argc < 3)
		return 99;
	memset(piece, 'x', PIECE);
	alarm(30);
	if (strcmp(argv[1], "heap") == 0)
		eat = eat_heap;
	else if (strcmp(argv[1], "sysv") == 0)
		eat = eat_sysv;
	else if (strcmp(argv[1], "pipe") == 0)
		eat = eat_pipe;
	else
		fd = open_for(argv[1]);
	errno = eat == eat_file && fd < 0 ? errno : 0;
	while (errno == 0 && got < atoi(argv[2]) && eat(fd) == 0)
		got++;
	printf("got %d %s\n", got, got < atoi(argv[2]) ? strerrorname_np(errno) : "-");
	fflush(stdout);
	if (got == atoi(argv[2]) && argc == 3)
		sleep(2);
	return got < atoi(argv[2]);
}
