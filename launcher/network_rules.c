// SPDX-License-Identifier: Apache-2.0
#include "network_rules.h"

#include <stdlib.h>

static void add_rule(struct network_rules *rules, const struct rule *rule, const char *text)
{
	struct rule *added = &rules->rules[rules->rule_count];

	*added = *rule;
	rules->texts[rules->rule_count] = text;
	added->number = (uint32_t)++rules->rule_count;
}

static void read_rules(const struct profile *profile, struct network_rules *rules)
{
	const struct string_list *allow = &profile->network.allow, *deny = &profile->network.deny;
	char fault[RULE_FAULT_BYTES];
	struct rule rule;

	for (size_t i = 0; i < allow->count; i++) {
		if (!rule_parse_allow(allow->items[i], &rule, fault))
			abort();
		add_rule(rules, &rule, allow->items[i]);
	}
	for (size_t i = 0; i < deny->count; i++) {
		if (!rule_parse_deny(deny->items[i], &rule, fault))
			abort();
		add_rule(rules, &rule, deny->items[i]);
	}
}

void network_rules_read(struct arena *arena, const struct profile *profile,
			struct network_rules *ret_rules)
{
	const struct string_list *resolve = &profile->network.resolve;
	const struct string_list *listen = &profile->network.listen;
	size_t count = profile->network.allow.count + profile->network.deny.count;
	struct network_rules rules = {
		.rules = arena_alloc(arena, (count + 1) * sizeof(*rules.rules)),
		.texts = arena_alloc(arena, (count + 1) * sizeof(*rules.texts)),
		.pins = arena_alloc(arena, (resolve->count + 1) * sizeof(*rules.pins)),
		.listens = arena_alloc(arena, (listen->count + 1) * sizeof(*rules.listens))};
	char fault[RULE_FAULT_BYTES];

	read_rules(profile, &rules);
	for (; rules.pin_count < resolve->count; rules.pin_count++)
		if (!rule_parse_pin(resolve->items[rules.pin_count], &rules.pins[rules.pin_count],
				    fault))
			abort();
	for (; rules.listen_count < listen->count; rules.listen_count++)
		if (!rule_parse_listen(listen->items[rules.listen_count],
				       &rules.listens[rules.listen_count], fault))
			abort();
	*ret_rules = rules;
}

int network_rules_check(struct arena *arena, const struct profile *profile, enum key_id *ret_key,
			struct error *err)
{
	struct network_rules rules;
	char fault[RULE_FAULT_BYTES];

	network_rules_read(arena, profile, &rules);
	*ret_key = profile->network.allow.count > 0 ? KEY_NETWORK_ALLOW : KEY_NETWORK_DENY;
	if (!rules_check(rules.rules, rules.rule_count, fault))
		return error_set(err, ERROR_PROFILE, "%s", fault);
	*ret_key = KEY_NETWORK_RESOLVE;
	if (rules.pin_count > RULE_PINS_MAX)
		return error_set(err, ERROR_PROFILE, "%zu names are too many (%d)", rules.pin_count,
				 RULE_PINS_MAX);
	*ret_key = KEY_NETWORK_LISTEN;
	if (!rules_check_listen(rules.listens, rules.listen_count, fault))
		return error_set(err, ERROR_PROFILE, "%s", fault);
	return 0;
}

static int by_first(const void *a, const void *b)
{
	const struct port_range *left = a, *right = b;

	return (left->first > right->first) - (left->first < right->first);
}

size_t network_rules_ports(struct arena *arena, const struct network_rules *rules,
			   struct port_range **ret_ranges)
{
	struct port_range *ranges = arena_alloc(arena, (rules->rule_count + 1) * sizeof(*ranges));
	size_t count = 0, kept = 0;

	for (size_t i = 0; i < rules->rule_count; i++)
		if (rules->rules[i].action == RULE_ALLOW)
			ranges[count++] = (struct port_range){rules->rules[i].port_low,
							      rules->rules[i].port_high};
	qsort(ranges, count, sizeof(*ranges), by_first);
	for (size_t i = 0; i < count; i++) {
		struct port_range *last = kept > 0 ? &ranges[kept - 1] : NULL;

		/* ports beside each other make one range, too */
		if (last == NULL || ranges[i].first > (uint32_t)last->last + 1)
			ranges[kept++] = ranges[i];
		else if (ranges[i].last > last->last)
			last->last = ranges[i].last;
	}
	*ret_ranges = ranges;
	return kept;
}

const char *network_rules_text(const struct network_rules *rules, unsigned number)
{
	return number > 0 && number <= rules->rule_count ? rules->texts[number - 1] : NULL;
}
