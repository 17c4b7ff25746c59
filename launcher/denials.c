// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "notify.h"
#include "notify_private.h"

static const char others[] = "others";

uint64_t notify_hash(uint64_t hash, const void *bytes, size_t length)
{
	const unsigned char *at = bytes;

	/* FNV-1a: equality is always confirmed, so a collision only costs a comparison. */
	for (size_t i = 0; i < length; i++)
		hash = (hash ^ at[i]) * 0x100000001b3ULL;
	return hash;
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static bool same(const struct record_denial *a, const struct record_denial *b)
{
	return a->boundary == b->boundary && a->errnum == b->errnum && same_text(a->op, b->op) &&
	       same_text(a->object, b->object);
}

static uint64_t hash_of(const struct record_denial *denial)
{
	uint64_t hash = NOTIFY_HASH_START ^ (uint64_t)denial->boundary;

	hash = notify_hash(hash, &denial->errnum, sizeof(denial->errnum));
	hash = notify_hash(hash, denial->op, strlen(denial->op) + 1);
	if (denial->object != NULL)
		hash = notify_hash(hash, denial->object, strlen(denial->object));
	return hash;
}

static struct record_denial *find(struct denials *denials, const struct record_denial *denial)
{
	uint64_t hash = hash_of(denial);

	for (size_t i = 0; i < denials->count; i++)
		if (denials->hashes[i] == hash && same(&denials->items[i], denial))
			return &denials->items[i];
	return NULL;
}

static size_t objects_of(const struct denials *denials, const struct record_denial *denial)
{
	size_t count = 0;

	for (size_t i = 0; i < denials->count; i++)
		if (denials->items[i].boundary == denial->boundary &&
		    same_text(denials->items[i].op, denial->op))
			count++;
	return count;
}

static uint64_t amount(const struct record_denial *denial)
{
	return denial->count > 0 ? denial->count : 1;
}

/* What the denial is written down as: itself, or one of the others of its op. */
static struct record_denial entry_of(const struct denials *denials,
				     const struct record_denial *denial)
{
	struct record_denial entry = *denial;

	/* what permits one of them says nothing of the rest */
	if (denial->object != NULL && objects_of(denials, denial) >= DENIAL_OBJECTS_MAX) {
		entry.object = others;
		entry.permit = entry.never = NULL;
	}
	return entry;
}

bool denials_count(struct denials *denials, const struct record_denial *denial)
{
	struct record_denial *found = find(denials, denial);

	if (found == NULL) {
		struct record_denial entry = entry_of(denials, denial);

		found = find(denials, &entry);
	}
	if (found != NULL)
		found->count += amount(denial);
	else if (denials->count == DENIALS_MAX || denials->text_bytes >= DENIAL_TEXT_MAX)
		denials->dropped++;
	else
		return false;
	return true;
}

static const char *copy(struct denials *denials, const char *text)
{
	denials->text_bytes += text != NULL ? strlen(text) : 0;
	return text != NULL ? arena_strdup(denials->arena, text) : NULL;
}

void denials_add(struct denials *denials, const struct record_denial *denial)
{
	if (denials_count(denials, denial))
		return;
	struct record_denial entry = entry_of(denials, denial);

	denials->hashes[denials->count] = hash_of(&entry);
	entry.count = amount(denial);
	entry.op = copy(denials, entry.op);
	entry.object = copy(denials, entry.object);
	entry.exe = copy(denials, entry.exe);
	entry.permit = copy(denials, entry.permit);
	entry.never = copy(denials, entry.never);
	denials->items[denials->count++] = entry;
}
