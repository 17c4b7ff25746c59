// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_CHILD_H
#define SBOX_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "step.h"

/*
 * The new process's side. Everything here runs between clone and exec (or in
 * pid 1 of the sandbox, which never execs): system calls only. The object
 * files are checked for calls that allocate, lock or format.
 */

/* What a process that was made before the plan is told when there is one. */
struct handover {
	const struct step *steps;
	size_t count, from; /* the first `from` are done already */
	int *slots;
	unsigned first_slots; /* filled before the handover */
	size_t idmap_count;   /* descriptors that are sent after this */
	uint64_t patience_ms; /* after which init ends the run itself; 0: never */
};

struct child {
	const struct step *steps;
	size_t count, from;
	int *slots;      /* descriptors of SOURCE clones; one a slot */
	int fault_fd;    /* close-on-exec pipe to the supervisor */
	int control_fd;  /* SOCK_SEQPACKET to the supervisor */
	int go_fd;       /* one byte when the program may start */
	int root_fd;     /* the new root, once it stands */
	int proc_fd;     /* the host's /proc, until INNER_USER is done with it */
	int own_proc_fd; /* the sandbox's /proc */
	int devpts_fd;   /* its terminals, until they are attached */
	int context_fd;  /* of the new root, whose size is set when it is known */
	int hidden_file_fd, hidden_folder_fd;
	int ruleset_fd;
	int terminal_fd;  /* the program's end of its terminal, or -1; then also: */
	pid_t own_group;  /* init's, in the foreground while the program is not */
	pid_t last_group; /* in the foreground before init took it; 0: the program's */
	mode_t umask;     /* the caller's */
	struct handover *handover;
	int idmaps[IDMAPS_MAX]; /* as received */
	size_t idmap_count;
	/* memory that the supervisor writes to as well: not there any more once the program runs */
	void *shared;
	size_t shared_size;
	/* without a pid namespace, see init_keeper.c; -1 where there is none */
	enum { KEEPER_NONE, KEEPER_BY_DOMAIN, KEEPER_BY_CHILDREN } keeper;
	int children_fd, alive_fd;
	int patience_fd; /* timer: the supervisor should have ended the run by then; or -1 */
	int lock_fd;     /* the run's mark: it counts as going until the keeper is done */
	/* the caller's arguments and environment, wiped in pid 1 */
	char *wipe_start;
	size_t wipe_len;
};

/* Runs as pid 1 of the sandbox; never returns. First the steps that it was made with, then,
 * when the handover comes, all others. */
void init_start(struct child *child) __attribute__((noreturn));
/* The same with all steps known: those from `from` on. */
void init_main(struct child *child) __attribute__((noreturn));

/*
 * child_visit.c: does the step GATE in the network namespace of a sandbox that goes on already.
 * Runs in a process that the supervisor forks for it, and never returns.
 */
struct visit {
	int control_fd;   /* its sockets, or what failed, go here */
	int network_fd;   /* the namespace */
	int user_fd;      /* the user namespace that it belongs to; -1: the supervisor's own */
	pid_t supervisor; /* it dies with this */
	const struct step *step;
};
void child_visit(const struct visit *visit) __attribute__((noreturn));

/* Runs steps [from, to); on failure reports the fault and exits with 125. */
void child_run(struct child *child, size_t from, size_t to);
void child_fault(const struct child *child, size_t index, int errnum, unsigned detail)
	__attribute__((noreturn));

/* Each does one step: 0, or the number (from 1) of its system call that failed, errno set. */
int child_private_mounts(struct child *child, const struct step *step);
int child_source(struct child *child, const struct step *step);
int child_new_root(struct child *child, const struct step *step);
int child_skeleton(struct child *child, const struct step *step);
int child_show_root(struct child *child, const struct step *step);
int child_directory(struct child *child, const struct step *step);
int child_link(struct child *child, const struct step *step);
int child_content(struct child *child, const struct step *step);
int child_proc(struct child *child, const struct step *step);
int child_devpts(struct child *child, const struct step *step);
int child_attach(struct child *child, const struct step *step);
int child_overlay(struct child *child, const struct step *step);
int child_overlays_done(struct child *child, const struct step *step);
int child_self_bind(struct child *child, const struct step *step);
int child_cover(struct child *child, const struct step *step);
int child_pivot(struct child *child, const struct step *step);
int child_read_only_root(struct child *child, const struct step *step);

/* /proc, and really that: what is written to a plain file of its name would change nothing. -1:
 * errno is set, ENODEV when it is something else. */
int child_open_proc(void);

/* The descriptor of a user namespace that the supervisor makes meanwhile: waits for it. -1: it
 * does not come. */
int child_idmap(struct child *child, int number);

int child_id_maps(struct child *child, const struct step *step);
int child_namespaces(struct child *child, const struct step *step);
int child_parent_death(struct child *child, const struct step *step);
int child_send_fds(struct child *child, const struct step *step);
int child_loopback(struct child *child, const struct step *step);
int child_gate(struct child *child, const struct step *step);

/* Which system call of the step GATE failed: the fault's detail. */
enum gate_call {
	FAILED_ROUTES = 1,
	FAILED_FILTER,
	FAILED_SOCKET,
	FAILED_ADDRESS,
	FAILED_SEND,
	FAILED_NAMESPACE,
};

int child_hostname(struct child *child, const struct step *step);
int child_become(struct child *child, const struct step *step);
int child_inner_user(struct child *child, const struct step *step);
int child_apparmor(struct child *child, const struct step *step);
int child_no_more_namespaces(struct child *child, const struct step *step);
int child_capabilities(struct child *child, const struct step *step);
int child_no_new_privs(struct child *child, const struct step *step);
int child_keeper(struct child *child, const struct step *step);
int child_ruleset(struct child *child, const struct step *step);

int child_terminal(struct child *child, const struct step *step);

int child_session(struct child *child, const struct step *step);
int child_stdio(struct child *child, const struct step *step);
int child_chdir(struct child *child, const struct step *step);
int child_limit(struct child *child, const struct step *step);
int child_affinity(struct child *child, const struct step *step);
int child_landlock(struct child *child, const struct step *step);
int child_close(struct child *child, const struct step *step);
int child_wait(struct child *child, const struct step *step);
int child_signals(struct child *child, const struct step *step);
int child_ready(struct child *child, const struct step *step);
int child_seccomp(struct child *child, const struct step *step);
int child_exec(struct child *child, const struct step *step);

/* Gives the foreground of the terminal to the group that had it last, or takes it. */
void child_foreground(struct child *child, pid_t program, bool give);

/* Sends one message with up to MESSAGE_FDS_MAX descriptors; 0 or -1. */
int child_send(int control_fd, const struct message *message, const int *fds, size_t fd_count);

#endif
