// SPDX-License-Identifier: Apache-2.0
#include "relay_fixture.h"

#include <errno.h>
#include <pty.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>

/* What a stream can be connected to. */

START_TEST(sink_closed_breaks_the_programs_pipe)
{
	start(false, 100);
	close(sink[IN]);
	put("x", 1);
	relay_pump(&relay, UINT64_MAX);
	ck_assert(relay.sink_gone);
	ck_assert_int_eq(relay.sink_errno, EPIPE);
	ck_assert(relay_done(&relay));
	ck_assert_int_eq(write(source[OUT], "y", 1), -1);
	ck_assert_int_eq(errno, EPIPE);
	ck_assert_uint_eq(relay.capture.bytes, 1);
	ck_assert_uint_eq(relay_from_events(&relay) | relay_to_events(&relay), 0);
}
END_TEST

START_TEST(ends_that_are_not_open)
{
	struct stat st;
	int read_only = open("/dev/null", O_RDONLY | O_CLOEXEC);

	/* stdin is closed: the program sees its end at once */
	ck_assert_int_eq(relay_init(&relay, -1, sink[OUT], false, 100, &err), 0);
	ck_assert(relay_done(&relay));
	ck_assert_int_eq(read(sink[IN], &st, 1), 0);
	relay_free(&relay);
	/* stdout is closed, or open for reading only */
	ck_assert_int_eq(relay_init(&relay, source[IN], read_only, false, 100, &err), 0);
	ck_assert_int_eq(relay.sink_errno, EBADF);
	ck_assert_int_eq(write(source[OUT], "y", 1), -1);
	ck_assert(relay_done(&relay));
}
END_TEST

START_TEST(files_are_always_ready)
{
	FILE *file = tmpfile();
	char buf[16] = "";

	fputs("from a file", file);
	fflush(file);
	rewind(file);
	int in = dup(fileno(file)), null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	ck_assert_int_eq(relay_init(&relay, in, sink[OUT], false, 100, &err), 0);
	ck_assert(!relay.from_pollable && relay.to_pollable);
	ck_assert_uint_eq(relay_pump(&relay, UINT64_MAX), 11);
	ck_assert(!relay_done(&relay)); /* a file that grows meanwhile is not over yet */
	ck_assert_uint_eq(relay_pump(&relay, UINT64_MAX), 0);
	ck_assert(relay_done(&relay));
	ck_assert_int_eq(read(sink[IN], buf, sizeof(buf)), 11);
	ck_assert_int_eq(read(sink[IN], buf, sizeof(buf)), 0);
	relay_free(&relay);
	ck_assert_int_eq(relay_init(&relay, source[IN], null, false, 100, &err), 0);
	ck_assert(!relay.to_pollable);
	put("gone", 4);
	ck_assert_uint_eq(relay_pump(&relay, UINT64_MAX), 4);
	ck_assert_uint_eq(relay.len, 0);
}
END_TEST

START_TEST(full_disk_is_named)
{
	ck_assert_int_eq(
		relay_init(&relay, source[IN], open("/dev/full", O_WRONLY), false, 100, &err), 0);
	put("x", 1);
	relay_pump(&relay, UINT64_MAX);
	ck_assert_int_eq(relay.sink_errno, ENOSPC);
	ck_assert(relay_done(&relay));
}
END_TEST

START_TEST(sockets)
{
	int out[2], in[2];
	char buf[8] = "";
	size_t len = 0;

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, out), 0);
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, in), 0);
	ck_assert_int_eq(relay_init(&relay, in[0], out[1], false, 100, &err), 0);
	ck_assert_int_eq(relay.to_way, RELAY_SOCKET);
	ck_assert_uint_eq(relay_pump(&relay, UINT64_MAX), 0);
	ck_assert_int_eq(write(in[1], "hi", 2), 2);
	ck_assert_uint_eq(relay_pump(&relay, UINT64_MAX), 2);
	ck_assert_int_eq(read(out[0], buf, sizeof(buf)), 2);
	fcntl(in[1], F_SETFL, O_NONBLOCK);
	for (int idle = 0; idle < 3;) {
		unsigned char block[4096] = {0};
		ssize_t n = write(in[1], block, sizeof(block));

		len += n > 0 ? n : 0;
		idle = relay_pump(&relay, UINT64_MAX) == 0 ? idle + 1 : 0;
	}
	ck_assert_uint_eq(relay_to_events(&relay), EPOLLOUT);
	ck_assert_int_eq(fcntl(out[1], F_GETFL) & O_NONBLOCK, 0);
	signal(SIGPIPE, SIG_DFL); /* MSG_NOSIGNAL */
	close(out[0]);
	relay_pump(&relay, UINT64_MAX);
	ck_assert_int_eq(relay.sink_errno, EPIPE);
}
END_TEST

START_TEST(terminal_that_is_not_read)
{
	int master, slave, kept;
	size_t len = 0;

	ck_assert_int_eq(openpty(&master, &slave, NULL, NULL, NULL), 0);
	kept = dup(slave);
	ck_assert_int_eq(relay_init(&relay, source[IN], slave, false, 100, &err), 0);
	ck_assert(relay.to_nonblocking && relay.to_pollable);
	ck_assert_int_eq(fcntl(kept, F_GETFL) & O_NONBLOCK, 0);
	fcntl(source[OUT], F_SETFL, O_NONBLOCK);
	for (int idle = 0; idle < 3;) {
		ssize_t n = write(source[OUT], "0123456789abcde\n", 16);

		len += n > 0 ? n : 0;
		idle = relay_pump(&relay, UINT64_MAX) == 0 ? idle + 1 : 0;
	}
	ck_assert_uint_eq(relay_to_events(&relay), EPOLLOUT);
	relay_free(&relay);
	/* the other way round: the program's pty as source */
	ck_assert_int_eq(relay_init(&relay, master, -1, true, 100, &err), 0);
	ck_assert_int_eq(relay.from_way, RELAY_POLLED);
	ck_assert_uint_gt(relay_pump(&relay, UINT64_MAX), 0);
	while (relay_pump(&relay, UINT64_MAX) > 0)
		continue;
	ck_assert(!relay_done(&relay));
	close(kept);
	relay_pump(&relay, UINT64_MAX); /* EIO */
	ck_assert(relay_done(&relay));
}
END_TEST

/* A pipe that root made cannot be opened again by a user: su -c "sbox …" | cat */
START_TEST(pipe_of_another_user)
{
	unsigned char *data = pattern(65536);

	if (geteuid() != 0) {
		puts("skip: pipe_of_another_user: not root");
		return;
	}
	ck_assert_int_eq(seteuid(65534), 0);
	start(false, 100);
	ck_assert_int_eq(relay.to_way, RELAY_NOWAIT);
	ck_assert(!relay.to_nonblocking);
	for (int i = 0; i < 2; i++) {
		put(data, 65536);
		relay_pump(&relay, UINT64_MAX);
	}
	ck_assert_uint_eq(relay.capture.bytes, 131072);
	ck_assert_uint_eq(relay.len, 65536);
	ck_assert(relay.to_way == RELAY_NOWAIT || relay.to_way == RELAY_POLLED);
	ck_assert_int_eq(fcntl(sink[OUT], F_GETFL) & O_NONBLOCK, 0);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		sink_closed_breaks_the_programs_pipe,
		ends_that_are_not_open,
		files_are_always_ready,
		full_disk_is_named,
		sockets,
		terminal_that_is_not_read,
		pipe_of_another_user,
	};
	Suite *suite = suite_create("relay_ends");
	TCase *tcase = tcase_create("relay_ends");

	tcase_add_checked_fixture(tcase, setup, NULL);
	tcase_set_timeout(tcase, 10);
	for (size_t i = 0; i < sizeof(tests) / sizeof(*tests); i++)
		tcase_add_test(tcase, tests[i]);
	suite_add_tcase(suite, tcase);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
