// SPDX-License-Identifier: Apache-2.0
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "doctor.h"
#include "obstacle.h"
#include "plan.h"

/* For each profile what the launcher would say: the same parser, the same planner. */

static bool is_profile_name(const char *name, size_t *ret_length)
{
	size_t len = strlen(name);

	*ret_length = len - 4;
	return len > 4 && name[0] != '.' && strcmp(name + len - 4, ".ini") == 0;
}

static bool is_named(const struct doctor *doctor, const char *name)
{
	for (size_t i = 0; i < doctor->verdict_count; i++)
		if (strcmp(doctor->verdicts[i].name, name) == 0)
			return true;
	return false;
}

/* The first folder that has a profile of a name decides, as in a run. */
static void add_folder(struct doctor *doctor, const char *folder)
{
	DIR *dir = folder != NULL ? opendir(folder) : NULL;
	const struct dirent *entry;
	size_t len;

	while (dir != NULL && (entry = readdir(dir)) != NULL) {
		if (!is_profile_name(entry->d_name, &len))
			continue;
		const char *name = arena_strndup(doctor->arena, entry->d_name, len);
		if (!is_named(doctor, name))
			*ARENA_PUSH(doctor->arena, doctor->verdicts, doctor->verdict_count) =
				(struct verdict){.name = name};
	}
	if (dir != NULL)
		closedir(dir);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct verdict *)a)->name, ((const struct verdict *)b)->name);
}

static int plan_profile(struct doctor *doctor, struct verdict *verdict, struct error *err)
{
	struct arena *arena = doctor->arena;
	struct profile profile;
	struct host host = doctor->host;
	struct plan plan;
	const char *note = NULL, *accepted = NULL;

	if (profile_load(arena, &doctor->context, verdict->name, NULL, 0, &profile, &note, err) !=
	    0)
		return -1;
	verdict->path = profile.path;
	if (host_probe_paths(arena, &profile, &host, err) != 0)
		return -1;
	if (profile.network.mode == NETWORK_ALLOW) {
		host_look_gate(arena, &doctor->host);
		host.gate_why = doctor->host.gate_why;
	}
	plan_make(arena, &profile, &host, &plan);
	if (plan_judge(&plan, &profile, true, NULL, err) == 0) {
		verdict->form = FORM_FULL;
		return 0;
	}
	if (plan_judge(&plan, &profile, false, &accepted, err) != 0)
		return -1;
	verdict->form = FORM_WEAKER;
	verdict->reason = accepted;
	return 0;
}

/* A plan is about the machine's features; the trial is what happened. */
static void heed_the_trial(const struct doctor *doctor, struct verdict *verdict)
{
	if (verdict->form == FORM_NONE || !doctor->trial.tried || doctor->trial.ran)
		return;
	verdict->form = FORM_NONE;
	verdict->reason = doctor->trial.message;
}

void verdicts_make(struct doctor *doctor, char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		*ARENA_PUSH(doctor->arena, doctor->verdicts, doctor->verdict_count) =
			(struct verdict){.name = names[i]};
	if (count == 0) {
		add_folder(doctor, doctor->context.user_dir);
		add_folder(doctor, doctor->context.system_dir);
		add_folder(doctor, doctor->context.shipped_dir);
		qsort(doctor->verdicts, doctor->verdict_count, sizeof(*doctor->verdicts), by_name);
	}
	for (size_t i = 0; i < doctor->verdict_count; i++) {
		struct verdict *verdict = &doctor->verdicts[i];
		struct error err = {0};
		char text[2048];

		verdict->form = FORM_NONE;
		if (plan_profile(doctor, verdict, &err) != 0) {
			error_format(&err, text, sizeof(text));
			verdict->reason = arena_strdup(doctor->arena, text);
		}
		heed_the_trial(doctor, verdict);
	}
}
