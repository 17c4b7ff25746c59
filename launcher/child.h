// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_CHILD_H
#define SBOX_CHILD_H

#include <stddef.h>

#include "step.h"

/*
 * The new process's side. Everything here runs between clone and exec (or in
 * pid 1 of the sandbox, which never execs): system calls only. The object
 * files are checked for calls that allocate, lock or format.
 */

struct child {
	const struct step *steps;
	size_t count;
	int *slots;      /* descriptors of SOURCE clones; one a slot */
	int fault_fd;    /* close-on-exec pipe to the supervisor */
	int control_fd;  /* SOCK_SEQPACKET to the supervisor */
	int go_fd;       /* one byte when the program may start */
	int root_fd;     /* the new root, once it stands */
	int proc_fd;     /* the host's /proc, until INNER_USER is done with it */
	int own_proc_fd; /* the sandbox's /proc */
	int hidden_file_fd, hidden_folder_fd;
	int ruleset_fd;
	mode_t umask; /* the caller's */
	/* the caller's arguments and environment, wiped in pid 1 */
	char *wipe_start;
	size_t wipe_len;
};

/* Runs as pid 1 of the sandbox; never returns. */
void init_main(struct child *child) __attribute__((noreturn));

/* Runs steps [from, to); on failure reports the fault and exits with 125. */
void child_run(struct child *child, size_t from, size_t to);
void child_fault(const struct child *child, size_t index, int errnum, unsigned detail)
	__attribute__((noreturn));

/* Each does one step: 0, or the number (from 1) of its system call that failed, errno set. */
int child_private_mounts(struct child *child, const struct step *step);
int child_source(struct child *child, const struct step *step);
int child_new_root(struct child *child, const struct step *step);
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

int child_id_maps(struct child *child, const struct step *step);
int child_parent_death(struct child *child, const struct step *step);
int child_send_fds(struct child *child, const struct step *step);
int child_loopback(struct child *child, const struct step *step);
int child_hostname(struct child *child, const struct step *step);
int child_become(struct child *child, const struct step *step);
int child_inner_user(struct child *child, const struct step *step);
int child_no_more_namespaces(struct child *child, const struct step *step);
int child_capabilities(struct child *child, const struct step *step);
int child_no_new_privs(struct child *child, const struct step *step);
int child_ruleset(struct child *child, const struct step *step);

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

/* Sends one message with up to two descriptors; 0 or -1. */
int child_send(int control_fd, const struct message *message, const int *fds, size_t fd_count);

#endif
