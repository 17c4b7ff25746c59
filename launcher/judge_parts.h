// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_JUDGE_PARTS_H
#define SBOX_JUDGE_PARTS_H

#include "judge.h"

/* What the judge's files share with one another and with nobody else. All return true but
 * where a file system of the host's own is the cause. */
bool judge_refuse(struct judge_found *found, enum judge_reason reason, int errnum,
		  const char *object, const char *permit);
bool judge_by_entry(const struct file_entry *entry, const char *object, const char *line,
		    enum judge_reason reason, int errnum, struct judge_found *found);

/* Whether an entry puts something into the tree. */
bool judge_is_given(const struct file_entry *entry);
bool judge_hidden(struct judge *judge, const char *path, const struct file_entry *entry, int errnum,
		  struct judge_found *found);
bool judge_missing_folder(struct judge *judge, const char *object, const char *folder,
			  struct judge_found *found);
bool judge_read_only_folder(struct judge *judge, const char *object, int folder_fd,
			    struct judge_found *found);
/* What a path leads to; a name that something is made under. */
bool judge_target(struct judge *judge, const struct judge_question *question,
		  struct judge_found *found);
bool judge_make(struct judge *judge, const struct judge_question *question,
		struct judge_found *found);

/* judge_names.c */
bool judge_remove(struct judge *judge, const char *path, struct judge_found *found);
bool judge_rename(struct judge *judge, const struct judge_question *question,
		  struct judge_found *found);
bool judge_link(struct judge *judge, const struct judge_question *question,
		struct judge_found *found);

/* judge_exec.c: a file that is there: may it be executed, and is what it needs there too. */
bool judge_execute(struct judge *judge, const char *path, int fd, struct judge_found *found,
		   int depth);
/* What the kernel opens to execute it: of a script its first line's, of a program its loader. */
bool judge_interpreter_of(int fd, char ret_path[PATH_MAX]);

#endif
