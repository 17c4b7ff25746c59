// SPDX-License-Identifier: Apache-2.0
/*
 * The parts of the terminal that need no run: modes, and a relay from a terminal
 * that job control, an end of file or a hangup interrupts.
 */
#include <check.h>
#include <fcntl.h>
#include <pty.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "relay.h"
#include "terminal.h"

static int master, slave, sink[2];
static struct relay relay;
static struct error err;

static void open_terminal(void)
{
	ck_assert_int_eq(openpty(&master, &slave, NULL, NULL, NULL), 0);
	ck_assert_int_eq(pipe2(sink, O_CLOEXEC | O_NONBLOCK), 0);
}

/* From the terminal to a pipe, as keys go to the program. */
static void relay_keys(bool shared)
{
	struct termios modes;

	open_terminal();
	ck_assert_int_eq(tcgetattr(slave, &modes), 0);
	terminal_make_raw(&modes, shared);
	ck_assert_int_eq(tcsetattr(slave, TCSANOW, &modes), 0);
	ck_assert_int_eq(relay_init(&relay, slave, sink[1], false, 0, &err), 0);
	relay_narrow(&relay);
	relay.from_terminal = true;
	relay.count_delivered = true;
}

static void type(const char *text)
{
	ck_assert_int_eq(write(master, text, strlen(text)), (ssize_t)strlen(text));
}

static size_t take(char *data, size_t len)
{
	ssize_t got = read(sink[0], data, len);

	return got > 0 ? (size_t)got : 0;
}

/* ---- modes ---- */

START_TEST(raw_passes_every_byte)
{
	unsigned char all[256], got[256];

	relay_keys(false);
	for (int i = 0; i < 256; i++)
		all[i] = (unsigned char)i;
	ck_assert_int_eq(write(master, all, sizeof(all)), sizeof(all));
	relay_pump(&relay, UINT64_MAX);
	ck_assert_uint_eq(take((char *)got, sizeof(got)), sizeof(got));
	ck_assert_mem_eq(all, got, sizeof(all));
}
END_TEST

START_TEST(shared_leaves_output_as_it_is)
{
	struct termios modes, raw;

	open_terminal();
	ck_assert_int_eq(tcgetattr(slave, &modes), 0);
	raw = modes;
	terminal_make_raw(&raw, true);
	ck_assert_uint_eq(raw.c_oflag, modes.c_oflag);
	ck_assert_uint_eq(raw.c_lflag & (ICANON | ECHO | ISIG), 0);
	terminal_make_raw(&raw, false);
	ck_assert_uint_eq(raw.c_oflag & OPOST, 0);
	ck_assert(!terminal_same_modes(&raw, &modes));
	ck_assert(terminal_same_modes(&raw, &raw));
}
END_TEST

/* What the kernel gives back is what was asked for: the guard compares. */
START_TEST(raw_is_told_from_the_kernel)
{
	struct termios modes, now;

	open_terminal();
	ck_assert_int_eq(tcgetattr(slave, &modes), 0);
	terminal_make_raw(&modes, _i == 1);
	ck_assert_int_eq(tcsetattr(slave, TCSANOW, &modes), 0);
	ck_assert_int_eq(tcgetattr(slave, &now), 0);
	ck_assert(terminal_same_modes(&modes, &now));
}
END_TEST

/* ---- the relay ---- */

START_TEST(paused_reads_nothing)
{
	char got[16];

	relay_keys(false);
	relay.paused = true;
	type("abc");
	ck_assert_uint_eq(relay_from_events(&relay), 0);
	ck_assert_uint_eq(relay_pump(&relay, UINT64_MAX), 0);
	ck_assert_uint_eq(take(got, sizeof(got)), 0);
	relay.paused = false;
	ck_assert_uint_eq(relay_from_events(&relay), EPOLLIN);
	ck_assert_uint_eq(relay_pump(&relay, UINT64_MAX), 3);
	ck_assert_uint_eq(take(got, sizeof(got)), 3);
}
END_TEST

/* Somebody else put the terminal back into lines, and a Ctrl-D was typed: no end. */
START_TEST(end_of_file_of_a_key_pauses)
{
	struct termios modes;

	relay_keys(false);
	ck_assert_int_eq(tcgetattr(slave, &modes), 0);
	modes.c_lflag |= ICANON;
	ck_assert_int_eq(tcsetattr(slave, TCSANOW, &modes), 0);
	type("\004");
	relay_pump(&relay, UINT64_MAX);
	ck_assert(relay.paused);
	ck_assert(!relay.source_eof);
}
END_TEST

START_TEST(hangup_ends)
{
	relay_keys(false);
	close(master);
	relay_pump(&relay, UINT64_MAX);
	ck_assert(!relay.paused);
	ck_assert(relay.source_eof);
}
END_TEST

/* In the background a read is refused (SIGTTIN is blocked): no end either. */
START_TEST(background_pauses)
{
	int status;
	pid_t leader = fork();

	ck_assert_int_ge(leader, 0);
	if (leader == 0) {
		sigset_t blocked;

		open_terminal();
		sigemptyset(&blocked);
		sigaddset(&blocked, SIGTTIN);
		sigprocmask(SIG_BLOCK, &blocked, NULL);
		if (setsid() < 0 || ioctl(slave, TIOCSCTTY, 0) != 0)
			_exit(2);
		pid_t behind = fork();
		if (behind == 0) {
			setpgid(0, 0);
			type("abc\n");
			if (relay_init(&relay, slave, sink[1], false, 0, &err) != 0)
				_exit(3);
			relay.from_terminal = true;
			relay_pump(&relay, UINT64_MAX);
			_exit(relay.paused && !relay.source_eof ? 0 : 1);
		}
		waitpid(behind, &status, 0);
		_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 4);
	}
	waitpid(leader, &status, 0);
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), 0);
}
END_TEST

/* A terminal's reader that does not read: little is held back. */
START_TEST(narrow_holds_little)
{
	char data[4096] = {0};
	int source[2];
	size_t sent = 0;
	ssize_t put;

	open_terminal();
	ck_assert_int_eq(pipe2(source, O_CLOEXEC | O_NONBLOCK), 0);
	ck_assert_int_eq(relay_init(&relay, source[0], sink[1], false, 0, &err), 0);
	relay_narrow(&relay);
	for (int i = 0; i < 200; i++) {
		while ((put = write(source[1], data, sizeof(data))) > 0)
			sent += (size_t)put;
		relay_pump(&relay, UINT64_MAX);
	}
	ck_assert_uint_gt(sent, 64 * 1024);
	ck_assert_uint_le(relay.len, 16 * 1024);
}
END_TEST

START_TEST(none_is_done)
{
	relay_none(&relay);
	ck_assert(relay_done(&relay));
	ck_assert_uint_eq(relay_from_events(&relay) | relay_to_events(&relay), 0);
	ck_assert_uint_eq(relay_pump(&relay, UINT64_MAX), 0);
	relay_drain(&relay, UINT64_MAX);
	relay_free(&relay);
}
END_TEST

/* Another relay's bytes in one stream's count. */
START_TEST(bytes_count_where_they_are_told_to)
{
	struct relay other;
	struct record_stream stream = {0};

	relay_keys(false);
	relay_none(&other);
	ck_assert_int_eq(capture_init(&other.capture, 100, &err), 0);
	relay.into = &other.capture;
	type("abc");
	relay_pump(&relay, UINT64_MAX);
	relay_report(&other, &stream);
	ck_assert_uint_eq(stream.bytes, 3);
	ck_assert_mem_eq(stream.head, "abc", 3);
	ck_assert_uint_eq(relay.capture.bytes, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("terminal");
	TCase *cases = tcase_create("terminal");
	const TTest *const tests[] = {
		raw_passes_every_byte,
		shared_leaves_output_as_it_is,
		paused_reads_nothing,
		end_of_file_of_a_key_pauses,
		hangup_ends,
		background_pauses,
		narrow_holds_little,
		none_is_done,
		bytes_count_where_they_are_told_to,
	};

	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		tcase_add_test(cases, tests[i]);
	tcase_add_loop_test(cases, raw_is_told_from_the_kernel, 0, 2);
	suite_add_tcase(suite, cases);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
