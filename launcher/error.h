// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_ERROR_H
#define SBOX_ERROR_H

/*
 * One caller-owned, fixed-size error. Functions that can fail return 0 or -1
 * and fill the error they were given; nobody prints and nobody exits on the
 * way up. The text names the thing, the value and the way out.
 */

enum error_kind {
	ERROR_NONE,
	ERROR_USAGE,          /* the command line is wrong: exit 125 */
	ERROR_PROFILE,        /* the profile is wrong: file and line are set */
	ERROR_MISSING,        /* the machine cannot give what the profile asks for */
	ERROR_SYSTEM,         /* a system call failed: errnum is set */
	ERROR_AUDIT,          /* the record cannot be written: nothing is run */
	ERROR_NOT_EXECUTABLE, /* exit 126 */
	ERROR_NOT_FOUND,      /* exit 127 */
};

struct error {
	enum error_kind kind;
	int errnum;      /* errno value, or 0 */
	char file[256];  /* profile file, or "" */
	int line;        /* 1-based line in file, or 0 */
	char text[1024]; /* one sentence, no newline */
};

/* Each returns -1, so that a caller can write `return error_set(...)`. */
int error_set(struct error *err, enum error_kind kind, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Appends ": " and strerror(errno). */
int error_sys(struct error *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int error_at(struct error *err, const char *file, int line, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* "file:line: text" (or only the text) into buf; always terminated. */
void error_format(const struct error *err, char *buf, unsigned long size);

#endif
