// SPDX-License-Identifier: Apache-2.0
/* The command line: words parted by NUL. */
#include "fuzz.h"

#include "options.h"

enum { WORDS = 32 };

static const struct option *option_named(const char *word, size_t len)
{
	for (size_t i = 0; i < option_count; i++)
		if (strlen(option_table[i].name) == len &&
		    memcmp(option_table[i].name, word, len) == 0)
			return &option_table[i];
	return NULL;
}

/* A label is KEY=VALUE, parted at the first "=". */
static void check_label(const struct options *options, size_t number, const char *value)
{
	REQUIRE(number < options->label_count);
	const struct record_label *label = &options->labels[number];
	size_t len = strlen(label->key);

	REQUIRE(len > 0 && len == strcspn(value, "=") && strncmp(value, label->key, len) == 0);
	REQUIRE(strcmp(value + len, "") != 0 && strcmp(value + len + 1, label->value) == 0);
}

/* The words before the program, read a second time: each is an option, or the value of one. */
static void check_words(char **argv, const struct options *options)
{
	char **at = argv + 1;
	size_t labels = 0;
	long long fd = -1;

	if (at < options->arguments && strcmp(*at, "run") == 0)
		at++;
	while (at < options->arguments && strcmp(*at, "--") != 0) {
		const char *word = *at++;
		size_t len = strcspn(word, "=");
		const struct option *option = option_named(word, len);

		REQUIRE(option != NULL);
		if (option->value == NULL)
			continue;
		const char *value = word[len] == '=' ? word + len + 1 : *at++;
		if (strcmp(option->name, "--label") == 0)
			check_label(options, labels++, value);
		if (strcmp(option->name, "--status-fd") == 0)
			fd = strtoll(value, NULL, 10);
	}
	REQUIRE(at == options->arguments || at + 1 == options->arguments);
	REQUIRE(labels == options->label_count && fd == options->status_fd);
}

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
		if (options.verb == NULL)
			check_words(argv, &options);
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
