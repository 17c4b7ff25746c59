// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "run.h"

/* What the caller is told of a run that has ended and is on record. */

void run_say(const struct run *run, const char *text)
{
	if (!run->options->quiet && text != NULL)
		fprintf(stderr, "sbox: %s\n", text);
}

/* Only readers are waited for from here on, maybe for ever: who asks sbox to end now ends it. Who
 * asked before was too late for the run, and gets its result. */
static void let_signals_end(void)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		/* takes a waiting one back */
		signal(signals[i], SIG_IGN);
		signal(signals[i], SIG_DFL);
		sigaddset(&set, signals[i]);
	}
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

/* The descriptor is the caller's, who may have made it non-blocking. */
static int write_line(int fd, const char *line)
{
	size_t left = strlen(line);

	while (left > 0) {
		ssize_t put = write(fd, line, left);

		if (put < 0 && errno == EAGAIN)
			poll(&(struct pollfd){.fd = fd, .events = POLLOUT}, 1, -1);
		else if (put < 0 && errno != EINTR)
			return -1;
		if (put > 0) {
			line += put;
			left -= (size_t)put;
		}
	}
	return 0;
}

static void tell(const struct run *run, int fd, const char *option, const char *text)
{
	const char *line = arena_printf(run->arena, "%s\n", text);

	if (fd >= 0 && write_line(fd, line) != 0)
		run_say(run, arena_printf(run->arena, "%s: the descriptor cannot be written to: %s",
					  option, strerror(errno)));
}

void run_tell(struct run *run)
{
	const struct options *options = run->options;

	let_signals_end();
	/* --quiet is about the program's end; why sbox did not run it is always said */
	if (outcome_did_not_run(run->end.kind) && run->end.message != NULL)
		fprintf(stderr, "sbox: %s\n", run->end.message);
	else
		run_say(run, run->end.message);
	for (size_t i = 0; i < run->held_count; i++)
		run_say(run, run->held[i]);
	if (run->end.exit_status != 0 && !options->quiet)
		fputs(outcome_denials(run), stderr);
	if (options->json)
		tell(run, STDOUT_FILENO, "--json",
		     render_result(run->arena, run->started_on_record ? &run->start : NULL,
				   &run->end));
	if (options->status_fd >= 0)
		tell(run, options->status_fd, "--status-fd", render_status(run->arena, &run->end));
	if (options->record_fd > 0)
		tell(run, options->record_fd, "--record-fd", render_end(run->arena, &run->end));
}
