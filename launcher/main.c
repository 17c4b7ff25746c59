// SPDX-License-Identifier: Apache-2.0

/*
 * sbox: runs a program inside five declared boundaries and keeps a record.
 *
 *   caller
 *    └─ sbox          supervisor: host namespaces; limits, time, streams, record
 *        └─ init      pid 1 of the sandbox: builds the tree, reaps, dies with sbox
 *            └─ program
 *
 * Between supervisor and sandbox there are: three pipes (stdin, stdout, stderr of the
 * program), a close-on-exec pipe that carries one fixed struct when a step of the set-up
 * fails, a pipe with a byte "go" each time that it may go on, and a socket for descriptors
 * (the sandbox's /proc and root, the seccomp listener), signals to pass on, and the
 * program's exit. Its end of file tells either side that the other is dead.
 *
 * launcher/README.md has the rest.
 */

#include <stdio.h>
#include <unistd.h>

#include "hygiene.h"
#include "options.h"
#include "run.h"
#include "verbs.h"

enum { SHARED_BYTES = 64 << 20 };

int main(int argc, char **argv)
{
	struct arena arena = {0};
	struct options options;
	struct error err = {0};
	uint64_t file_bytes;

	if (hygiene(&file_bytes) != 0) {
		perror("sbox: cannot set up signals, or /dev/null for closed streams");
		return 125;
	}
	/* none: the new process is made later, when all that it needs is there */
	(void)arena_share(&arena, SHARED_BYTES);
	if (options_parse(&arena, argc, argv, &options, &err) != 0) {
		fprintf(stderr, "sbox: %s\n", err.text);
		return 125;
	}
	if (options.help) {
		fputs(options_help(&arena), stdout);
		return 0;
	}
	if (options.version) {
		puts("sbox " SBOX_VERSION);
		return 0;
	}
	options.file_bytes = file_bytes;
	if (options.verb != NULL)
		return verb_run(&arena, &options);
	/* all is written and flushed: nothing is left for exit handlers to do */
	_exit(run_program(&arena, &options));
}
