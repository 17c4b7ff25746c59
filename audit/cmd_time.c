// SPDX-License-Identifier: Apache-2.0
#include "cmd_time.h"

#include <stdio.h>
#include <stdlib.h>

enum { DAY_S = 86400 };
static const uint64_t second_ns = 1000000000;

/* Days since the epoch, counted from a March so that the leap day is a year's last. */
static int64_t days_of(int64_t year, int month, int day)
{
	year -= month <= 2;
	int64_t era = year / 400, of_era = year - era * 400;
	int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;

	return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

/* `count` digits. */
static bool digits(const char **at, const char *end, int count, int *ret)
{
	*ret = 0;
	for (int i = 0; i < count; i++, (*at)++) {
		if (*at == end || **at < '0' || **at > '9')
			return false;
		*ret = *ret * 10 + (**at - '0');
	}
	return true;
}

static bool letter(const char **at, const char *end, char wanted)
{
	if (*at == end || (**at != wanted && !(wanted == 'T' && **at == ' ')))
		return false;
	(*at)++;
	return true;
}

static uint64_t fraction(const char **at, const char *end)
{
	uint64_t value = 0, unit = second_ns;

	for (; *at < end && **at >= '0' && **at <= '9'; (*at)++) {
		unit /= 10;
		value += (uint64_t)(**at - '0') * unit;
	}
	return value;
}

/* The time of day is optional from its right. */
static bool parse(const char *at, const char *end, uint64_t *ret_ns)
{
	int year, month, day, hour = 0, minute = 0, second = 0;
	uint64_t part = 0;

	if (!digits(&at, end, 4, &year) || !letter(&at, end, '-') || !digits(&at, end, 2, &month) ||
	    !letter(&at, end, '-') || !digits(&at, end, 2, &day) || year < 1970 || month < 1 ||
	    month > 12 || day < 1 || day > 31)
		return false;
	if (letter(&at, end, 'T')) {
		if (!digits(&at, end, 2, &hour) || !letter(&at, end, ':') ||
		    !digits(&at, end, 2, &minute))
			return false;
		if (letter(&at, end, ':') && !digits(&at, end, 2, &second))
			return false;
		if (letter(&at, end, '.'))
			part = fraction(&at, end);
		letter(&at, end, 'Z');
	}
	int64_t seconds = days_of(year, month, day) * DAY_S + hour * 3600 + minute * 60 + second;
	*ret_ns = (uint64_t)seconds * second_ns + part;
	return at == end && hour < 24 && minute < 60 && second < 61;
}

uint64_t time_parse(struct span value)
{
	uint64_t ns;

	if (value.at == NULL || value.len < 2 || value.at[0] != '"' ||
	    !parse(value.at + 1, value.at + value.len - 1, &ns))
		return 0;
	return ns;
}

static uint64_t unit_seconds(const char *unit)
{
	static const struct {
		char letter;
		uint64_t seconds;
	} units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', DAY_S}, {'w', 7 * DAY_S}};

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (unit[0] == units[i].letter && unit[1] == '\0')
			return units[i].seconds;
	return 0;
}

bool time_parse_when(const char *text, uint64_t now_ns, uint64_t *ret_ns)
{
	uint64_t today_ns = now_ns - now_ns % (DAY_S * second_ns);
	char *unit;

	if (strcmp(text, "today") == 0 || strcmp(text, "yesterday") == 0) {
		*ret_ns = today_ns - (text[0] == 'y' ? DAY_S * second_ns : 0);
		return true;
	}
	if (parse(text, text + strlen(text), ret_ns))
		return true;
	if (text[0] < '0' || text[0] > '9')
		return false;
	uint64_t count = strtoull(text, &unit, 10);
	uint64_t seconds = unit_seconds(unit);
	if (seconds == 0 || count > now_ns / second_ns / seconds)
		return false;
	*ret_ns = now_ns - count * seconds * second_ns;
	return true;
}
