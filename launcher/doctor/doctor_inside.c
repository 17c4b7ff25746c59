// SPDX-License-Identifier: Apache-2.0
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "doctor.h"

/*
 * The trial's program: it tries one thing for each boundary and one that has
 * to work. What it is refused is seen, not read off a plan. Each function
 * answers true when it was refused.
 */

static const char *hidden_path;
static pid_t outside_pid;

static bool cannot_see_hidden_file(void)
{
	int fd = open(hidden_path, O_RDONLY | O_CLOEXEC);

	if (fd >= 0)
		close(fd);
	return fd < 0 && (errno == ENOENT || errno == EACCES);
}

static bool cannot_make_a_file_outside(void)
{
	int fd = open("/usr/sbox-doctor-was-here", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd < 0)
		return errno == EROFS || errno == EACCES || errno == ENOENT || errno == EPERM;
	unlink("/usr/sbox-doctor-was-here");
	close(fd);
	return false;
}

static bool cannot_reach_a_network(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(9)};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	inet_pton(AF_INET, "192.0.2.1", &address.sin_addr);
	bool refused = fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0;
	if (fd >= 0)
		close(fd);
	return refused;
}

static bool cannot_make_a_packet_socket(void)
{
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);

	if (fd >= 0)
		close(fd);
	return fd < 0;
}

/*
 * Signal 0 only asks. -1 is everybody: in a pid namespace, nobody but this process.
 * QUIRK(kill): where each one is refused, kill(-1) says 0 all the same (kernel/signal.c), so
 * in place the doctor is asked for by its number, which is there the host's.
 */
static bool cannot_reach_other_processes(void)
{
	if (kill(-1, 0) != 0)
		return errno == ESRCH || errno == EPERM;
	return kill(outside_pid, 0) != 0 && errno == EPERM;
}

static bool has_no_capability(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2] = {{0}};

	return syscall(SYS_capget, &header, data) == 0 &&
	       (data[0].permitted | data[1].permitted | data[0].effective | data[1].effective) == 0;
}

static bool cannot_mount(void)
{
	return mount("none", "/tmp", "tmpfs", 0, NULL) != 0;
}

static bool cannot_make_namespaces(void)
{
	return unshare(CLONE_NEWUSER) != 0;
}

static bool cannot_make_a_setuid_file(void)
{
	int fd = open("setuid", O_WRONLY | O_CREAT | O_CLOEXEC, 0700);

	if (fd < 0)
		return false;
	bool refused = fchmod(fd, 04755) != 0;
	close(fd);
	unlink("setuid");
	return refused;
}

int inside_main(const char *hidden, const char *pid)
{
	static const struct {
		const char *name;
		bool (*is_refused)(void);
	} rows[] = {
		{"reading a file of the caller's that no list names", cannot_see_hidden_file},
		{"making a file in /usr", cannot_make_a_file_outside},
		{"reaching a network", cannot_reach_a_network},
		{"a packet socket", cannot_make_a_packet_socket},
		{"signalling other processes", cannot_reach_other_processes},
		{"having a capability", has_no_capability},
		{"mounting", cannot_mount},
		{"a user namespace of its own", cannot_make_namespaces},
		{"a setuid file in the scratch folder", cannot_make_a_setuid_file},
	};

	const char *scratch = getenv("TMPDIR"); /* where /tmp itself is the host's, and closed */

	hidden_path = hidden;
	outside_pid = (pid_t)strtol(pid, NULL, 10);
	if (chdir(scratch != NULL ? scratch : "/tmp") != 0)
		return 1;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		printf("%s\t%s\n", rows[i].is_refused() ? "refused" : "open", rows[i].name);
	return 0;
}
