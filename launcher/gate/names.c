// SPDX-License-Identifier: Apache-2.0
#include "names.h"

#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 8192, FIRST = 16, MOST = POLICY_NAMES_MOST + RULES_MAX };

static struct name *buckets[BUCKETS];
static struct name *by_number[MOST];
static size_t count;
static uint64_t wildcard_names, wildcard_bytes;

static unsigned hash(const char *text)
{
	uint32_t sum = 2166136261u; /* FNV-1a */

	for (; *text != '\0'; text++)
		sum = (sum ^ (unsigned char)*text) * 16777619u;
	return sum % BUCKETS;
}

static struct name *find(const char *text)
{
	struct name *name = buckets[hash(text)];

	while (name != NULL && strcmp(name->text, text) != 0)
		name = name->next;
	return name;
}

static struct name *add(const char *text, const struct rule *rule)
{
	unsigned bucket = hash(text);

	if (count == MOST)
		return NULL;
	struct name *name = calloc(1, sizeof(*name));
	if (name == NULL)
		return NULL;
	memcpy(name->text, text, strlen(text) + 1);
	name->rule = rule;
	name->address = policy.net + FIRST + (uint32_t)count;
	name->next = buckets[bucket];
	buckets[bucket] = name;
	by_number[count++] = name;
	return name;
}

bool names_init(void)
{
	for (size_t i = 0; i < policy.rule_count; i++) {
		const struct rule *rule = &policy.rules[i];
		const char *text = rule->kind == RULE_HOST ? "host" : rule->name;

		if (rule->action != RULE_ALLOW ||
		    (rule->kind != RULE_EXACT && rule->kind != RULE_HOST) || find(text) != NULL)
			continue;
		if (add(text, rule) == NULL)
			return false;
	}
	return true;
}

/* What a rule *.NAME leaves open costs: it can carry bytes out. */
static bool may_add_below(const char *text, const struct rule *rule)
{
	size_t bytes = strlen(text) - strlen(rule->name) - 1;

	return bytes <= NAME_WILDCARD_BYTES && wildcard_names < policy.wildcard_names;
}

struct name *names_get(const char *text, enum gate_verdict *ret_verdict,
		       const struct rule **ret_rule)
{
	const struct rule *rule = rule_for_name(policy.rules, policy.rule_count, text, 0);

	*ret_rule = rule;
	*ret_verdict = GATE_NOT_ALLOWED;
	if (rule == NULL || rule->action == RULE_DENY)
		return NULL;
	*ret_verdict = GATE_ANSWERED;
	struct name *name = find(text);
	if (name != NULL || rule->kind != RULE_BELOW)
		return name;
	*ret_verdict = GATE_TOO_MANY;
	if (!may_add_below(text, rule))
		return NULL;
	name = add(text, rule);
	if (name == NULL)
		return NULL;
	wildcard_names++;
	wildcard_bytes += strlen(text) - strlen(rule->name) - 1;
	*ret_verdict = GATE_ANSWERED;
	return name;
}

bool names_is_inside(uint32_t address)
{
	return (address ^ policy.net) >> (32 - POLICY_NET_BITS) == 0;
}

struct name *names_at(uint32_t address)
{
	uint32_t number = address - policy.net - FIRST;

	return names_is_inside(address) && number < count ? by_number[number] : NULL;
}

void names_count(uint64_t *ret_names, uint64_t *ret_bytes)
{
	*ret_names = wildcard_names;
	*ret_bytes = wildcard_bytes;
}
