// SPDX-License-Identifier: Apache-2.0
/* Reads the audit trail. `sbox audit` executes it; it is no part of a run. */
#include "cmd_read.h"

#include <errno.h>
#include <string.h>

static int help_main(int argc, char **argv);

static const struct verb {
	const char *name, *arguments, *help;
	int (*main)(int argc, char **argv); /* argv[1] is the first word behind the verb */
} verbs[] = {
	{"list", "[FILTER]... [--json] [--store DIR]", "one line a run, oldest first", list_main},
	{"show", "RUN|--last [--json] [--store DIR]",
	 "all that is known of one run; RUN is an id or its first letters", show_main},
	{"grep", "[--regex] [-i] [--in PLACES] [--runs|--json] [FILTER]... PATTERN",
	 "looks for text in arguments, program text, output and refusals", grep_main},
	{"replay", "RUN|--last [--speed N] [--max-wait S] [--raw] [--store DIR]",
	 "says again what a run said, when it said it", replay_main},
	{"stats", "[FILTER]... [--json] [--store DIR]",
	 "ends, refusals, time and memory over many runs", stats_main},
	{"report", "-o FILE [FILTER]... [--details N] [--store DIR]",
	 "one HTML file to look at, which needs no network", report_main},
	{"export", "--ocsf|--csv [FILTER]... [--store DIR]", "for other programs", export_main},
	{"verify",
	 "[--key SEAL] [--expect SEQ:HASH] [--anchors FILE [--was DIR]] [--json] [--store DIR]",
	 "whether the log is what was written, and all of it", cmd_verify},
	{"init", "[--key [--epoch N]] [--store DIR]",
	 "makes a store; --key seals it and prints the seal, which is to be kept elsewhere",
	 cmd_init},
	{"prune", "--keep AGE,SIZE [--dry-run] [--store DIR]",
	 "removes what is too old or too much: kept output first, then old records", cmd_prune},
	{"help", "", "this text", help_main},
};

enum { VERBS = sizeof(verbs) / sizeof(verbs[0]) };

static int help_main(int argc, char **argv)
{
	(void)argc;
	(void)argv;
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

static int finish(int rc)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return rc;
	fprintf(stderr, "sbox-audit: cannot write: %s\n", strerror(errno));
	return EXIT_BAD;
}

int main(int argc, char **argv)
{
	const struct verb *verb = verbs;

	if (argc < 2)
		return usage_error("a verb is missing", "");
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
		return help_main(argc, argv);
	while (verb < verbs + VERBS && strcmp(verb->name, argv[1]) != 0)
		verb++;
	if (verb == verbs + VERBS)
		return usage_error("no such verb: ", argv[1]);
	argv[1] = argv[0];
	return finish(verb->main(argc - 1, argv + 1));
}
