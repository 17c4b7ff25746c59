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

/* What a row can need the run to have of its own; else the host's would be in reach. */
#define ARG_NEEDS_NETWORK 1U /* INET sockets */
#define ARG_NEEDS_UNIX    2U /* UNIX sockets by path or abstract name */
#define ARG_NEEDS_PIDS    4U /* processes: none but the run's can be named */

/* How much a policy asks about; each asks about what the one before does too. */
enum arg_ask {
	ASK_NOTHING,
	ASK_WRITES, /* what changes files, executes, enters a folder, connects */
	ASK_READS,  /* also what only opens a file to read it */
	ASK_USES,   /* also what only looks, lists, or maps to execute: for --watch-fd */
};

struct arg_row {
	struct arg_condition when[ARG_CONDITIONS];
	unsigned needs; /* ARG_NEEDS_…: holds only where the run has that of its own */
	bool allow;
	enum arg_ask ask; /* allowed, and the supervisor looks at it first: filter_policy.ask */
	bool network;     /* allowed, and a socket of the network: filter_policy.late_network */
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
/* The row that decides; never NULL. given: what the run has of its own; 0 is the stricter
 * reading. */
const struct arg_row *arg_check_decide(const struct arg_check *check, unsigned given,
				       const uint64_t args[6]);

/*
 * The refused thing as text ("AF_VSOCK", "mode 4755") into buf; false for
 * OBJECT_NONE. The number of different texts an op can have is bounded.
 */
bool arg_object_text(const struct arg_row *row, const uint64_t args[6], char *buf, size_t size);

#endif
