// SPDX-License-Identifier: Apache-2.0
/*
 * The profile: guard, inih, key table, variables, tokens, lists, extends and --set. Files lie in
 * memory, parted by lines "%%"; the first is the profile, the others what it may extend ("./1",
 * "./2" ...), and those that begin with "--set" are overrides.
 */
#include "fuzz.h"

#define source_read      fuzz_source_read
#define lookup_is_absent fuzz_lookup_is_absent
#include "profile_load.c"

enum { FILES = 8 };

static struct {
	char *text;
	size_t len;
} files[FILES];
static size_t file_count;

/* "/profiles/N" is file N. */
static size_t number_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL && slash[1] >= '0' && slash[1] <= '9' && slash[2] == '\0'
		       ? (size_t)(slash[1] - '0')
		       : FILES;
}

int fuzz_source_read(struct arena *from, uid_t uid, struct source *source, struct error *err)
{
	size_t number = number_of(source->path);

	(void)uid;
	if (number >= file_count)
		return error_set(err, ERROR_PROFILE, "no such file");
	source->size = files[number].len;
	source->bytes = arena_alloc(from, source->size + 1);
	memcpy(source->bytes, files[number].text, source->size);
	source->device = 1;
	source->inode = number + 1;
	return 0;
}

bool fuzz_lookup_is_absent(struct arena *arena, const struct profile_context *context,
			   const char *name)
{
	(void)arena;
	(void)context;
	return number_of(name) >= file_count;
}

static const struct profile_context context = {
	.cwd = "/work/here",
	.home = "/home/somebody",
	.user = "somebody",
	.uid = 1000,
	.store = "/home/somebody/.local/state/sbox",
	.user_dir = "/no/user",
	.system_dir = "/no/system",
	.shipped_dir = "/no/shipped",
};

static void split(struct fuzz_input *input)
{
	static const char mark[] = "\n%%\n";

	file_count = 0;
	while (file_count < FILES && (file_count == 0 || fuzz_left(input) > 0)) {
		const uint8_t *stop = memmem(input->at, fuzz_left(input), mark, 4);
		size_t len = (size_t)((stop != NULL ? stop + 1 : input->end) - input->at);

		files[file_count].text = malloc(len + 1);
		memcpy(files[file_count].text, input->at, len);
		files[file_count].text[len] = '\0';
		files[file_count++].len = len;
		input->at = stop != NULL ? stop + 4 : input->end;
	}
}

static size_t find_overrides(struct profile_override overrides[FILES])
{
	size_t count = 0;

	for (size_t i = 1; i < file_count; i++)
		if (strncmp(files[i].text, "--set ", 6) == 0) {
			char *end = strchr(files[i].text, '\n');

			if (end != NULL)
				*end = '\0';
			overrides[count++].text = files[i].text + 6;
		}
	return count;
}

/* What a message says goes to a terminal. */
static void check_error(const struct error *err)
{
	REQUIRE(err->text[0] != '\0');
	for (const char *at = err->text; *at != '\0'; at++)
		REQUIRE((unsigned char)*at >= ' ' && *at != 0x7f);
}

/* Absolute, and each part of it is a name: links make "." and ".." lie. */
static void check_path(const char *path)
{
	REQUIRE(path[0] == '/');
	while (strcmp(path, "/") != 0 && *path == '/') {
		size_t part = strcspn(++path, "/");

		REQUIRE(part > 0 && strspn(path, ".") < (part < 3 ? part : part + 1));
		path += part;
	}
}

static void check_paths(const struct profile *profile)
{
	for (size_t key = 0; key < KEY_MAX; key++) {
		const void *field = (const char *)profile + key_table[key].offset;
		const struct path_list *list = field;

		for (size_t i = 0; key_table[key].type == KEY_PATHS && i < list->count; i++)
			check_path(list->items[i].path);
	}
}

static void use_dump(const char *dump)
{
	for (size_t i = 0; i < file_count; i++)
		free(files[i].text);
	files[0].text = strdup(dump);
	files[0].len = strlen(dump);
	file_count = 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct fuzz_input input = {bytes, bytes + len};
	struct profile_override overrides[FILES];
	struct profile profile, again;
	struct arena arena = {0};
	struct error err = {0};

	split(&input);
	size_t count = find_overrides(overrides);
	if (profile_load(&arena, &context, "/profiles/0", overrides, count, &profile, NULL, &err) ==
	    0) {
		char *dump = profile_dump(&arena, &profile);

		check_paths(&profile);
		use_dump(dump);
		if (profile_load(&arena, &context, "/profiles/0", NULL, 0, &again, NULL, &err) !=
		    0) {
			fprintf(stderr, "%s\n%s\n", dump, err.text);
			REQUIRE(!"a dump is a profile");
		}
		REQUIRE(strcmp(dump, profile_dump(&arena, &again)) == 0);
	} else {
		check_error(&err);
	}
	for (size_t i = 0; i < file_count; i++)
		free(files[i].text);
	arena_free(&arena);
	return 0;
}
