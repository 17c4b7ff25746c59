// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_RECORD_H
#define SBOX_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "arena.h"
#include "plan_item.h"

/*
 * What is written down about a run. Built in one place (launcher/record.c),
 * rendered in another (render.c): two audit lines (run.start, run.end) and the
 * one object that --json prints. Strings may hold any bytes; the renderer
 * makes valid JSON of them without loss. A number that is not known is
 * UNKNOWN and rendered as null, never as 0.
 */

#define RECORD_VERSION 1
#define UNKNOWN        UINT64_MAX

enum end_kind {
	END_EXITED,   /* code: the program's own exit status */
	END_SIGNALED, /* code: the signal's number */
	END_TIMEOUT,  /* wall clock */
	END_CPU,
	END_MEMORY,
	END_PROCESSES,
	END_OUTPUT,
	END_DISK,
	END_BOUNDARY_LOST, /* something the boundary rests on went away during the run */
	END_CANCELLED,     /* code: the signal that sbox itself got */
	END_DENIED_START,  /* refused before exec: the plan or the profile does not allow it */
	END_SBOX_ERROR,    /* sbox itself failed */
	END_NOT_EXECUTABLE,
	END_NOT_FOUND,
	END_KIND_MAX
};

extern const char *const end_kind_names[END_KIND_MAX]; /* "exited", "not_found", ... */

/* sbox's own exit status for an end: the table of sbox(1). */
int end_exit_status(enum end_kind kind, int code);

struct record_who {
	uid_t real_uid, effective_uid;
	gid_t real_gid, effective_gid;
	uint64_t login_uid; /* /proc/self/loginuid; UNKNOWN when unset */
	const char *user;   /* login name, or NULL */
	const char *tty;    /* "/dev/pts/3", or NULL */
	pid_t sbox_pid, caller_pid;
	const char *caller_exe; /* program that started sbox, or NULL */
	const char *host;       /* host name */
	const char *boot_id;    /* or NULL */
	const char *label;      /* security label of the caller, or NULL */
};

/* A file that takes part: the program itself or a script. */
struct record_file {
	const char *kind; /* "program", "script", "text" (-c and the like), "stdin" */
	const char *path; /* as executed; NULL for text and stdin */
	uint64_t bytes;
	char sha256[65];  /* "" when not known */
	const char *kept; /* name of the kept copy in the store, or NULL */
	bool truncated;   /* the kept copy holds only the first bytes */
};

/* The program's own terminal. */
struct record_terminal {
	bool is_on;
	bool stream[3]; /* which of stdin, stdout, stderr it is: all output to it is one stream */
	unsigned int rows, columns; /* at the start */
};

struct record_label {
	const char *key, *value;
};

struct run_start {
	const char *run;  /* run id: 26 characters, sorts by time */
	uint64_t time_ns; /* realtime, since the epoch */
	struct record_who who;
	const char *const *argv; /* already redacted; NULL-terminated */
	uint64_t argc;
	struct record_terminal terminal;
	const char *cwd;        /* caller's */
	const char *inside_cwd; /* program's */
	uid_t inner_uid, outer_uid;
	const struct record_file *files;
	size_t file_count;
	const char *profile_name, *profile_path, *profile_sha256;
	const char *const *environment; /* names only; NULL-terminated */
	const struct record_label *labels;
	size_t label_count;
	const struct plan_item *items;
	size_t item_count;
};

struct record_stream {
	uint64_t bytes; /* all bytes the program wrote (stdin: that it was given) */
	const unsigned char *head, *tail;
	size_t head_len, tail_len; /* head + tail == all bytes when not truncated */
	bool truncated;
	char sha256[65];  /* of what is kept, head and tail: of all bytes when not truncated */
	const char *kept; /* name in the store of the kept head and tail, or NULL */
};

/* One step of a replay: after so long, so many bytes on a stream (0, 1, 2). */
struct record_step {
	uint64_t delay_us;
	unsigned int stream;
	uint64_t bytes;
};

/* The size of the program's terminal from some time after the start on. */
struct record_size {
	uint64_t at_us;
	unsigned int rows, columns;
};

/* A few steps are in the record itself, many in a file beside the output. */
struct record_timing {
	const struct record_step *steps;
	size_t step_count;
	const struct record_size *sizes; /* changes of a terminal's size */
	size_t size_count;
	char sha256[65];  /* of the file's text; "" without a file */
	const char *kept; /* its name in the store, or NULL */
};

struct record_denial {
	enum boundary boundary;
	const char *op;     /* "keyctl", "socket", "memory" */
	const char *object; /* "AF_VSOCK", "/etc/shadow"; or NULL */
	uint64_t count;     /* at least */
	pid_t pid;          /* inside; the first one seen; 0 when not known */
	const char *exe;    /* or NULL */
	int errnum;         /* what the program saw; 0 when it was killed */
	const char *permit; /* profile line that allows it: "[process] memory = 4G"; or NULL */
	const char *never;  /* why nothing allows it; or NULL */
};

struct record_exec {
	const char *path;
	const char *const *argv; /* redacted, cut; NULL-terminated */
	pid_t pid;               /* inside */
	uint64_t count;
};

/* What a gate told of a name that was asked for. */
struct record_name {
	const char *name;    /* printable, cut */
	const char *verdict; /* "answered", "not_allowed", ... */
	const char *rule;    /* as the profile has it; NULL: none decided */
	uint64_t count;
};

/* One connection, or (count > 1) several to the same place that ended in the same way. */
struct record_connection {
	uint64_t time_ns;    /* UNKNOWN when it stands for several */
	const char *name;    /* NULL: an address was asked for */
	const char *asked;   /* what the program connected to; published: who connected */
	const char *dialled; /* NULL: nobody was */
	uint64_t asked_port, dialled_port;
	const char *server_name; /* that the program said in TLS or HTTP, or NULL */
	const char *rule;
	const char *ended; /* "finished", "no_rule", ... */
	bool published;
	int errnum;
	uint64_t count, ms, dial_us, sent, received;
};

/* Something that the sandbox's own network refused. */
struct record_attempt {
	const char *protocol; /* "tcp", "udp" */
	const char *name;     /* whose address it is, or NULL */
	const char *address;  /* NULL: all that found no room */
	uint64_t port, count;
};

struct record_network {
	const char *gate; /* "served", "lost", "not_ready", "not_started" */
	const struct record_name *names;
	const struct record_connection *connections, *more;
	const struct record_attempt *attempts;
	size_t name_count, connection_count, more_count, attempt_count;
	struct {
		uint64_t names, names_refused, names_dropped, wildcard_names, wildcard_bytes;
		uint64_t connections, connections_refused, connections_dropped, connections_most;
		uint64_t attempts, sent, received;
	} totals;
};

struct record_usage {
	uint64_t wall_ns, user_ns, sys_ns;
	uint64_t peak_memory_bytes;
	const char *memory_source; /* "cgroup", "sampling", or NULL */
	uint64_t peak_tasks;
	uint64_t read_bytes, written_bytes;
	uint64_t sbox_cpu_ns; /* sbox's own work for the program, charged to it */
};

struct run_end {
	const char *run;
	uint64_t time_ns;
	enum end_kind kind;
	int code;               /* exit status or signal, by kind */
	int exit_status;        /* what sbox itself exits with */
	const char *decided_by; /* profile key that ended it: "time.wall", or NULL */
	const char *message;    /* the sentence shown on stderr, or NULL */
	const char *leftover;   /* what could not be killed or removed, or NULL */
	bool core_dumped;
	struct record_usage usage;
	struct record_stream stdin_stream, stdout_stream, stderr_stream;
	struct record_timing timing;
	const struct record_denial *denials;
	size_t denial_count;
	uint64_t denials_dropped; /* distinct ones beyond the table */
	const struct record_exec *execs;
	size_t exec_count;
	uint64_t execs_total; /* all, also those beyond the table; UNKNOWN when not watched */
	const struct record_network *network; /* NULL: the run had no gate */
	const struct record_file *files;      /* what only the end knows: see script_finish() */
	size_t file_count;
};

/* One line each, without the newline, without the store's own fields (seq, prev). */
char *render_start(struct arena *arena, const struct run_start *start);
char *render_end(struct arena *arena, const struct run_end *end);
/* The line of --status-fd: short enough for a pipe that nobody reads before sbox has ended. */
char *render_status(struct arena *arena, const struct run_end *end);
/* The object of --json: one line. start may be NULL when the run never got that far. */
char *render_result(struct arena *arena, const struct run_start *start, const struct run_end *end);

#endif
