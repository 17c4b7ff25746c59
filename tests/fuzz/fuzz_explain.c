// SPDX-License-Identifier: Apache-2.0
/*
 * sbox explain: denials of a record become lines of a profile. The first part is the record, the
 * second the profile, parted by a line "%%". A denial adds at most one line (and its section),
 * whatever it says: it never brings in a second key.
 */
#include "fuzz.h"

#include "explain.h"
#include "text_diff.h"

static const struct profile_context context = {
	.cwd = "/no/work",
	.home = "/no/home",
	.user = "somebody",
	.uid = 1000,
	.store = "/no/store",
	.user_dir = "/no/user",
	.system_dir = "/no/system",
	.shipped_dir = "/no/shipped",
};

static size_t count_lines(const char *text)
{
	size_t lines = 0;

	for (; *text != '\0'; text++)
		lines += *text == '\n';
	return lines;
}

/* Each line that would permit something is there, whole. */
static void check_there(const struct explain *explain, const char *after)
{
	for (size_t i = 0; i < explain->change_count; i++) {
		const char *value = explain->changes[i].value, *at = after;

		while ((at = strstr(at, value)) != NULL && at[strlen(value)] != '\n')
			at++;
		REQUIRE(at != NULL);
	}
}

static void check_edit(struct explain *explain, const char *before)
{
	const char *after =
		explain_edit(explain->arena, before, explain->changes, explain->change_count);

	/* a section takes a blank line and its header */
	REQUIRE(count_lines(after) <= count_lines(before) + 1 + 3 * explain->change_count);
	for (size_t i = 0; i < explain->change_count; i++)
		REQUIRE(strpbrk(explain->changes[i].value, "\n\r") == NULL);
	check_there(explain, after);
	const char *again =
		explain_edit(explain->arena, after, explain->changes, explain->change_count);
	REQUIRE(count_lines(again) <= count_lines(after) + 1 + explain->change_count);
	text_diff(explain->arena, "before", "after", before, after);
	REQUIRE(text_diff(explain->arena, "a", "b", after, after)[0] == '\0');
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	static const char mark[] = "\n%%\n";
	const uint8_t *stop = len > 0 ? memmem(bytes, len, mark, 4) : NULL;
	struct fuzz_input input = {stop != NULL ? stop + 4 : bytes + len, bytes + len};
	struct arena arena = {0};
	struct explain explain = {.arena = &arena};
	json_t *end = json_loadb((const char *)bytes, stop != NULL ? (size_t)(stop - bytes) : len,
				 JSON_ALLOW_NUL, NULL);

	if (json_is_object(end)) {
		char *before = fuzz_rest(&input);

		explain.end = end;
		explain_find_changes(&explain, &context, len % 2);
		check_edit(&explain, before);
		free(before);
	}
	json_decref(end);
	arena_free(&arena);
	return 0;
}
