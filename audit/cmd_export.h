// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_AUDIT_CMD_EXPORT_H
#define SBOX_AUDIT_CMD_EXPORT_H

#include "cmd_read.h"

struct export
{
	struct index *index;
	struct arena arena; /* of a few rows */
};

/* One line for the launch and one for the end, as far as there is a record of each. */
void export_ocsf(struct export *export, const struct index_row *row);

#endif
