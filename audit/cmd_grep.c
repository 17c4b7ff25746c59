// SPDX-License-Identifier: Apache-2.0
#include "cmd_read.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "cmd_tally.h"

/*
 * Looks through what is known of runs: arguments, programs executed, refusals,
 * kept program text and kept output, line by line. What is printed is safe for
 * a terminal.
 */

enum { ARENA_RUNS = 64, KEPT_BYTES = 4 << 20, NEEDED_MAX = 8 };
enum place { IN_ARGV = 1, IN_EXECS = 2, IN_DENIALS = 4, IN_SCRIPT = 8, IN_OUTPUT = 16 };

static const struct {
	const char *name;
	unsigned int place;
} place_names[] = {{"argv", IN_ARGV},
		   {"execs", IN_EXECS},
		   {"denials", IN_DENIALS},
		   {"script", IN_SCRIPT},
		   {"output", IN_OUTPUT}};

struct grep {
	const struct query *query;
	struct index *index;
	struct arena arena; /* of one run */
	regex_t regex;
	unsigned int places;
	char needed[NEEDED_MAX][64]; /* each stands in every record that matches, as it is */
	size_t needed_count;
	const struct index_row *row;
	uint64_t found;       /* in this run */
	size_t kept_bytes;    /* of kept text in the arena */
	struct tally without; /* names of kept text that does not match */
};

static bool has_bytes(const char *data, size_t len, const char *word, bool ignore_case)
{
	size_t word_len = strlen(word);

	if (!ignore_case)
		return memmem(data, len, word, word_len) != NULL;
	for (size_t i = 0; i + word_len <= len; i++)
		if (strncasecmp(data + i, word, word_len) == 0)
			return true;
	return false;
}

/* A NUL in the text ends nothing: the length does. */
static bool matches(const struct grep *grep, struct bytes text)
{
	regmatch_t span = {.rm_so = 0, .rm_eo = (regoff_t)text.len};

	if (!grep->query->is_regex)
		return has_bytes(text.data, text.len, grep->query->word, grep->query->ignore_case);
	return regexec(&grep->regex, text.data, 1, &span, REG_STARTEND) == 0;
}

/* The first one of a run is enough with --runs. */
static void print_match(struct grep *grep, const char *where, uint64_t line, const char *text)
{
	grep->found++;
	if (grep->query->files_only)
		return;
	printf("%.*s %s", INDEX_RUN, grep->row->run, where);
	if (line > 0)
		printf(":%ju", (uintmax_t)line);
	printf(": %s\n", text_cut(&grep->arena, text, 400));
}

static void look_at_text(struct grep *grep, const char *where, struct bytes text)
{
	uint64_t number = 0;

	while (text.len > 0) {
		const char *newline = memchr(text.data, '\n', text.len);
		size_t len = newline == NULL ? text.len : (size_t)(newline - text.data);
		struct bytes line = {text.data, len};

		number++;
		if (matches(grep, line))
			print_match(grep, where, number, text_line(&grep->arena, line));
		len += newline != NULL;
		text.data += len;
		text.len -= len;
	}
}

/* Any argument by itself, or all of them with spaces between. */
static void look_at_argv(struct grep *grep, const char *where, const json_t *argv)
{
	const json_t *argument;
	char *all = NULL;
	size_t i, len = 0;
	bool is_match = false;
	FILE *out = open_memstream(&all, &len);

	if (out == NULL)
		abort();
	json_array_foreach((json_t *)argv, i, argument)
	{
		struct bytes bytes = text_bytes(&grep->arena, argument);

		if (bytes.data == NULL)
			continue;
		is_match = is_match || matches(grep, bytes);
		fprintf(out, i > 0 ? " " : "");
		fwrite(bytes.data, 1, bytes.len, out);
	}
	fclose(out);
	if (is_match || matches(grep, (struct bytes){all, len}))
		print_match(grep, where, 0, text_arguments(&grep->arena, argv));
	free(all);
}

/* Kept text is named by what is in it: what did not match once is not read again. */
static void look_at_kept(struct grep *grep, struct bytes list)
{
	struct index_kept kept;

	while (index_kept_next(&list, &kept)) {
		bool is_script = kept.letter == INDEX_KEPT_SCRIPT;
		struct bytes name = {kept.name, strlen(kept.name)};
		uint64_t before = grep->found;

		if ((grep->places & (is_script ? IN_SCRIPT : IN_OUTPUT)) == 0 ||
		    (is_script && tally_has(&grep->without, name)))
			continue;
		struct bytes text =
			kept_read(&grep->arena, &grep->index->log->store, kept.name, KEPT_MAX);
		grep->kept_bytes += text.len;
		look_at_text(grep, kept.where, text);
		if (is_script && grep->found == before)
			tally_add(&grep->without, name, 1);
	}
}

/* One member of what the index has, or of the record; most of it is never parsed. */
static json_t *member(struct bytes members, const char *key)
{
	return members.len == 0 ? NULL : scan_parse(index_member(members, key));
}

static void look_at_denials(struct grep *grep, struct bytes members)
{
	json_t *denials = member(members, "denials"), *denial;
	struct arena *arena = &grep->arena;
	size_t i;

	json_array_foreach(denials, i, denial)
	{
		const char *text = arena_printf(
			arena, "%s %s %s %s", text_member(arena, denial, "boundary"),
			text_member(arena, denial, "op"), text_member(arena, denial, "object"),
			text_member(arena, denial, "exe"));

		if (matches(grep, (struct bytes){text, strlen(text)}))
			print_match(grep, "denied", 0, text);
	}
	json_decref(denials);
}

static void look_at_execs(struct grep *grep, struct bytes members)
{
	json_t *execs = member(members, "execs"), *exec;
	size_t i;

	json_array_foreach(execs, i, exec)
	{
		struct bytes path = text_bytes(&grep->arena, json_object_get(exec, "path"));
		uint64_t before = grep->found;

		look_at_argv(grep, "exec", json_object_get(exec, "argv"));
		if (grep->found == before && path.data != NULL && matches(grep, path))
			print_match(grep, "exec", 0, text_argument(&grep->arena, path));
	}
	json_decref(execs);
}

/* Most records can be told from a match by the words that have to be in them. */
static bool may_match(const struct grep *grep, struct bytes text)
{
	bool has_all = text.len > 0;

	for (size_t i = 0; i < grep->needed_count && has_all; i++)
		has_all = has_bytes(text.data, text.len, grep->needed[i], grep->query->ignore_case);
	return has_all || (text.len > 0 && memmem(text.data, text.len, "\"base64\"", 8) != NULL);
}

/* Members of a record from the index; of one that is too long for it, from the log. */
static struct bytes members_of(struct grep *grep, struct index_ref ref,
			       const struct index_place *place)
{
	struct bytes members = index_json(grep->index, ref);
	struct span line = {0};

	if (members.len == 0)
		line = index_line(grep->index, place);
	if (line.len > 1 && line.at[0] == '{')
		return (struct bytes){line.at + 1, line.len - 1};
	return members;
}

static void look_at_arguments(struct grep *grep)
{
	const struct index_row *row = grep->row;
	struct bytes members = members_of(grep, row->start_json, &row->start);

	if (!may_match(grep, members))
		return;
	json_t *argv = member(members, "argv");

	look_at_argv(grep, "argv", argv);
	json_decref(argv);
}

static void look_at_run(struct grep *grep)
{
	const struct index_row *row = grep->row;
	unsigned int places = grep->places;

	if (places & IN_ARGV)
		look_at_arguments(grep);
	if (places & (IN_EXECS | IN_DENIALS)) {
		struct bytes members = members_of(grep, row->end_search, &row->end);
		bool may = may_match(grep, members);

		if (may && (places & IN_EXECS))
			look_at_execs(grep, members);
		if (may && (places & IN_DENIALS))
			look_at_denials(grep, members);
	}
	if (places & (IN_SCRIPT | IN_OUTPUT)) {
		look_at_kept(grep, index_text(grep->index, row->start_kept));
		look_at_kept(grep, index_text(grep->index, row->end_kept));
	}
}

static bool parse_places(const char *text, unsigned int *ret)
{
	enum { PLACES = sizeof(place_names) / sizeof(place_names[0]) };

	for (*ret = 0; *text != '\0'; text += text[0] == ',') {
		size_t len = strcspn(text, ","), i = 0;

		while (i < PLACES && (strlen(place_names[i].name) != len ||
				      memcmp(place_names[i].name, text, len) != 0))
			i++;
		if (i == PLACES)
			return false;
		*ret |= place_names[i].place;
		text += len;
	}
	return *ret != 0;
}

/* The pieces of the word that no JSON text writes in another way. */
static void find_needed(struct grep *grep)
{
	const char *at = grep->query->word;
	size_t len;

	for (; *at != '\0' && grep->needed_count < NEEDED_MAX; at += len + (at[len] != '\0')) {
		len = 0;
		while (at[len] > ' ' && at[len] < 127 && at[len] != '"' && at[len] != '\\' &&
		       len + 1 < sizeof(grep->needed[0]))
			len++;
		if (len < 2)
			continue;
		memcpy(grep->needed[grep->needed_count], at, len);
		grep->needed[grep->needed_count++][len] = '\0';
	}
}

static int prepare(struct grep *grep)
{
	const struct query *query = grep->query;
	char why[256];

	grep->places = IN_ARGV | IN_EXECS | IN_DENIALS | IN_SCRIPT | IN_OUTPUT;
	if (query->in != NULL && !parse_places(query->in, &grep->places))
		return query_error("grep", "--in takes argv, execs, denials, script, output, not ",
				   query->in);
	if (!query->is_regex) {
		find_needed(grep);
		return EXIT_OK;
	}
	int rc = regcomp(&grep->regex, query->word,
			 REG_EXTENDED | (query->ignore_case ? REG_ICASE : 0));
	if (rc == 0)
		return EXIT_OK;
	regerror(rc, &grep->regex, why, sizeof(why));
	return query_error("grep", "--regex: ", why);
}

static uint64_t grep_rows(struct grep *grep)
{
	uint64_t count, found = 0;
	uint64_t *rows = query_rows(grep->query, grep->index, &count);

	for (uint64_t i = 0; i < count; i++) {
		grep->row = &grep->index->rows[rows[i]];
		grep->found = 0;
		look_at_run(grep);
		found += grep->found;
		if (grep->found > 0 && grep->query->files_only && grep->query->json)
			list_print_json(grep->index, grep->row);
		else if (grep->found > 0 && grep->query->files_only)
			printf("%.*s\n", INDEX_RUN, grep->row->run);
		/* a block of the arena costs more than a run does */
		if (grep->kept_bytes > KEPT_BYTES || i % ARENA_RUNS == 0) {
			arena_free(&grep->arena);
			grep->kept_bytes = 0;
		}
	}
	free(rows);
	return found;
}

int grep_main(int argc, char **argv)
{
	struct arena arena = {0};
	struct query query;
	struct index index;
	struct cmd_log log;
	struct grep grep = {.query = &query, .index = &index};
	int rc = query_parse("grep", TAKES_FILTERS | TAKES_WORD | TAKES_GREP | TAKES_JSON, argc,
			     argv, &query);

	query.files_only |= query.json;
	rc = rc == EXIT_OK ? prepare(&grep) : rc;
	if (rc != EXIT_OK)
		return rc;
	if (index_open(&index, &log, query.store_dir, &arena) < 0)
		return EXIT_BAD;
	rc = grep_rows(&grep) > 0 ? EXIT_OK : EXIT_BAD;
	if (index_status(&index) != EXIT_OK)
		rc = EXIT_BAD;
	tally_free(&grep.without);
	index_close(&index);
	arena_free(&arena);
	if (query.is_regex)
		regfree(&grep.regex);
	return rc;
}
