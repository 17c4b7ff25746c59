// SPDX-License-Identifier: Apache-2.0
#include "options.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "nearest.h"

enum option_id {
	OPTION_PROFILE,
	OPTION_JSON,
	OPTION_STRICT,
	OPTION_QUIET,
	OPTION_STATUS_FD,
	OPTION_LABEL,
	OPTION_SET,
	OPTION_STORE,
	OPTION_HELP,
	OPTION_VERSION,
	OPTION_RECORD_FD,
	OPTION_WATCH_FD,
	OPTION_MAX
};

const struct option option_table[] = {
	[OPTION_PROFILE] = {"--profile", "P",
			    "profile by name, or by path when it holds a '/' (default: agent)"},
	[OPTION_JSON] = {"--json", NULL,
			 "print one JSON object at the end instead of passing output on"},
	[OPTION_STRICT] = {"--strict", NULL,
			   "refuse every reduced or missing boundary, whatever on_missing says"},
	[OPTION_QUIET] = {"--quiet", NULL, "no line on stderr about how the run ended"},
	[OPTION_STATUS_FD] = {"--status-fd", "N",
			      "write run and end as one JSON line to descriptor N"},
	[OPTION_LABEL] = {"--label", "K=V", "a label for the record; repeatable"},
	[OPTION_SET] = {"--set", "SECTION.KEY=V",
			"override a profile key (+= adds to a list); repeatable"},
	[OPTION_STORE] = {"--store", "DIR", "folder of the audit store"},
	[OPTION_HELP] = {"--help", NULL, "this text"},
	[OPTION_VERSION] = {"--version", NULL, "the version"},
	[OPTION_RECORD_FD] = {"--record-fd", "N", NULL},
	[OPTION_WATCH_FD] = {"--watch-fd", "N", NULL},
};

const size_t option_count = OPTION_MAX;
_Static_assert(sizeof(option_table) / sizeof(option_table[0]) == OPTION_MAX, "one row an option");

const struct verb verb_table[] = {
	{"run", "[OPTION]... PROGRAM [ARG]...",
	 "run a program, also when it is called like a verb"},
	{"profiles", "[--json|--registries]",
	 "the profiles there are; --registries: what fetch may reach"},
	{"check", "PROFILE|--schema|--reference",
	 "is a profile right? or: the JSON schema, a profile with every key"},
	{"show", "PROFILE [--json]|--diff PROFILE PROFILE",
	 "the effective profile, the plan for this machine, or a difference"},
	{"doctor", "[--json] [PROFILE]...",
	 "what this machine gives for each boundary, and how to change it"},
	{"explain", "RUN|--last [--json] [--all] [--apply FILE] [--store DIR]",
	 "what a run was refused, and the smallest change that allows it"},
	{"learn", "[OPTION]... -o FILE PROGRAM [ARG]...",
	 "run a program and write the profile that is enough for what it used"},
	{"audit", "list|show|grep|replay|stats|report|export|verify|init|prune ...",
	 "find runs again: see sbox-audit(1)"},
	{"--complete", "WORD...", NULL},
};
const size_t verb_count = sizeof(verb_table) / sizeof(verb_table[0]);

const struct option learn_option_table[] = {
	{"--profile", "P", "the profile that it is learnt with (default: agent)"},
	{"-o", "FILE", "where the profile goes; one that was learnt before is added to"},
	{"--open", NULL, "show your home folder as home, and all folders of the system"},
	{"--allow-read", "PATH", "show this too; repeatable"},
	{"--allow-write", "PATH", "let it write below this folder too; repeatable"},
	{"--allow-net", "RULE", "let it reach NAME:PORT, as in [network] allow; repeatable"},
	{"--allow-secret", "PATH", "show this credential; repeatable"},
	{"--trim", NULL, "run it again for each line, and leave out what is not needed"},
	{"--store", "DIR", "folder of the audit store"},
};
const size_t learn_option_count = sizeof(learn_option_table) / sizeof(learn_option_table[0]);

char *options_help(struct arena *arena)
{
	char *text = arena_printf(arena, "usage: sbox [OPTION]... [--] PROGRAM [ARG]...\n");

	for (size_t i = 0; i < verb_count && verb_table[i].help != NULL; i++)
		text = arena_printf(arena, "%s       sbox %s %s\n", text, verb_table[i].name,
				    verb_table[i].arguments);
	text = arena_printf(
		arena, "%s\nRuns PROGRAM inside the boundaries that a profile declares.\n\n", text);
	for (size_t i = 0; i < option_count && option_table[i].help != NULL; i++) {
		const struct option *option = &option_table[i];
		const char *name = arena_printf(arena, "%s%s%s", option->name,
						option->value != NULL ? " " : "",
						option->value != NULL ? option->value : "");

		text = arena_printf(arena, "%s  %-22s %s\n", text, name, option->help);
	}
	text = arena_printf(arena, "%s\n", text);
	for (size_t i = 0; i < verb_count && verb_table[i].help != NULL; i++)
		text = arena_printf(arena, "%s  %-22s %s\n", text, verb_table[i].name,
				    verb_table[i].help);
	return text;
}

static int find_option(struct arena *arena, const char *text, size_t len, struct error *err)
{
	const char *word = arena_strndup(arena, text, len);
	struct nearest slip = {.wanted = word};

	for (int i = 0; i < OPTION_MAX; i++)
		if (strlen(option_table[i].name) == len &&
		    strncmp(option_table[i].name, word, len) == 0)
			return i;
	for (int i = 0; i < OPTION_MAX; i++)
		if (option_table[i].help != NULL)
			nearest_consider(&slip, option_table[i].name);
	const char *near = slip.best;
	return error_set(err, ERROR_USAGE,
			 "unknown option %.*s%s%s%s (options of the program go after "
			 "its name; sbox --help lists sbox's own)",
			 (int)len, word, near != NULL ? ", did you mean " : "",
			 near != NULL ? near : "", near != NULL ? "?" : "");
}

static int take_label(struct arena *arena, struct options *options, const char *value,
		      struct error *err)
{
	const char *equals = strchr(value, '=');

	if (equals == NULL || equals == value)
		return error_set(err, ERROR_USAGE, "--label %s: write it as KEY=VALUE", value);
	struct record_label *label = ARENA_PUSH(arena, options->labels, options->label_count);
	label->key = arena_strndup(arena, value, (size_t)(equals - value));
	label->value = equals + 1;
	return 0;
}

static int take_descriptor(const char *name, const char *value, int *ret, struct error *err)
{
	char *end;
	long number = strtol(value, &end, 10);

	if (*value == '\0' || *end != '\0' || number < 1 || number > 1 << 20 ||
	    fcntl((int)number, F_GETFD) < 0)
		return error_set(err, ERROR_USAGE, "%s %s: write the number of an open descriptor",
				 name, value);
	*ret = (int)number;
	return 0;
}

static int take_option(struct arena *arena, struct options *options, enum option_id id,
		       const char *value, struct error *err)
{
	switch (id) {
	case OPTION_PROFILE:
		options->profile = value;
		return 0;
	case OPTION_STORE:
		options->store_dir = value;
		return value[0] == '/' ? 0
				       : error_set(err, ERROR_USAGE,
						   "--store %s: write an absolute path", value);
	case OPTION_SET:
		ARENA_PUSH(arena, options->overrides, options->override_count)->text = value;
		return 0;
	case OPTION_LABEL:
		return take_label(arena, options, value, err);
	case OPTION_STATUS_FD:
		return take_descriptor("--status-fd", value, &options->status_fd, err);
	case OPTION_RECORD_FD:
		return take_descriptor("--record-fd", value, &options->record_fd, err);
	case OPTION_WATCH_FD:
		return take_descriptor("--watch-fd", value, &options->watch_fd, err);
	case OPTION_JSON:
		options->json = true;
		return 0;
	case OPTION_STRICT:
		options->strict = true;
		return 0;
	case OPTION_QUIET:
		options->quiet = true;
		return 0;
	case OPTION_HELP:
		options->help = true;
		return 0;
	case OPTION_VERSION:
		options->version = true;
		return 0;
	case OPTION_MAX:
		break;
	}
	abort();
}

/* One option at argv[*at]; moves past it and its value. */
static int parse_option(struct arena *arena, char **argv, int *at, struct options *options,
			struct error *err)
{
	const char *word = argv[(*at)++];
	size_t len = strcspn(word, "=");
	int id = find_option(arena, word, len, err);

	if (id < 0)
		return -1;
	if (option_table[id].value == NULL)
		return word[len] == '\0'
			       ? take_option(arena, options, (enum option_id)id, NULL, err)
			       : error_set(err, ERROR_USAGE, "%s takes no value",
					   option_table[id].name);
	const char *value = word[len] == '=' ? word + len + 1 : argv[*at];
	if (value == NULL)
		return error_set(err, ERROR_USAGE, "%s needs a value: %s %s", option_table[id].name,
				 option_table[id].name, option_table[id].value);
	if (word[len] == '\0')
		(*at)++;
	return take_option(arena, options, (enum option_id)id, value, err);
}

static const char *find_verb(const char *word)
{
	for (size_t i = 0; i < verb_count; i++)
		if (strcmp(word, verb_table[i].name) == 0)
			return verb_table[i].name;
	return NULL;
}

int options_parse(struct arena *arena, int argc, char **argv, struct options *ret_options,
		  struct error *err)
{
	struct options options = {.profile = "agent", .status_fd = -1, .original = argv};
	int at = 1;

	if (argc < 1)
		return error_set(err, ERROR_USAGE, "called without arguments, not even a name");
	if (argc > 1)
		options.verb = find_verb(argv[1]);
	if (options.verb != NULL && strcmp(options.verb, "run") == 0) {
		options.verb = NULL;
		at = 2;
	}
	while (options.verb == NULL && at < argc && argv[at][0] == '-' && argv[at][1] != '\0') {
		if (strcmp(argv[at], "--") == 0) {
			at++;
			break;
		}
		if (parse_option(arena, argv, &at, &options, err) != 0)
			return -1;
	}
	if (options.verb != NULL)
		at = 2;
	options.arguments = argv + at;
	options.argument_count = argc - at;
	if (options.verb == NULL && at >= argc && !options.help && !options.version)
		return error_set(err, ERROR_USAGE,
				 "no program to run: sbox --profile agent python3 x.py");
	*ret_options = options;
	return 0;
}
