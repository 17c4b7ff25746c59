// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_PUMP_H
#define SBOX_PUMP_H

#include <stddef.h>

#include "loop.h"

/*
 * Bytes from one socket to the other, by splice(2): they never come into the gate's memory. A pipe
 * is needed only while bytes are on the way, so most connections have none; one that nobody reads
 * from keeps what is in it, and no more is taken. Without a pipe (no descriptors) bytes are copied.
 */

struct pump_side {
	struct watch watch; /* edge-triggered: what was once ready stays so until EAGAIN */
	bool readable, writable;
	bool hung;   /* the other end will send no more (EPOLLRDHUP); its bytes may still be here */
	bool urgent; /* TCP's urgent bytes, over which splice(2) does not get */
	bool eof;    /* and here they were taken */
	bool shut;   /* the end of file was passed on to it */
};

struct pump_pipe;

struct pump_flow {
	struct pump_pipe *pipe; /* or NULL */
	size_t held;            /* bytes in it */
	uint64_t bytes;         /* delivered */
};

enum pump_end {
	PUMP_WAIT,  /* for an event */
	PUMP_AGAIN, /* others are to have their turn first */
	PUMP_READ,  /* the source broke: errno */
	PUMP_WRITE, /* the target did */
};

/* No more than *limit is taken; it is counted down. */
enum pump_end pump(struct pump_flow *flow, struct pump_side *from, struct pump_side *to,
		   uint64_t *limit);
/* The pipe, with what is in it, is given up. */
void pump_drop(struct pump_flow *flow);

/* Edge-triggered; 0, or -1 and errno. */
int pump_watch(struct pump_side *side, int fd, void (*ready)(struct watch *, uint32_t));
/* Takes the events in; true: the socket broke. */
bool pump_note(struct pump_side *side, uint32_t events);

#endif
