// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_HYGIENE_H
#define SBOX_HYGIENE_H

/*
 * What a caller may have left: closed 0-2, ignored or blocked signals, low
 * soft limits. Afterwards descriptors 0-2 are open, every signal has its default
 * disposition, those that sbox reads from a signalfd (and SIGPIPE, SIGXFSZ,
 * SIGTTIN) are blocked, and the soft limits of open files and file size
 * are the hard ones. -1 when that cannot be had.
 */
int hygiene(void);

#endif
