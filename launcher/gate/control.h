// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_CONTROL_H
#define SBOX_CONTROL_H

#include <stdbool.h>

/*
 * The launcher's messages. Until START the gate only listens to them; it blocks. After that END is
 * the only one, and the end of file means the same.
 */

/* True: READY was sent. False: FAILED was, or nobody is there. */
bool control_prepare(void);
/* The socket becomes part of the loop. 0, or -1 and errno. */
int control_watch(void);
bool control_ended(void);

#endif
