// SPDX-License-Identifier: Apache-2.0
/* hosts(5): the name that is looked for is the first line, the rest is the file. */
#include "fuzz.h"

#include <arpa/inet.h>

#include "address.h"
#include "hosts.h"

enum { MOST = 5 };

/* A word of the line, of those that a blank ends; NULL behind the last one. */
static char *next_word(char **line)
{
	return strtok_r(NULL, " \t\r", line);
}

static bool says(char *line, const char *name)
{
	char clean[RULE_NAME_BYTES], *save = NULL;
	uint8_t bytes[16];

	line[strcspn(line, "#")] = '\0';
	const char *address = strtok_r(line, " \t\r", &save);
	if (address == NULL ||
	    (inet_pton(AF_INET, address, bytes) != 1 && inet_pton(AF_INET6, address, bytes) != 1))
		return false;
	for (char *word = next_word(&save); word != NULL; word = next_word(&save))
		if (rule_clean_name(word, strlen(word), clean) && strcmp(clean, name) == 0)
			return true;
	return false;
}

/* A second, plain reading: in how many lines is it? A NUL would end its strings. */
static void check_count(const uint8_t *bytes, size_t len, const char *name, size_t count)
{
	size_t lines = 0;
	char *text = malloc(len + 1), *save = NULL;

	memcpy(text, bytes, len);
	text[len] = '\0';
	for (char *line = strtok_r(text, "\n", &save); line != NULL;
	     line = strtok_r(NULL, "\n", &save))
		lines += says(line, name);
	REQUIRE(count == (lines < MOST ? lines : MOST));
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct fuzz_input input = {bytes, bytes + len};
	struct rule_address found[MOST], mapped;
	char *name = fuzz_piece(&input, '\n', NULL), clean[RULE_NAME_BYTES];

	hosts_use((const char *)input.at, fuzz_left(&input));
	size_t count = hosts_find(name, found, MOST);
	REQUIRE(count <= MOST);
	for (size_t i = 0; i < count; i++) {
		REQUIRE(found[i].family == AF_INET || found[i].family == AF_INET6);
		mapped = found[i];
		address_plain(&mapped);
		REQUIRE(address_equal(&mapped, &found[i]));
	}
	/* what is no name is nobody's */
	REQUIRE(count == 0 ||
		(rule_clean_name(name, strlen(name), clean) && strcmp(name, clean) == 0));
	if (fuzz_left(&input) > 0 && memchr(input.at, '\0', fuzz_left(&input)) == NULL)
		check_count(input.at, fuzz_left(&input), name, count);
	free(name);
	return 0;
}
