// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "doctor.h"
#include "json.h"

enum { COLUMN = 4, LAST = 96 };

/* Breaks at blanks; every line but the first begins at column `indent`. */
static void print_wrapped(const char *text, int at, int indent)
{
	bool fresh = true;

	for (const char *word = text; *word != '\0';) {
		size_t len = strcspn(word, " ");

		if (at + (int)len > LAST && at > indent) {
			printf("\n%*s", indent, "");
			at = indent;
			fresh = true;
		}
		at += printf("%s%.*s", fresh ? "" : " ", (int)len, word);
		word += len;
		word += strspn(word, " ");
		fresh = false;
	}
	putchar('\n');
}

static void print_more(const char *label, const char *text)
{
	if (text == NULL)
		return;
	printf("%*s%s ", 30, "", label);
	print_wrapped(text, 31 + (int)strlen(label), 32);
}

static void print_findings(const struct doctor *doctor)
{
	for (size_t i = 0; i < check_count(); i++) {
		const struct finding *finding = &doctor->findings[i];

		printf("%-9s  %-15s  %-8s ", checks[i].boundary, checks[i].name,
		       finding_state_names[finding->state]);
		print_wrapped(finding->found, 37, 39);
		print_more("lost:", finding->lost);
		print_more("to change it:", finding->way_out);
	}
}

static void print_trial(const struct doctor *doctor)
{
	const struct trial *trial = &doctor->trial;

	if (!trial->tried)
		return;
	printf("\nTried for real: ");
	print_wrapped(arena_printf(doctor->arena,
				   trial->ran ? "\"%s\" ran a program; %zu things that it tried "
						"were all refused."
					      : "\"%s\" did not run a program:",
				   trial->how, trial->refused),
		      16, COLUMN);
	if (!trial->ran) {
		printf("    ");
		print_wrapped(trial->message != NULL ? trial->message : "no reason was given",
			      COLUMN, COLUMN);
	}
}

static void print_verdicts(const struct doctor *doctor)
{
	static const char *const words[FORM_MAX] = {
		[FORM_FULL] = "runs here with everything enforced",
		[FORM_WEAKER] = "runs here, weaker in what it accepts itself: ",
		[FORM_NONE] = "is refused here: ",
	};

	putchar('\n');
	for (size_t i = 0; i < doctor->verdict_count; i++) {
		const struct verdict *verdict = &doctor->verdicts[i];
		const char *slash = strchr(verdict->name, '/');
		int at = printf("%s%s ", verdict->name, slash == NULL ? ".ini" : "");

		at += printf("%s", words[verdict->form]);
		print_wrapped(verdict->reason != NULL ? verdict->reason : "", at, COLUMN);
	}
}

void doctor_print_text(const struct doctor *doctor)
{
	struct utsname name;

	uname(&name);
	printf("sbox %s on Linux %s, %s, for uid %u\n\n", SBOX_VERSION, name.release, name.machine,
	       doctor->host.uid);
	print_findings(doctor);
	print_trial(doctor);
	print_verdicts(doctor);
}

static void put_text(struct json *json, const char *key, const char *text)
{
	json_put_key(json, key);
	json_put_text(json, text);
}

static void put_trial(struct json *json, const char *key, const struct trial *trial)
{
	json_put_key(json, key);
	json_object_begin(json);
	json_put_key(json, "ran");
	json_put_bool(json, trial->ran);
	put_text(json, "how", trial->how);
	json_put_key(json, "refused");
	json_put_number(json, trial->refused);
	put_text(json, "message", trial->message);
	put_text(json, "weaker", trial->weaker);
	json_object_end(json);
}

static void put_findings(struct json *json, const struct doctor *doctor)
{
	json_put_key(json, "checks");
	json_array_begin(json);
	for (size_t i = 0; i < check_count(); i++) {
		const struct finding *finding = &doctor->findings[i];

		json_object_begin(json);
		put_text(json, "name", checks[i].name);
		put_text(json, "boundary", checks[i].boundary);
		put_text(json, "for", checks[i].help);
		put_text(json, "state", finding_state_names[finding->state]);
		put_text(json, "found", finding->found);
		put_text(json, "lost", finding->lost);
		put_text(json, "way_out", finding->way_out);
		json_object_end(json);
	}
	json_array_end(json);
}

char *doctor_print_json(const struct doctor *doctor)
{
	struct utsname name;
	struct json json;

	uname(&name);
	json_begin(&json, doctor->arena);
	json_object_begin(&json);
	json_put_key(&json, "v");
	json_put_number(&json, 1);
	put_text(&json, "form", form_names[doctor->form]);
	put_text(&json, "version", SBOX_VERSION);
	put_text(&json, "kernel", name.release);
	put_text(&json, "machine", name.machine);
	json_put_key(&json, "uid");
	json_put_number(&json, doctor->host.uid);
	json_put_key(&json, "root");
	json_put_bool(&json, doctor->host.root);
	put_findings(&json, doctor);
	put_trial(&json, "trial", &doctor->trial);
	put_trial(&json, "discard", &doctor->discard);
	json_put_key(&json, "profiles");
	json_array_begin(&json);
	for (size_t i = 0; i < doctor->verdict_count; i++) {
		const struct verdict *verdict = &doctor->verdicts[i];

		json_object_begin(&json);
		put_text(&json, "name", verdict->name);
		put_text(&json, "path", verdict->path);
		put_text(&json, "form", form_names[verdict->form]);
		put_text(&json, "reason", verdict->reason);
		json_object_end(&json);
	}
	json_array_end(&json);
	json_object_end(&json);
	return json_finish(&json);
}
