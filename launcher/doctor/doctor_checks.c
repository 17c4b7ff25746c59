// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <string.h>

#include "doctor.h"
#include "obstacle.h"

const char *const finding_state_names[FINDING_STATE_MAX] = {"ok", "note", "weaker", "missing"};
const char *const form_names[FORM_MAX] = {"full", "weaker", "none"};

static void check_kernel(struct doctor *doctor, struct finding *finding)
{
	const struct host *host = &doctor->host;

	finding->found =
		arena_printf(doctor->arena, "Linux %d.%d", host->kernel_major, host->kernel_minor);
	if (obstacle_find(doctor->root, AT_CLONE, 0, host->root) == OBSTACLE_WSL1) {
		finding->found = obstacle_texts[OBSTACLE_WSL1].cause;
		finding->way_out = obstacle_texts[OBSTACLE_WSL1].way_out;
	} else if (host->kernel_major > 5 ||
		   (host->kernel_major == 5 && host->kernel_minor >= 12)) {
		return;
	} else {
		finding->way_out = "Linux 5.12, which brought mount_setattr(2); better 6.12";
	}
	finding->state = FINDING_MISSING;
	finding->lost = "nothing runs";
}

const struct check checks[] = {
	{"kernel", "start", "what sbox is built on", check_kernel},
	{"user-namespaces", "start", "how a caller without privileges makes the others",
	 check_user_namespaces},
	{"namespaces", "start", "mounts, processes, names and network of its own",
	 check_namespaces},
	{"mounts", "file", "the tree that holds only listed paths", check_mounts},
	{"landlock", "file", "the second layer below the tree", check_landlock},
	{"workspace", "file", "the current folder as ${cwd}", check_workspace},
	{"idmap", "file", "how root's runs keep changes for the folder's owner", check_idmap},
	{"discard", "file", "changes that are thrown away", check_discard},
	{"proc", "process", "a /proc with only the program's processes", check_proc},
	{"cgroup", "process", "exact limits of memory, tasks and processors", check_cgroup},
	{"open-files", "process", "descriptors for the start", check_open_files},
	{"seccomp", "privilege", "the allow-list of system calls", check_seccomp},
	{"listener", "privilege", "names of refused calls", check_listener},
	{"no-new-privs", "privilege", "no way up for the program", check_no_new_privs},
	{"yama", "privilege", "a look at what is executed", check_yama},
	{"labels", "privilege", "security modules of the machine", check_labels},
	{"store", "record", "where the record is kept", check_store},
};

size_t check_count(void)
{
	return sizeof(checks) / sizeof(checks[0]);
}

void checks_run(struct doctor *doctor)
{
	doctor->findings = arena_alloc(doctor->arena, check_count() * sizeof(struct finding));
	namespaces_try(doctor->host.root, &doctor->stage, &doctor->stage_errnum);
	for (size_t i = 0; i < check_count(); i++)
		checks[i].look(doctor, &doctor->findings[i]);
}
