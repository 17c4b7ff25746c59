// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_JUDGE_MEMO_H
#define SBOX_JUDGE_MEMO_H

#include "judge.h"

/*
 * Paths that were judged a moment ago, with nothing to say of them: compilers ask for the
 * same hundred headers again and again. Only what is read, looked at or entered is kept, for a
 * second, and until a call may change where a name inside leads (forget). What is refused is
 * judged each time.
 */
bool judge_memo_has(const struct judge *judge, const struct judge_question *question);
void judge_memo_add(struct judge *judge, const struct judge_question *question);
void judge_memo_forget(struct judge *judge);

/* The same of a folder that is there, and in which names may come and go. */
bool judge_memo_has_folder(const struct judge *judge, const char *path);
void judge_memo_add_folder(struct judge *judge, const char *path);

#endif
