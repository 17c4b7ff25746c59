// SPDX-License-Identifier: Apache-2.0
#include "store.h"

#include <string.h>

/* "30d, 5G" for keep and for segment: at most one time and one size, or "all" for neither. */

#define FORM "is not a time and a size, as 30d, 5G (either may be left out), nor all"

static const struct unit {
	const char *name;
	bool is_time;
	uint64_t factor;
} units[] = {
	{"s", true, 1000},           {"m", true, 60000},          {"h", true, 3600000},
	{"d", true, 86400000},       {"K", false, 1024},          {"M", false, 1024 * 1024},
	{"G", false, 1024ULL << 20}, {"T", false, 1024ULL << 30},
};

static const struct unit *find_unit(const char *text, size_t len)
{
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (len == 1 && text[0] == units[i].name[0])
			return &units[i];
	return NULL;
}

static bool read_limit(const char *text, size_t len, const struct unit **ret_unit, uint64_t *ret)
{
	uint64_t value = 0;
	size_t digits = 0;

	for (; digits < len && text[digits] >= '0' && text[digits] <= '9'; digits++)
		if (__builtin_mul_overflow(value, 10u, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(text[digits] - '0'), &value))
			return false;
	*ret_unit = find_unit(text + digits, len - digits);
	if (digits == 0 || *ret_unit == NULL || value == 0)
		return false;
	return !__builtin_mul_overflow(value, (*ret_unit)->factor, ret) && *ret <= INT64_MAX;
}

const char *store_parse_limits(const char *text, uint64_t *ret_ms, uint64_t *ret_bytes)
{
	uint64_t found[2] = {0, 0}, value;
	const struct unit *unit;

	text += strspn(text, " \t");
	if (strcmp(text, "all") == 0)
		text = "";
	for (const char *at = text; *at != '\0';) {
		size_t len = strcspn(at, ", \t");

		if (!read_limit(at, len, &unit, &value))
			return FORM;
		if (found[unit->is_time] != 0)
			return unit->is_time ? "has two times" : "has two sizes";
		found[unit->is_time] = value;
		at += len;
		at += strspn(at, " \t");
		if (*at == '\0')
			break;
		if (*at++ != ',')
			return FORM;
		at += strspn(at, " \t");
		if (*at == '\0')
			return FORM;
	}
	*ret_ms = found[true];
	*ret_bytes = found[false];
	return NULL;
}
