// SPDX-License-Identifier: Apache-2.0
#include "child.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sys.h"

/* One step, one function; a step without one is a mark in the list. */
static int (*const run_table[STEP_MAX])(struct child *child, const struct step *step) = {
	[STEP_ID_MAPS] = child_id_maps,
	[STEP_NAMESPACES] = child_namespaces,
	[STEP_PARENT_DEATH] = child_parent_death,
	[STEP_PRIVATE_MOUNTS] = child_private_mounts,
	[STEP_NEW_ROOT] = child_new_root,
	[STEP_SKELETON] = child_skeleton,
	[STEP_DEVICE] = child_source,
	[STEP_PROC] = child_proc,
	[STEP_DEVPTS] = child_devpts,
	[STEP_SOURCE] = child_source,
	[STEP_SHOW_ROOT] = child_show_root,
	[STEP_DIRECTORY] = child_directory,
	[STEP_LINK] = child_link,
	[STEP_CONTENT] = child_content,
	[STEP_ATTACH] = child_attach,
	[STEP_OVERLAY] = child_overlay,
	[STEP_OVERLAYS_DONE] = child_overlays_done,
	[STEP_SELF_BIND] = child_self_bind,
	[STEP_COVER] = child_cover,
	[STEP_SEND_FDS] = child_send_fds,
	[STEP_LOOPBACK] = child_loopback,
	[STEP_GATE] = child_gate,
	[STEP_HOSTNAME] = child_hostname,
	[STEP_PIVOT] = child_pivot,
	[STEP_READ_ONLY_ROOT] = child_read_only_root,
	[STEP_BECOME] = child_become,
	[STEP_INNER_USER] = child_inner_user,
	[STEP_APPARMOR] = child_apparmor,
	[STEP_NO_MORE_NAMESPACES] = child_no_more_namespaces,
	[STEP_CAPABILITIES] = child_capabilities,
	[STEP_NO_NEW_PRIVS] = child_no_new_privs,
	[STEP_REARM_DEATH] = child_parent_death,
	[STEP_KEEPER] = child_keeper,
	[STEP_RULESET] = child_ruleset,
	[STEP_TERMINAL] = child_terminal,
	[STEP_WAIT_ATTACH] = child_wait,
	[STEP_SESSION] = child_session,
	[STEP_STDIO] = child_stdio,
	[STEP_DIRECTORY_CHANGE] = child_chdir,
	[STEP_LIMIT] = child_limit,
	[STEP_AFFINITY] = child_affinity,
	[STEP_LANDLOCK] = child_landlock,
	[STEP_CLOSE] = child_close,
	[STEP_WAIT_GO] = child_wait,
	[STEP_SIGNALS] = child_signals,
	[STEP_READY] = child_ready,
	[STEP_SECCOMP] = child_seccomp,
	[STEP_EXEC] = child_exec,
};

void child_fault(const struct child *child, size_t index, int errnum, unsigned detail)
{
	struct fault fault = {.id = child->steps[index].id,
			      .errnum = errnum,
			      .index = (uint32_t)index,
			      .detail = detail};

	/* shorter than PIPE_BUF, so it arrives whole or not at all */
	if (write(child->fault_fd, &fault, sizeof(fault)) < 0)
		_exit(125);
	_exit(125);
}

void child_run(struct child *child, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++) {
		const struct step *step = &child->steps[i];

		if (run_table[step->id] == NULL)
			continue;
		int failed = run_table[step->id](child, step);
		if (failed != 0)
			child_fault(child, i, errno, (unsigned)failed);
	}
}

int child_send(int control_fd, const struct message *message, const int *fds, size_t fd_count)
{
	_Alignas(struct cmsghdr) char space[CMSG_SPACE(MESSAGE_FDS_MAX * sizeof(int))] = {0};
	struct iovec part = {.iov_base = (void *)message, .iov_len = sizeof(*message)};
	struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1};

	if (fd_count > 0) {
		header.msg_control = space;
		header.msg_controllen = CMSG_SPACE(fd_count * sizeof(int));
		struct cmsghdr *rights = CMSG_FIRSTHDR(&header);
		rights->cmsg_level = SOL_SOCKET;
		rights->cmsg_type = SCM_RIGHTS;
		rights->cmsg_len = CMSG_LEN(fd_count * sizeof(int));
		memcpy(CMSG_DATA(rights), fds, fd_count * sizeof(int));
	}
	return sendmsg(control_fd, &header, MSG_NOSIGNAL) == (ssize_t)sizeof(*message) ? 0 : -1;
}
