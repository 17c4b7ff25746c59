// SPDX-License-Identifier: Apache-2.0
#include <linux/nsfs.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"
#include "gate.h"
#include "run.h"

/* Who sets the network up when the program runs already: a process in its namespaces for a moment,
 * the supervisor never is. */

static void drop(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static const struct step *find_step(const struct steps *steps)
{
	size_t i = 0;

	while (i < steps->count && steps->items[i].id != STEP_GATE)
		i++;
	return i < steps->count ? &steps->items[i] : NULL;
}

/* An ordinary caller owns the user namespace that the network belongs to: so it may enter both. */
static int open_owner(const struct run *run)
{
	bool own = (run->plan.namespaces & CLONE_NEWUSER) != 0;

	return own ? ioctl(run->gate.network_fd, NS_GET_USERNS) : -1;
}

int gate_visit(struct run *run, struct error *err)
{
	struct gate *gate = &run->gate;
	int ends[2];

	if (gate->network_fd < 0)
		return error_set(err, ERROR_SYSTEM, "the sandbox's network is not there");
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
		return error_sys(err, "cannot make a socket for the network's set-up");
	struct visit visit = {.control_fd = ends[1],
			      .network_fd = gate->network_fd,
			      .user_fd = open_owner(run),
			      .supervisor = getpid(),
			      .step = find_step(&run->arm.steps)};
	gate->visitor_fd = ends[0];
	pid_t pid = fork();
	if (pid == 0)
		child_visit(&visit);
	if (pid < 0)
		error_sys(err, "cannot make a process for the network's set-up");
	gate->visitor = pid > 0 ? pid : 0;
	drop(&ends[1]);
	drop(&visit.user_fd);
	drop(&gate->network_fd);
	return pid < 0 ? -1 : 0;
}

void gate_visit_end(struct run *run)
{
	struct gate *gate = &run->gate;

	if (gate->visitor > 0) {
		kill(gate->visitor, SIGKILL);
		waitpid(gate->visitor, NULL, 0);
	}
	gate->visitor = 0;
	drop(&gate->visitor_fd);
	drop(&gate->network_fd);
}
