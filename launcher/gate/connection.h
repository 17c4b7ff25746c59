// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_CONNECTION_H
#define SBOX_CONNECTION_H

#include "dial.h"
#include "inspect.h"
#include "names.h"
#include "pump.h"

/*
 * One connection: accepted, judged by where it wants to go, dialled, then relayed. The outside is
 * dialled at once, also where the program is to speak first, since the server may be the one. What
 * the program sends waits until it was seen whom it is for.
 *
 *   connection_accept (listen.c) -> dial (dial.c) -> connection_opened -> pump (pump.c)
 */

struct connection {
	struct pump_side inside, outside; /* inside: the program's end */
	struct pump_flow up, down;        /* up: from the program */
	uint64_t up_limit, down_limit;    /* bytes that may pass now */
	struct task again;
	struct timer hello;
	struct dial *dial;               /* while it is not connected */
	struct connection *next, **link; /* of all */
	const struct rule *rule;
	struct name *name; /* NULL: a literal address */
	struct inspect inspect;
	uint64_t accepted_us;
	bool open, singly; /* told as open; told by itself */
	bool published;    /* the socket inside goes back to its pool */
	bool ended;        /* told, and to be freed at the end of the turn */
	int cut;           /* errno of the outside, which takes no more; 0: it does */
	struct gate_connection event;
};

/* Takes the descriptor of a connection that was accepted inside. */
void connection_accept(int fd);
/* A new one; -1: that side comes later. NULL: no memory, and the descriptors stay. */
struct connection *connection_new(int inside_fd, int outside_fd);
void connection_opened(struct connection *connection, int fd, const struct gate_address *dialled);
/* connection_judge.c: GATE_OPEN, or why it is refused. */
enum gate_why connection_judge(struct connection *connection);
/* The socket inside, which is connected now: what connection_opened() is for the outside. */
void connection_published(struct connection *connection, int fd);
/* Both ends are reset; why and errnum are told. */
void connection_fail(struct connection *connection, enum gate_why why, int errnum);
/* Whether any has bytes of the program's to deliver, or could have. */
bool connection_pending(void);
void connection_end_all(void);

size_t connection_count(void);
/* Looks at the limits: false and counted, when there are too many. */
bool connection_has_room(void);

/* A socket that nobody spoke to: its peer sees a reset. */
void connection_reset(int fd);

#endif
