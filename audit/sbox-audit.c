// SPDX-License-Identifier: Apache-2.0
/* Reads the audit trail. `sbox audit` executes it; it is no part of a run. */
#include "cmd_read.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

static int cmd_help(const struct cmd_options *options);

static const struct verb {
	const char *name, *arguments, *help;
	int (*run)(const struct cmd_options *options);
	int (*main)(int argc, char **argv); /* instead: it parses its own options */
} verbs[] = {
	{"list", "[FILTER]... [--json] [--store DIR]", "one line a run, oldest first", NULL, list_main},
	{"show", "RUN|--last [--json] [--store DIR]",
	 "all that is known of one run; RUN is an id or its first letters", NULL, show_main},
	{"grep", "[--regex] [-i] [--in PLACES] [--runs|--json] [FILTER]... PATTERN",
	 "looks for text in arguments, program text, output and refusals", NULL, grep_main},
	{"replay", "RUN|--last [--speed N] [--max-wait S] [--raw] [--store DIR]",
	 "says again what a run said, when it said it", NULL, replay_main},
	{"stats", "[FILTER]... [--json] [--store DIR]",
	 "ends, refusals, time and memory over many runs", NULL, stats_main},
	{"report", "-o FILE [FILTER]... [--details N] [--store DIR]",
	 "one HTML file to look at, which needs no network", NULL, report_main},
	{"export", "--ocsf|--csv [FILTER]... [--store DIR]", "for other programs", NULL, export_main},
	{"verify",
	 "[--key SEAL] [--expect SEQ:HASH] [--anchors FILE [--was DIR]] [--json] [--store DIR]",
	 "whether the log is what was written, and all of it", NULL, cmd_verify},
	{"init", "[--key [--epoch N]] [--store DIR]",
	 "makes a store; --key seals it and prints the seal, which is to be kept elsewhere", NULL,
	 cmd_init},
	{"prune", "--keep AGE,SIZE [--dry-run] [--store DIR]",
	 "removes what is too old or too much: kept output first, then old records", NULL,
	 cmd_prune},
	{"help", "", "this text", cmd_help, NULL},
};

enum { VERBS = sizeof(verbs) / sizeof(verbs[0]) };

static int cmd_help(const struct cmd_options *options)
{
	(void)options;
	puts("usage: sbox audit VERB [OPTION]...\n");
	for (int i = 0; i < VERBS; i++)
		printf("  %s %s\n        %s\n", verbs[i].name, verbs[i].arguments, verbs[i].help);
	puts("\nFILTER is --user, --since, --until, --profile, --end, --label, --denied, "
	     "--unfinished, --limit.");
	puts("The store is /var/log/sbox for root, else sbox in XDG_STATE_HOME or "
	     "~/.local/state.\nSee sbox-audit(1).");
	return EXIT_OK;
}

static int usage_error(const char *text, const char *value)
{
	fprintf(stderr, "sbox-audit: %s%s: see sbox audit help\n", text, value);
	return EXIT_USAGE;
}

static const struct option long_options[] = {
	{"limit", required_argument, NULL, 'n'},
	{"store", required_argument, NULL, 's'},
	{"json", no_argument, NULL, 'j'},
	{"unfinished", no_argument, NULL, 'u'},
	{"last", no_argument, NULL, 'l'},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

static int parse_limit(const char *text, unsigned long *ret)
{
	char *end;

	errno = 0;
	unsigned long limit = strtoul(text, &end, 10);
	if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || limit == 0)
		return usage_error("--limit takes a number from 1, not ", text);
	*ret = limit;
	return EXIT_OK;
}

/* EXIT_OK, or what to exit with. */
static int parse_options(int argc, char **argv, struct cmd_options *ret)
{
	int letter, rc = EXIT_OK;

	while (rc == EXIT_OK &&
	       (letter = getopt_long(argc, argv, "n:jh", long_options, NULL)) != -1)
		switch (letter) {
		case 'n':
			rc = parse_limit(optarg, &ret->limit);
			break;
		case 's':
			ret->store_dir = optarg;
			break;
		case 'j':
			ret->json = true;
			break;
		case 'u':
			ret->unfinished = true;
			break;
		case 'l':
			ret->last = true;
			break;
		case 'h':
			cmd_help(NULL);
			exit(EXIT_OK);
		default:
			return EXIT_USAGE; /* getopt_long() has said why */
		}
	if (rc == EXIT_OK && optind < argc)
		ret->run = argv[optind++];
	if (rc == EXIT_OK && optind < argc)
		return usage_error("one argument too many: ", argv[optind]);
	return rc;
}

static int finish(int rc)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return rc;
	fprintf(stderr, "sbox-audit: cannot write: %s\n", strerror(errno));
	return EXIT_BAD;
}

int main(int argc, char **argv)
{
	struct cmd_options options = {0};
	const struct verb *verb = verbs;

	if (argc < 2 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
		return argc < 2 ? usage_error("a verb is missing", "") : cmd_help(NULL);
	while (verb < verbs + VERBS && strcmp(verb->name, argv[1]) != 0)
		verb++;
	if (verb == verbs + VERBS)
		return usage_error("no such verb: ", argv[1]);
	argv[1] = argv[0];
	if (verb->main != NULL)
		return finish(verb->main(argc - 1, argv + 1));
	int rc = parse_options(argc - 1, argv + 1, &options);
	if (rc != EXIT_OK)
		return rc;
	if (verb->run == cmd_show && (options.run != NULL) == options.last)
		return usage_error("show takes a run, or --last", "");
	if (verb->run == cmd_list && options.run != NULL)
		return usage_error("list takes no run: ", options.run);
	return finish(verb->run(&options));
}
