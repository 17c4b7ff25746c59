// SPDX-License-Identifier: Apache-2.0
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cmd_verify.h"

void verify_find(struct verify *verify, enum verdict verdict, const char *fmt, ...)
{
	struct findings *findings = &verify->findings[verdict];
	char text[1024];
	va_list ap;

	if (findings->count++ >= sizeof(findings->text) / sizeof(findings->text[0]))
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	findings->text[findings->count - 1] = arena_strdup(&verify->arena, text);
}

static const char *segment_name(const struct verify *verify, size_t segment)
{
	return verify->log.segments.item[segment].name;
}

const char *verify_where(struct verify *verify, size_t segment, unsigned long number)
{
	return arena_printf(&verify->arena, "%s:%lu", segment_name(verify, segment), number);
}

const char *verify_line_where(struct verify *verify, const struct cmd_line *line)
{
	return verify_where(verify, line->segment, line->number);
}

/* The line is not the one that was written after the line before it. */
static void broken_link(struct verify *verify, const struct cmd_line *line, uint64_t seq)
{
	const char *where = verify_line_where(verify, line);

	if (seq == verify->seq + 1)
		verify_find(verify, INTEGRITY,
			    "%s (seq %ju): is not what %s was written after: changed, or put in",
			    verify_where(verify, verify->segment_before, verify->number),
			    (uintmax_t)verify->seq, where);
	else if (seq > verify->seq)
		verify_find(verify, INTEGRITY,
			    "%s (seq %ju): follows seq %ju: what was between them is gone", where,
			    (uintmax_t)seq, (uintmax_t)verify->seq);
	else
		verify_find(verify, INTEGRITY,
			    "%s (seq %ju): follows seq %ju: put in, moved, or from a second writer",
			    where, (uintmax_t)seq, (uintmax_t)verify->seq);
}

/* The chain is whole: it was head that knew of more. */
static void lost_before(struct verify *verify, const struct cmd_line *line, uint64_t seq)
{
	uint64_t count = seq - verify->seq - 1;

	verify->lost += count;
	verify_find(verify, COMPLETENESS,
		    "%s (seq %ju): %ju records before it were lost, and the store went on",
		    verify_line_where(verify, line), (uintmax_t)seq, (uintmax_t)count);
}

static void check_link(struct verify *verify, const struct cmd_line *line,
		       const struct store_line *parsed)
{
	if (verify->records == 0) {
		verify->first_seq = parsed->seq;
		memcpy(verify->first_prev, parsed->prev, SHA256_HEX - 1);
		return;
	}
	if (memcmp(parsed->prev, verify->hash, SHA256_HEX - 1) != 0)
		broken_link(verify, line, parsed->seq);
	else if (parsed->seq > verify->seq + 1)
		lost_before(verify, line, parsed->seq);
	else if (parsed->seq != verify->seq + 1)
		verify_find(verify, INTEGRITY, "%s (seq %ju): a number that was before",
			    verify_line_where(verify, line), (uintmax_t)parsed->seq);
}

/* Names on both sides of a border between two files. */
static void check_border(struct verify *verify, const struct cmd_line *line,
			 const struct store_line *parsed)
{
	const struct store_segment *segment = &verify->log.segments.item[line->segment];
	char name[STORE_SEGMENT_NAME];

	store_segment_name(name, parsed->seq);
	if (segment->first_seq != 0 && segment->first_seq != parsed->seq)
		verify_find(verify, INTEGRITY, "%s: begins with seq %ju, which is not its name",
			    segment->name, (uintmax_t)parsed->seq);
	if (verify->records > 0 && verify->successor == NULL)
		verify_find(verify, INTEGRITY, "%s: its last line does not name a successor",
			    segment_name(verify, verify->segment));
	else if (verify->records > 0 && strcmp(verify->successor, name) != 0)
		verify_find(verify, INTEGRITY, "%s: gone, though %s names it as its successor",
			    verify->successor, segment_name(verify, verify->segment));
	verify->segment = line->segment;
}

/* A run's id is printed: of a forged one no byte may be one that a terminal acts on. */
static const char *plain_id(char id[26], const char *from)
{
	for (int i = 0; i < 26; i++) {
		char letter = (char)(from[i] | 0x20);
		bool plain = (from[i] >= '0' && from[i] <= '9') || (letter >= 'a' && letter <= 'z');

		id[i] = plain ? from[i] : '?';
	}
	return id;
}

static void check_type(struct verify *verify, const struct cmd_line *line,
		       const struct store_line *parsed)
{
	static const char start[] = "\"type\":\"run.start\",\"run\":\"";
	static const char end[] = "\"type\":\"run.end\",\"run\":\"";
	static const char log[] = "\"type\":\"log.";
	size_t left = (size_t)(line->text + line->len - parsed->body);
	char id[26];

	verify->successor = NULL;
	if (left > sizeof(start) + 26 && memcmp(parsed->body, start, sizeof(start) - 1) == 0)
		runs_open(&verify->runs, plain_id(id, parsed->body + sizeof(start) - 1));
	else if (left > sizeof(end) + 26 && memcmp(parsed->body, end, sizeof(end) - 1) == 0)
		runs_close(&verify->runs, plain_id(id, parsed->body + sizeof(end) - 1));
	else if (left > sizeof(log) && memcmp(parsed->body, log, sizeof(log) - 1) == 0)
		verify_log_record(verify, line, parsed->body);
}

static void check_record(struct verify *verify, const struct cmd_line *line,
			 const struct store_line *parsed)
{
	if (verify->records == 0 || line->segment != verify->segment)
		check_border(verify, line, parsed);
	check_link(verify, line, parsed);
	verify_seal_line(verify, line, parsed);
	check_type(verify, line, parsed);
	sha256_hex_of(line->text, line->len, verify->hash);
	points_check(verify, line, parsed->seq, verify->hash);
	if (verify->has_head && parsed->seq == verify->head.seq)
		verify->head_is_met = strcmp(verify->head.hash, verify->hash) == 0;
	verify->seq = parsed->seq;
	verify->sealed = parsed->sealed > 0 ? parsed->sealed : verify->sealed;
	verify->sealed_records += parsed->sealed > 0;
	verify->records++;
	verify->bytes += line->len;
	verify->segment_before = line->segment;
	verify->number = line->number;
}

/* The last line of all may be one that a crash cut short; the next append cuts it off. */
static void check_no_record(struct verify *verify, const struct cmd_line *line)
{
	const char *where = verify_line_where(verify, line);
	bool is_last = line->segment + 1 == verify->log.segments.count &&
		       line->offset + line->len == verify->log.segments.item[line->segment].bytes;

	if (is_last && line->text[line->len - 1] != '\n') {
		verify->is_torn = true;
		verify_find(verify, NOTE, "%s: torn: a record that was never whole", where);
	} else {
		verify->no_records++;
		verify_find(verify, INTEGRITY, "%s: not a record", where);
	}
}

void verify_chain(struct verify *verify)
{
	struct store_line parsed;
	struct cmd_line line;

	while (cmd_log_line(&verify->log, &line)) {
		if (store_line_parse(line.text, line.len, &parsed))
			check_record(verify, &line, &parsed);
		else
			check_no_record(verify, &line);
	}
}
