// SPDX-License-Identifier: Apache-2.0
/*
 * What the supervisor is asked about is answered "continue": so nothing that the filter
 * refuses may ever be taken for a question.
 */
#include <sys/mman.h>
#include <sys/syscall.h>

#include "filter_fixture.h"

static bool passes[SYSCALL_NUMBERS];
static const char *narrow_items[] = {"@default", "!unlink", "!openat", "!connect", "!mkdir"};

/* Values that rows look at: flags, modes, families, descriptors. */
static const uint64_t samples[] = {0,
				   1,
				   2,
				   3,
				   10,
				   16,
				   (uint32_t)AT_FDCWD,
				   (uint64_t)AT_FDCWD,
				   O_WRONLY,
				   O_RDWR | O_CREAT,
				   O_CREAT | O_TRUNC,
				   O_DIRECTORY,
				   O_NOFOLLOW,
				   AT_EMPTY_PATH,
				   MAP_ANONYMOUS | MAP_PRIVATE,
				   PROT_READ | PROT_EXEC,
				   S_ISUID | 0755,
				   S_ISGID,
				   S_IFCHR | 0666,
				   S_IFIFO | 0600,
				   S_IFSOCK,
				   1ULL << 32,
				   UINT64_MAX};

enum { SAMPLES = sizeof(samples) / sizeof(samples[0]) };

static struct filter_policy policy_of(const char **items, size_t count, enum arg_ask ask,
				      bool listener)
{
	static struct string_list list;

	list = (struct string_list){items, count};
	return (struct filter_policy){
		.syscalls = &list, .listener = listener, .ask = ask, .passes = passes};
}

/* For one number and some arguments: the three answers agree. */
static void check_call(const struct filter_policy *policy, const struct sock_fprog *asking,
		       const struct sock_fprog *plain, int nr, const uint64_t args[6])
{
	bool question = filter_is_question(policy, SBOX_AUDIT_ARCH, nr, args);
	uint32_t asked = filter_simulate(asking, SBOX_AUDIT_ARCH, nr, args);
	uint32_t without = filter_simulate(plain, SBOX_AUDIT_ARCH, nr, args);

	if (question) {
		ck_assert_msg(without == SECCOMP_RET_ALLOW, "call %d is refused and a question",
			      nr);
		ck_assert_msg(asked == SECCOMP_RET_USER_NOTIF, "call %d is not asked about", nr);
	} else if (without == SECCOMP_RET_ALLOW) {
		ck_assert_msg(asked == SECCOMP_RET_ALLOW, "call %d: asked, and no question", nr);
	} else {
		ck_assert_msg(asked != SECCOMP_RET_ALLOW, "call %d: asking lets it through", nr);
	}
}

static void check_all(const char **items, size_t count, enum arg_ask ask)
{
	struct filter_policy policy = policy_of(items, count, ask, false);
	struct sock_fprog plain = build(&policy);

	policy = policy_of(items, count, ask, true);
	struct sock_fprog asking = build(&policy);
	for (int nr = -1; nr < SYSCALL_NUMBERS + 8; nr++)
		for (size_t a = 0; a < SAMPLES; a++)
			for (size_t b = 0; b < SAMPLES; b++) {
				const uint64_t args[6] = {
					samples[a], samples[b], samples[(a + b) % SAMPLES],
					samples[b], 0,          0};

				check_call(&policy, &asking, &plain, nr, args);
			}
}

START_TEST(nothing_refused_is_a_question)
{
	check_all(default_items, 1, (enum arg_ask)_i);
	check_all(narrow_items, sizeof(narrow_items) / sizeof(narrow_items[0]), (enum arg_ask)_i);
}
END_TEST

/*
 * Waiting for the network changes one answer into another: "allow" into "asked, then continue", for
 * sockets that see a network. Whatever a profile refuses stays refused.
 */
static void check_network(const char **items, size_t count, bool listener)
{
	struct filter_policy policy = policy_of(items, count, ASK_NOTHING, listener);
	struct sock_fprog plain = build(&policy);
	size_t asked = 0;

	policy.late_network = true;
	struct sock_fprog late = build(&policy);
	for (int nr = -1; nr < SYSCALL_NUMBERS + 8; nr++)
		for (size_t a = 0; a < SAMPLES; a++)
			for (size_t b = 0; b < SAMPLES; b++) {
				const uint64_t args[6] = {samples[a], samples[b],
							  samples[(a + b) % SAMPLES], samples[b]};
				uint32_t before =
					filter_simulate(&plain, SBOX_AUDIT_ARCH, nr, args);
				uint32_t now = filter_simulate(&late, SBOX_AUDIT_ARCH, nr, args);
				bool waits =
					filter_wants_network(&policy, SBOX_AUDIT_ARCH, nr, args);

				ck_assert(!waits ||
					  (nr == SYS_socket && (uint32_t)args[0] != AF_UNIX));
				ck_assert_msg(!waits || before == SECCOMP_RET_ALLOW,
					      "call %d is refused and let go on", nr);
				ck_assert_uint_eq(now, waits ? SECCOMP_RET_USER_NOTIF : before);
				ck_assert(
					!filter_wants_network(&policy, AUDIT_ARCH_I386, nr, args));
				asked += waits;
			}
	ck_assert_uint_gt(asked, 0);
}

START_TEST(waiting_for_the_network_lets_nothing_through)
{
	static const char *shut[] = {"@default", "!socket"};
	const uint64_t inet[6] = {AF_INET, SOCK_STREAM};

	check_network(default_items, 1, _i == 1);
	struct filter_policy policy = policy_of(shut, 2, ASK_NOTHING, _i == 1);
	policy.late_network = true;
	struct sock_fprog program = build(&policy);
	ck_assert(!filter_wants_network(&policy, SBOX_AUDIT_ARCH, SYS_socket, inet));
	ck_assert_uint_ne(filter_simulate(&program, SBOX_AUDIT_ARCH, SYS_socket, inet),
			  SECCOMP_RET_ALLOW);
}
END_TEST

START_TEST(levels_ask_about_more)
{
	const uint64_t reads[6] = {(uint64_t)AT_FDCWD, 0, O_RDONLY | O_CLOEXEC};
	const uint64_t writes[6] = {(uint64_t)AT_FDCWD, 0, O_WRONLY | O_CREAT, 0644};
	const uint64_t walks[6] = {5, 0, O_RDONLY | O_DIRECTORY | O_NOFOLLOW};

	for (enum arg_ask ask = ASK_NOTHING; ask <= ASK_USES; ask++) {
		struct filter_policy policy = policy_of(default_items, 1, ask, true);

		build(&policy);
		ck_assert_int_eq(filter_is_question(&policy, SBOX_AUDIT_ARCH, SYS_openat, reads),
				 ask >= ASK_READS);
		ck_assert_int_eq(filter_is_question(&policy, SBOX_AUDIT_ARCH, SYS_openat, writes),
				 ask != ASK_NOTHING);
		ck_assert_int_eq(filter_is_question(&policy, SBOX_AUDIT_ARCH, SYS_openat, walks),
				 ask == ASK_USES);
		ck_assert_int_eq(
			filter_is_question(&policy, SBOX_AUDIT_ARCH, SYS_newfstatat, reads),
			ask == ASK_USES);
		ck_assert(!filter_is_question(&policy, AUDIT_ARCH_I386, SYS_openat, writes));
		ck_assert(!filter_is_question(NULL, SBOX_AUDIT_ARCH, SYS_openat, writes));
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("questions");
	TCase *cases = tcase_create("questions");

	tcase_set_timeout(cases, 60);
	tcase_add_loop_test(cases, nothing_refused_is_a_question, ASK_NOTHING, ASK_USES + 1);
	tcase_add_loop_test(cases, waiting_for_the_network_lets_nothing_through, 0, 2);
	tcase_add_test(cases, levels_ask_about_more);
	suite_add_tcase(suite, cases);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
