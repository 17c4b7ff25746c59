// SPDX-License-Identifier: Apache-2.0
/*
 * What the kernel tells in /proc, with names in it that a program or another user chose: mountinfo
 * and cgroup, stat, the list of sockets. Files are parted by lines "%%".
 */
#include "fuzz.h"

#include <sys/mman.h>

#include "sample.c"
#include "judge_look.c"
#include "host_secrets.c"

#include "cgroup.h"
#include "cgroup_internal.h"

static char *part(struct fuzz_input *input, size_t *ret_len)
{
	static const char mark[] = "\n%%\n";
	const uint8_t *stop = memmem(input->at, fuzz_left(input), mark, 4);
	size_t len = (size_t)((stop != NULL ? stop + 1 : input->end) - input->at);
	char *text = malloc(len + 1);

	memcpy(text, input->at, len);
	text[len] = '\0';
	input->at = stop != NULL ? stop + 4 : input->end;
	*ret_len = len;
	return text;
}

/* As a file with a path. */
static int as_file(const char *text, size_t len, char path[40])
{
	int fd = memfd_create("proc", MFD_CLOEXEC);

	REQUIRE(fd >= 0 && write(fd, text, len) == (ssize_t)len);
	snprintf(path, 40, "/proc/self/fd/%d", fd);
	return fd;
}

static void check_cgroups(struct arena *arena, const char *own, size_t own_len, const char *mounts,
			  size_t mounts_len)
{
	struct cgroup_host host;
	char own_path[40], mounts_path[40];
	int own_fd = as_file(own, own_len, own_path);
	int mounts_fd = as_file(mounts, mounts_len, mounts_path);

	cgroup_probe_files(arena, own_path, mounts_path, NULL, &host);
	REQUIRE(host.version != CGROUP_NONE || host.why_not != NULL);
	close(own_fd);
	close(mounts_fd);
}

static void check_slow(struct arena *arena, const char *mounts)
{
	struct judge judge = {.arena = arena, .slow_known = true};
	char *copy = strdup(mounts), *save = NULL;

	for (char *line = strtok_r(copy, "\n", &save); line != NULL;
	     line = strtok_r(NULL, "\n", &save))
		note_mount(&judge, line);
	look_is_slow(&judge, "/mnt/a");
	free(copy);
}

/* A name may hold anything: what comes after it is what counts. */
static void check_stat(const char *text)
{
	struct process process, forged;
	char line[1024];

	parse_stat(text, &process);
	keyed(text, "Pss:");
	if (strlen(text) > 200 || strchr(text, '\n') != NULL)
		return;
	snprintf(line, sizeof(line), "7 (%s) S 1 7 7 0 -1 0 0 0 0 0 11 12 13 14 20 0 5 0 99 1 1\n",
		 text);
	REQUIRE(parse_stat(line, &forged) && forged.own_ticks == 23 && forged.threads == 5 &&
		forged.start_ticks == 99);
}

/* Each part is a name. */
static void check_plain(const char *path)
{
	while (strcmp(path, "/") != 0 && *path == '/') {
		size_t part = strcspn(++path, "/");

		REQUIRE(part > 0 && strspn(path, ".") < (part < 3 ? part : part + 1));
		path += part;
	}
}

static void check_paths(const char *text)
{
	char path[PATH_MAX], parent[PATH_MAX];

	if (look_plain(text, path)) {
		REQUIRE(path[0] == '/' && strlen(path) < PATH_MAX);
		check_plain(path);
	}
	if (strlen(text) < PATH_MAX && look_parent(text, parent))
		REQUIRE(strlen(parent) <= strlen(text));
}

static void check_sockets(struct arena *arena, const char *text, size_t len)
{
	struct path_fact listed = {.path = "/"};
	struct host host = {0};

	host.paths[PATH_READ].items = &listed;
	host.paths[PATH_READ].count = 1;
	for (size_t at = 0; at < len;) {
		size_t size = strcspn(text + at, "\n");

		hide_socket(arena, &host, text + at, size);
		at += size + 1;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct fuzz_input input = {bytes, bytes + len};
	struct arena arena = {0};
	size_t own_len, mounts_len;
	char *own = part(&input, &own_len), *mounts = part(&input, &mounts_len);

	check_cgroups(&arena, own, own_len, mounts, mounts_len);
	check_slow(&arena, mounts);
	check_stat(own);
	check_paths(own);
	check_sockets(&arena, mounts, strlen(mounts));
	free(own);
	free(mounts);
	arena_free(&arena);
	return 0;
}
