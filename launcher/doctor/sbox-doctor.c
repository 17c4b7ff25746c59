// SPDX-License-Identifier: Apache-2.0

/*
 * sbox doctor: what this machine gives for each boundary, what is lost
 * otherwise, and the setting or command that changes it. `sbox doctor` executes
 * this program and names itself in the first two arguments.
 *
 *   sbox doctor [--json] [PROFILE]...
 *
 * Exit status: 0 the default profile runs with everything enforced, 1 it runs
 * in a weaker form that it accepts itself, 2 it does not run, 125 wrong use.
 */

#include <stdio.h>
#include <string.h>

#include "doctor.h"
#include "locate.h"
#include "run.h"

static int complain(const char *text)
{
	fprintf(stderr, "sbox: %s\n", text);
	return 125;
}

/* The trial has a store of its own; the runs of this caller have not. */
static void heed_the_store(struct doctor *doctor)
{
	for (size_t i = 0; i < check_count(); i++) {
		const struct finding *finding = &doctor->findings[i];

		if (strcmp(checks[i].name, "store") != 0 || finding->state != FINDING_MISSING)
			continue;
		doctor->form = FORM_NONE;
		for (size_t j = 0; j < doctor->verdict_count; j++) {
			doctor->verdicts[j].form = FORM_NONE;
			doctor->verdicts[j].reason =
				arena_printf(doctor->arena, "no record can be kept: %s (%s)",
					     finding->found, finding->way_out);
		}
	}
}

static int examine(struct doctor *doctor, bool json, char *const *names, size_t count)
{
	const struct profile wish = {.process = {.memory_bytes = 1}};
	struct error err = {0};

	if (locate_context(doctor->arena, &doctor->options, &doctor->context, &err) != 0 ||
	    host_probe(doctor->arena, &doctor->host, &err) != 0)
		return complain(err.text);
	doctor->form = FORM_NONE;
	trial_run(doctor, &err);
	if (!doctor->trial.tried)
		doctor->trial.message = err.text;
	/* after the trial, which asks for itself */
	run_ask_for_cgroup(doctor->arena, &wish, &doctor->host);
	checks_run(doctor);
	/* what no setting tells is found by trying, as show and a start that was refused do */
	host_look(doctor->arena, &doctor->host);
	verdicts_make(doctor, names, count);
	heed_the_store(doctor);
	if (json)
		puts(doctor_print_json(doctor));
	else
		doctor_print_text(doctor);
	return (int)doctor->form;
}

int main(int argc, char **argv)
{
	struct arena arena = {0};
	struct doctor doctor = {.arena = &arena, .root = "", .options = {.status_fd = -1}};
	bool json = false;
	int at = 1;

	if (argc == 4 && strcmp(argv[1], "--inside") == 0)
		return inside_main(argv[2], argv[3]);
	if (argc < 3 || strcmp(argv[1], "--launcher") != 0)
		return complain("this program is started by \"sbox doctor\"");
	doctor.launcher = doctor.options.own_file = argv[2];
	doctor.self = locate_own_file(&arena);
	if (doctor.self == NULL)
		return complain(
			"/proc is not mounted, or does not show sbox itself: mount it first");
	for (at = 3; at < argc && argv[at][0] == '-'; at++) {
		if (strcmp(argv[at], "--json") != 0)
			return complain("usage: sbox doctor [--json] [PROFILE]...");
		json = true;
	}
	return examine(&doctor, json, argv + at, (size_t)(argc - at));
}
