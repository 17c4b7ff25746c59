// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_GATE_H
#define SBOX_GATE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "error.h"
#include "protocol.h"
#include "record.h"

/*
 * The supervisor's side of sbox-gate, the process through which a run with
 * [network] mode = allow reaches the names that its profile allows. It gets sockets of the
 * sandbox's network and is ready before the program has one. When it dies the network is gone; the
 * run goes on.
 *
 *   late    plan.late_network, nearly always: the program's first socket is held (notify.h) until a
 *           visitor has set the network up and the gate serves. A program without one never pays.
 *   early   else: while init builds the tree, by init, before the program begins.
 */

struct run;

/* How many different ones the record has room for; beyond them there are sums. */
enum {
	GATE_NAMES_KEPT = 256,
	GATE_CONNECTIONS_KEPT = 256,
	GATE_TALLIES_KEPT = 128,
	GATE_ATTEMPTS_KEPT = 256,
};

struct gate {
	const char *path; /* of its program */
	int fd;           /* control socket; -1: there is no gate, or it is gone */
	pid_t pid;        /* 0: none, or reaped */
	int published[2 * RULE_LISTENS_MAX]; /* listeners until they are handed over */
	uint16_t published_port[2 * RULE_LISTENS_MAX];
	size_t published_count;
	uid_t uid; /* leased for it by root */
	int lease_fd;
	bool called; /* it was wanted, or there was no waiting for that */
	bool ready, done;
	int network_fd; /* late: the sandbox's network, until a visitor is on its way; or -1 */
	pid_t visitor;  /* 0: none, or reaped */
	int visitor_fd; /* what it sends; or -1 */
	struct gate_name *names;
	struct gate_connection *connections; /* of each the last that was told */
	struct gate_tally *tallies;
	struct gate_attempt *attempts;
	size_t name_count, connection_count, tally_count, attempt_count;
	uint64_t connections_dropped; /* told, but beyond what is kept */
	struct gate_totals totals;
	char failure[GATE_TEXT_BYTES];
};

/* gate_start.c: looks that it can be executed, and unless it is late, calls it. Nothing when it
 * runs already. */
int gate_start(struct run *run, struct error *err);
/* Executes it and tells it the rules. */
int gate_call(struct run *run, struct error *err);
/* gate_sockets.c: waits for init's sockets and passes them on; late: for its namespace. -1: as
 * spawn_check(). */
int gate_hand_over(struct run *run, struct error *err);
/* One message with sockets, which go to the gate. 1: those were the last, and it begins; 0: more
 * come. */
int gate_take_sockets(struct run *run, int fd, struct error *err);
/* It serves, or the error says why not. */
int gate_wait_ready(struct run *run, struct error *err);
/* Returns -1, with what it said when it did not get ready. */
int gate_explain(const struct gate *gate, struct error *err);
/* The same when a message to it failed with errno. */
int gate_not_told(struct run *run, struct error *err);

/* gate_visit.c: sends a visitor to set the network up. */
int gate_visit(struct run *run, struct error *err);
/* It has left, or is killed. */
void gate_visit_end(struct run *run);

/* gate_events.c: all that it has told; false: it is gone, and gate->fd closed. */
bool gate_read(struct run *run);
/* Tells it that the run is over and takes what it has left to tell; at last it is dead. */
void gate_end(struct run *run);

/* gate_record.c: what it told, as the record has it: run->end.network, and denials. */
void gate_record(struct run *run);

#endif
