// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_CONTROL_H
#define SBOX_CONTROL_H

#include <stdbool.h>

/*
 * The launcher's messages. Until START the gate only listens to them; it blocks. After that END
 * and DRAIN are the only ones, and the end of file means the same as END.
 */

/* True: READY was sent. False: FAILED was, or nobody is there. */
bool control_prepare(void);
/* The socket becomes part of the loop. 0, or -1 and errno. */
int control_watch(void);
/* How long a turn may wait: at most so long; -1: no limit. */
int control_wait_ms(int most_ms);
bool control_ended(void);

#endif
