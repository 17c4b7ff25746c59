// SPDX-License-Identifier: Apache-2.0
#include "error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void fill(struct error *err, enum error_kind kind, const char *fmt, va_list ap)
	__attribute__((format(printf, 3, 0)));

static void fill(struct error *err, enum error_kind kind, const char *fmt, va_list ap)
{
	err->kind = kind;
	err->errnum = 0;
	err->file[0] = '\0';
	err->line = 0;
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
}

int error_set(struct error *err, enum error_kind kind, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fill(err, kind, fmt, ap);
	va_end(ap);
	return -1;
}

int error_sys(struct error *err, const char *fmt, ...)
{
	int saved = errno;
	va_list ap;

	va_start(ap, fmt);
	fill(err, ERROR_SYSTEM, fmt, ap);
	va_end(ap);
	err->errnum = saved;
	size_t len = strlen(err->text);
	snprintf(err->text + len, sizeof(err->text) - len, ": %s", strerror(saved));
	return -1;
}

int error_at(struct error *err, const char *file, int line, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fill(err, ERROR_PROFILE, fmt, ap);
	va_end(ap);
	snprintf(err->file, sizeof(err->file), "%s", file);
	err->line = line;
	return -1;
}

void error_format(const struct error *err, char *buf, unsigned long size)
{
	if (err->file[0] != '\0' && err->line > 0)
		snprintf(buf, size, "%s:%d: %s", err->file, err->line, err->text);
	else if (err->file[0] != '\0')
		snprintf(buf, size, "%s: %s", err->file, err->text);
	else
		snprintf(buf, size, "%s", err->text);
}
