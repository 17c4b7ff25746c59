// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "passwd.h"
#include "redact.h"
#include "run.h"
#include "sha256.h"
#include "shrink.h"

/* What the record says about who, what, and how it ended: the one place where it is put together.
 */

enum { STEPS_IN_RECORD = 8 };

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static const char *read_line(struct arena *arena, const char *path)
{
	char text[256];
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return NULL;
	ssize_t len = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (len <= 0)
		return NULL;
	text[len] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return arena_strdup(arena, text);
}

static const char *read_link(struct arena *arena, const char *path)
{
	char text[4096];
	ssize_t len = readlink(path, text, sizeof(text));

	return len > 0 && (size_t)len < sizeof(text) ? arena_strndup(arena, text, (size_t)len)
						     : NULL;
}

static uint64_t login_uid(struct arena *arena)
{
	const char *text = read_line(arena, "/proc/self/loginuid");
	unsigned long uid = text != NULL ? strtoul(text, NULL, 10) : UINT32_MAX;

	return uid == UINT32_MAX ? UNKNOWN : uid;
}

static void build_who(struct run *run)
{
	struct record_who *who = &run->start.who;
	struct arena *arena = run->arena;
	struct utsname name;

	who->real_uid = run->host.real_uid;
	who->effective_uid = run->host.uid;
	who->real_gid = run->host.real_gid;
	who->effective_gid = run->host.gid;
	who->login_uid = login_uid(arena);
	struct passwd_entry entry;
	if (passwd_by_uid(arena, run->host.real_uid, &entry))
		who->user = entry.name;
	if (run->terminal.fd >= 0)
		who->tty =
			read_link(arena, arena_printf(arena, "/proc/self/fd/%d", run->terminal.fd));
	who->sbox_pid = getpid();
	who->caller_pid = getppid();
	who->caller_exe = read_link(arena, arena_printf(arena, "/proc/%d/exe", (int)getppid()));
	if (uname(&name) == 0)
		who->host = arena_strdup(arena, name.nodename);
	who->boot_id = read_line(arena, "/proc/sys/kernel/random/boot_id");
	if (run->host.apparmor || run->host.selinux)
		who->label = read_line(arena, "/proc/self/attr/current");
}

static void build_what(struct run *run)
{
	struct run_start *start = &run->start;
	char **argv = run->options->arguments;
	const char **copy =
		arena_alloc(run->arena, ((size_t)run->options->argument_count + 1) * sizeof(*copy));

	for (int i = 0; argv[i] != NULL; i++)
		copy[i] = redact_argument(run->arena, &run->profile.audit.redact, argv[i],
					  i > 0 ? argv[i - 1] : NULL);
	start->argv = copy;
	start->argc = (uint64_t)run->options->argument_count;
	start->terminal.is_on = run->terminal.is_on;
	memcpy(start->terminal.stream, run->terminal.stream, sizeof(start->terminal.stream));
	start->terminal.rows = run->terminal.setup.size.ws_row;
	start->terminal.columns = run->terminal.setup.size.ws_col;
	start->cwd = run->host.cwd;
	start->inside_cwd = run->arm.inside_cwd;
	start->profile_name = run->profile.name;
	start->profile_path = run->profile.path;
	start->profile_sha256 = run->profile.sha256;
	start->items = run->plan.items;
	start->item_count = run->plan.item_count;
}

static void build_labels(struct run *run)
{
	size_t count = run->options->label_count;
	struct record_label *labels = arena_alloc(run->arena, (count + 1) * sizeof(*labels));

	for (size_t i = 0; i < count; i++) {
		const struct record_label *given = &run->options->labels[i];
		const char *pair = arena_printf(run->arena, "%s=%s", given->key, given->value);
		const char *kept =
			redact_argument(run->arena, &run->profile.audit.redact, pair, NULL);

		labels[i].key = given->key;
		labels[i].value = kept == pair ? given->value : REDACTED;
	}
	run->start.labels = labels;
	run->start.label_count = count;
}

static void build_environment(struct run *run)
{
	size_t count = 0;

	if (run->arm.envp == NULL)
		return;
	while (run->arm.envp[count] != NULL)
		count++;
	const char **names = arena_alloc(run->arena, (count + 1) * sizeof(*names));
	for (size_t i = 0; i < count; i++)
		names[i] =
			arena_strndup(run->arena, run->arm.envp[i], strcspn(run->arm.envp[i], "="));
	run->start.environment = names;
}

void record_build_start(struct run *run)
{
	run->start.run = run->id;
	run->start.time_ns = now_ns();
	run->start.inner_uid = run->arm.identity.inner_uid;
	run->start.outer_uid = run->arm.identity.outer_uid;
	build_who(run);
	build_what(run);
	build_labels(run);
	build_environment(run);
}

void record_not_kept(struct run *run, const char *what, const struct error *err)
{
	if (!run->told_not_kept)
		fprintf(stderr, "sbox: %s of run %s is not kept: %s\n", what, run->id, err->text);
	run->told_not_kept = true;
}

/* Under the run's id in output/, compressed where that pays. The name in the store, or NULL. */
static const char *keep_bytes(struct run *run, const void *bytes, size_t len, const char *ending)
{
	const char *file = arena_printf(run->arena, "%s.%s", run->id, ending);
	struct error err;

	if (len == 0 || !run->store_is_open)
		return NULL;
	if (shrink(run->arena, bytes, len, &bytes, &len))
		file = arena_printf(run->arena, "%s.gz", file);
	if (store_keep(&run->store, "output", file, bytes, len, &err) != 0) {
		record_not_kept(run, "output", &err);
		return NULL;
	}
	return arena_printf(run->arena, "output/%s", file);
}

static void keep_stream(struct run *run, struct record_stream *stream, const char *name)
{
	char *bytes = arena_alloc(run->arena, stream->head_len + stream->tail_len + 1);

	memcpy(bytes, stream->head, stream->head_len);
	memcpy(bytes + stream->head_len, stream->tail, stream->tail_len);
	stream->kept = keep_bytes(run, bytes, stream->head_len + stream->tail_len, name);
}

/* A few steps are less as a part of the record than as a file. */
static void keep_timing(struct run *run)
{
	struct record_timing *timing = &run->end.timing;

	timing->step_count = timing_steps(&run->timing, run->arena, &timing->steps);
	if (timing->step_count <= STEPS_IN_RECORD)
		return;
	const char *text = timing_text(run->arena, timing->steps, timing->step_count);
	timing->step_count = 0;
	timing->kept = keep_bytes(run, text, strlen(text), "timing");
	if (timing->kept != NULL)
		sha256_hex_of(text, strlen(text), timing->sha256);
}

static void build_streams(struct run *run)
{
	struct run_end *end = &run->end;
	bool keeps_stdin = run->profile.audit.keep_stdin == STDIN_KEEP;

	relay_report(&run->in, &end->stdin_stream);
	relay_report(&run->out, &end->stdout_stream);
	relay_report(&run->err, &end->stderr_stream);
	if (!keeps_stdin || run->profile.audit.capture_bytes == 0) {
		/* then only its hash is of interest, when it is one of all of it */
		if (end->stdin_stream.truncated)
			end->stdin_stream.sha256[0] = '\0';
		end->stdin_stream.head_len = end->stdin_stream.tail_len = 0;
		end->stdin_stream.truncated = end->stdin_stream.bytes > 0;
	}
	if (run->profile.audit.capture_bytes == 0)
		return;
	keep_stream(run, &end->stdout_stream, "stdout");
	keep_stream(run, &end->stderr_stream, "stderr");
	if (keeps_stdin)
		keep_stream(run, &end->stdin_stream, "stdin");
	keep_timing(run);
}

void record_build_end(struct run *run)
{
	struct run_end *end = &run->end;

	end->run = run->id;
	end->time_ns = now_ns();
	gate_record(run);
	end->denials = run->denials.items;
	end->denial_count = run->denials.count;
	end->denials_dropped = run->denials.dropped;
	end->execs = run->notify.execs;
	end->exec_count = run->notify.exec_count;
	end->execs_total =
		run->notify.record_execs && !run->no_listener ? run->notify.execs_total : UNKNOWN;
	end->timing.sizes = run->terminal.sizes;
	end->timing.size_count = run->terminal.size_count;
	script_finish(run);
	if (run->relaying)
		build_streams(run);
}
