// SPDX-License-Identifier: Apache-2.0
/*
 * How a run ended: its name, its one sentence, sbox's own exit status, and the
 * limit that decided it as a denial with the line that would permit more.
 */
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>

#include "host_fixture.h"
#include "run.h"

static struct run *run;

static void setup_run(void)
{
	setup();
	run = arena_alloc(&arena, sizeof(*run));
	run->arena = &arena;
	profile.time.wall_ms = 600000;
	profile.time.cpu_ms = 5000;
	profile.process.memory_bytes = 2ULL << 30;
	profile.process.output_bytes = 1 << 20;
	profile.process.processes = 64;
	profile.file.growth_bytes = 1536 << 20;
	profile.file.max_file_bytes = 4096;
	profile.origin[KEY_TIME_WALL] = (struct origin){"agent.ini", 31};
	run->profile = profile;
	run->growth_key = "file.growth";
	run->growth_limit = profile.file.growth_bytes;
	run->denials.arena = &arena;
	run->init_pidfd = -1;
	run->wait_status = -1;
	run->end.usage.peak_tasks = UNKNOWN;
	run->arm.program = "/usr/bin/tool";
}

static const char *sentence(void)
{
	outcome_describe(run);
	return run->end.message != NULL ? run->end.message : "(none)";
}

/* ---- ends that the program makes by itself: its wait status ---- */

static int exited(int status)
{
	return status << 8;
}

START_TEST(an_exit_status_is_passed_on)
{
	run->ready = true;
	run->wait_status = exited(_i);
	outcome_exited(run);
	ck_assert_str_eq(sentence(), "(none)");
	ck_assert_int_eq(run->end.kind, END_EXITED);
	ck_assert_int_eq(run->end.code, _i);
	ck_assert_int_eq(run->end.exit_status, _i);
	ck_assert_ptr_null(run->end.decided_by);
	ck_assert_uint_eq(run->denials.count, 0);
}
END_TEST

static const struct {
	int wait_status;
	uint64_t cpu_ms_used, cpu_ms;
	enum end_kind kind;
	int exit_status;
	const char *decided_by, *sentence;
	bool core;
} signal_rows[] = {
	{SIGTERM, 0, 5000, END_SIGNALED, 143, NULL,
	 "the program was killed by signal 15 (Terminated)", false},
	{SIGSEGV | 0x80, 0, 5000, END_SIGNALED, 139, NULL,
	 "the program was killed by signal 11 (Segmentation fault)", true},
	{SIGKILL, 4999, 5000, END_SIGNALED, 137, NULL,
	 "the program was killed by signal 9 (Killed)", false},
	{SIGKILL, 5000, 5000, END_CPU, 124, "time.cpu",
	 "stopped after 5s of processor time ([time] cpu, default)", false},
	{SIGXCPU, 0, 5000, END_CPU, 124, "time.cpu",
	 "stopped after 5s of processor time ([time] cpu, default)", false},
	{SIGXCPU, 9000, 0, END_SIGNALED, 152, NULL,
	 "the program was killed by signal 24 (CPU time limit exceeded)", false},
	{SIGKILL, 9000, 0, END_SIGNALED, 137, NULL, "the program was killed by signal 9 (Killed)",
	 false},
	{SIGXFSZ, 0, 0, END_SIGNALED, 153, "file.max_file",
	 "the program was killed by signal 25 (File size limit exceeded) "
	 "([file] max_file, default)",
	 false},
};

START_TEST(a_signal_is_named)
{
	run->profile.time.cpu_ms = signal_rows[_i].cpu_ms;
	run->end.usage.user_ns = signal_rows[_i].cpu_ms_used * 1000000;
	run->ready = true;
	run->wait_status = signal_rows[_i].wait_status;
	outcome_exited(run);
	ck_assert_str_eq(sentence(), signal_rows[_i].sentence);
	ck_assert_int_eq(run->end.kind, signal_rows[_i].kind);
	ck_assert_int_eq(run->end.exit_status, signal_rows[_i].exit_status);
	ck_assert(run->end.core_dumped == signal_rows[_i].core);
	ck_assert_pstr_eq(run->end.decided_by, signal_rows[_i].decided_by);
}
END_TEST

/* ---- ends that sbox makes: kind, sentence, status, and the denial with its way out ---- */

static const struct {
	enum end_kind kind;
	int code;
	const char *decided_by;
	int exit_status;
	const char *sentence, *permit; /* NULL: no denial */
} end_rows[] = {
	{END_TIMEOUT, 0, "time.wall", 124,
	 "stopped after 10m by the clock ([time] wall, agent.ini:31)", "[time] wall = 20m"},
	{END_CPU, 0, "time.cpu", 124, "stopped after 5s of processor time ([time] cpu, default)",
	 "[time] cpu = 10s"},
	{END_MEMORY, 0, "process.memory", 137,
	 "killed: more than 2G of memory ([process] memory, default)", "[process] memory = 4G"},
	{END_OUTPUT, 0, "process.output", 137,
	 "killed: more than 1M of output ([process] output, default)", "[process] output = 2M"},
	{END_DISK, 0, "file.growth", 137,
	 "killed: written files grew by more than 1536M ([file] growth, default)",
	 "[file] growth = 3G"},
	{END_PROCESSES, 0, NULL, 137, "killed: more tasks than allowed", NULL},
	{END_BOUNDARY_LOST, 0, NULL, 137, "replaced from outside during the run", NULL},
	{END_CANCELLED, SIGINT, NULL, 130, "stopped by signal 2 (Interrupt)", NULL},
	{END_SIGNALED, SIGKILL, NULL, 137, "killed by signal 9 (Killed)", NULL},
	{END_EXITED, 7, NULL, 7, "(none)", NULL},
	{END_DENIED_START, 0, NULL, 125, "(none)", NULL},
	{END_SBOX_ERROR, 0, NULL, 125, "(none)", NULL},
	{END_NOT_EXECUTABLE, 0, NULL, 126, "(none)", NULL},
	{END_NOT_FOUND, 0, NULL, 127, "(none)", NULL},
};

START_TEST(each_end_has_its_words)
{
	outcome_end(run, end_rows[_i].kind, end_rows[_i].code, end_rows[_i].decided_by);
	assert_contains(sentence(), end_rows[_i].sentence);
	ck_assert_int_eq(run->end.exit_status, end_rows[_i].exit_status);
	ck_assert_uint_eq(run->denials.count, end_rows[_i].permit != NULL ? 1 : 0);
	if (end_rows[_i].permit != NULL)
		ck_assert_str_eq(run->denials.items[0].permit, end_rows[_i].permit);
}
END_TEST

START_TEST(no_kind_is_left_out)
{
	bool seen[END_KIND_MAX] = {false};

	for (size_t i = 0; i < COUNT(end_rows); i++)
		seen[end_rows[i].kind] = true;
	for (int kind = 0; kind < END_KIND_MAX; kind++)
		ck_assert_msg(seen[kind], "%s", end_kind_names[kind]);
}
END_TEST

START_TEST(the_first_cause_wins)
{
	outcome_end(run, END_TIMEOUT, 0, "time.wall");
	outcome_kill(run, END_MEMORY, "process.memory");
	run->wait_status = SIGKILL;
	outcome_exited(run);
	run->fault = (struct fault){.id = STEP_EXEC, .errnum = ENOENT};
	outcome_exited(run);
	ck_assert_int_eq(run->end.kind, END_TIMEOUT);
	ck_assert_str_eq(run->end.decided_by, "time.wall");
	assert_contains(sentence(), "by the clock");
}
END_TEST

START_TEST(a_sentence_that_is_there_stays)
{
	outcome_end(run, END_BOUNDARY_LOST, 0, NULL);
	run->end.message = "a mount was detached";
	ck_assert_str_eq(sentence(), "a mount was detached");
}
END_TEST

START_TEST(a_key_that_nobody_knows_is_named_as_it_is)
{
	outcome_end(run, END_MEMORY, 0, "process.frobs");
	assert_contains(sentence(), "(process.frobs)");
}
END_TEST

/* ---- denials of limits ---- */

START_TEST(tasks_at_their_limit_are_a_denial)
{
	run->end.usage.peak_tasks = 64;
	outcome_end(run, END_EXITED, 0, NULL);
	sentence();
	ck_assert_uint_eq(run->denials.count, 1);
	ck_assert_str_eq(run->denials.items[0].permit, "[process] processes = 128");
	ck_assert_int_eq(run->denials.items[0].errnum, EAGAIN);
}
END_TEST

START_TEST(tasks_below_their_limit_are_none)
{
	run->end.usage.peak_tasks = 63;
	outcome_end(run, END_EXITED, 0, NULL);
	sentence();
	ck_assert_uint_eq(run->denials.count, 0);
}
END_TEST

START_TEST(a_large_file_is_a_denial)
{
	outcome_end(run, END_SIGNALED, SIGXFSZ, "file.max_file");
	sentence();
	ck_assert_uint_eq(run->denials.count, 1);
	ck_assert_str_eq(run->denials.items[0].permit, "[file] max_file = 8K");
	ck_assert_int_eq(run->denials.items[0].errnum, EFBIG);
}
END_TEST

/* The caller's own limit (ulimit -f): no line of the profile would permit more. */
START_TEST(a_large_file_without_max_file_is_none)
{
	run->profile.file.max_file_bytes = 0;
	outcome_end(run, END_SIGNALED, SIGXFSZ, NULL);
	sentence();
	for (size_t i = 0; i < run->denials.count; i++)
		ck_assert_msg(strstr(run->denials.items[i].permit, "none") == NULL, "%s",
			      run->denials.items[i].permit);
}
END_TEST

START_TEST(denials_off_writes_none)
{
	run->profile.audit.denials = DENIALS_OFF;
	run->end.usage.peak_tasks = 64;
	outcome_end(run, END_TIMEOUT, 0, "time.wall");
	sentence();
	ck_assert_uint_eq(run->denials.count, 0);
}
END_TEST

/* ---- set-up that failed ---- */

static struct step fault_steps[] = {
	{.id = STEP_SOURCE, .source = "/usr"},
	{.id = STEP_SHOW_ROOT, .path = "/tmp", .source = "1024"},
	{.id = STEP_ATTACH, .path = "work"},
	{.id = STEP_LANDLOCK},
	{.id = STEP_INNER_USER, .text = "1000 0 1", .source = "1000 0 1"},
	{.id = STEP_EXEC, .path = "/usr/bin/tool"},
	{.id = STEP_SOURCE, .source = "/beyond the end"},
};

static const struct {
	uint32_t id;
	int errnum;
	uint32_t index, detail;
	enum end_kind kind;
	int exit_status;
	const char *sentence;
} fault_rows[] = {
	{STEP_SOURCE, ENOENT, 0, 1, END_SBOX_ERROR, 125,
	 "set-up step source /usr failed (call 1): No such file or directory"},
	{STEP_SHOW_ROOT, EINVAL, 1, 2, END_SBOX_ERROR, 125,
	 "set-up step show-root /tmp failed (call 2): Invalid argument"},
	{STEP_ATTACH, EPERM, 2, 1, END_SBOX_ERROR, 125, "set-up step attach"},
	{STEP_LANDLOCK, EOPNOTSUPP, 3, 1, END_SBOX_ERROR, 125,
	 "set-up step landlock failed (call 1): Operation not supported"},
	/* the machine's doing: it says which setting */
	{STEP_INNER_USER, ENOSPC, 4, 1, END_DENIED_START, 125,
	 "set-up step inner-user failed (call 1): No space left on device; no more namespaces"},
	{STEP_PROC, EPERM, 6, 2, END_DENIED_START, 125,
	 "set-up step proc failed (call 2): Operation not permitted; parts of /proc are covered"},
	{STEP_PROC, ENOMEM, 6, 2, END_SBOX_ERROR, 125, "set-up step proc"},
	/* nothing that came through the pipe is believed to be in range */
	{STEP_LANDLOCK, EPERM, 4000000000U, 1, END_SBOX_ERROR, 125,
	 "set-up step landlock failed (call 1): Operation not permitted"},
	{STEP_LANDLOCK, EPERM, 6, 1, END_SBOX_ERROR, 125,
	 "set-up step landlock failed (call 1): Operation not permitted"},
	{STEP_MAX, EPERM, 0, 1, END_SBOX_ERROR, 125, "set-up step ?"},
	{UINT32_MAX, EPERM, UINT32_MAX, 0, END_SBOX_ERROR, 125, "set-up step ?"},
	/* the program itself */
	{STEP_EXEC, ENOENT, 5, 1, END_NOT_FOUND, 127,
	 "cannot execute /usr/bin/tool: No such file or directory (the interpreter named in its "
	 "first line, or its loader, does not exist or is not visible inside)"},
	{STEP_EXEC, EACCES, 5, 1, END_NOT_EXECUTABLE, 126,
	 "cannot execute /usr/bin/tool: Permission denied"},
	{STEP_EXEC, ENOEXEC, 5, 1, END_NOT_EXECUTABLE, 126,
	 "cannot execute /usr/bin/tool: Exec format error (neither a program of this machine nor"},
	{STEP_EXEC, E2BIG, 5, 1, END_NOT_EXECUTABLE, 126,
	 "cannot execute /usr/bin/tool: Argument list too long"},
};

START_TEST(a_fault_is_named)
{
	run->arm.steps = (struct steps){.items = fault_steps, .count = COUNT(fault_steps) - 1};
	run->fault = (struct fault){.id = fault_rows[_i].id,
				    .errnum = fault_rows[_i].errnum,
				    .index = fault_rows[_i].index,
				    .detail = fault_rows[_i].detail};
	run->wait_status = exited(125);
	outcome_exited(run);
	assert_contains(sentence(), fault_rows[_i].sentence);
	ck_assert_int_eq(run->end.kind, fault_rows[_i].kind);
	ck_assert_int_eq(run->end.exit_status, fault_rows[_i].exit_status);
	ck_assert_int_eq(run->end.code, fault_rows[_i].errnum);
}
END_TEST

START_TEST(a_map_is_not_the_name_of_what_failed)
{
	run->arm.steps = (struct steps){.items = fault_steps, .count = COUNT(fault_steps) - 1};
	run->fault = (struct fault){STEP_INNER_USER, ENOSPC, 4, 1};
	outcome_exited(run);
	assert_contains(sentence(),
			"set-up step inner-user failed (call 1): No space left on device;");
}
END_TEST

START_TEST(a_death_without_a_word)
{
	outcome_exited(run);
	ck_assert_str_eq(sentence(), "the new process died during set-up");
	ck_assert_int_eq(run->end.kind, END_SBOX_ERROR);
	setup_run();
	run->ready = true;
	outcome_exited(run);
	ck_assert_str_eq(sentence(), "pid 1 of the sandbox died during the run");
	ck_assert_int_eq(run->end.kind, END_BOUNDARY_LOST);
	ck_assert_int_eq(run->end.exit_status, 137);
}
END_TEST

static void add(TCase *tcase)
{
	tcase_add_checked_fixture(tcase, setup_run, NULL);
	tcase_add_loop_test(tcase, an_exit_status_is_passed_on, 0, 4);
	tcase_add_loop_test(tcase, an_exit_status_is_passed_on, 124, 129);
	tcase_add_loop_test(tcase, an_exit_status_is_passed_on, 255, 256);
	tcase_add_loop_test(tcase, a_signal_is_named, 0, ROWS(signal_rows));
	tcase_add_loop_test(tcase, each_end_has_its_words, 0, ROWS(end_rows));
	tcase_add_test(tcase, no_kind_is_left_out);
	tcase_add_test(tcase, the_first_cause_wins);
	tcase_add_test(tcase, a_sentence_that_is_there_stays);
	tcase_add_test(tcase, a_key_that_nobody_knows_is_named_as_it_is);
	tcase_add_test(tcase, tasks_at_their_limit_are_a_denial);
	tcase_add_test(tcase, tasks_below_their_limit_are_none);
	tcase_add_test(tcase, a_large_file_is_a_denial);
	tcase_add_test(tcase, a_large_file_without_max_file_is_none);
	tcase_add_test(tcase, denials_off_writes_none);
	tcase_add_loop_test(tcase, a_fault_is_named, 0, ROWS(fault_rows));
	tcase_add_test(tcase, a_map_is_not_the_name_of_what_failed);
	tcase_add_test(tcase, a_death_without_a_word);
}

int main(void)
{
	return run_suite("outcome", add);
}
