// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "doctor.h"
#include "sys.h"

/*
 * The whole sequence of a start, by the launcher that is installed: the default
 * profile, this program inside, a store of the trial's own. Strict first; then
 * what the profile itself accepts; then reduced forms; then whatever can be had.
 */

enum { TRIAL_MS = 20000, OUTPUT_MAX = 4 << 20 };

/* A folder of the trial's own: STORE below it, WORK as workspace, HIDDEN that no list names. */
static const char *const folder_places[] = {"/var/tmp", "/tmp", "/dev/shm"};

static char *make_folder(struct doctor *doctor, struct error *err)
{
	/* in place, root's program is somebody else, who has to get there */
	bool leased = doctor->host.can_become && !doctor->host.root;

	for (size_t i = 0; i < sizeof(folder_places) / sizeof(folder_places[0]); i++) {
		char *folder =
			arena_printf(doctor->arena, "%s/sbox-doctor-XXXXXX", folder_places[i]);

		if (mkdtemp(folder) == NULL)
			continue;
		const char *hidden = arena_printf(doctor->arena, "%s/hidden", folder);
		int fd = open(hidden, O_WRONLY | O_CREAT | O_CLOEXEC, leased ? 0644 : 0600);
		if (fd >= 0)
			close(fd);
		const char *work = arena_printf(doctor->arena, "%s/work", folder);
		if (fd >= 0 && mkdir(work, 0700) == 0 &&
		    (!leased || (chmod(folder, 0711) == 0 && chmod(work, 0755) == 0)))
			return folder;
	}
	error_sys(err, "cannot make a folder for the trial in /var/tmp, /tmp or /dev/shm");
	return NULL;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *walk)
{
	(void)st;
	(void)kind;
	(void)walk;
	return remove(path);
}

static void remove_folder(const char *folder)
{
	nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

/* All that comes until the end of file, or NULL after TRIAL_MS or when the doctor is to end. */
static char *read_output(struct doctor *doctor, int fd)
{
	char *text = arena_alloc(doctor->arena, OUTPUT_MAX);
	size_t len = 0;

	for (;;) {
		struct pollfd ready[] = {{.fd = fd, .events = POLLIN},
					 {.fd = doctor->signals, .events = POLLIN}};

		if (poll(ready, 2, TRIAL_MS) <= 0 || len == OUTPUT_MAX - 1)
			return NULL;
		if (ready[1].revents != 0) {
			doctor->stopped = true;
			return NULL;
		}
		ssize_t got = read(fd, text + len, OUTPUT_MAX - 1 - len);
		if (got <= 0)
			return text;
		len += (size_t)got;
	}
}

static __attribute__((noreturn)) void start_launcher(char *const *argv, const char *folder, int fd)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	dup2(null, STDIN_FILENO);
	dup2(fd, STDOUT_FILENO);
	dup2(fd, STDERR_FILENO);
	if (folder == NULL || chdir(folder) == 0)
		execv(argv[0], argv);
	_exit(127);
}

/* What the launcher printed, its standard error too; NULL with a message: it could not be run. */
static char *run_launcher(struct doctor *doctor, char *const *argv, const char *folder,
			  struct trial *trial)
{
	int pipes[2], status = 0;

	if (pipe2(pipes, O_CLOEXEC) != 0)
		return trial->message = strerror(errno), NULL;
	pid_t pid = fork();
	if (pid == 0)
		start_launcher(argv, folder, pipes[1]);
	close(pipes[1]);
	char *text = pid < 0 ? NULL : read_output(doctor, pipes[0]);
	close(pipes[0]);
	/* asked, it takes along what it has left in /tmp */
	if (pid > 0 && text == NULL)
		kill(pid, doctor->stopped ? SIGTERM : SIGKILL);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (text == NULL)
		trial->message = "the launcher did not come back within 20 seconds";
	return text;
}

static const char *string_of(json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text != NULL ? text : "";
}

/* "process.memory reduced (why); …" of what is not enforced, or NULL. */
static const char *weaker_items(struct arena *arena, json_t *items)
{
	const char *line = NULL;
	json_t *item;
	size_t i;

	json_array_foreach(items, i, item)
	{
		const char *state = string_of(item, "state");

		if (strcmp(state, "reduced") != 0 && strcmp(state, "missing") != 0)
			continue;
		line = arena_printf(arena, "%s%s%s.%s %s (%s)", line != NULL ? line : "",
				    line != NULL ? "; " : "", string_of(item, "boundary"),
				    string_of(item, "name"), state, string_of(item, "reason"));
	}
	return line;
}

/* The lines of doctor_inside.c: how many were refused; what was not goes into the message. */
static void read_inside(struct arena *arena, const char *text, struct trial *trial)
{
	const char *open = NULL;

	for (const char *line = text; *line != '\0';) {
		size_t len = strcspn(line, "\n");

		if (strncmp(line, "refused\t", 8) == 0)
			trial->refused++;
		else
			open = arena_printf(arena, "%s%s%.*s", open != NULL ? open : "",
					    open != NULL ? ", " : "", (int)len, line);
		line += len + (line[len] == '\n');
	}
	if (open != NULL)
		trial->message = arena_printf(arena, "not refused inside: %s", open);
	trial->ran = open == NULL && trial->refused > 0;
}

static void read_result(struct arena *arena, const char *text, struct trial *trial)
{
	const char *brace = text[0] == '{' ? text : strstr(text, "\n{");
	json_t *result = brace != NULL ? json_loads(brace, JSON_DISABLE_EOF_CHECK, NULL) : NULL;
	json_t *end = json_object_get(result, "end");

	if (result == NULL) {
		trial->message = arena_strndup(arena, text, strcspn(text, "\n"));
		return;
	}
	trial->weaker = weaker_items(arena, json_object_get(result, "enforced"));
	if (json_is_true(json_object_get(result, "ok")))
		read_inside(arena, string_of(json_object_get(result, "stdout"), "text"), trial);
	else
		trial->message = arena_strdup(arena, string_of(end, "message"));
	json_decref(result);
}

static void try_once(struct doctor *doctor, const char *folder, const char *const *options,
		     struct trial *ret_trial)
{
	struct arena *arena = doctor->arena;
	struct trial trial = {.tried = true, .how = "sbox"};
	const char *work = arena_printf(arena, "%s/work", folder);
	const char **argv = arena_alloc(arena, 40 * sizeof(*argv));
	size_t count = 0;

	argv[count++] = doctor->launcher;
	argv[count++] = "--json";
	argv[count++] = "--store";
	argv[count++] = arena_printf(arena, "%s/store", folder);
	argv[count++] = "--set";
	argv[count++] = arena_printf(arena, "file.exec+=%s", doctor->self);
	for (; *options != NULL; options++) {
		argv[count++] = *options;
		trial.how = arena_printf(arena, "%s %s", trial.how, *options);
	}
	argv[count++] = "--";
	argv[count++] = doctor->self;
	argv[count++] = "--inside";
	argv[count++] = arena_printf(arena, "%s/hidden", folder);
	argv[count++] = arena_printf(arena, "%ld", (long)getpid());
	char *text = run_launcher(doctor, (char *const *)argv, work, &trial);
	if (text != NULL)
		read_result(arena, text, &trial);
	*ret_trial = trial;
}

/* What ends the doctor waits while the folder is there: SIG_BLOCK, and a descriptor that tells of
 * it, or SIG_UNBLOCK. The launcher itself has blocked them before it became the doctor. */
static int hold_signals(int how)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGQUIT);
	sigprocmask(how, &set, NULL);
	return how == SIG_BLOCK ? signalfd(-1, &set, SFD_CLOEXEC) : -1;
}

enum { ATTEMPT_OPTIONS = 12 };

static const struct attempt {
	enum form form;
	const char *options[ATTEMPT_OPTIONS];
} attempts[] = {
	{FORM_FULL, {"--strict", "--profile", "agent"}},
	{FORM_WEAKER, {"--profile", "agent"}},
	{FORM_NONE,
	 {"--profile", "agent", "--set", "file.on_missing=reduce", "--set",
	  "network.on_missing=reduce", "--set", "process.on_missing=reduce", "--set",
	  "privilege.on_missing=reduce"}},
	{FORM_NONE,
	 {"--profile", "agent", "--set", "file.on_missing=allow", "--set",
	  "network.on_missing=allow", "--set", "process.on_missing=allow", "--set",
	  "privilege.on_missing=allow"}},
};

/* The first attempt that runs; where none does, the message is about agent as it is. */
static void trial_start(struct doctor *doctor, const char *folder)
{
	struct trial plain = {0};

	for (size_t i = 0; i < sizeof(attempts) / sizeof(attempts[0]); i++) {
		doctor->form = attempts[i].form;
		try_once(doctor, folder, attempts[i].options, &doctor->trial);
		if (doctor->trial.ran || doctor->stopped)
			return;
		if (doctor->form == FORM_WEAKER)
			plain = doctor->trial;
	}
	doctor->trial = plain;
}

void trial_run(struct doctor *doctor, struct error *err)
{
	static const char *const discard[] = {"--profile", "agent", "--set", "file.writes=discard",
					      NULL};
	char *folder = make_folder(doctor, err);

	if (folder == NULL)
		return;
	doctor->signals = hold_signals(SIG_BLOCK);
	trial_start(doctor, folder);
	if (!doctor->stopped)
		try_once(doctor, folder, discard, &doctor->discard);
	remove_folder(folder);
	close(doctor->signals);
	hold_signals(SIG_UNBLOCK);
}
