// SPDX-License-Identifier: Apache-2.0
#include "profile_internal.h"

#include <string.h>

/*
 * One reader a type. Each returns NULL and fills its value, or returns what is
 * wrong, in words that follow the value: "80x" + "is not a size (...)".
 */

#define SIZE_FORM     "is not a size (bytes, or K, M, G, T: 512M)"
#define DURATION_FORM "is not a time (ms, s, m, h or d: 500ms, 1.5s, 10m)"

/* Digits into *ret; the number of digits, or 0 when there are none or too many. */
static size_t read_digits(const char *text, uint64_t *ret)
{
	uint64_t value = 0;
	size_t len = strspn(text, "0123456789");

	for (size_t i = 0; i < len; i++)
		if (__builtin_mul_overflow(value, 10u, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(text[i] - '0'), &value))
			value = UINT64_MAX;
	*ret = value;
	return len;
}

/* Overflow sticks at UINT64_MAX, which is above every limit. */
static uint64_t times(uint64_t value, uint64_t factor)
{
	uint64_t product;

	return __builtin_mul_overflow(value, factor, &product) ? UINT64_MAX : product;
}

const char *value_size(const char *text, uint64_t *ret)
{
	static const char units[] = "KMGT";
	uint64_t value;
	size_t len = read_digits(text, &value);
	const char *unit = text[len] != '\0' ? strchr(units, text[len]) : NULL;

	if (len == 0 || (text[len] != '\0' && (unit == NULL || text[len + 1] != '\0')))
		return SIZE_FORM;
	value = times(value, unit ? 1ULL << (10 * (unit - units + 1)) : 1);
	if (value > INT64_MAX)
		return "is more than any machine has (8388607T is the most)";
	*ret = value;
	return NULL;
}

static uint64_t unit_ms(const char *unit)
{
	static const struct {
		const char *name;
		uint64_t ms;
	} units[] = {{"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}, {"d", 86400000}};

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (strcmp(unit, units[i].name) == 0)
			return units[i].ms;
	return 0;
}

/* ".5" of a unit, exactly; UINT64_MAX when it does not come out even. */
static uint64_t fraction_of(const char *digits, size_t len, uint64_t unit)
{
	uint64_t value = 0, scale = 1;

	for (size_t i = 0; i < len && i < 9; i++) {
		value = value * 10 + (uint64_t)(digits[i] - '0');
		scale *= 10;
	}
	if (len > 9 || value * unit % scale != 0)
		return UINT64_MAX;
	return value * unit / scale;
}

/* "12" or "12.5", leaving *ret_rest at what follows. */
static const char *read_decimal(const char *text, uint64_t *ret_whole, const char **ret_fraction,
				size_t *ret_fraction_len)
{
	size_t len = read_digits(text, ret_whole);

	*ret_fraction = "";
	*ret_fraction_len = 0;
	if (len == 0 || text[len] != '.')
		return len ? text + len : NULL;
	*ret_fraction = text + len + 1;
	*ret_fraction_len = strspn(*ret_fraction, "0123456789");
	return *ret_fraction_len ? *ret_fraction + *ret_fraction_len : NULL;
}

const char *value_duration(const char *text, uint64_t *ret)
{
	const uint64_t most = 36500ULL * 86400000;
	const char *fraction;
	size_t fraction_len;
	uint64_t whole;
	const char *rest = read_decimal(text, &whole, &fraction, &fraction_len);

	if (rest != NULL && *rest == '\0')
		return "has no unit (ms, s, m, h or d: 10s)";
	uint64_t unit = rest ? unit_ms(rest) : 0;

	if (unit == 0)
		return DURATION_FORM;
	uint64_t part = fraction_of(fraction, fraction_len, unit);

	if (part == UINT64_MAX)
		return "is finer than a millisecond";
	whole = times(whole, unit);
	if (whole > most || whole + part > most)
		return "is longer than a hundred years (36500d is the most)";
	*ret = whole + part;
	return NULL;
}

const char *value_count(const char *text, uint64_t *ret)
{
	uint64_t value;
	size_t len = read_digits(text, &value);

	if (len == 0 || text[len] != '\0')
		return "is not a whole number";
	*ret = value;
	return NULL;
}

const char *value_milli(const char *text, uint64_t *ret)
{
	const char *fraction;
	size_t fraction_len;
	uint64_t whole;
	const char *rest = read_decimal(text, &whole, &fraction, &fraction_len);

	if (rest == NULL || *rest != '\0')
		return "is not a number (2, or 0.5)";
	uint64_t part = fraction_of(fraction, fraction_len, 1000);

	if (part == UINT64_MAX)
		return "has more than three decimals";
	whole = times(whole, 1000);
	*ret = whole > INT64_MAX ? UINT64_MAX : whole + part;
	return NULL;
}

const char *value_word_at(const char *words, size_t index, size_t *ret_len)
{
	for (; index > 0; index--) {
		words = strchr(words, '|');
		if (words == NULL)
			return NULL;
		words++;
	}
	*ret_len = strcspn(words, "|");
	return words;
}

const char *value_word(const char *words, const char *text, int *ret)
{
	const char *word;
	size_t len;

	for (size_t i = 0; (word = value_word_at(words, i, &len)) != NULL; i++) {
		if (strlen(text) == len && memcmp(word, text, len) == 0) {
			*ret = (int)i;
			return NULL;
		}
	}
	return "is not one of";
}

/* What a number may be; keys without a row need only be more than nothing. */
static const struct range {
	enum key_id id;
	uint64_t least, most;
	const char *words;
} ranges[] = {
	{KEY_PROCESS_PROCESSES, 1, 4194304, "1-4194304, or empty for no limit"},
	{KEY_PROCESS_OPEN_FILES, 1, 1048576, "1-1048576"},
	{KEY_PROCESS_CPUS, 10, 4096000, "0.01-4096, or empty for all"},
	{KEY_TIME_GRACE, 0, UINT64_MAX, ""},
	{KEY_AUDIT_CAPTURE, 0, UINT64_MAX, ""},
};

static int check_range(const struct place *place, const char *text, uint64_t value,
		       struct error *err)
{
	const struct range *range = NULL;
	bool optional = place->key->default_text[0] == '\0';

	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
		if (ranges[i].id == key_id(place->key))
			range = &ranges[i];
	if (range != NULL && (value < range->least || value > range->most))
		return place_error(place, err, "%s is out of range (%s)",
				   text_show(place->arena, text), range->words);
	if (range == NULL && value == 0)
		return place_error(place, err, "%s would leave nothing to run with%s",
				   text_show(place->arena, text),
				   optional ? " (empty: no limit)" : "");
	return 0;
}

static int store_number(const struct place *place, const char *text, void *field, struct error *err)
{
	static const char *(*const readers[KEY_TYPE_MAX])(const char *, uint64_t *) = {
		[KEY_SIZE] = value_size,
		[KEY_DURATION] = value_duration,
		[KEY_COUNT] = value_count,
		[KEY_MILLI] = value_milli,
	};
	uint64_t value = 0;
	const char *wrong = text[0] ? readers[place->key->type](text, &value) : NULL;

	if (wrong != NULL)
		return place_error(place, err, "%s %s", text_show(place->arena, text), wrong);
	if (text[0] != '\0' && check_range(place, text, value, err) < 0)
		return -1;
	memcpy(field, &value, sizeof(value));
	return 0;
}

static int store_word(const struct place *place, const char *text, void *field, struct error *err)
{
	int value = 0;
	const char *wrong = value_word(place->key->words, text, &value);

	if (wrong != NULL)
		return place_error(place, err, "%s %s %s", text_show(place->arena, text), wrong,
				   place->key->words);
	memcpy(field, &value, sizeof(value));
	return 0;
}

static int store_text(const struct place *place, const struct profile_context *context,
		      const char *raw, void *field, struct error *err)
{
	char *text;
	bool cwd;

	if (value_expand(place, context, raw, &text, &cwd, err) < 0)
		return -1;
	const char *wrong = text[0] ? token_fault(place->arena, place->key, text) : NULL;

	if (wrong != NULL)
		return place_error(place, err, "%s", wrong);
	memcpy(field, &text, sizeof(text));
	return 0;
}

int value_store(const struct place *place, const struct profile_context *context, const char *text,
		struct profile *profile, struct error *err)
{
	void *field = (char *)profile + place->key->offset;

	/* Empty means none; a key that has a default cannot do without a value. */
	if (text[0] == '\0' && place->key->default_text[0] != '\0')
		return place_error(place, err, "needs a value (%s when the key is left out)",
				   place->key->default_text);
	if (place->key->type == KEY_WORD)
		return store_word(place, text, field, err);
	if (place->key->type == KEY_TEXT)
		return store_text(place, context, text, field, err);
	return store_number(place, text, field, err);
}
