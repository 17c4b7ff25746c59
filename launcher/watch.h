// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_WATCH_H
#define SBOX_WATCH_H

#include <sys/types.h>

#include "arena.h"
#include "judge.h"

/*
 * What a run uses, written to a descriptor for `sbox learn` (--watch-fd): each use of a path
 * once, as the kernel finds it, with the links that lead there.
 *
 *   use      WANT TYPE PATH... NUL      PATH: absolute, ends with a NUL; as it was asked for, then
 *                                       with one link after the other replaced; the last is
 *                                       where it really is
 *   word     WORD '-' TEXT NUL NUL      WATCH_PORT, WATCH_CALL
 *   the end  WATCH_END '-' "DROPPED FILES" NUL NUL
 *
 * WANT is a letter of watch_letters, or WATCH_MAPPED, or WATCH_CWD (getcwd); TYPE one of "fdlsco"
 * (file, folder, link, socket, device, other) or '-': nothing of that name is there. Names cannot
 * hold a NUL, so none can pretend to be two. Without the end the writing is not whole. It explains
 * and decides nothing: what was read of a program's memory may be another thing when the kernel
 * reads it.
 */

enum { WATCH_PORT = 'B', WATCH_CALL = 'S', WATCH_END = 'E', WATCH_MAPPED = 'p', WATCH_CWD = 'g' };
/* By enum judge_want; a rename is a removal and something new. */
extern const char watch_letters[WANT_MAX + 1];

/* Of one run; beyond these, uses are counted and not written. */
enum { WATCH_USES_MAX = 1 << 17, WATCH_TEXT_MAX = 64 << 20 };

struct watch;

struct watch *watch_make(struct arena *arena, int fd);
void watch_use(struct watch *watch, struct judge *judge, const struct judge_question *question);
/* Where a descriptor or the like leads: WATCH_MAPPED, WATCH_CWD. */
void watch_place(struct watch *watch, struct judge *judge, char what, const char *path);
void watch_word(struct watch *watch, char what, const char *text);
/* How many descriptors the process has open (6.2). */
void watch_files(struct watch *watch, pid_t pid);
void watch_finish(struct watch *watch);

#endif
