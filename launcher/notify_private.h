// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_NOTIFY_PRIVATE_H
#define SBOX_NOTIFY_PRIVATE_H

#include <linux/seccomp.h>
#include <stdbool.h>
#include <stdint.h>
#include <netinet/in.h>
#include <sys/un.h>

#include "judge.h"
#include "notify.h"

/* What the parts of notify share with one another and with nobody else. */

#define NOTIFY_HASH_START 0xcbf29ce484222325ULL
uint64_t notify_hash(uint64_t hash, const void *bytes, size_t length);

/* True while the request's task waits: what was read of it was really its own. */
bool notify_is_valid(const struct notify *notify, uint64_t id);

/* An execve or execveat that the supervisor is asked about. */
bool notify_is_exec(const struct seccomp_data *data);
/* Writes the exec down, unless no such program is there to be executed, and judges it. */
void notify_exec(struct notify *notify, const struct seccomp_notif *request);

/* Writes a refused call down; errnum is what it is answered with. */
void notify_denial(struct notify *notify, const struct seccomp_notif *request, int errnum);

/* A call that the filter lets through and asks about: written down when it is about to
 * be refused. notify_path.c */
void notify_path(struct notify *notify, const struct seccomp_notif *request);
/* The same of an exec whose program was found already. */
void notify_found(struct notify *notify, const struct seccomp_notif *request, const char *path,
		  int fd);
/* Counts a denial; a new one gets the process and program of the request. */
void notify_write_down(struct notify *notify, const struct seccomp_notif *request,
		       struct record_denial *denial);

/* notify_find.c: -1 when it cannot be read, or means something only the task itself can tell.
 * A path is as seen from the root of the sandbox. */
enum { NOTIFY_NO_ARG = -1 };
/* 1: it goes on, and was cut at size - 1. */
int notify_read_string(pid_t pid, uint64_t address, char *buf, size_t size);
/* As much as is there: the number of bytes. At most a page. */
ssize_t notify_read_some(pid_t pid, uint64_t address, void *buf, size_t size);
int notify_read_bytes(pid_t pid, uint64_t address, void *buf, size_t size);
/* What a link below the task's folder in /proc says. */
int notify_read_link(pid_t pid, const char *what, char ret_path[PATH_MAX]);
int notify_find_path(pid_t pid, int dir_fd, const char *name, char ret_path[PATH_MAX]);
/* An execveat whose empty path would mean the descriptor itself. */
bool notify_by_descriptor(const struct seccomp_data *data);
/* The path in argument `at`; `dir` is the argument of its folder, or NOTIFY_NO_ARG. */
int notify_read_path(const struct seccomp_notif *request, int8_t dir, int8_t at,
		     char ret_path[PATH_MAX]);

/* Where texts of one call are put together: too much for a stack. */
struct notify_room {
	char path[PATH_MAX], other[PATH_MAX], text[JUDGE_TEXT];
	struct judge_found found;
};

union notify_address {
	struct sockaddr any;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
	struct sockaddr_un un;
};

/* The process's id as seen inside, from /proc/PID/status; 0 when it cannot be read. */
pid_t notify_inner_pid(pid_t pid);

#endif
