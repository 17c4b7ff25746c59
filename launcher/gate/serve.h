// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_SERVE_H
#define SBOX_SERVE_H

#include <stdbool.h>

/*
 * The sandbox's name server. Only allowed names are asked for outside, and what comes back is that
 * there is such a name: its address inside is the gate's own. Everything else is NXDOMAIN, which
 * every resolver takes at once (REFUSED and SERVFAIL cost musl 5 s). Never truncated: musl does not
 * come back by TCP.
 */

/* 0, or -1 and errno. */
int serve_udp(int fd, bool v6);
int serve_tcp(int fd);

#endif
