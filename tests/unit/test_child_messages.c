// SPDX-License-Identifier: Apache-2.0
/*
 * The control socket: the listener goes up with a message, or a word that
 * there is none; a supervisor that is gone costs no signal.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>

#include "child_fixture.h"

/* ---- the listener ---- */

static const struct sock_filter allow_code[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
static const struct sock_fprog allow_all = {1, (struct sock_filter *)allow_code};

static void put_listener(const struct sock_fprog *plain)
{
	struct step *step = put(STEP_SECCOMP);

	step->filter = &allow_all;
	step->plain_filter = plain;
	step->flags = 1;
}

START_TEST(the_listener_is_handed_over)
{
	struct message message;
	int fds[4] = {-1, -1, -1, -1};
	size_t count = 0;

	put_fork();
	put_listener(NULL);
	put_program("exit 5");
	start(0);
	ck_assert(take_message(&message, fds, &count));
	ck_assert_uint_eq(message.kind, MESSAGE_LISTENER);
	ck_assert_uint_eq(count, 1);
	ck_assert_int_ge(fcntl(fds[0], F_GETFD), 0);
	ck_assert_int_eq(take_exit().status, 5 << 8);
}
END_TEST

START_TEST(without_a_listener_of_ones_own)
{
	struct message message;
	size_t count = 9;

	put_fork();
	put_listener(NULL);
	put_listener(&allow_all);
	put_program("exit 6");
	start(0);
	ck_assert(take_message(&message, NULL, NULL));
	ck_assert_uint_eq(message.kind, MESSAGE_LISTENER);
	ck_assert(take_message(&message, NULL, &count));
	ck_assert_uint_eq(message.kind, MESSAGE_NO_LISTENER);
	ck_assert_uint_eq(count, 0);
	ck_assert_int_eq(take_exit().status, 6 << 8);
}
END_TEST

/* ---- messages ---- */

START_TEST(messages_carry_up_to_two_descriptors)
{
	const struct message sent = {.kind = MESSAGE_EXITED, .status = -7, .peak_rss_kb = ~0ULL};
	struct message got;
	int pair[2], fds[4] = {0};
	const int give[2] = {0, 2};
	size_t count = 9;

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
	control_fd = pair[1];
	ck_assert_int_eq(child_send(pair[0], &sent, give, (size_t)_i), 0);
	ck_assert(take_message(&got, fds, &count));
	ck_assert_mem_eq(&got, &sent, sizeof(sent));
	ck_assert_uint_eq(count, (size_t)_i);
	for (int i = 0; i < _i; i++)
		ck_assert_int_gt(fds[i], 2);
}
END_TEST

START_TEST(a_message_to_nobody_is_no_signal)
{
	const struct message message = {.kind = MESSAGE_EXITED};
	int pair[2];

	signal(SIGPIPE, SIG_DFL);
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
	close(pair[1]);
	ck_assert_int_eq(child_send(pair[0], &message, NULL, 0), -1);
	ck_assert_int_eq(errno, EPIPE);
}
END_TEST

static void add(TCase *tcase)
{
	tcase_add_test(tcase, the_listener_is_handed_over);
	tcase_add_test(tcase, without_a_listener_of_ones_own);
	tcase_add_loop_test(tcase, messages_carry_up_to_two_descriptors, 0, 3);
	tcase_add_test(tcase, a_message_to_nobody_is_no_signal);
}

int main(void)
{
	return run_suite("child-messages", add);
}
