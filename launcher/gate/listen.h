// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_LISTEN_H
#define SBOX_LISTEN_H

/* Where the program's connections arrive: 0, or -1 and errno. */
int listen_add(int fd);

#endif
