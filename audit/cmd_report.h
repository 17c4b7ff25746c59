// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_AUDIT_CMD_REPORT_H
#define SBOX_AUDIT_CMD_REPORT_H

#include "cmd_read.h"

/*
 * The report: one HTML file. Its style and script are part of the program
 * (cmd_report_assets.c) and named by hash in its content security policy; what
 * records say is in it as JSON only, in which "<" never appears.
 */
struct report {
	struct index *index;
	const struct query *query;
	FILE *out;
	const uint64_t *rows;  /* oldest first */
	uint64_t count, total; /* rows; how many there were to choose from */
	uint64_t details;      /* runs that are in it in full */
};

/* cmd_report_data.c: one column after the other. */
void report_columns(struct report *report);
/* cmd_report_detail.c: the records, output and program text of some runs. */
void report_details(struct report *report);

/* cmd_report_assets.c: terminated by NUL. */
extern const char report_html[], report_style[], report_script[];

#endif
