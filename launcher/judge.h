// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_JUDGE_H
#define SBOX_JUDGE_H

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "file_entries.h"
#include "host.h"
#include "profile.h"
#include "record.h"

/*
 * Whether a boundary is about to refuse what a call wants of a path, and which line of
 * the profile would let it: judged before the call goes on, by the rules that
 * built the tree, against what is on the host. It decides nothing. A refusal
 * that the host would have given too is none of ours.
 */

enum judge_want {
	WANT_LOOK,    /* access */
	WANT_READ,    /* open without writing */
	WANT_ENTER,   /* chdir */
	WANT_WRITE,   /* open that writes and does not create */
	WANT_CREATE,  /* open with O_CREAT: there or not */
	WANT_NEW,     /* mkdir, symlink, mknod, bind, the new name of link: not there yet */
	WANT_REMOVE,  /* unlink, rmdir */
	WANT_RENAME,  /* with `other`, the new name */
	WANT_LINK,    /* the same */
	WANT_CHANGE,  /* mode, length */
	WANT_EXECUTE, /* and what its first line or its header names */
	WANT_CONNECT, /* to a UNIX socket */
	WANT_MAX
};

struct judge_question {
	enum judge_want want;
	const char *path, *other; /* absolute as seen inside, in any spelling */
	bool no_follow;           /* a link at its end is not followed */
	bool truncates;
	bool is_found; /* what the path leads to is known: found_fd, O_PATH */
	int found_fd;
};

/* One table of why: judge_reason.c. */
enum judge_reason {
	REASON_NOT_LISTED,
	REASON_NOT_LISTED_FOLDER, /* to make something in it */
	REASON_DEVICE,
	REASON_OTHER_USER,
	REASON_SOCKET,
	REASON_ROOT_FOLDER,
	REASON_HIDDEN,
	REASON_HIDDEN_STORE,
	REASON_HIDDEN_SOCKET,
	REASON_HIDDEN_SECRET,
	REASON_READ_ONLY,
	REASON_READ_ONLY_FOLDER,
	REASON_PROTECTED,
	REASON_PINNED,
	REASON_MOUNT_POINT,
	REASON_ACROSS,
	REASON_NOT_EXEC,
	REASON_NOEXEC,
	REASON_SCRATCH_NOEXEC,
	REASON_INTERPRETER,
	REASON_MAX
};

struct judge_found {
	enum judge_reason reason;
	int errnum; /* what the program sees */
	char object[PATH_MAX];
	char permit[PATH_MAX]; /* the path of the line that permits it */
};

/* Of one run. */
struct judge {
	int root_fd; /* the sandbox's root; -1: there is none to judge by */
	const struct file_entries *entries;
	const struct host *host;
	const char *store; /* path of the audit store */
	bool by_mode;      /* root: another uid runs it, so a file's mode is what counts */
	uid_t uid;         /* that one */
	bool private_home;
	dev_t device; /* of the sandbox's root */
	bool device_known;
	bool hides; /* some name is covered */
	/* Folders on the host whose file system may not answer: nothing below is looked at. */
	struct arena *arena;
	const char **slow;
	size_t slow_count;
	bool slow_known;
	struct judge_memo *memo;   /* judge_memo.h; NULL: empty */
	struct judge_known *known; /* judge_exec.c; NULL: empty */
};

/* True: a boundary refuses it, `ret_found` says why. False also when it cannot be told. */
bool judge(struct judge *judge, const struct judge_question *question,
	   struct judge_found *ret_found);

/* judge_reason.c: the denial in words; its strings live in `ret_text`. */
enum { JUDGE_TEXT = PATH_MAX + 64 };
void judge_describe(const struct judge *judge, const struct judge_question *question,
		    const struct judge_found *found, char ret_text[JUDGE_TEXT],
		    struct record_denial *ret_denial);

#endif
