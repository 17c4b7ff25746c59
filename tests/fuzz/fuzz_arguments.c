// SPDX-License-Identifier: Apache-2.0
/*
 * An exec as the supervisor reads it from the program's memory: pointers anywhere, strings without
 * an end. The memory is our own: first the pointers, two bytes each here, up to a 0, then the
 * strings, up to where nothing is mapped. Then what is blanked of arguments.
 */
#include "fuzz.h"

#include <sys/mman.h>

#include "notify_exec.c"

#include "utf8.h"

static const char *const patterns[] = {"--token", "-p", "*_KEY=*", "sk-*", "[a=b]*"};
static const struct string_list redact = {.items = (const char **)patterns, .count = 5};

enum { PAGE_SIZE = 4096, MEMORY_SIZE = 32 * PAGE_SIZE };

/* The strings end where a page does, and behind it there is none. */
static unsigned char *make_memory(struct fuzz_input *input)
{
	unsigned char *memory =
		mmap(NULL, MEMORY_SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t pointers[EXEC_ARGV_MAX + 2] = {0};
	size_t offsets[EXEC_ARGV_MAX + 2], count = 0;

	REQUIRE(memory != MAP_FAILED);
	for (; count < EXEC_ARGV_MAX + 2; count++) {
		uint16_t pointer = fuzz_short(input);

		if (pointer == 0)
			break;
		offsets[count] = pointer;
	}
	size_t left = fuzz_left(input), most = MEMORY_SIZE - 2 * PAGE_SIZE;
	size_t len = left < most ? left : most;
	size_t end = PAGE_SIZE + (len + PAGE_SIZE - 1) / PAGE_SIZE * PAGE_SIZE;
	REQUIRE(mprotect(memory, end, PROT_READ | PROT_WRITE) == 0);
	for (size_t i = 0; i < count; i++)
		pointers[i] = offsets[i] == 0xffff ? UINT64_MAX - 4
						   : (uintptr_t)memory + end - len + offsets[i] - 1;
	memcpy(memory, pointers, sizeof(pointers));
	memcpy(memory + end - len, input->at, len);
	return memory;
}

static void check_seen(const struct exec_seen *seen)
{
	REQUIRE(seen->argc <= EXEC_ARGV_MAX + 1 && seen->used <= sizeof(seen->text));
	for (size_t i = 0; i < seen->argc; i++) {
		REQUIRE(seen->offsets[i] < seen->used);
		REQUIRE(memchr(seen->text + seen->offsets[i], '\0',
			       seen->used - seen->offsets[i]) != NULL);
	}
}

/* What was blanked is gone. */
static void check_redacted(const char *text)
{
	struct arena arena = {0};
	size_t keep = redact_keep(&redact, text, "--token");

	REQUIRE(keep == 0);
	keep = redact_keep(&redact, text, NULL);
	REQUIRE(keep == SIZE_MAX || keep <= strlen(text));
	const char *shown = redact_argument(&arena, &redact, text, NULL);
	if (keep != SIZE_MAX) {
		REQUIRE(strncmp(shown, text, keep) == 0 && strcmp(shown + keep, REDACTED) == 0);
		/* and again nothing is left to blank but the word itself */
		REQUIRE(redact_keep(&redact, shown, NULL) <= keep ||
			redact_keep(&redact, shown, NULL) == SIZE_MAX);
	}
	if (strncmp(text, "sk-", 3) == 0)
		REQUIRE(keep == 0);
	if (strncmp(text, "--token=", 8) == 0)
		REQUIRE(keep <= 8);
	arena_free(&arena);
}

/* What is cut is still UTF-8 when it was before. */
static void check_cut(const char *text)
{
	size_t len = strlen(text);

	if (!utf8_valid(text, len))
		return;
	for (size_t room = len < 64 ? 0 : len - 64; room < len; room++)
		REQUIRE(whole_characters(text, room) <= room &&
			utf8_valid(text, whole_characters(text, room)));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct fuzz_input input = {bytes, bytes + len};
	struct exec_seen *seen = calloc(1, sizeof(*seen));
	unsigned char *memory = make_memory(&input);

	seen->pid = getpid();
	seen->dir_fd = AT_FDCWD;
	read_arguments(seen, len % 2 ? &redact : NULL, (uintptr_t)memory);
	check_seen(seen);
	munmap(memory, MEMORY_SIZE);
	free(seen);
	char *text = fuzz_rest(&input);
	check_redacted(text);
	check_cut(text);
	free(text);
	return 0;
}
