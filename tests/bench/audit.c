// SPDX-License-Identifier: Apache-2.0
/* What tests/bench/audit measures from within: one figure a call, in a fresh folder that it is
 * given. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sha256.h"
#include "store.h"

/* As long as those of `sbox true` are. */
enum { START_BYTES = 4300, END_BYTES = 1100 };

static struct error err;

static double now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static void must(int rc)
{
	if (rc == 0)
		return;
	fprintf(stderr, "%s\n", err.text);
	exit(1);
}

static char *body(const char *type, size_t len)
{
	char *text = malloc(len + 100);
	int at = sprintf(
		text, "{\"type\":\"%s\",\"run\":\"01ABCDEFGHJKMNPQRSTVWXYZ00\",\"fill\":\"", type);

	memset(text + at, 'x', len - (size_t)at - 2);
	memcpy(text + len - 2, "\"}", 3);
	return text;
}

/* All writers have opened what they write to, and begin at the same time. */
static void wait_for_all(const int gate[2])
{
	char byte = 'r';

	if (write(gate[1], &byte, 1) != 1 || read(gate[0], &byte, 1) != 1)
		exit(1);
}

static void append_own(const char *dir, int count, enum store_sync sync, const int gate[2])
{
	char *text[2] = {body("run.start", START_BYTES), body("run.end", END_BYTES)};
	struct store store;

	must(store_open(&store, dir, geteuid(), &err));
	wait_for_all(gate);
	for (int i = 0; i < count; i++)
		must(store_append(&store, text[i % 2], sync, &err));
	store_close(&store);
}

static void append_bare(const char *dir, int count, const int gate[2])
{
	char path[4096], *text[2] = {body("run.start", START_BYTES), body("run.end", END_BYTES)};

	snprintf(path, sizeof(path), "%s.bare", dir);
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
	wait_for_all(gate);
	for (int i = 0; i < count; i++)
		if (write(fd, text[i % 2], strlen(text[i % 2])) < 0 || fdatasync(fd) < 0)
			exit(1);
	close(fd);
}

/* Microseconds for each append, all writers together. */
static void bench_append(const char *dir, const char *how, int writers, int count)
{
	int ready[2], go[2], status;

	if (pipe(ready) != 0 || pipe(go) != 0)
		exit(1);
	const int gate[2] = {go[0], ready[1]};
	for (int i = 0; i < writers; i++) {
		if (fork() != 0)
			continue;
		if (strcmp(how, "bare") == 0)
			append_bare(dir, count, gate);
		else
			append_own(dir, count,
				   strcmp(how, "group") == 0  ? STORE_SYNC_GROUP
				   : strcmp(how, "each") == 0 ? STORE_SYNC_EACH
							      : STORE_SYNC_NONE,
				   gate);
		_exit(0);
	}
	char bytes[256] = {0};
	for (int i = 0; i < writers; i++)
		if (read(ready[0], bytes, 1) != 1)
			exit(1);
	double begun = now_us();
	if (write(go[1], bytes, (size_t)writers) != writers)
		exit(1);
	while (wait(&status) > 0)
		if (status != 0)
			exit(1);
	printf("%.1f\n", (now_us() - begun) / writers / count);
}

/* All that a run asks of the store, without the run. */
static void bench_run(const char *dir, int count)
{
	char *start = body("run.start", START_BYTES), *end = body("run.end", END_BYTES), id[27];
	double spent = 0;
	int fd;

	for (int i = 0; i < count; i++) {
		struct store store;
		double begun = now_us();

		run_id_make(id);
		must(store_open(&store, dir, geteuid(), &err));
		must(store_run_sweep(&store, NULL, NULL, &err));
		must(store_run_begin(&store, id, &fd, &err));
		must(store_reserve(&store, 256 * 1024, &err));
		must(store_append(&store, start, STORE_SYNC_EACH, &err));
		must(store_append(&store, end, STORE_SYNC_EACH, &err));
		store_run_finish(&store, id, fd);
		store_close(&store);
		spent += now_us() - begun;
	}
	printf("%.1f\n", spent / count);
}

/* What sha256sum(1) does, with our library: the hash of stdin. */
static void bench_hash(void)
{
	static char chunk[256 * 1024];
	struct sha256 hash;
	char hex[SHA256_HEX];
	ssize_t got;

	sha256_start(&hash);
	while ((got = read(0, chunk, sizeof(chunk))) > 0)
		sha256_add(&hash, chunk, (size_t)got);
	sha256_finish_hex(&hash, hex);
	puts(hex);
}

int main(int argc, char **argv)
{
	if (argc == 5 && strcmp(argv[1], "run") != 0)
		bench_append(argv[2], argv[1], atoi(argv[3]), atoi(argv[4]));
	else if (argc == 4)
		bench_run(argv[2], atoi(argv[3]));
	else
		bench_hash();
	return 0;
}
