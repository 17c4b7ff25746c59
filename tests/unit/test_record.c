// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <errno.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record.h"
#include "render_parts.h"

static struct arena arena;

#define HASH_A "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae"
#define HASH_B "fcde2b2edba56bf408601fb721fe9b5c338d10ee429ea04fae5511b68fbf8fb9"
#define RUN_ID "01KDZK8J7R5M0Q2X9T3V6B4N8C"
#define TIME   1795990735123456789u

static const struct plan_item items[] = {
	{BOUNDARY_FILE, "tree", "read /usr; write .", ITEM_ENFORCED, "mount namespace, landlock",
	 NULL, "files hard-linked from outside stay readable"},
	{BOUNDARY_PROCESS, "memory", "2G", ITEM_REDUCED, "sampling",
	 "no cgroup to use: short peaks are not seen", NULL},
	{BOUNDARY_PRIVILEGE, "apparmor", "strict", ITEM_MISSING, NULL,
	 "not in this kernel: leave [privilege] apparmor empty", NULL},
	{BOUNDARY_TIME, "wall", "", ITEM_OFF, NULL, NULL, NULL},
};

static const struct record_file files[] = {
	{"program", "/usr/bin/python3.11", 6839896, HASH_A, NULL, false},
	{"script", "/home/ana/job.py", 812, HASH_B, "scripts/" HASH_B, false},
	{"text", NULL, 70000, "", "scripts/" HASH_A, true},
};

static const struct record_label labels[] = {
	{"job", "first"}, {"agent", "nightly"}, {"job", "42"}, {"base64:x", ""}};

static const char *const argv[] = {"python3", "job.py", "--token=***", NULL};
static const char *const environment[] = {"HOME", "PATH", NULL};

static const struct run_start plain_start = {
	.run = RUN_ID,
	.time_ns = TIME,
	.who = {.real_uid = 1000,
		.effective_uid = 1000,
		.real_gid = 1000,
		.effective_gid = 1000,
		.login_uid = 1000,
		.user = "ana",
		.tty = "/dev/pts/3",
		.sbox_pid = 4242,
		.caller_pid = 4000,
		.caller_exe = "/usr/bin/bash",
		.host = "box",
		.boot_id = "0f3c9c1e-6c7a-4c0e-9d0e-3f2a51f0c9a1",
		.label = "unconfined"},
	.terminal = {.is_on = true, .stream = {true, true, false}, .rows = 24, .columns = 80},
	.argv = argv,
	.argc = 3,
	.cwd = "/home/ana",
	.inside_cwd = "/home/ana",
	.inner_uid = 1000,
	.outer_uid = 1000,
	.files = files,
	.file_count = 3,
	.profile_name = "agent",
	.profile_path = "/usr/local/share/sbox/profiles/agent.ini",
	.profile_sha256 = HASH_B,
	.environment = environment,
	.labels = labels,
	.label_count = 4,
	.items = items,
	.item_count = 4,
};

/* Everything that argv and paths of an attacker can hold. NUL they cannot. */
static const char *const hostile_argv[] = {
	"a\n{\"v\":1,\"seq\":2,\"type\":\"run.end\"}\n",
	"\r\033[2J\033]0;title\a",
	"\"quotes\" \\ and 'more'",
	"\xff\xfe not utf-8",
	"\xed\xa0\x80 a lone surrogate",
	"line\xe2\x80\xa8paragraph\xe2\x80\xa9",
	"\xc2\x9b"
	"31m C1",
	"\xe2\x80\xae"
	"gpj.exe",
	"\x7f",
	"",
	"</script>\xc3\xa9\xf0\x9f\x98\x80",
	NULL,
};

static const struct record_label hostile_labels[] = {{"k\"\n\033", "v\"\n\033"}, {"\xff", "\xff"}};

static char *start_plain(void)
{
	return render_start(&arena, &plain_start);
}

static char *start_hostile(void)
{
	struct run_start start = plain_start;

	start.who = (struct record_who){.login_uid = UNKNOWN, .host = "box\n"};
	start.argv = hostile_argv;
	start.argc = 4000;
	start.cwd = "/tmp/\xff\n";
	start.environment = NULL;
	start.files = NULL;
	start.file_count = 0;
	start.profile_path = NULL;
	start.profile_sha256 = NULL;
	start.labels = hostile_labels;
	start.label_count = 2;
	start.items = NULL;
	start.item_count = 0;
	return render_start(&arena, &start);
}

#define BYTES(text) (const unsigned char *)(text), .head_len = sizeof(text) - 1
#define TAIL(text)  (const unsigned char *)(text), .tail_len = sizeof(text) - 1

static const struct record_usage unknown_usage = {UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, NULL,
						  UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN};

static const struct record_step steps[] = {{1500, 1, 8}, {20, 2, 2}};

static const struct record_size terminal_sizes[] = {{2500000, 50, 132}};

static const struct run_end clean_end = {
	.run = RUN_ID,
	.time_ns = TIME + 1234567890,
	.kind = END_EXITED,
	.usage = {1234567890, 900000000, 80000000, 48234496, "cgroup", 3, 8192, 0, 2100000},
	.stdin_stream = {.bytes = 0},
	.stdout_stream = {.bytes = 8,
			  .head = BYTES("caf\xc3"),
			  .tail = TAIL("\xa9 \033\n"),
			  .sha256 = HASH_A,
			  .kept = "output/" RUN_ID ".stdout"},
	.stderr_stream = {.bytes = 2, .head = BYTES("\xff\n"), .sha256 = HASH_B},
	.timing = {.steps = steps, .step_count = 2, .sizes = terminal_sizes, .size_count = 1},
	.execs_total = UNKNOWN,
};

static const char *const exec_argv[] = {"git", "status", "\x1b[31m", NULL};
static const struct record_exec execs[] = {{"/usr/bin/git", exec_argv, 7, 12},
					   {"/tmp/\xff", NULL, 0, 1}};
static const struct record_denial denials[] = {
	{BOUNDARY_NETWORK, "socket", "AF_VSOCK", 3, 7, "/usr/bin/nc", EPERM, NULL,
	 "reaches the hypervisor"},
	{BOUNDARY_FILE, "open", "/etc/sha\ndow", 1, 0, NULL, EACCES, "[file] read = /etc/shadow",
	 NULL},
	{BOUNDARY_PROCESS, "memory", NULL, 1, 9, NULL, 0, "[process] memory = 4G", NULL},
};

static struct run_end killed_end(void)
{
	struct run_end end = clean_end;

	end.kind = END_MEMORY;
	end.code = SIGKILL;
	end.exit_status = end_exit_status(end.kind, end.code);
	end.decided_by = "process.memory";
	end.message = "sbox: ended: memory: over [process] memory = 2G (agent.ini:12)";
	end.leftover = "pid 4311 (uninterruptible)";
	end.usage = unknown_usage;
	end.stdin_stream = (struct record_stream){.bytes = UNKNOWN};
	end.stdout_stream = (struct record_stream){.bytes = 123456789,
						   .head = BYTES("first\xe2\x82"),
						   .tail = TAIL("\xac"
								"last\n"),
						   .truncated = true,
						   .kept = "output/" RUN_ID ".stdout"};
	end.stderr_stream = (struct record_stream){.bytes = 99,
						   .head = BYTES("\xff\xff\xff\xff\xff"),
						   .tail = TAIL(""),
						   .truncated = true};
	end.denials = denials;
	end.denial_count = 3;
	end.denials_dropped = 4;
	end.execs = execs;
	end.exec_count = 2;
	end.execs_total = 13;
	end.files = files + 2;
	end.file_count = 1;
	return end;
}

static char *end_clean(void)
{
	return render_end(&arena, &clean_end);
}

static char *end_killed(void)
{
	struct run_end end = killed_end();

	return render_end(&arena, &end);
}

static char *end_signaled(void)
{
	struct run_end end = clean_end;

	end.kind = END_SIGNALED;
	end.code = SIGSEGV;
	end.exit_status = end_exit_status(end.kind, end.code);
	end.core_dumped = true;
	return render_end(&arena, &end);
}

static char *result_clean(void)
{
	return render_result(&arena, &plain_start, &clean_end);
}

static char *result_killed(void)
{
	struct run_end end = killed_end();

	return render_result(&arena, &plain_start, &end);
}

/* Nothing ran: the profile could not be read. */
static char *result_refused(void)
{
	struct run_end end = {.run = RUN_ID,
			      .time_ns = TIME,
			      .kind = END_DENIED_START,
			      .exit_status = 125,
			      .message = "agent.ini:12: [network] allow: \"80a\" is not a port",
			      .usage = unknown_usage,
			      .execs_total = UNKNOWN};

	return render_result(&arena, NULL, &end);
}

static const struct {
	const char *name;
	char *(*render)(void);
} golden[] = {
	{"start-plain", start_plain},     {"start-hostile", start_hostile},
	{"end-clean", end_clean},         {"end-killed", end_killed},
	{"end-signaled", end_signaled},   {"result-clean", result_clean},
	{"result-killed", result_killed}, {"result-refused", result_refused},
};

START_TEST(lines_are_golden)
{
	char path[256], expected[16384];
	const char *line = arena_printf(&arena, "%s\n", golden[_i].render());

	snprintf(path, sizeof(path), "tests/golden/record-%s.json", golden[_i].name);
	FILE *file = fopen(path, getenv("REGENERATE") != NULL ? "w+" : "r");
	ck_assert_msg(file != NULL, "%s: %s (run from the top folder)", path, strerror(errno));
	if (getenv("REGENERATE") != NULL) {
		fputs(line, file);
		rewind(file);
	}
	size_t len = fread(expected, 1, sizeof(expected) - 1, file);
	expected[len] = '\0';
	fclose(file);
	ck_assert_msg(strcmp(line, expected) == 0, "%s: REGENERATE=1 writes it anew; now:\n%s",
		      path, line);
}
END_TEST

START_TEST(lines_are_json)
{
	const char *line = golden[_i].render();
	json_error_t error;
	json_t *value = json_loads(line, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &error);

	ck_assert_msg(value != NULL, "%s: %s", golden[_i].name, error.text);
	json_decref(value);
	for (const char *c = line; *c != '\0'; c++)
		ck_assert((unsigned char)*c >= 0x20 && *c != 0x7f);
}
END_TEST

static const struct {
	enum end_kind kind;
	int code, status;
} ends[] = {
	{END_EXITED, 0, 0},         {END_EXITED, 137, 137},      {END_SIGNALED, 9, 137},
	{END_SIGNALED, 15, 143},    {END_TIMEOUT, 9, 124},       {END_CPU, 9, 124},
	{END_MEMORY, 9, 137},       {END_PROCESSES, 9, 137},     {END_OUTPUT, 9, 137},
	{END_DISK, 9, 137},         {END_BOUNDARY_LOST, 9, 137}, {END_CANCELLED, 2, 130},
	{END_DENIED_START, 0, 125}, {END_SBOX_ERROR, 0, 125},    {END_NOT_EXECUTABLE, 0, 126},
	{END_NOT_FOUND, 0, 127},
};

START_TEST(ends_have_their_status)
{
	ck_assert_int_eq(end_exit_status(ends[_i].kind, ends[_i].code), ends[_i].status);
}
END_TEST

START_TEST(every_name_is_there)
{
	for (int i = 0; i < END_KIND_MAX; i++)
		ck_assert_ptr_nonnull(end_kind_names[i]);
	for (int i = 0; i < BOUNDARY_MAX; i++)
		ck_assert_ptr_nonnull(boundary_names[i]);
	for (int i = 0; i < ITEM_STATE_MAX; i++)
		ck_assert_ptr_nonnull(item_state_names[i]);
}
END_TEST

START_TEST(times_are_rfc3339)
{
	static const struct {
		uint64_t ns;
		const char *text;
	} times[] = {
		{0, "1970-01-01T00:00:00.000000000Z"},
		{951782399999999999, "2000-02-28T23:59:59.999999999Z"},
		{951782400000000000, "2000-02-29T00:00:00.000000000Z"},
		{951868800000000000, "2000-03-01T00:00:00.000000000Z"},
		{1704067199000000001, "2023-12-31T23:59:59.000000001Z"},
		{TIME, "2026-11-29T22:18:55.123456789Z"},
		{4107542400000000000, "2100-03-01T00:00:00.000000000Z"},
	};
	char text[TIME_TEXT_SIZE];

	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		render_time_text(text, times[i].ns);
		ck_assert_str_eq(text, times[i].text);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("record");
	TCase *test = tcase_create("record");
	SRunner *runner = srunner_create(suite);
	int golden_count = sizeof(golden) / sizeof(golden[0]);

	tcase_add_loop_test(test, lines_are_golden, 0, golden_count);
	tcase_add_loop_test(test, lines_are_json, 0, golden_count);
	tcase_add_loop_test(test, ends_have_their_status, 0, sizeof(ends) / sizeof(ends[0]));
	tcase_add_test(test, every_name_is_there);
	tcase_add_test(test, times_are_rfc3339);
	suite_add_tcase(suite, test);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	arena_free(&arena);
	return failed == 0 ? 0 : 1;
}
