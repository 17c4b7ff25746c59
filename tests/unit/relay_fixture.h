// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_RELAY_FIXTURE_H
#define SBOX_RELAY_FIXTURE_H

#include "relay.h"

#include <check.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

/* A relay between two pipes: the test writes one and reads the other. */

enum { IN, OUT };

static struct relay relay;
static struct error err;
static int source[2], sink[2]; /* [1] is written, [0] is read */

static inline void setup(void)
{
	signal(SIGPIPE, SIG_IGN);
	ck_assert_int_eq(pipe2(source, O_CLOEXEC), 0);
	ck_assert_int_eq(pipe2(sink, O_CLOEXEC), 0);
}

static inline void start(bool discard, uint64_t limit)
{
	ck_assert_int_eq(relay_init(&relay, source[IN], sink[OUT], discard, limit, &err), 0);
}

static inline unsigned char *pattern(size_t len)
{
	unsigned char *data = malloc(len);

	for (size_t i = 0; i < len; i++)
		data[i] = (i * 2654435761u) >> 13;
	return data;
}

static inline void put(const void *data, size_t len)
{
	ck_assert_int_eq(write(source[OUT], data, len), len);
}

static inline size_t take(void *data, size_t len)
{
	size_t got = 0;

	fcntl(sink[IN], F_SETFL, O_NONBLOCK);
	for (;;) {
		ssize_t n = read(sink[IN], (char *)data + got, len - got);

		if (n <= 0)
			return got;
		got += n;
	}
}

#endif
