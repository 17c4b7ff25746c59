// SPDX-License-Identifier: Apache-2.0
#include "cmd_tally.h"

#include <stdlib.h>
#include <string.h>

static size_t hash_text(struct bytes text)
{
	uint64_t hash = 14695981039346656037u;

	for (size_t i = 0; i < text.len; i++)
		hash = (hash ^ (unsigned char)text.data[i]) * 1099511628211u;
	return (size_t)(hash ^ hash >> 31);
}

static struct tally_item *find(struct tally *tally, struct bytes text)
{
	size_t at = hash_text(text) & (tally->size - 1);

	while (tally->items[at].text != NULL &&
	       (tally->items[at].len != text.len ||
		memcmp(tally->items[at].text, text.data, text.len) != 0))
		at = (at + 1) & (tally->size - 1);
	return &tally->items[at];
}

static void grow(struct tally *tally)
{
	struct tally larger = {.size = tally->size == 0 ? 64 : tally->size * 2,
			       .used = tally->used};

	larger.items = calloc(larger.size, sizeof(*larger.items));
	if (larger.items == NULL)
		abort();
	for (size_t i = 0; i < tally->size; i++)
		if (tally->items[i].text != NULL)
			*find(&larger, (struct bytes){tally->items[i].text, tally->items[i].len}) =
				tally->items[i];
	free(tally->items);
	*tally = larger;
}

uint64_t tally_add(struct tally *tally, struct bytes text, uint64_t count)
{
	if (tally->used * 2 >= tally->size)
		grow(tally);
	struct tally_item *item = find(tally, text);
	if (item->text == NULL) {
		item->text = malloc(text.len + 1);
		if (item->text == NULL)
			abort();
		memcpy(item->text, text.data, text.len);
		item->text[text.len] = '\0';
		item->len = text.len;
		item->number = tally->used++;
	}
	item->count += count;
	return item->number;
}

bool tally_has(struct tally *tally, struct bytes text)
{
	return tally->size > 0 && find(tally, text)->text != NULL;
}

static int compare(const void *a, const void *b)
{
	const struct tally_item *left = a, *right = b;

	if (left->text == NULL || right->text == NULL)
		return (left->text == NULL) - (right->text == NULL);
	if (left->count != right->count)
		return left->count > right->count ? -1 : 1;
	return strcmp(left->text, right->text);
}

size_t tally_sort(struct tally *tally)
{
	if (tally->used > 0)
		qsort(tally->items, tally->size, sizeof(*tally->items), compare);
	return tally->used;
}

static int compare_number(const void *a, const void *b)
{
	const struct tally_item *left = a, *right = b;

	if (left->text == NULL || right->text == NULL)
		return (left->text == NULL) - (right->text == NULL);
	return left->number < right->number ? -1 : 1;
}

size_t tally_sort_by_number(struct tally *tally)
{
	if (tally->used > 0)
		qsort(tally->items, tally->size, sizeof(*tally->items), compare_number);
	return tally->used;
}

void tally_free(struct tally *tally)
{
	for (size_t i = 0; i < tally->size; i++)
		free(tally->items[i].text);
	free(tally->items);
	*tally = (struct tally){0};
}
