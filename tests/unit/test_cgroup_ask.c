// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <systemd/sd-bus.h>
#include <time.h>
#include <unistd.h>

#include "cgroup.h"
#include "host.h"
#include "locate.h"
#include "run.h"

/* sbox-cgroup, the built program, against a manager that is made up here: on a socket of its own,
 * with libsystemd at the other end, in all the moods that a manager can be in. */

enum mood { DONE, DONE_EARLY, FAILED, REFUSED, NEVER_DONE, SILENT, GARBAGE, HANGS_UP };

static const struct {
	enum mood mood;
	const char *says;
} moods[] = {
	{DONE, NULL},
	{DONE_EARLY, NULL},
	{FAILED, "ended as \"failed\""},
	{REFUSED, "the manager refused: no more scopes"},
	{NEVER_DONE, "the manager did not finish"},
	{SILENT, "timed out"},
	{GARBAGE, "the manager"},
	{HANGS_UP, "the manager"},
};
enum { MOODS = sizeof(moods) / sizeof(moods[0]) };

static struct arena arena;
static char folder[] = "/tmp/sbox-ask-XXXXXX";
static char socket_path[64], seen_path[64];
static pid_t manager_pid;

/* What it was asked for, as one line in a file: "UNIT MODE Delegate=1 PIDs=123". */
static void write_down(sd_bus_message *call)
{
	const char *unit, *mode, *name, *text;
	FILE *out = fopen(seen_path, "w");
	uint32_t pid;
	int flag;

	sd_bus_message_read(call, "ss", &unit, &mode);
	fprintf(out, "%s %s", unit, mode);
	sd_bus_message_enter_container(call, 'a', "(sv)");
	while (sd_bus_message_enter_container(call, 'r', "sv") > 0) {
		sd_bus_message_read(call, "s", &name);
		if (strcmp(name, "PIDs") == 0) {
			sd_bus_message_enter_container(call, 'v', "au");
			sd_bus_message_enter_container(call, 'a', "u");
			while (sd_bus_message_read(call, "u", &pid) > 0)
				fprintf(out, " PIDs=%u", pid);
			sd_bus_message_exit_container(call);
			sd_bus_message_exit_container(call);
		} else if (strcmp(name, "Delegate") == 0) {
			sd_bus_message_read(call, "v", "b", &flag);
			fprintf(out, " Delegate=%d", flag);
		} else {
			sd_bus_message_read(call, "v", "s", &text);
		}
		sd_bus_message_exit_container(call);
	}
	fclose(out);
}

static void job_removed(sd_bus *bus, const char *unit, const char *result)
{
	sd_bus_emit_signal(bus, "/org/freedesktop/systemd1", "org.freedesktop.systemd1.Manager",
			   "JobRemoved", "uoss", 7, "/org/freedesktop/systemd1/job/7", unit,
			   result);
}

static void answer(sd_bus *bus, sd_bus_message *call, enum mood mood)
{
	const char *unit;

	write_down(call);
	sd_bus_message_rewind(call, 1);
	sd_bus_message_read(call, "s", &unit);
	/* somebody else's job ends all the time */
	job_removed(bus, "other.scope", "failed");
	if (mood == DONE_EARLY)
		job_removed(bus, unit, "done");
	if (mood == REFUSED)
		sd_bus_reply_method_errorf(call, SD_BUS_ERROR_LIMITS_EXCEEDED, "no more scopes");
	else if (mood != SILENT)
		sd_bus_reply_method_return(call, "o", "/org/freedesktop/systemd1/job/7");
	if (mood == DONE || mood == FAILED)
		job_removed(bus, unit, mood == DONE ? "done" : "failed");
}

static void serve(int fd, enum mood mood)
{
	sd_bus *bus = NULL;
	sd_bus_message *message = NULL;
	const sd_id128_t id = {.bytes = {1}};

	sd_bus_new(&bus);
	sd_bus_set_fd(bus, fd, fd);
	sd_bus_set_server(bus, 1, id);
	sd_bus_start(bus);
	for (;;) {
		int rc = sd_bus_process(bus, &message);

		if (rc < 0)
			return;
		if (message != NULL &&
		    sd_bus_message_is_method_call(message, NULL, "StartTransientUnit"))
			answer(bus, message, mood);
		message = sd_bus_message_unref(message);
		if (rc == 0)
			sd_bus_wait(bus, UINT64_MAX);
	}
}

static void manager_main(int listener, enum mood mood)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	int fd = accept(listener, NULL, NULL);
	if (mood == HANGS_UP)
		_exit(0);
	if (mood == GARBAGE)
		_exit(write(fd, "no bus is spoken here\r\n", 23) != 23);
	serve(fd, mood);
	_exit(0);
}

static void start_manager(enum mood mood)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	strcpy(folder, "/tmp/sbox-ask-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(socket_path, sizeof(socket_path), "%s/private", folder);
	snprintf(seen_path, sizeof(seen_path), "%s/seen", folder);
	strcpy(address.sun_path, socket_path);
	ck_assert_int_eq(bind(listener, (struct sockaddr *)&address, sizeof(address)), 0);
	ck_assert_int_eq(listen(listener, 1), 0);
	manager_pid = fork();
	if (manager_pid == 0)
		manager_main(listener, mood);
	close(listener);
}

static void stop_manager(void)
{
	kill(manager_pid, SIGKILL);
	waitpid(manager_pid, NULL, 0);
	unlink(socket_path);
	unlink(seen_path);
	rmdir(folder);
	arena_free(&arena);
}

/* The build folder's own, two folders above this test. */
static const char *helper_path(void)
{
	char *path = (char *)locate_own_file(&arena);

	for (int i = 0; i < 3; i++)
		*strrchr(path, '/') = '\0';
	return arena_printf(&arena, "%s/sbox-cgroup", path);
}

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static struct cgroup_host undelegated(void)
{
	return (struct cgroup_host){.version = CGROUP_NONE, .may_ask = true, .why_not = "not ours"};
}

/* Here nobody moves this process, so also a manager that says "done" is not believed. */
START_TEST(every_mood_ends_in_a_reason)
{
	struct cgroup_host host = undelegated();
	struct cgroup_host here;
	uint64_t begun = now_ms();

	cgroup_probe(&arena, &here);
	if (here.version == CGROUP_V2 && here.has_memory)
		return;
	start_manager(moods[_i].mood);
	cgroup_ask(&arena, helper_path(), socket_path, &host);
	ck_assert_uint_lt(now_ms() - begun, 5000);
	ck_assert_int_eq(host.version, CGROUP_NONE);
	ck_assert(!host.may_ask);
	ck_assert_ptr_nonnull(strstr(host.why_not, "not ours; systemd was asked"));
	if (moods[_i].says != NULL)
		ck_assert_msg(strstr(host.why_not, moods[_i].says) != NULL, "%s", host.why_not);
	else
		ck_assert_msg(strstr(host.why_not, "manager") == NULL, "%s", host.why_not);
	stop_manager();
}
END_TEST

START_TEST(a_delegated_scope_with_this_process_is_asked_for)
{
	struct cgroup_host host = undelegated();
	char line[256] = "", wanted[64];

	start_manager(DONE);
	cgroup_ask(&arena, helper_path(), socket_path, &host);
	FILE *file = fopen(seen_path, "r");
	ck_assert_ptr_nonnull(file);
	ck_assert_ptr_nonnull(fgets(line, sizeof(line), file));
	fclose(file);
	snprintf(wanted, sizeof(wanted), "run-sbox-%d-", (int)getpid());
	ck_assert_msg(strncmp(line, wanted, strlen(wanted)) == 0, "%s", line);
	snprintf(wanted, sizeof(wanted), ".scope fail Delegate=1 PIDs=%d", (int)getpid());
	ck_assert_msg(strstr(line, wanted) != NULL, "%s", line);
	stop_manager();
}
END_TEST

START_TEST(no_helper_no_manager)
{
	struct cgroup_host host = undelegated();

	cgroup_ask(&arena, NULL, "/nowhere", &host);
	ck_assert_ptr_nonnull(strstr(host.why_not, "sbox-cgroup is not where it belongs"));
	host = undelegated();
	cgroup_ask(&arena, "/nowhere/sbox-cgroup", "/nowhere", &host);
	ck_assert_ptr_nonnull(strstr(host.why_not, "cannot execute /nowhere/sbox-cgroup"));
	host = undelegated();
	cgroup_ask(&arena, helper_path(), "/nowhere", &host);
	ck_assert_ptr_nonnull(strstr(host.why_not, "cannot reach the manager"));
	arena_free(&arena);
}
END_TEST

START_TEST(the_socket_is_looked_for)
{
	strcpy(folder, "/tmp/sbox-ask-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	setenv("XDG_RUNTIME_DIR", folder, 1);
	ck_assert_ptr_null(cgroup_manager(&arena, false));
	char *inner = arena_printf(&arena, "%s/systemd", folder);
	char *path = arena_printf(&arena, "%s/private", inner);
	mkdir(inner, 0700);
	fclose(fopen(path, "w"));
	ck_assert_str_eq(cgroup_manager(&arena, false), path);
	const char *of_root = cgroup_manager(&arena, true);
	ck_assert(of_root == NULL || strcmp(of_root, "/run/systemd/private") == 0);
	setenv("XDG_RUNTIME_DIR", "relative", 1);
	ck_assert(cgroup_manager(&arena, false) == NULL ||
		  strncmp(cgroup_manager(&arena, false), "/run/user/", 10) == 0);
	unlink(path);
	rmdir(inner);
	rmdir(folder);
	arena_free(&arena);
}
END_TEST

/* Nothing is started when nothing is to be had by it. */
START_TEST(asked_only_when_it_helps)
{
	struct profile profile = {.process = {.memory_bytes = 1 << 20}};
	struct host host = {.cgroup = undelegated()};

	setenv("XDG_RUNTIME_DIR", "/nowhere", 1);
	run_ask_for_cgroup(&arena, &profile, &host);
	ck_assert_str_eq(host.cgroup.why_not, "not ours");
	ck_assert(!host.cgroup.may_ask);
	start_manager(DONE);
	mkdir(arena_printf(&arena, "%s/systemd", folder), 0700);
	rename(socket_path, arena_printf(&arena, "%s/systemd/private", folder));
	setenv("XDG_RUNTIME_DIR", folder, 1);
	host.cgroup = undelegated();
	profile.process.cgroup = PROCESS_CGROUP_NONE;
	run_ask_for_cgroup(&arena, &profile, &host);
	ck_assert_str_eq(host.cgroup.why_not, "not ours");
	profile = (struct profile){.process = {.processes = 10}};
	run_ask_for_cgroup(&arena, &profile, &host);
	ck_assert_str_eq(host.cgroup.why_not, "not ours");
	host.cgroup.may_ask = false;
	profile = (struct profile){.process = {.cpus_milli = 500}};
	run_ask_for_cgroup(&arena, &profile, &host);
	ck_assert_str_eq(host.cgroup.why_not, "not ours");
	host.cgroup.may_ask = true;
	run_ask_for_cgroup(&arena, &profile, &host);
	ck_assert_ptr_nonnull(strstr(host.cgroup.why_not, "systemd was asked"));
	unlink(arena_printf(&arena, "%s/systemd/private", folder));
	rmdir(arena_printf(&arena, "%s/systemd", folder));
	stop_manager();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("cgroup_ask");
	TCase *all = tcase_create("cgroup_ask");

	tcase_set_timeout(all, 10);
	tcase_add_loop_test(all, every_mood_ends_in_a_reason, 0, MOODS);
	tcase_add_test(all, a_delegated_scope_with_this_process_is_asked_for);
	tcase_add_test(all, no_helper_no_manager);
	tcase_add_test(all, the_socket_is_looked_for);
	tcase_add_test(all, asked_only_when_it_helps);
	suite_add_tcase(suite, all);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
