// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd.h"

static const struct option long_options[] = {
	{"store", required_argument, NULL, 's'},
	{"key", no_argument, NULL, 'k'},
	{"epoch", required_argument, NULL, 'e'},
	{NULL, 0, NULL, 0},
};

enum { EPOCH_MAX = 1000000 };

static bool read_epoch(const char *text, uint64_t *ret)
{
	char *end;

	errno = 0;
	unsigned long value = strtoul(text, &end, 10);
	*ret = value;
	return text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0 && value > 0 &&
	       value <= EPOCH_MAX;
}

static int usage(const char *text)
{
	fprintf(stderr, "sbox-audit: init: %s: see sbox audit help\n", text);
	return EXIT_USAGE;
}

static int seal(struct store *store, uint64_t every, struct error *err)
{
	struct store_seal made = {0};

	if (store_seal(store, every, &made, err) < 0)
		return -1;
	printf("{\"sbox_seal\":1,\"every\":%llu,\"seq\":%llu,\"prev\":\"%s\",\"key\":\"%s\"}\n",
	       (unsigned long long)made.every, (unsigned long long)made.seq, made.prev, made.key);
	fputs("sbox-audit: the line above is the seal, and it is nowhere else. Keep it where the "
	      "store's owner\ncannot reach it: with it, sbox audit verify --key checks every "
	      "record, "
	      "and others can be forged.\n",
	      stderr);
	explicit_bzero(&made, sizeof(made));
	return 0;
}

int cmd_init(int argc, char **argv)
{
	struct arena arena = {0};
	struct store store = {0};
	struct error err;
	const char *dir = NULL;
	uint64_t every = 1;
	bool with_key = false, has_epoch = false;
	int letter;

	while ((letter = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
		if (letter == 's')
			dir = optarg;
		else if (letter == 'k')
			with_key = true;
		else if (letter != 'e')
			return EXIT_USAGE; /* getopt_long() has said why */
		else if (has_epoch = true, !read_epoch(optarg, &every))
			return usage("--epoch takes a number of records, 1-1000000");
	}
	if (optind < argc || (has_epoch && !with_key))
		return usage(has_epoch ? "--epoch is for --key" : "takes no argument");
	int rc = cmd_store_dir(&arena, dir, &dir, &err);
	if (rc == 0)
		rc = store_open(&store, dir, geteuid(), &err);
	if (rc == 0 && with_key)
		rc = seal(&store, every, &err);
	else if (rc == 0)
		printf("%s\n", dir);
	if (rc < 0)
		fprintf(stderr, "sbox-audit: %s\n", err.text);
	store_close(&store);
	arena_free(&arena);
	return rc < 0 ? EXIT_BAD : EXIT_OK;
}
