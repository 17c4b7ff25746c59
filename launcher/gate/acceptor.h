// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_ACCEPTOR_H
#define SBOX_ACCEPTOR_H

#include <sys/socket.h>

#include "loop.h"

/*
 * A listening socket. Without a descriptor left a connection is still taken, by one that is kept
 * for that, and reset: who connected is told at once instead of waiting in a queue.
 */
struct acceptor {
	struct watch watch;
	struct timer resume;
	bool held; /* by acceptor_hold() */
	void (*accepted)(struct acceptor *acceptor, int fd, const struct sockaddr_storage *peer);
};

/* The spare descriptor. 0, or -1 and errno. */
int acceptor_init(int any_fd);
/* 0, or -1 and errno. The descriptor is watched and made non-blocking. */
int acceptor_start(struct acceptor *acceptor, int fd,
		   void (*accepted)(struct acceptor *, int, const struct sockaddr_storage *));
/* Connections wait in the queue while it is held. */
void acceptor_hold(struct acceptor *acceptor, bool hold);

#endif
