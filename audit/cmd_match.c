// SPDX-License-Identifier: Apache-2.0
#include "cmd_read.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "record.h"

static bool text_is(const struct index *index, struct index_ref ref, const char *wanted)
{
	struct bytes bytes = index_text(index, ref);

	return bytes.len == strlen(wanted) && memcmp(bytes.data, wanted, bytes.len) == 0;
}

static bool is_user(const struct query *query, const struct index *index,
		    const struct index_row *row)
{
	char *end;
	unsigned long uid = strtoul(query->user, &end, 10);

	return text_is(index, row->user, query->user) ||
	       (*end == '\0' && (row->flags & INDEX_HAS_START) && uid == row->real_uid);
}

/* "key" or "key=value". */
static bool has_label(const struct query *query, const struct index *index,
		      const struct index_row *row)
{
	struct bytes labels = index_text(index, row->labels);
	const char *equals = strchr(query->label, '=');
	size_t key_len = equals != NULL ? (size_t)(equals - query->label) : strlen(query->label);
	const char *at = labels.data, *end = labels.data + labels.len;

	while (at < end) {
		const char *value = at + strnlen(at, (size_t)(end - at)) + 1;
		size_t value_len = value < end ? strnlen(value, (size_t)(end - value)) : 0;

		if ((size_t)(value - 1 - at) == key_len && memcmp(at, query->label, key_len) == 0 &&
		    (equals == NULL || (strlen(equals + 1) == value_len &&
					memcmp(equals + 1, value, value_len) == 0)))
			return true;
		at = value + value_len + 1;
	}
	return false;
}

static bool is_end(const struct query *query, const struct index_row *row)
{
	if (!(row->flags & INDEX_HAS_END))
		return false;
	if (query->failed && (row->kind != END_EXITED || row->code != 0))
		return true;
	return row->kind < END_KIND_MAX && (query->kinds & 1u << row->kind) != 0;
}

bool query_matches(const struct query *query, const struct index *index,
		   const struct index_row *row)
{
	uint64_t time_ns = row->start_ns != 0 ? row->start_ns : row->end_ns;

	if (time_ns < query->since_ns || (query->until_ns != 0 && time_ns >= query->until_ns))
		return false;
	if (query->unfinished && (row->flags & INDEX_HAS_END))
		return false;
	if (query->denied && row->denials == 0)
		return false;
	if ((query->kinds != 0 || query->failed) && !is_end(query, row))
		return false;
	return (query->user == NULL || is_user(query, index, row)) &&
	       (query->profile == NULL || text_is(index, row->profile, query->profile)) &&
	       (query->label == NULL || has_label(query, index, row));
}

/* From the newest back, so that a limit ends the search. */
uint64_t *query_rows(const struct query *query, const struct index *index, uint64_t *ret_count)
{
	uint64_t wanted = query->limit > 0 && query->limit < index->head.rows ? query->limit
									      : index->head.rows;
	uint64_t *numbers = malloc((wanted + 1) * sizeof(*numbers));
	uint64_t free_before = wanted;

	if (numbers == NULL)
		abort();
	for (uint64_t i = index->head.rows; i > 0 && free_before > 0; i--)
		if (query_matches(query, index, &index->rows[i - 1]))
			numbers[--free_before] = i - 1;
	*ret_count = wanted - free_before;
	memmove(numbers, numbers + free_before, *ret_count * sizeof(*numbers));
	return numbers;
}

static const struct index_row *last_started(const struct index *index)
{
	for (uint64_t i = index->head.rows; i > 0; i--)
		if (index->rows[i - 1].flags & INDEX_HAS_START)
			return &index->rows[i - 1];
	return NULL;
}

const struct index_row *query_run(const struct query *query, const struct index *index)
{
	const struct index_row *found = query->last ? last_started(index) : NULL;
	size_t len = query->last ? 0 : strlen(query->word);

	for (uint64_t i = 0; !query->last && len <= INDEX_RUN && i < index->head.rows; i++) {
		const struct index_row *row = &index->rows[i];

		if (strncasecmp(row->run, query->word, len) != 0)
			continue;
		if (found != NULL && memcmp(found->run, row->run, INDEX_RUN) != 0) {
			fprintf(stderr,
				"sbox-audit: %s: more than one run starts so: give more of it\n",
				query->word);
			return NULL;
		}
		found = row;
	}
	if (found == NULL)
		fprintf(stderr, "sbox-audit: no such run in %s: see sbox audit list\n",
			index->log->store.dir);
	return found;
}
