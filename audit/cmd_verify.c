// SPDX-License-Identifier: Apache-2.0
#include "cmd_verify.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

struct verify_options {
	const char *store_dir, *seal_path, *anchors_path, *was;
	const char *expect[16];
	size_t expect_count;
	bool json;
};

static const struct option long_options[] = {
	{"store", required_argument, NULL, 's'},
	{"key", required_argument, NULL, 'k'},
	{"expect", required_argument, NULL, 'e'},
	{"anchors", required_argument, NULL, 'a'},
	{"was", required_argument, NULL, 'w'},
	{"json", no_argument, NULL, 'j'},
	{NULL, 0, NULL, 0},
};

static int usage(const char *text)
{
	fprintf(stderr, "sbox-audit: verify: %s: see sbox audit help\n", text);
	return EXIT_USAGE;
}

static int parse(int argc, char **argv, struct verify_options *ret)
{
	int letter;

	while ((letter = getopt_long(argc, argv, "j", long_options, NULL)) != -1)
		switch (letter) {
		case 's':
			ret->store_dir = optarg;
			break;
		case 'k':
			ret->seal_path = optarg;
			break;
		case 'e':
			if (ret->expect_count == sizeof(ret->expect) / sizeof(ret->expect[0]))
				return usage("too many --expect");
			ret->expect[ret->expect_count++] = optarg;
			break;
		case 'a':
			ret->anchors_path = optarg;
			break;
		case 'w':
			ret->was = optarg;
			break;
		case 'j':
			ret->json = true;
			break;
		default:
			return EXIT_USAGE; /* getopt_long() has said why */
		}
	return optind < argc ? usage("takes no argument") : EXIT_OK;
}

/* What sbox audit init --key printed. */
static int read_seal(struct verify *verify, const char *path)
{
	json_error_t error;
	json_t *seal = strcmp(path, "-") == 0 ? json_loadf(stdin, JSON_DISABLE_EOF_CHECK, &error)
					      : json_load_file(path, 0, &error);
	const char *key = json_string_value(json_object_get(seal, "key"));
	const char *prev = json_string_value(json_object_get(seal, "prev"));
	json_int_t every = json_integer_value(json_object_get(seal, "every"));
	json_int_t seq = json_integer_value(json_object_get(seal, "seq"));
	bool is_good = key != NULL && prev != NULL && every > 0 && seq > 0 && strlen(key) == 64 &&
		       strlen(prev) == 64 && store_key_from_hex(key, verify->key.key);

	if (is_good) {
		verify->has_seal = true;
		verify->key.every = (uint64_t)every;
		verify->seal.every = (uint64_t)every;
		verify->seal.seq = (uint64_t)seq;
		memcpy(verify->seal.prev, prev, 65);
	} else {
		fprintf(stderr,
			"sbox-audit: %s: not a seal as sbox audit init --key prints it%s%s\n", path,
			seal == NULL ? ": " : "", seal == NULL ? error.text : "");
	}
	json_decref(seal);
	return is_good ? 0 : -1;
}

static int prepare(struct verify *verify, const struct verify_options *options)
{
	const char *dir = options->was != NULL ? options->was : verify->log.store.dir;

	verify->has_head =
		store_head_parse(verify->log.head.text, verify->log.head.len, &verify->head);
	/* a head without a record is that of an empty log */
	verify->head_is_met = verify->has_head && verify->head.seq == 0;
	if (options->seal_path != NULL && read_seal(verify, options->seal_path) < 0)
		return -1;
	for (size_t i = 0; i < options->expect_count; i++)
		if (points_add_expected(verify, options->expect[i]) < 0)
			return -1;
	if (options->anchors_path != NULL &&
	    points_add_anchors(verify, options->anchors_path, dir) < 0)
		return -1;
	points_sort(&verify->points);
	return 0;
}

int cmd_verify(int argc, char **argv)
{
	struct verify_options options = {0};
	struct verify verify = {0};
	int rc = parse(argc, argv, &options);

	if (rc != EXIT_OK)
		return rc;
	if (cmd_log_open(&verify.log, options.store_dir, &verify.arena) < 0)
		return EXIT_BAD;
	rc = EXIT_BAD;
	if (prepare(&verify, &options) == 0) {
		verify_chain(&verify);
		verify_ends(&verify);
		rc = verify_report(&verify, options.json);
	}
	explicit_bzero(&verify.key, sizeof(verify.key));
	explicit_bzero(&verify.log.key, sizeof(verify.log.key));
	cmd_log_close(&verify.log);
	free(verify.runs.slot);
	arena_free(&verify.arena);
	return rc;
}
