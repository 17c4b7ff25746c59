// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <string.h>

#include "cmd_verify.h"

/* What this call cannot have shown, in plain words. */
static size_t not_proven(const struct verify *verify, const char *text[4])
{
	size_t count = 0;

	if (!verify->has_seal && verify->points.met == 0)
		text[count++] =
			"without a key or a number and hash noted elsewhere, whoever owns the "
			"store can have written all of it anew, or cut its end together with "
			"head: nothing in the store can show that";
	else if (!verify->has_seal)
		text[count++] = "without a key, whoever owns the store can have written anew what "
				"comes after the last record that was noted elsewhere";
	if (verify->has_seal)
		text[count++] =
			"records of the key's current epoch, and what is written from now on, "
			"are safe only as long as nobody reads the key file";
	if (verify->has_seal && verify->points.met == 0)
		text[count++] =
			"an older copy of the whole store, key included, looks as good as this "
			"one: only --expect or --anchors tells them apart";
	if (verify->sealed > 0 && !verify->has_seal)
		text[count++] = "the MACs were not checked: give the seal with --key";
	return count;
}

static int exit_status(const struct verify *verify)
{
	return (verify->findings[INTEGRITY].count > 0 ? VERIFY_BROKEN : 0) |
	       (verify->findings[COMPLETENESS].count > 0 ? VERIFY_INCOMPLETE : 0) |
	       (verify->unfinished_count > 0 ? VERIFY_UNFINISHED : 0);
}

static void print_findings(const struct findings *findings)
{
	size_t most = sizeof(findings->text) / sizeof(findings->text[0]);

	for (size_t i = 0; i < findings->count && i < most; i++)
		printf("    %s\n", findings->text[i]);
	if (findings->count > most)
		printf("    and %zu more\n", findings->count - most);
}

static void print_completeness(const struct verify *verify)
{
	const char *comma = "";

	printf("completeness  %s", verify->findings[COMPLETENESS].count == 0 ? "ok: " : "FAILED: ");
	if (verify->head_is_met && verify->head.seq == verify->seq)
		printf("%shead agrees", comma), comma = ", ";
	if (verify->sealed > 0 && verify->log.key.len > 0)
		printf("%skey of record %ju", comma, (uintmax_t)verify->sealed + 1), comma = ", ";
	if (verify->has_anchors || verify->points.count > 0)
		printf("%s%zu of %zu numbers from elsewhere found, %zu pruned or of other stores",
		       comma, verify->points.met, verify->points.count, verify->points.skipped);
	else
		printf("%snothing from outside of the store was given", comma);
	putchar('\n');
	print_findings(&verify->findings[COMPLETENESS]);
}

static void print_runs(const struct verify *verify)
{
	printf("unfinished    %zu runs without an end, %zu more that are running\n",
	       verify->unfinished_count, verify->running_count);
	for (size_t i = 0; i < verify->unfinished_count && i < 20; i++)
		printf("    %s\n", verify->unfinished[i]);
}

static void print_text(struct verify *verify)
{
	const char *limits[4];
	size_t count = not_proven(verify, limits);

	printf("integrity     %s%ju records in %zu files, %ju bytes; %s\n",
	       verify->findings[INTEGRITY].count == 0 ? "ok: " : "FAILED: ",
	       (uintmax_t)verify->records, verify->log.segments.count, (uintmax_t)verify->bytes,
	       verify->has_seal ? "chain and MACs" : "chain");
	print_findings(&verify->findings[INTEGRITY]);
	print_completeness(verify);
	print_runs(verify);
	if (verify->findings[NOTE].count > 0)
		puts("notes");
	print_findings(&verify->findings[NOTE]);
	if (verify->records > 0)
		printf("last          %ju:%s\n", (uintmax_t)verify->seq, verify->hash);
	for (size_t i = 0; i < count; i++)
		printf("%s%s\n", i == 0 ? "not proven    " : "              ", limits[i]);
}

static json_t *findings_json(const struct findings *findings)
{
	json_t *object = json_object(), *list = json_array();
	size_t most = sizeof(findings->text) / sizeof(findings->text[0]);

	for (size_t i = 0; i < findings->count && i < most; i++)
		json_array_append_new(list, json_string(findings->text[i]));
	json_object_set_new(object, "ok", json_boolean(findings->count == 0));
	json_object_set_new(object, "count", json_integer((json_int_t)findings->count));
	json_object_set_new(object, "problems", list);
	return object;
}

static json_t *list_json(const char *const *text, size_t count)
{
	json_t *list = json_array();

	for (size_t i = 0; i < count; i++)
		json_array_append_new(list, json_string(text[i]));
	return list;
}

static void print_json(struct verify *verify)
{
	const struct findings *notes = &verify->findings[NOTE];
	const char *limits[4];
	size_t most = sizeof(notes->text) / sizeof(notes->text[0]);
	size_t limit_count = not_proven(verify, limits);
	json_t *object = json_object();

	json_object_set_new(object, "integrity", findings_json(&verify->findings[INTEGRITY]));
	json_object_set_new(object, "completeness", findings_json(&verify->findings[COMPLETENESS]));
	json_object_set_new(object, "unfinished",
			    list_json(verify->unfinished, verify->unfinished_count));
	json_object_set_new(object, "running", json_integer((json_int_t)verify->running_count));
	json_object_set_new(object, "notes",
			    list_json(notes->text, notes->count < most ? notes->count : most));
	json_object_set_new(object, "records", json_integer((json_int_t)verify->records));
	json_object_set_new(object, "files", json_integer((json_int_t)verify->log.segments.count));
	json_object_set_new(object, "bytes", json_integer((json_int_t)verify->bytes));
	json_object_set_new(object, "first_seq", json_integer((json_int_t)verify->first_seq));
	json_object_set_new(object, "last_seq", json_integer((json_int_t)verify->seq));
	json_object_set_new(object, "last_hash",
			    verify->records > 0 ? json_string(verify->hash) : json_null());
	json_object_set_new(object, "sealed", json_integer((json_int_t)verify->sealed_records));
	json_object_set_new(object, "macs_checked", json_boolean(verify->has_seal));
	json_object_set_new(object, "noted_elsewhere",
			    json_integer((json_int_t)verify->points.count));
	json_object_set_new(object, "found", json_integer((json_int_t)verify->points.met));
	json_object_set_new(object, "not_proven", list_json(limits, limit_count));
	json_dumpf(object, stdout, JSON_COMPACT | JSON_ENSURE_ASCII);
	putchar('\n');
	json_decref(object);
}

int verify_report(struct verify *verify, bool json)
{
	if (json)
		print_json(verify);
	else
		print_text(verify);
	return exit_status(verify);
}
