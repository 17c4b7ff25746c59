// SPDX-License-Identifier: Apache-2.0
#include "cmd_report.h"

#include <errno.h>
#include <fcntl.h>
#include <nettle/sha2.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base64.h"

enum { RUNS_MAX = 100000 };

static void put_hash(FILE *out, const char *text)
{
	struct sha256_ctx hash;
	uint8_t digest[SHA256_DIGEST_SIZE];
	char base64[BASE64_LEN(SHA256_DIGEST_SIZE) + 1] = "";

	sha256_init(&hash);
	sha256_update(&hash, strlen(text), (const uint8_t *)text);
	sha256_digest(&hash, sizeof(digest), digest);
	base64_encode(base64, digest, sizeof(digest));
	fputs(base64, out);
}

static void put_data(struct report *report)
{
	fputs("<script type=\"application/json\" id=\"data\">", report->out);
	report_columns(report);
	fputs("</script>\n", report->out);
	report_details(report);
}

static void put_part(struct report *report, const char *name, size_t len)
{
	if (len == 5 && memcmp(name, "style", len) == 0)
		fputs(report_style, report->out);
	else if (len == 6 && memcmp(name, "script", len) == 0)
		fputs(report_script, report->out);
	else if (len == 10 && memcmp(name, "style-hash", len) == 0)
		put_hash(report->out, report_style);
	else if (len == 11 && memcmp(name, "script-hash", len) == 0)
		put_hash(report->out, report_script);
	else
		put_data(report);
}

/* The page, with what belongs where it says {{name}}. */
static void put_page(struct report *report)
{
	const char *at = report_html, *open;

	while ((open = strstr(at, "{{")) != NULL) {
		const char *close = strstr(open, "}}");

		fwrite(at, 1, (size_t)(open - at), report->out);
		put_part(report, open + 2, (size_t)(close - open - 2));
		at = close + 2;
	}
	fputs(at, report->out);
}

/* Output of programs may be in it: nobody else's to read. */
static FILE *open_output(const char *path)
{
	int fd = path == NULL || strcmp(path, "-") == 0
			 ? dup(STDOUT_FILENO)
			 : open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0600);
	FILE *out = fd < 0 ? NULL : fdopen(fd, "w");

	if (out == NULL)
		fprintf(stderr, "sbox-audit: report: cannot write %s: %s\n", path, strerror(errno));
	else
		setvbuf(out, NULL, _IOFBF, 1 << 18);
	return out;
}

static int write_report(struct index *index, const struct query *query)
{
	struct report report = {.index = index, .query = query};
	uint64_t limit = query->limit > 0 ? query->limit : RUNS_MAX;
	struct query all = *query;

	all.limit = 0;
	uint64_t *rows = query_rows(&all, index, &report.total);
	report.count = report.total < limit ? report.total : limit;
	report.rows = rows + (report.total - report.count);
	report.out = open_output(query->output);
	if (report.out == NULL) {
		free(rows);
		return EXIT_BAD;
	}
	report.details = query->details < report.count ? query->details : report.count;
	put_page(&report);
	bool failed = ferror(report.out) != 0;
	failed |= fclose(report.out) != 0;
	if (failed)
		fprintf(stderr, "sbox-audit: report: cannot write: %s\n", strerror(errno));
	else if (report.count < report.total)
		fprintf(stderr,
			"sbox-audit: report: the newest %ju of %ju runs; --limit takes "
			"more\n",
			(uintmax_t)report.count, (uintmax_t)report.total);
	free(rows);
	return failed ? EXIT_BAD : index_status(index);
}

int report_main(int argc, char **argv)
{
	struct arena arena = {0};
	struct query query;
	struct index index;
	struct cmd_log log;
	int rc = query_parse("report", TAKES_FILTERS | TAKES_REPORT, argc, argv, &query);

	if (rc == EXIT_OK && query.output == NULL && isatty(STDOUT_FILENO))
		rc = query_error("report", "where to? -o FILE", "");
	if (rc != EXIT_OK)
		return rc;
	if (index_open(&index, &log, query.store_dir, &arena) < 0)
		return EXIT_BAD;
	rc = write_report(&index, &query);
	index_close(&index);
	arena_free(&arena);
	return rc;
}
