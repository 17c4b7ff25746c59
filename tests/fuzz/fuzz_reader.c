// SPDX-License-Identifier: Apache-2.0
/*
 * The verbs of sbox audit, over a store in any state: no crash, and nothing in what they print that
 * a terminal would act on. The first byte chooses the verb.
 */
#include "fuzz_store.h"

#include <getopt.h>
#include <sys/mman.h>

#include "cmd_read.h"
#include "fuzz_mend.h"
#include "utf8.h"

static const struct {
	int (*main)(int argc, char **argv);
	const char *words[8];
} verbs[] = {
	{list_main, {NULL}},
	{list_main, {"--json", NULL}},
	{list_main, {"--label", "a=b", "--user", "0", "--denied", "--limit", "3", NULL}},
	{show_main, {"--last", NULL}},
	{show_main, {"--last", "--json", NULL}},
	{grep_main, {"a", NULL}},
	{grep_main, {"--regex", "-i", "--in", "argv,denials", "[a-f]+", NULL}},
	{grep_main, {"--json", "e", NULL}},
	{replay_main, {"--last", "--max-wait", "0", NULL}},
	{export_main, {"--ocsf", NULL}},
	{export_main, {"--csv", NULL}},
	{stats_main, {NULL}},
	{stats_main, {"--json", NULL}},
	{cmd_verify, {NULL}},
	{cmd_verify, {"--json", NULL}},
	{report_main, {"-o", "/dev/fd/1", NULL}},
};

/* A sanitizer's; not there without one. */
void __sanitizer_set_report_fd(void *fd) __attribute__((weak));

/* What a verb prints goes elsewhere: what a sanitizer says of it stays here. */
static void keep_reports(void)
{
	static bool is_kept;

	if (!is_kept && __sanitizer_set_report_fd != NULL)
		__sanitizer_set_report_fd((void *)(intptr_t)dup(2));
	is_kept = true;
}

static void check_calm(int fd)
{
	struct stat st;

	REQUIRE(fstat(fd, &st) == 0);
	if (st.st_size == 0)
		return;
	unsigned char *text = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	REQUIRE(text != MAP_FAILED);
	for (size_t at = 0; at < (size_t)st.st_size;) {
		uint32_t point = 0;
		size_t size = utf8_decode(text + at, (size_t)st.st_size - at, &point);

		REQUIRE(size > 0);
		REQUIRE(point == '\n' || point == '\t' || point == '\r' || !utf8_is_active(point));
		at += size;
	}
	munmap(text, (size_t)st.st_size);
}

static int run_verb(size_t verb, int out)
{
	char *argv[16] = {(char *)"sbox-audit", (char *)"--store", fuzz_dir};
	int argc = 3, saved[2] = {dup(1), dup(2)};

	for (const char *const *word = verbs[verb].words; *word != NULL; word++)
		argv[argc++] = (char *)*word;
	fflush(NULL);
	dup2(out, 1);
	dup2(out, 2);
	optind = 0;
	int rc = verbs[verb].main(argc, argv);
	fflush(NULL);
	dup2(saved[0], 1);
	dup2(saved[1], 2);
	close(saved[0]);
	close(saved[1]);
	return rc;
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t len, size_t most, unsigned int seed)
{
	return mend_mutate(bytes, len, most, seed >> 8, 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct fuzz_input input = {bytes, bytes + len};
	size_t verb = fuzz_byte(&input) % (sizeof(verbs) / sizeof(verbs[0]));
	int out = memfd_create("out", MFD_CLOEXEC);

	REQUIRE(out >= 0);
	keep_reports();
	fuzz_store_make(&input);
	int rc = run_verb(verb, out);
	REQUIRE(rc >= 0 && rc != EXIT_USAGE);
	check_calm(out);
	close(out);
	fuzz_store_remove();
	return 0;
}
