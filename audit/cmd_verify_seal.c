// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "cmd_verify.h"

/* A number that was made up must not keep us busy for ever. */
enum { EPOCHS_MAX = 100 * 1000 * 1000 };

static void check_order(struct verify *verify, const struct cmd_line *line,
			const struct store_line *parsed)
{
	if (parsed->sealed == 0 && verify->sealed > 0)
		verify_find(verify, INTEGRITY, "%s: has no MAC, though lines before it have",
			    verify_line_where(verify, line));
	if (parsed->sealed == 0 || verify->sealed == 0)
		return;
	if (parsed->sealed > verify->sealed + 1)
		verify_find(verify, COMPLETENESS, "%s: %ju sealed records before it were lost",
			    verify_line_where(verify, line),
			    (uintmax_t)(parsed->sealed - verify->sealed - 1));
	else if (parsed->sealed != verify->sealed + 1)
		verify_find(verify, INTEGRITY, "%s: sealed as number %ju, which was before",
			    verify_line_where(verify, line), (uintmax_t)parsed->sealed);
}

/* Moves our key to that of the line; false when there is no such way. */
static bool find_key(struct verify *verify, uint64_t sealed)
{
	struct store_key *key = &verify->key;

	if (sealed <= key->sealed)
		return sealed - 1 >= key->sealed - key->sealed % key->every;
	if ((sealed - 1 - key->sealed) / key->every > EPOCHS_MAX)
		return false;
	store_key_advance(key, sealed - 1 - key->sealed);
	return true;
}

static void check_mac(struct verify *verify, const struct cmd_line *line,
		      const struct store_line *parsed)
{
	char mac[SHA256_HEX];

	if (!find_key(verify, parsed->sealed)) {
		verify_find(verify, INTEGRITY, "%s: sealed as number %ju, which cannot be",
			    verify_line_where(verify, line), (uintmax_t)parsed->sealed);
		return;
	}
	store_key_mac(verify->key.key, line->text, (size_t)(parsed->covered - line->text),
		      parsed->body, (size_t)(line->text + line->len - parsed->body), mac);
	if (memcmp(mac, parsed->mac, SHA256_HEX - 1) != 0)
		verify_find(verify, INTEGRITY,
			    "%s (seq %ju): its MAC is wrong: changed, or not written by sbox",
			    verify_line_where(verify, line), (uintmax_t)parsed->seq);
}

void verify_seal_line(struct verify *verify, const struct cmd_line *line,
		      const struct store_line *parsed)
{
	if (parsed->sealed == 0 && verify->sealed == 0 && !verify->has_seal)
		return;
	check_order(verify, line, parsed);
	if (!verify->has_seal)
		return;
	if (parsed->seq == verify->seal.seq &&
	    memcmp(parsed->prev, verify->seal.prev, SHA256_HEX - 1) != 0)
		verify_find(verify, INTEGRITY,
			    "%s (seq %ju): the records before it are not those that were sealed",
			    verify_line_where(verify, line), (uintmax_t)parsed->seq);
	if (parsed->sealed > 0)
		check_mac(verify, line, parsed);
	else if (parsed->seq >= verify->seal.seq && verify->sealed == 0)
		verify_find(verify, INTEGRITY, "%s (seq %ju): has no MAC, though it was sealed",
			    verify_line_where(verify, line), (uintmax_t)parsed->seq);
}
