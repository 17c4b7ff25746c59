// SPDX-License-Identifier: Apache-2.0
/* The command line: words parted by NUL. */
#include "fuzz.h"

#include "options.h"

enum { WORDS = 32 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct fuzz_input input = {bytes, bytes + len};
	char *argv[WORDS + 2] = {(char *)"sbox"};
	struct options options;
	struct arena arena = {0};
	struct error err = {0};
	int argc = 1;

	while (argc < WORDS && fuzz_left(&input) > 0)
		argv[argc++] = fuzz_piece(&input, '\0', NULL);
	if (options_parse(&arena, argc, argv, &options, &err) == 0) {
		REQUIRE(options.arguments >= argv && options.argument_count >= 0);
		REQUIRE(options.arguments + options.argument_count == argv + argc);
		REQUIRE(options.arguments[options.argument_count] == NULL);
		REQUIRE(options.verb != NULL || options.argument_count > 0 || options.help ||
			options.version);
	} else {
		REQUIRE(err.text[0] != '\0');
	}
	options_help(&arena);
	for (int i = 1; i < argc; i++)
		free(argv[i]);
	arena_free(&arena);
	return 0;
}
