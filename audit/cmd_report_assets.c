// SPDX-License-Identifier: Apache-2.0
#include "cmd_report.h"

/* The files of audit/report/, as they are. Paths are those of a build: from the top. */

#define FILE_BYTES(path) "\t.incbin \"audit/report/" path "\"\n"
#define SYMBOL(name, ...)                                                                          \
	__asm__("\t.section .rodata\n\t.globl " name "\n\t.type " name ", %object\n" name          \
		":\n" __VA_ARGS__ "\t.byte 0\n\t.size " name ", . - " name "\n\t.previous\n")

SYMBOL("report_html", FILE_BYTES("report.html"));
SYMBOL("report_style", FILE_BYTES("report.css"));
SYMBOL("report_script", FILE_BYTES("data.js") FILE_BYTES("charts.js") FILE_BYTES("table.js")
				FILE_BYTES("detail.js") FILE_BYTES("main.js"));
