// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_FILTER_ARGS_H
#define SBOX_FILTER_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "plan_item.h"

/*
 * What is looked at beyond a call's number. A check is a list of rows for one
 * or several calls; the first row whose conditions all hold decides. The same
 * rows are compiled into the filter, tell which errno a refusal has, and say
 * in words what was refused.
 */
enum arg_test {
	ARG_UNUSED,
	ARG_IN,   /* the low 32 bits, masked, lie in one of the ranges */
	ARG_BITS, /* any of the mask's 64 bits is set */
};

struct arg_range {
	uint32_t first, last;
};

struct arg_condition {
	enum arg_test test;
	uint8_t arg;
	uint64_t mask;
	const struct arg_range *ranges;
	size_t count;
};

/* What names the refused thing. */
enum arg_object {
	OBJECT_NONE,
	OBJECT_FAMILY,
	OBJECT_SOCKET_TYPE,
	OBJECT_PROTOCOL,
	OBJECT_NETLINK,
	OBJECT_IOCTL,
	OBJECT_PRCTL,
	OBJECT_PERSONALITY,
	OBJECT_NAMESPACE,
	OBJECT_SECCOMP,
	OBJECT_MODE,
	OBJECT_FILE_TYPE,
	OBJECT_PID_1,
};

enum { ARG_CONDITIONS = 3 };

struct arg_row {
	struct arg_condition when[ARG_CONDITIONS];
	bool own_network; /* holds only when INET sockets cannot reach the host's network unasked */
	bool allow;
	/* Only for a row that refuses: */
	int errnum;
	enum boundary boundary;
	enum arg_object object;
	uint8_t object_arg;
	const char *permit; /* profile line, or NULL */
	const char *never;  /* why nothing permits it, or NULL */
};

struct arg_check {
	const char *calls; /* names with spaces between them */
	const struct arg_row *rows;
	size_t count; /* the last row has no condition */
};

extern const struct arg_check arg_checks[];
extern const size_t arg_check_count;

/* Index of the check by number; -1: the arguments do not matter. Filled once. */
const int8_t *arg_check_table(void);

bool arg_row_holds(const struct arg_row *row, const uint64_t args[6]);
/* The row that decides; never NULL. own_network false: the stricter reading. */
const struct arg_row *arg_check_decide(const struct arg_check *check, bool own_network,
				       const uint64_t args[6]);

/*
 * The refused thing as text ("AF_VSOCK", "mode 4755") into buf; false for
 * OBJECT_NONE. The number of different texts an op can have is bounded.
 */
bool arg_object_text(const struct arg_row *row, const uint64_t args[6], char *buf, size_t size);

#endif
