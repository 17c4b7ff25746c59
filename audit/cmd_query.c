// SPDX-License-Identifier: Apache-2.0
#include "cmd_read.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cmd_time.h"
#include "record.h"

/* Each option is for the verbs that take one of `takes`; 0: for all. */
static const struct known {
	struct option option;
	unsigned int takes;
} known[] = {
	{{"store", required_argument, NULL, 's'}, 0},
	{{"help", no_argument, NULL, 'h'}, 0},
	{{"json", no_argument, NULL, 'j'}, TAKES_JSON},
	{{"user", required_argument, NULL, 'u'}, TAKES_FILTERS},
	{{"since", required_argument, NULL, 'S'}, TAKES_FILTERS},
	{{"until", required_argument, NULL, 'U'}, TAKES_FILTERS},
	{{"profile", required_argument, NULL, 'p'}, TAKES_FILTERS},
	{{"end", required_argument, NULL, 'e'}, TAKES_FILTERS},
	{{"label", required_argument, NULL, 'L'}, TAKES_FILTERS},
	{{"denied", no_argument, NULL, 'd'}, TAKES_FILTERS},
	{{"unfinished", no_argument, NULL, 'f'}, TAKES_FILTERS},
	{{"limit", required_argument, NULL, 'n'}, TAKES_FILTERS},
	{{"last", no_argument, NULL, 'l'}, TAKES_RUN},
	{{"regex", no_argument, NULL, 'E'}, TAKES_GREP},
	{{"ignore-case", no_argument, NULL, 'i'}, TAKES_GREP},
	{{"runs", no_argument, NULL, 'r'}, TAKES_GREP},
	{{"in", required_argument, NULL, 'I'}, TAKES_GREP},
	{{"speed", required_argument, NULL, 'x'}, TAKES_REPLAY},
	{{"max-wait", required_argument, NULL, 'w'}, TAKES_REPLAY},
	{{"raw", no_argument, NULL, 'R'}, TAKES_REPLAY},
	{{"ocsf", no_argument, NULL, 'O'}, TAKES_EXPORT},
	{{"csv", no_argument, NULL, 'C'}, TAKES_EXPORT},
	{{"output", required_argument, NULL, 'o'}, TAKES_REPORT},
	{{"details", required_argument, NULL, 'D'}, TAKES_REPORT},
};

enum { KNOWN = sizeof(known) / sizeof(known[0]) };

int query_error(const char *verb, const char *text, const char *value)
{
	fprintf(stderr, "sbox-audit: %s: %s%s: see sbox audit help\n", verb, text, value);
	return EXIT_USAGE;
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static bool number(const char *text, uint64_t *ret)
{
	char *end;

	errno = 0;
	*ret = strtoull(text, &end, 10);
	return text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0;
}

static bool positive(const char *text, double *ret)
{
	char *end;

	*ret = strtod(text, &end);
	return text[0] != '\0' && *end == '\0' && *ret >= 0 && *ret < 1e9;
}

/* Words with commas: kinds of end, and "failed" for all but exited with 0. */
static bool parse_kinds(struct query *query, const char *text)
{
	while (*text != '\0') {
		size_t len = strcspn(text, ",");
		int kind = 0;

		while (kind < END_KIND_MAX && (strlen(end_kind_names[kind]) != len ||
					       memcmp(end_kind_names[kind], text, len) != 0))
			kind++;
		if (kind < END_KIND_MAX)
			query->kinds |= 1u << kind;
		else if (len == 6 && memcmp(text, "failed", 6) == 0)
			query->failed = true;
		else
			return false;
		text += len + (text[len] == ',');
	}
	return query->kinds != 0 || query->failed;
}

/* NULL when the value is fine, else what is wrong with it. */
static const char *take_value(struct query *query, int letter, const char *value)
{
	switch (letter) {
	case 's':
		query->store_dir = value;
		return NULL;
	case 'u':
		query->user = value;
		return NULL;
	case 'p':
		query->profile = value;
		return NULL;
	case 'L':
		query->label = value;
		return NULL;
	case 'I':
		query->in = value;
		return NULL;
	case 'o':
		query->output = value;
		return NULL;
	case 'S':
		return time_parse_when(value, now_ns(), &query->since_ns)
			       ? NULL
			       : "--since takes a time (2026-11-29, 2026-11-29T08:15, 2h, today), "
				 "not ";
	case 'U':
		return time_parse_when(value, now_ns(), &query->until_ns)
			       ? NULL
			       : "--until takes a time (2026-11-29, 2026-11-29T08:15, 2h, today), "
				 "not ";
	case 'e':
		return parse_kinds(query, value) ? NULL
						 : "--end takes kinds of end or failed, not ";
	case 'n':
		return number(value, &query->limit) && query->limit > 0
			       ? NULL
			       : "--limit takes a number from 1, not ";
	case 'D':
		return number(value, &query->details) ? NULL : "--details takes a number, not ";
	case 'x':
		return positive(value, &query->speed) && query->speed > 0
			       ? NULL
			       : "--speed takes a factor, as 2 or 0.5, not ";
	case 'w':
		return positive(value, &query->max_wait_s) ? NULL
							   : "--max-wait takes seconds, not ";
	default:
		return "unknown option ";
	}
}

static bool take_flag(struct query *query, int letter)
{
	bool *const flags[] = {&query->json,       &query->denied,   &query->unfinished,
			       &query->last,       &query->is_regex, &query->ignore_case,
			       &query->files_only, &query->raw,      &query->ocsf,
			       &query->csv};
	static const char letters[] = "jdflEirROC";
	const char *at = strchr(letters, letter);

	if (at == NULL || letter == '\0')
		return false;
	*flags[at - letters] = true;
	return true;
}

static void option_list(unsigned int takes, struct option *options, char *letters)
{
	size_t count = 0, len = 0;

	for (size_t i = 0; i < KNOWN; i++) {
		const struct known *one = &known[i];

		if (one->takes != 0 && (one->takes & takes) == 0)
			continue;
		options[count++] = one->option;
		if (strchr("jhniEor", one->option.val) == NULL)
			continue;
		letters[len++] = (char)one->option.val;
		if (one->option.has_arg == required_argument)
			letters[len++] = ':';
	}
	options[count] = (struct option){0};
	letters[len] = '\0';
}

static int check_words(const char *verb, unsigned int takes, int argc, char **argv,
		       struct query *query)
{
	if (optind < argc && (takes & (TAKES_WORD | TAKES_RUN)))
		query->word = argv[optind++];
	if (optind < argc)
		return query_error(verb, "one argument too many: ", argv[optind]);
	if ((takes & TAKES_WORD) && query->word == NULL)
		return query_error(verb, "a pattern is missing", "");
	if ((takes & TAKES_RUN) && (query->word != NULL) == query->last)
		return query_error(verb, "takes a run, or --last", "");
	if (query->word != NULL && query->word[0] == '\0')
		return query_error(verb, "an empty word", "");
	return EXIT_OK;
}

int query_parse(const char *verb, unsigned int takes, int argc, char **argv, struct query *ret)
{
	struct option options[KNOWN + 1];
	char letters[2 * KNOWN + 1];
	int letter;

	*ret = (struct query){.speed = 1, .max_wait_s = -1, .details = 2000};
	option_list(takes, options, letters);
	while ((letter = getopt_long(argc, argv, letters, options, NULL)) != -1) {
		if (letter == '?')
			return EXIT_USAGE; /* getopt_long() has said why */
		if (letter == 'h')
			return query_error(verb, "options are in sbox-audit(1)", "");
		if (take_flag(ret, letter))
			continue;
		const char *wrong = take_value(ret, letter, optarg);
		if (wrong != NULL)
			return query_error(verb, wrong, optarg);
	}
	return check_words(verb, takes, argc, argv, ret);
}
