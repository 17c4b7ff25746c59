// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_HYGIENE_H
#define SBOX_HYGIENE_H

#include <stdint.h>

/*
 * What a caller may have left: closed 0-2, ignored or blocked signals, low
 * soft limits. Afterwards descriptors 0-2 are open, every signal has its default
 * disposition, those that sbox reads from a signalfd (and SIGPIPE, SIGXFSZ,
 * SIGTTIN) are blocked, abort(3) says so and exits with 125, and the soft limits of open files,
 * file size and stack are as high as the hard ones let them be. `ret_file_bytes` gets the caller's
 * soft limit of file size, which is the program's. -1 when that cannot be had.
 */
int hygiene(uint64_t *ret_file_bytes);

#endif
