// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "gate.h"
#include "identity.h"
#include "locate.h"
#include "network_rules.h"
#include "run.h"

static const char gate_program[] = "sbox-gate";

/* ---- ports of the sandbox on the host's loopback ---- */

static int open_listener(int family, uint16_t port)
{
	const struct sockaddr_in four = {.sin_family = AF_INET,
					 .sin_port = htons(port),
					 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	const struct sockaddr_in6 six = {.sin6_family = AF_INET6,
					 .sin6_port = htons(port),
					 .sin6_addr = IN6ADDR_LOOPBACK_INIT};
	const struct sockaddr *at = family == AF_INET ? (const void *)&four : (const void *)&six;
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int on = 1;

	if (fd < 0)
		return -1;
	/* as servers do: what an earlier run's connections left behind is not in the way */
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, at, family == AF_INET ? sizeof(four) : sizeof(six)) == 0 &&
	    listen(fd, SOMAXCONN) == 0)
		return fd;
	int saved = errno;
	close(fd);
	errno = saved;
	return -1;
}

static void publish(struct gate *gate, int fd, uint16_t inside)
{
	gate->published[gate->published_count] = fd;
	gate->published_port[gate->published_count++] = inside;
}

static int open_listeners(struct run *run, struct error *err)
{
	const struct network_rules *rules = run->arm.network_rules;

	for (size_t i = 0; i < rules->listen_count; i++) {
		const struct rule_listen *wanted = &rules->listens[i];
		int four = open_listener(AF_INET, wanted->host);

		if (four < 0)
			return error_sys(err,
					 "[network] listen: cannot publish port %u on the host's "
					 "loopback (PORT:HOST-PORT takes another)",
					 wanted->host);
		publish(&run->gate, four, wanted->inside);
		/* a machine without IPv6 has no ::1 */
		int six = open_listener(AF_INET6, wanted->host);
		if (six < 0 && errno == EADDRINUSE)
			return error_sys(err,
					 "[network] listen: cannot publish port %u on the host's "
					 "loopback, [::1] (PORT:HOST-PORT takes another)",
					 wanted->host);
		if (six >= 0)
			publish(&run->gate, six, wanted->inside);
	}
	return 0;
}

/* ---- the process ---- */

static pid_t spawn(const char *path, int control)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	char *const argv[] = {(char *)gate_program, NULL}, *const envp[] = {NULL};
	sigset_t none, all;
	pid_t pid = -1;

	sigemptyset(&none);
	sigfillset(&all);
	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setsigdefault(&attributes, &all);
	/* a terminal's Ctrl-C is for the program: the gate serves until the run is over */
	posix_spawnattr_setpgroup(&attributes, 0);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
						      POSIX_SPAWN_SETPGROUP);
	for (int fd = 0; fd < 3; fd++)
		posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
	posix_spawn_file_actions_adddup2(&actions, control, GATE_CONTROL_FD);
	int rc = posix_spawn(&pid, path, &actions, &attributes, argv, envp);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
	errno = rc;
	return rc == 0 ? pid : -1;
}

static int find(struct run *run, struct error *err)
{
	const char *path = locate_helper(run->arena, gate_program);

	if (path == NULL)
		return error_set(err, ERROR_SYSTEM,
				 "[network] mode = allow needs sbox-gate, which is not where it "
				 "belongs (libexec/sbox next to bin)");
	if (faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) != 0)
		return error_sys(err, "cannot execute %s", path);
	run->gate.path = path;
	return 0;
}

/* A gate that does not read keeps the supervisor no longer than this. */
static int bound_sending(int fd)
{
	const struct timeval patience = {.tv_sec = 2};

	return setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
}

static int execute(struct run *run, struct error *err)
{
	const char *path = run->gate.path;
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
		return error_sys(err, "cannot make a socket for sbox-gate");
	bound_sending(ends[0]);
	/* dup2() of a descriptor onto itself would leave it close-on-exec */
	int theirs = fcntl(ends[1], F_DUPFD_CLOEXEC, GATE_CONTROL_FD + 1);
	close(ends[1]);
	run->gate.fd = ends[0];
	run->gate.pid = theirs >= 0 ? spawn(path, theirs) : -1;
	int saved = errno;
	if (theirs >= 0)
		close(theirs);
	errno = saved;
	if (run->gate.pid > 0)
		return 0;
	run->gate.pid = 0;
	return error_sys(err, "cannot execute %s", path);
}

/* ---- what it is told before there is a network ---- */

static int send_message(struct run *run, const void *message, size_t size, struct error *err)
{
	if (send(run->gate.fd, message, size, MSG_NOSIGNAL) == (ssize_t)size)
		return 0;
	return gate_not_told(run, err);
}

static int send_setup(struct run *run, struct error *err)
{
	struct gate_setup setup = {.head = {GATE_SETUP, sizeof(setup)},
				   .version = GATE_VERSION,
				   .supervisor = (uint32_t)getpid(),
				   .uid = UINT32_MAX,
				   .gid = UINT32_MAX,
				   .sni_optional = run->profile.network.sni == SNI_OPTIONAL};

	if (run->host.can_become) {
		if (identity_lease(&run->gate.uid, &run->gate.lease_fd, err) != 0)
			return -1;
		setup.uid = setup.gid = run->gate.uid;
	}
	return send_message(run, &setup, sizeof(setup), err);
}

static int send_rules(struct run *run, struct error *err)
{
	const struct network_rules *rules = run->arm.network_rules;

	for (size_t i = 0; i < rules->rule_count; i += GATE_BATCH_RULES) {
		struct gate_rules message = {.head = {GATE_RULES, sizeof(message)}};

		while (message.count < GATE_BATCH_RULES && i + message.count < rules->rule_count) {
			message.rules[message.count] = rules->rules[i + message.count];
			message.count++;
		}
		if (send_message(run, &message, sizeof(message), err) != 0)
			return -1;
	}
	for (size_t i = 0; i < rules->pin_count; i += GATE_BATCH_RULES) {
		struct gate_pins message = {.head = {GATE_PINS, sizeof(message)}};

		while (message.count < GATE_BATCH_RULES && i + message.count < rules->pin_count) {
			message.pins[message.count] = rules->pins[i + message.count];
			message.count++;
		}
		if (send_message(run, &message, sizeof(message), err) != 0)
			return -1;
	}
	return 0;
}

int gate_start(struct run *run, struct error *err)
{
	struct gate *gate = &run->gate;

	if (run->profile.network.mode != NETWORK_ALLOW || gate->pid > 0)
		return 0;
	gate->names = arena_alloc(run->arena, GATE_NAMES_KEPT * sizeof(*gate->names));
	gate->connections =
		arena_alloc(run->arena, GATE_CONNECTIONS_KEPT * sizeof(*gate->connections));
	gate->tallies = arena_alloc(run->arena, GATE_TALLIES_KEPT * sizeof(*gate->tallies));
	gate->attempts = arena_alloc(run->arena, GATE_ATTEMPTS_KEPT * sizeof(*gate->attempts));
	if (find(run, err) != 0)
		return -1;
	if (run->plan.late_network)
		return 0;
	return open_listeners(run, err) != 0 ? -1 : gate_call(run, err);
}

int gate_call(struct run *run, struct error *err)
{
	run->gate.called = true;
	if (execute(run, err) != 0 || send_setup(run, err) != 0)
		return -1;
	return send_rules(run, err);
}
