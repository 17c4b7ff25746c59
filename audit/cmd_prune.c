// SPDX-License-Identifier: Apache-2.0
#include <getopt.h>
#include <string.h>
#include <unistd.h>

#include "cmd.h"

static const struct option long_options[] = {
	{"store", required_argument, NULL, 's'},
	{"keep", required_argument, NULL, 'k'},
	{"dry-run", no_argument, NULL, 'n'},
	{NULL, 0, NULL, 0},
};

struct prune_options {
	const char *dir, *keep;
	bool is_dry_run;
	uint64_t ms, bytes;
};

static int usage(const char *text, const char *value)
{
	fprintf(stderr, "sbox-audit: prune: %s%s: see sbox audit help\n", text, value);
	return EXIT_USAGE;
}

static int parse(int argc, char **argv, struct prune_options *ret)
{
	int letter;

	while ((letter = getopt_long(argc, argv, "n", long_options, NULL)) != -1) {
		if (letter == 's')
			ret->dir = optarg;
		else if (letter == 'k')
			ret->keep = optarg;
		else if (letter == 'n')
			ret->is_dry_run = true;
		else
			return EXIT_USAGE; /* getopt_long() has said why */
	}
	if (optind < argc)
		return usage("takes no argument: ", argv[optind]);
	if (ret->keep == NULL)
		return usage("--keep says what stays, as in --keep 30d,5G", "");
	const char *wrong = store_parse_limits(ret->keep, &ret->ms, &ret->bytes);
	if (wrong != NULL)
		return usage("--keep ", wrong);
	if (ret->ms == 0 && ret->bytes == 0)
		return usage("--keep all leaves nothing to do", "");
	return EXIT_OK;
}

static int prune(const struct prune_options *options, struct arena *arena, struct error *err)
{
	struct store_pruned done = {0};
	struct store store;
	const char *dir;

	if (cmd_store_dir(arena, options->dir, &dir, err) < 0)
		return -1;
	/* it must be there: one that is made here would have nothing to prune */
	if (access(dir, F_OK) < 0)
		return error_sys(err, "audit store %s", dir);
	if (store_open(&store, dir, geteuid(), err) < 0)
		return -1;
	int rc = store_prune(&store, options->ms, options->bytes, options->is_dry_run, &done, err);
	store_close(&store);
	if (rc == 0)
		printf("%s %llu kept files and %llu segments, %llu bytes; %llu bytes stay\n",
		       options->is_dry_run ? "would remove" : "removed",
		       (unsigned long long)done.files, (unsigned long long)done.segments,
		       (unsigned long long)done.bytes, (unsigned long long)done.left_bytes);
	return rc;
}

int cmd_prune(int argc, char **argv)
{
	struct prune_options options = {0};
	struct arena arena = {0};
	struct error err;
	int rc = parse(argc, argv, &options);

	if (rc != EXIT_OK)
		return rc;
	rc = prune(&options, &arena, &err);
	if (rc < 0)
		fprintf(stderr, "sbox-audit: %s\n", err.text);
	arena_free(&arena);
	return rc < 0 ? EXIT_BAD : EXIT_OK;
}
