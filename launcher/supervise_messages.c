// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "supervise.h"

/* What init and the program tell the supervisor: descriptors, the exit, faults, usage. */

static void take_fds(struct loop *loop, const struct message *message, const int *fds, size_t count)
{
	struct run *run = loop->run;

	if (message->kind == MESSAGE_FDS && count == 2 && run->sandbox_root_fd < 0) {
		run->sandbox_root_fd = run->judge.root_fd = fds[1];
		if (run->plan.keeper) {
			close(fds[0]);
			return;
		}
		run->sampling = sampler_init(&run->sampler, fds[0], 0) == 0;
		run->notify.proc_fd = fds[0];
		return;
	}
	if (message->kind == MESSAGE_LISTENER && count == 1 && run->notify.fd < 0) {
		run->notify.fd = fds[0];
		notify_start(&run->notify);
		loop->listener_fd = fds[0];
		return;
	}
	if (message->kind == MESSAGE_TERMINAL && count == 1 && run->terminal.is_on &&
	    run->terminal.master_fd < 0) {
		terminal_arrived(loop, fds[0]);
		return;
	}
	for (size_t i = 0; i < count; i++)
		close(fds[i]);
}

static void take_message(struct loop *loop, const struct message *message, const int *fds,
			 size_t count)
{
	struct run *run = loop->run;

	take_fds(loop, message, fds, count);
	if (message->kind == MESSAGE_NO_LISTENER)
		run->no_listener = true;
	if (message->kind == MESSAGE_STOPPED)
		terminal_stopped(loop, message->status);
	if (message->kind != MESSAGE_EXITED || loop->program_gone)
		return;
	run->wait_status = message->status;
	run->alone = message->alone != 0;
	run->end.usage.user_ns = message->user_us * 1000;
	run->end.usage.sys_ns = message->sys_us * 1000;
	loop->init_user_ns = message->own_user_us * 1000;
	loop->init_sys_ns = message->own_sys_us * 1000;
	run->end.usage.read_bytes = message->read_blocks * 512;
	run->end.usage.written_bytes = message->written_blocks * 512;
	loop->peak_rss = message->peak_rss_kb * 1024;
	loop->program_gone = true;
	/* written before the exit, but not always seen before it */
	loop_fault(loop);
}

/* Without it nobody hears of the program's end, nor answers what the filter asks. */
static void lose_control(struct loop *loop)
{
	struct run *run = loop->run;

	if (!run->ended && !loop->program_gone)
		run->end.message = arena_printf(run->arena, "cannot read what pid 1 tells: %s",
						strerror(errno));
	outcome_kill(run, END_SBOX_ERROR, NULL);
}

/* All that is waiting; descriptors come close-on-exec. */
void loop_control(struct loop *loop)
{
	struct message message;
	_Alignas(struct cmsghdr) char space[CMSG_SPACE(2 * sizeof(int))];

	for (;;) {
		struct iovec part = {.iov_base = &message, .iov_len = sizeof(message)};
		struct msghdr header = {.msg_iov = &part,
					.msg_iovlen = 1,
					.msg_control = space,
					.msg_controllen = sizeof(space)};
		ssize_t len =
			recvmsg(loop->run->control_fd, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
		int fds[2];
		size_t count = 0;

		if (len <= 0) {
			if (len < 0 && (errno == EAGAIN || errno == EINTR))
				return;
			if (len < 0)
				lose_control(loop);
			loop_unwatch(loop, SOURCE_CONTROL);
			return;
		}
		const struct cmsghdr *rights = CMSG_FIRSTHDR(&header);
		if (rights != NULL && rights->cmsg_type == SCM_RIGHTS) {
			count = (rights->cmsg_len - CMSG_LEN(0)) / sizeof(int);
			memcpy(fds, CMSG_DATA(rights), count * sizeof(int));
		}
		if (len == (ssize_t)sizeof(message))
			take_message(loop, &message, fds, count);
	}
}

void loop_fault(struct loop *loop)
{
	struct run *run = loop->run;
	struct fault fault;
	ssize_t len;

	while ((len = read(run->fault_fd, &fault, sizeof(fault))) == (ssize_t)sizeof(fault)) {
		if (fault.id == STEP_READY && fault.errnum == 0)
			run->ready = true;
		else if (run->fault.errnum == 0)
			run->fault = fault;
	}
	if (len < 0 && errno == EAGAIN)
		return;
	loop_unwatch(loop, SOURCE_FAULT);
	if (len != 0 || !run->ready || run->fault.errnum != 0)
		return;
	/* the pipe closed itself at exec */
	place_first_pid(run);
	notify_first_exec(&run->notify);
	if (run->terminal.is_on)
		/* which comes after the terminal was sent */
		loop_control(loop);
	if (run->terminal.is_on)
		terminal_begin(loop);
}

static void raise_to(uint64_t *value, const struct timeval *time, uint64_t less)
{
	uint64_t ns = (uint64_t)time->tv_sec * 1000000000 + (uint64_t)time->tv_usec * 1000;

	if (ns > less && *value < ns - less)
		*value = ns - less;
}

/* Dying, pid 1 reaped everything that was killed with it: its total is the whole tree's. */
void loop_count_all(struct loop *loop, const struct rusage *usage)
{
	struct record_usage *record = &loop->run->end.usage;

	raise_to(&record->user_ns, &usage->ru_utime, loop->init_user_ns);
	raise_to(&record->sys_ns, &usage->ru_stime, loop->init_sys_ns);
}
