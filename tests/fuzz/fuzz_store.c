// SPDX-License-Identifier: Apache-2.0
/*
 * A store that a crash or somebody left in any state: opening it and writing to it either says what
 * is wrong, or the log ends with the new record, built on the one before, and nothing of what was
 * whole is lost.
 */
#include "fuzz_store.h"

#include "fuzz_mend.h"

static char *read_log(size_t *ret_len)
{
	char path[128];
	struct stat st;

	snprintf(path, sizeof(path), "%s/log.jsonl", fuzz_dir);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	REQUIRE(fd >= 0 && fstat(fd, &st) == 0);
	char *text = malloc((size_t)st.st_size + 1);
	ssize_t len = read(fd, text, (size_t)st.st_size);
	close(fd);
	REQUIRE(len == st.st_size);
	text[len] = '\0';
	*ret_len = (size_t)len;
	return text;
}

/* A head that fits the log is believed: the line that it stands for is for verify to look at. */
static bool has_fitting_head(const struct store *store)
{
	struct store_tail head;
	struct error err;
	struct stat st;

	return store_head_read(store, &head, &err) > 0 && fstat(store->log_fd, &st) == 0 &&
	       head.bytes == (uint64_t)st.st_size;
}

/* The last line is the record, its prev the hash of the line before it. */
static struct store_line check_end(const char *text, size_t len, bool believed)
{
	struct store_line last, before;
	char hash[SHA256_HEX];

	REQUIRE(len > 0 && text[len - 1] == '\n');
	const char *line = memrchr(text, '\n', len - 1);
	line = line != NULL ? line + 1 : text;
	REQUIRE(store_line_parse(line, (size_t)(text + len - line), &last));
	if (line == text || believed)
		return last;
	const char *above = memrchr(text, '\n', (size_t)(line - text) - 1);
	above = above != NULL ? above + 1 : text;
	sha256_hex_of(above, (size_t)(line - above), hash);
	REQUIRE(store_line_parse(above, (size_t)(line - above), &before));
	REQUIRE(memcmp(hash, last.prev, 64) == 0);
	/* nor is one what a power cut left zeros in */
	for (const char *at = above; at + 1 < line; at++)
		REQUIRE((unsigned char)*at >= ' ');
	REQUIRE(last.seq > before.seq);
	return last;
}

/* The number of a line is the one that is written there. */
static void check_seq(const struct store_line *line, const char *text, size_t len)
{
	const char *at = memmem(text, len, "\"seq\":", 6);
	unsigned __int128 plain = 0;

	REQUIRE(at != NULL);
	for (at += 6; *at >= '0' && *at <= '9' && plain >> 100 == 0; at++)
		plain = plain * 10 + (unsigned)(*at - '0');
	REQUIRE(plain == line->seq);
}

static void check_parsers(const uint8_t *bytes, size_t len)
{
	struct store_tail head;
	struct store_key key;
	struct store_line line;
	char *copy = fuzz_copy(bytes, len);

	store_head_parse(copy, len, &head);
	REQUIRE(!store_key_parse(copy, len, &key) || key.every > 0);
	if (store_line_parse(copy, len, &line)) {
		REQUIRE(line.body > copy && line.body < copy + len);
		check_seq(&line, copy, len);
	}
	free(copy);
}

static bool append(struct store *store)
{
	struct error err = {0};

	if (store_append(store, "{\"type\":\"fuzz\",\"more\":\"0123456789\"}", STORE_SYNC_NONE,
			 &err) == 0)
		return true;
	REQUIRE(err.text[0] != '\0');
	return false;
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t len, size_t most, unsigned int seed)
{
	return mend_mutate(bytes, len, most, seed >> 8, 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct fuzz_input input = {bytes, bytes + len};
	struct store_line first, second;
	struct error err = {0};
	struct store store;
	size_t size;

	check_parsers(bytes, len);
	fuzz_store_make(&input);
	if (store_open(&store, fuzz_dir, geteuid(), &err) == 0) {
		bool believed = has_fitting_head(&store);

		if (append(&store)) {
			char *text = read_log(&size);

			first = check_end(text, size, believed);
			free(text);
			/* what was recovered once is in order, while there are numbers */
			if (first.seq < STORE_SEQ_MAX && first.sealed < STORE_SEQ_MAX) {
				REQUIRE(append(&store));
				text = read_log(&size);
				second = check_end(text, size, false);
				REQUIRE(second.seq == first.seq + 1);
				free(text);
			}
		}
		store_close(&store);
	}
	fuzz_store_remove();
	return 0;
}
