// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_FUZZ_STORE_H
#define SBOX_FUZZ_STORE_H

/* A store in memory whose files are the input's: log, head and key, parted by lines "%%". */
#include "fuzz.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store_internal.h"

static char fuzz_base[64], fuzz_dir[80];

static inline int fuzz_remove(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st, (void)type, (void)at;
	return remove(path);
}

static inline void fuzz_store_remove(void)
{
	nftw(fuzz_base, fuzz_remove, 16, FTW_DEPTH | FTW_PHYS);
}

static inline void fuzz_store_put(const char *name, const uint8_t *bytes, size_t len)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", fuzz_dir, name);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	REQUIRE(fd >= 0 && write(fd, bytes, len) == (ssize_t)len);
	close(fd);
}

/* Anew, with what the input says. */
static inline void fuzz_store_make(struct fuzz_input *input)
{
	static const char *const names[] = {"log.jsonl", "head", "key"};
	static const char mark[] = "\n%%\n";

	snprintf(fuzz_base, sizeof(fuzz_base), "/dev/shm/sbox-fuzz-XXXXXX");
	REQUIRE(mkdtemp(fuzz_base) != NULL);
	snprintf(fuzz_dir, sizeof(fuzz_dir), "%s/store", fuzz_base);
	REQUIRE(mkdir(fuzz_dir, 0700) == 0);
	for (size_t i = 0; i < 3 && (i == 0 || fuzz_left(input) > 0); i++) {
		const uint8_t *stop = memmem(input->at, fuzz_left(input), mark, 4);
		const uint8_t *end = stop != NULL ? stop + 1 : input->end;

		fuzz_store_put(names[i], input->at, (size_t)(end - input->at));
		input->at = stop != NULL ? stop + 4 : input->end;
	}
}

#endif
