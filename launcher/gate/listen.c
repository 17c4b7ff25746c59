// SPDX-License-Identifier: Apache-2.0
#include "listen.h"

#include <errno.h>
#include <stddef.h>

#include "acceptor.h"
#include "connection.h"

/* One for each port and family where the kernel has no TPROXY. */
enum { LISTENERS = 2 * RULE_PORTS_MAX };

static struct acceptor listeners[LISTENERS];
static size_t count;

static void on_accepted(struct acceptor *acceptor, int fd, const struct sockaddr_storage *peer)
{
	(void)acceptor;
	(void)peer;
	connection_accept(fd);
}

int listen_add(int fd)
{
	if (count == LISTENERS) {
		errno = ENOBUFS;
		return -1;
	}
	return acceptor_start(&listeners[count++], fd, on_accepted);
}
