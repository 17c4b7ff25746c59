// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "json.h"
#include "profile_internal.h"

/* The key table as a JSON schema (2020-12). A list is an array of strings, or one string. */

static const struct {
	const char *pattern;
	bool list;
} shapes[KEY_TYPE_MAX] = {
	[KEY_TEXT] = {NULL, false},
	[KEY_WORD] = {NULL, false},
	[KEY_SIZE] = {"^([0-9]+[KMGT]?)?$", false},
	[KEY_DURATION] = {"^([0-9]+(\\.[0-9]+)?(ms|s|m|h|d))?$", false},
	[KEY_COUNT] = {"^([0-9]+)?$", false},
	[KEY_MILLI] = {"^([0-9]+(\\.[0-9]{1,3})?)?$", false},
	[KEY_PATHS] = {"^!?-?(/|\\$\\{)", true},
	[KEY_TOKENS] = {NULL, true},
	[KEY_LINES] = {NULL, true},
};

static void put(struct json *json, const char *key, const char *value)
{
	json_put_key(json, key);
	json_put_text(json, value);
}

static void put_words(struct json *json, const char *words)
{
	const char *word;
	size_t len;

	json_put_key(json, "enum");
	json_array_begin(json);
	for (size_t i = 0; (word = value_word_at(words, i, &len)) != NULL; i++)
		json_put_text(json, arena_strndup(json->arena, word, len));
	json_array_end(json);
}

static void put_string(struct json *json, const struct key *key)
{
	put(json, "type", "string");
	if (key->words[0] != '\0')
		put_words(json, key->words);
	else if (shapes[key->type].pattern != NULL)
		put(json, "pattern", shapes[key->type].pattern);
}

static void put_key(struct json *json, const struct key *key)
{
	json_put_key(json, key->name);
	json_object_begin(json);
	put(json, "description", key->help);
	if (shapes[key->type].list) {
		put(json, "type", "array");
		json_put_key(json, "items");
		json_object_begin(json);
		put_string(json, key);
		json_object_end(json);
	} else {
		put_string(json, key);
		put(json, "default", key->default_text);
	}
	json_object_end(json);
}

static void put_section(struct json *json, size_t first)
{
	json_put_key(json, key_table[first].section);
	json_object_begin(json);
	put(json, "type", "object");
	json_put_key(json, "additionalProperties");
	json_put_bool(json, false);
	json_put_key(json, "properties");
	json_object_begin(json);
	if (strcmp(key_table[first].section, key_extends.section) == 0)
		put_key(json, &key_extends);
	for (size_t i = first;
	     i < KEY_MAX && strcmp(key_table[i].section, key_table[first].section) == 0; i++)
		put_key(json, &key_table[i]);
	json_object_end(json);
	json_object_end(json);
}

char *keys_schema(struct arena *arena)
{
	struct json json;

	json_begin(&json, arena);
	json_object_begin(&json);
	put(&json, "$schema", "https://json-schema.org/draft/2020-12/schema");
	put(&json, "title", "sbox profile");
	put(&json, "type", "object");
	json_put_key(&json, "additionalProperties");
	json_put_bool(&json, false);
	json_put_key(&json, "properties");
	json_object_begin(&json);
	for (size_t i = 0; i < KEY_MAX; i++)
		if (i == 0 || strcmp(key_table[i].section, key_table[i - 1].section) != 0)
			put_section(&json, i);
	json_object_end(&json);
	json_object_end(&json);
	return json_finish(&json);
}
