// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_NOTIFY_H
#define SBOX_NOTIFY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "arena.h"
#include "error.h"
#include "filter.h"
#include "profile.h"
#include "record.h"

/*
 * The supervisor's end of the seccomp listener. A notification explains, the
 * kernel enforces: a refused call is answered with an errno whatever its
 * memory says; an exec is answered "continue" whatever could be read of it.
 * Both tables are bounded; what does not fit is counted.
 */

struct judge;
struct watch;
struct notify_room;

/* Calls that are held at once; more wait in the kernel. */
enum { NOTIFY_HELD_MAX = 64 };

enum { DENIALS_MAX = 256, EXECS_MAX = 512, EXEC_ARGV_MAX = 64, EXEC_TEXT_MAX = 1024 };

/* Beyond this many different objects of one op, all others share an entry. */
enum { DENIAL_OBJECTS_MAX = 48 };
/* Of all objects and lines together: the record has a bound. */
enum { DENIAL_TEXT_MAX = 96 * 1024 };

struct denials {
	struct record_denial items[DENIALS_MAX];
	uint64_t hashes[DENIALS_MAX]; /* of what makes two of them equal */
	size_t count;
	uint64_t dropped;
	size_t text_bytes; /* of objects and lines kept so far */
	struct arena *arena;
};

/* Counts one denial; equal ones (boundary, op, object, errnum) share an entry.
 * Strings are copied. Also used for limits and anything else that refuses. */
void denials_add(struct denials *denials, const struct record_denial *denial);
/* Counts one that is there already, or that there is no room for. False: it would
 * be a new entry, worth filling in `pid` and `exe` before denials_add. */
bool denials_count(struct denials *denials, const struct record_denial *denial);

struct notify {
	int fd;      /* listener; -1: none */
	int proc_fd; /* the sandbox's own /proc, to read pids as seen inside; -1: none */
	/* the program and its arguments, until its exec is written down; NULL: none is expected */
	const char *first_path;
	pid_t first_pid; /* its pid, where that is not 2; else 0 */
	const char *const *first_argv;
	bool record_denials, record_execs;
	const struct string_list *redact;
	const struct filter_policy *policy; /* of the filter; NULL: words are less exact */
	struct denials *denials;
	struct judge *judge; /* for calls that the filter asks about; NULL: there are none */
	struct watch *watch; /* what is used is written there; NULL: nobody asked */
	struct notify_room *room;
	bool has_own_network; /* with nothing in it but loopback */
	bool serves_names;    /* the program has taken the port of name servers */
	/* A socket of the network finds none yet: until notify_let_go() its call is held. It is
	 * received all the same, since a signal interrupts a call that nobody has. */
	bool network_waits;
	uint64_t held[NOTIFY_HELD_MAX];
	size_t held_count;
	struct record_exec execs[EXECS_MAX];
	uint64_t exec_hashes[EXECS_MAX]; /* of path and argv */
	size_t exec_count;
	uint64_t execs_total;
	uint64_t refused_total;
	uint64_t window_start_ns, window_count; /* for answering late beyond a rate */
	struct arena *arena;
	/* Made by notify_start, of the sizes that the running kernel has. */
	struct seccomp_notif *request;
	struct seccomp_notif_resp *response;
	size_t request_size, response_size;
};

/* Once, before the first notify_handle: buffers; the synchronous wake-up (6.6) where
 * the kernel has it. */
void notify_start(struct notify *notify);
/*
 * Receives and answers one request, if there is one: `seen` is what poll(2) has just told of
 * the fd. Never blocks. Beyond 80,000 refused calls a second answers are late: returns the
 * number of nanoseconds the caller should leave the fd alone (0: none), so that a loop of
 * refused calls buys no free CPU. -1: the listener is gone (all its tasks are
 * dead); the fd can be closed. With NOTIFY_HELD_MAX calls held nothing is received.
 */
int64_t notify_handle(struct notify *notify, short seen);
/* The network is there: the held calls go on. */
void notify_let_go(struct notify *notify);
/* The program's own exec, which the filter does not ask about, happened: written down once. */
void notify_first_exec(struct notify *notify);

#endif
