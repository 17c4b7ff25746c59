// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_RELAY_H
#define SBOX_RELAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "error.h"
#include "record.h"
#include "timing.h"

/*
 * One stream between the caller and the program, byte for byte, never
 * blocking. The source and the sink are the caller's or the program's end; the
 * caller's descriptors are shared with other processes, so their O_NONBLOCK
 * flag is never touched (see relay_fd.c for how a write is kept from blocking).
 *
 * Every byte is counted; the first and the last ones are kept and hashed. While
 * bytes <= limit, head followed by tail is the whole stream.
 */
struct capture {
	uint64_t limit;      /* bytes of head and tail together */
	unsigned char *head; /* limit / 2 */
	unsigned char *tail; /* ring of limit - limit / 2 */
	size_t head_len;
	size_t tail_len, tail_next; /* kept bytes; where the next one goes */
	uint64_t bytes;             /* all bytes seen */
	struct timing *timing;      /* set by the owner after capture_init(), or NULL */
	unsigned int stream;        /* its number there */
	bool whole_or_none;         /* set by the owner: of no use once it is more than limit */
};

int capture_init(struct capture *capture, uint64_t limit, struct error *err);
void capture_add(struct capture *capture, const unsigned char *data, size_t len);
/* Bytes that went by unseen: no tail reaches back beyond them. */
void capture_skip(struct capture *capture, uint64_t len);
/* True while the next byte is one of the head. */
bool capture_wants_next(const struct capture *capture);
/* How many of the last bytes it must have seen when the stream ends. */
size_t capture_keeps(const struct capture *capture);
/* Fills all of ret_stream but `kept`; head and tail stay owned by the capture. */
void capture_report(struct capture *capture, struct record_stream *ret_stream);
void capture_free(struct capture *capture);

/* How one end is read or written without blocking. */
enum relay_way {
	RELAY_DIRECT, /* it never blocks, or the description is ours with O_NONBLOCK */
	RELAY_SOCKET, /* MSG_DONTWAIT */
	RELAY_NOWAIT, /* RWF_NOWAIT; becomes RELAY_POLLED where the kernel has none */
	RELAY_POLLED, /* poll first, then at most PIPE_BUF bytes a write */
};

/* See relay_flow.c. */
struct relay_flow {
	enum { FLOW_OFF, FLOW_ON, FLOW_NEVER } state;
	int program_end; /* set by the owner: 0 the source is the program's pipe, 1 the sink;
			    -1 neither, so that its size stays */
	bool is_wide;
	unsigned int laps; /* fast ones, in a row */
	uint64_t lap, lap_ns;
	unsigned int small_moves; /* in a row */
	int in_fd, out_fd;        /* a pipe of our own, or -1 */
	size_t held;              /* in it: taken from the source, not yet counted or delivered */
	size_t ahead;             /* of it: what was there at mark_ns */
	uint64_t mark_ns;
	bool holds; /* more is expected: to be pumped again within a millisecond */
};

/*
 * The relay owns both descriptors and closes them when their end is done,
 * except 0, 1 and 2, which are the caller's and only let go of.
 *
 * When the sink is gone (EPIPE, EBADF, ENOSPC: sink_errno) the source is
 * closed: a program that writes on gets SIGPIPE or EPIPE, as it would without
 * sbox; only the errno of ENOSPC and of a closed stdout differs. SIGPIPE must be
 * blocked or ignored by the process that relays.
 */
struct relay {
	int from_fd, to_fd;  /* -1 when that end is done; to_fd -1 with discard: count only */
	bool discard;        /* --json: nothing is passed on, bytes are only captured */
	bool to_nonblocking; /* to_fd is our own description with O_NONBLOCK */
	/* False for what epoll refuses (EPERM: regular files, /dev/null): such an end
	 * is always ready, so while its events are not 0 the loop must not sleep. */
	bool from_pollable, to_pollable;
	bool from_pipe, to_pipe;
	bool count_delivered; /* set by the owner (stdin): capture what was written, not what was
				 read */
	/* The source is the caller's terminal, read only while that is ours to read. While
	 * paused nothing is read; a read that job control refuses pauses it. */
	bool from_terminal, paused;
	bool source_eof, sink_gone;
	bool stuck;     /* a flow's sink is full: nothing is read ahead */
	int sink_errno; /* why the sink is gone; 0 otherwise */
	enum relay_way from_way, to_way;
	unsigned char *buffer;
	size_t start, len, size;
	struct relay_flow flow;
	size_t held_max; /* of `size`: what is held stays on its way after a Ctrl-C */
	struct capture capture;
	struct capture *into; /* where bytes are counted and kept: `capture`, or another's */
};

/* On failure nothing is owned yet: the descriptors are still the caller's to close. */
int relay_init(struct relay *relay, int from_fd, int to_fd, bool discard, uint64_t capture_limit,
	       struct error *err);
/* A stream that is not there: done from the beginning. */
void relay_none(struct relay *relay);
/* For a terminal at one end: holds little, so that what is shown is not long out of date. */
void relay_narrow(struct relay *relay);
/* What epoll should wait for on either end now (0, EPOLLIN / EPOLLOUT). At 0 take
 * the descriptor out of the set: EPOLLHUP and EPOLLERR cannot be masked and would
 * make the loop spin. Look again after every pump: an end that is done is closed. */
uint32_t relay_from_events(const struct relay *relay);
uint32_t relay_to_events(const struct relay *relay);
/* Moves what can be moved without blocking, and a bounded amount a call. `quota`:
 * at most that many bytes are read from the source (UINT64_MAX: no bound).
 * Returns bytes read from the source. */
uint64_t relay_pump(struct relay *relay, uint64_t quota);
/* The source is over: what is in its pipe right now is read, nothing is waited
 * for. What the sink does not take now stays for relay_pump. */
void relay_drain(struct relay *relay, uint64_t quota);
/* Bytes that were read from the source. */
uint64_t relay_taken(const struct relay *relay);
bool relay_done(const struct relay *relay); /* nothing more will happen */
/* Fills bytes, head, tail, truncated, sha256. Head and tail stay owned by the relay. */
void relay_report(struct relay *relay, struct record_stream *ret_stream);
void relay_free(struct relay *relay);

/* relay_flow.c: one turn without copying, or what to do instead. */
enum flow_step {
	FLOW_AGAIN,  /* something was moved */
	FLOW_WAIT,   /* for room in the sink */
	FLOW_COPY,   /* what comes next is to be read and written */
	FLOW_BROKEN, /* the sink is gone: EPIPE */
};
enum flow_step relay_flow_move(struct relay *relay, uint64_t quota, uint64_t *ret_taken);
/* The first bytes of what is held. */
ssize_t relay_flow_read(struct relay *relay, void *data, size_t len);
/* So many were taken from the source: is it a flow? */
void relay_flow_count(struct relay *relay, uint64_t taken);
void relay_flow_close(struct relay_flow *flow);

/* relay_fd.c: how an end is used; sets *_way, *_pollable, and replaces to_fd by an
 * own non-blocking description where there can be one. -1: not open that way. */
int relay_look_at_source(struct relay *relay);
int relay_look_at_sink(struct relay *relay);
/* A pipe as source gets an own non-blocking description too. False: it has none. */
bool relay_unblock_source(struct relay *relay);
/* One read or write that does not block: bytes, 0 for end of file, or -1 with errno. */
ssize_t relay_read(struct relay *relay, void *data, size_t len);
ssize_t relay_write(struct relay *relay, const void *data, size_t len);

#endif
