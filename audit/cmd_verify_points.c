// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd_verify.h"

static void add(struct verify *verify, uint64_t seq, const char *hash, bool is_expected)
{
	struct points *points = &verify->points;
	struct point *point = ARENA_PUSH(&verify->arena, points->item, points->count);

	*point = (struct point){.seq = seq, .is_expected = is_expected};
	memcpy(point->hash, hash, SHA256_HEX - 1);
}

static bool is_hash(const char *text, size_t len)
{
	return len == SHA256_HEX - 1 && strspn(text, "0123456789abcdef") >= len;
}

/* A number, and what follows it; 0 when there is none. */
static uint64_t read_seq(const char *text, const char **ret_rest)
{
	char *end;

	errno = 0;
	unsigned long long seq = text[0] >= '0' && text[0] <= '9' ? strtoull(text, &end, 10) : 0;
	if (seq == 0 || errno != 0)
		return 0;
	*ret_rest = end;
	return seq;
}

int points_add_expected(struct verify *verify, const char *text)
{
	const char *rest = NULL;
	uint64_t seq = read_seq(text, &rest);

	if (seq == 0 || rest[0] != ':' || !is_hash(rest + 1, strlen(rest + 1))) {
		fprintf(stderr, "sbox-audit: --expect takes SEQ:HASH as verify prints it\n");
		return -1;
	}
	add(verify, seq, rest + 1, true);
	return 0;
}

/* "… audit anchor seq=N hash=H store=DIR": as the line came out of a log, whatever stands before.
 */
static void add_line(struct verify *verify, const char *line, const char *dir)
{
	static const char mark[] = ": audit anchor seq=";
	const char *at = strstr(line, mark), *rest = NULL;
	uint64_t seq = at == NULL ? 0 : read_seq(at + sizeof(mark) - 1, &rest);

	if (seq == 0 || strncmp(rest, " hash=", 6) != 0 || strlen(rest) < 6 + 64 + 7 ||
	    !is_hash(rest + 6, 64) || strncmp(rest + 6 + 64, " store=", 7) != 0)
		return;
	if (strcmp(rest + 6 + 64 + 7, dir) == 0)
		add(verify, seq, rest + 6, false);
	else
		verify->points.skipped++;
}

int points_add_anchors(struct verify *verify, const char *path, const char *dir)
{
	FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "r");
	char *line = NULL;
	size_t room = 0;
	ssize_t len;

	if (file == NULL) {
		fprintf(stderr, "sbox-audit: %s: %s\n", path, strerror(errno));
		return -1;
	}
	while ((len = getline(&line, &room, file)) > 0) {
		if (line[len - 1] == '\n')
			line[len - 1] = '\0';
		add_line(verify, line, dir);
	}
	int rc = ferror(file) ? -1 : 0;
	if (rc < 0)
		fprintf(stderr, "sbox-audit: %s: cannot read\n", path);
	free(line);
	if (file != stdin)
		fclose(file);
	verify->has_anchors = true;
	return rc;
}

static int by_seq(const void *left, const void *right)
{
	const struct point *a = left, *b = right;

	return a->seq < b->seq ? -1 : a->seq > b->seq;
}

void points_sort(struct points *points)
{
	if (points->count > 0)
		qsort(points->item, points->count, sizeof(*points->item), by_seq);
}

void points_check(struct verify *verify, const struct cmd_line *line, uint64_t seq,
		  const char *hash)
{
	struct points *points = &verify->points;

	while (points->next < points->count && points->item[points->next].seq < seq)
		points->next++;
	for (size_t i = points->next; i < points->count && points->item[i].seq == seq; i++) {
		struct point *point = &points->item[i];

		if (point->is_met)
			continue;
		point->is_met = true;
		points->met++;
		if (strcmp(point->hash, hash) != 0)
			verify_find(verify, INTEGRITY,
				    "%s (seq %ju): is another record than the one in %s",
				    verify_line_where(verify, line), (uintmax_t)seq,
				    point->is_expected ? "--expect" : "--anchors");
	}
}
