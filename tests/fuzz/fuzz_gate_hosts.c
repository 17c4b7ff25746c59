// SPDX-License-Identifier: Apache-2.0
/* hosts(5): the name that is looked for is the first line, the rest is the file. */
#include "fuzz.h"

#include "address.h"
#include "hosts.h"

enum { MOST = 5 };

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
	free(name);
	return 0;
}
