// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_AUDIT_CMD_TIME_H
#define SBOX_AUDIT_CMD_TIME_H

#include <stdbool.h>
#include <stdint.h>

#include "cmd_scan.h"

/* Nanoseconds since the epoch of a record's time, a JSON string; 0 when it is none. */
uint64_t time_parse(struct span value);

/*
 * What --since and --until take: 2026-11-29, 2026-11-29T22:18[:55[.123]][Z] (UTC), today,
 * yesterday, or how long ago: 90s, 15m, 2h, 7d. False when it is none of these.
 */
bool time_parse_when(const char *text, uint64_t now_ns, uint64_t *ret_ns);

#endif
