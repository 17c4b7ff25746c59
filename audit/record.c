// SPDX-License-Identifier: Apache-2.0
#include "record.h"

const char *const end_kind_names[END_KIND_MAX] = {
	[END_EXITED] = "exited",
	[END_SIGNALED] = "signaled",
	[END_TIMEOUT] = "timeout",
	[END_CPU] = "cpu",
	[END_MEMORY] = "memory",
	[END_PROCESSES] = "processes",
	[END_OUTPUT] = "output",
	[END_DISK] = "disk",
	[END_BOUNDARY_LOST] = "boundary_lost",
	[END_CANCELLED] = "cancelled",
	[END_DENIED_START] = "denied_start",
	[END_SBOX_ERROR] = "sbox_error",
	[END_NOT_EXECUTABLE] = "not_executable",
	[END_NOT_FOUND] = "not_found",
};

const char *const boundary_names[BOUNDARY_MAX] = {
	[BOUNDARY_FILE] = "file",       [BOUNDARY_NETWORK] = "network",
	[BOUNDARY_PROCESS] = "process", [BOUNDARY_PRIVILEGE] = "privilege",
	[BOUNDARY_TIME] = "time",
};

const char *const item_state_names[ITEM_STATE_MAX] = {
	[ITEM_ENFORCED] = "enforced",
	[ITEM_REDUCED] = "reduced",
	[ITEM_MISSING] = "missing",
	[ITEM_OFF] = "off",
};

int end_exit_status(enum end_kind kind, int code)
{
	switch (kind) {
	case END_EXITED:
		return code;
	case END_SIGNALED:
	case END_CANCELLED:
		return 128 + code;
	case END_TIMEOUT:
	case END_CPU:
		return 124;
	case END_MEMORY:
	case END_PROCESSES:
	case END_OUTPUT:
	case END_DISK:
	case END_BOUNDARY_LOST:
		return 137;
	case END_NOT_EXECUTABLE:
		return 126;
	case END_NOT_FOUND:
		return 127;
	case END_DENIED_START:
	case END_SBOX_ERROR:
	case END_KIND_MAX:
		break;
	}
	return 125;
}
