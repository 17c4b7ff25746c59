// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "learn.h"

enum { UNABLE = 125 };

/* In the child: nothing of the trial is shown, and what it reads begins at the start again. */
static void be_silent(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null < 0)
		_exit(UNABLE);
	if (lseek(STDIN_FILENO, 0, SEEK_SET) < 0)
		dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	dup2(null, STDERR_FILENO);
}

static int execute(struct learn *learn, char *const *argv, bool silent, int *ret_status,
		   struct error *err)
{
	pid_t parent = getpid(), child = fork();
	int status;

	if (child < 0)
		return error_sys(err, "cannot start the launcher");
	if (child == 0) {
		/* the launcher ends its run when it is told to */
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		if (getppid() != parent)
			_exit(UNABLE);
		if (silent)
			be_silent();
		execv(learn->own, argv);
		_exit(UNABLE);
	}
	/* the terminal sends these to both; what the program makes of them counts */
	void (*interrupt)(int) = signal(SIGINT, SIG_IGN), (*quit)(int) = signal(SIGQUIT, SIG_IGN);
	pid_t dead;
	do
		dead = waitpid(child, &status, 0);
	while (dead < 0 && errno == EINTR);
	signal(SIGINT, interrupt);
	signal(SIGQUIT, quit);
	if (dead < 0)
		return error_sys(err, "cannot wait for the launcher");
	*ret_status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	return 0;
}

/* All that was written to the descriptor. */
static char *read_back(struct arena *arena, int fd, size_t *ret_size)
{
	struct stat st;
	size_t len = 0;
	ssize_t got;

	if (fstat(fd, &st) != 0)
		return NULL;
	char *bytes = arena_alloc(arena, (size_t)st.st_size + 1);
	while (len < (size_t)st.st_size &&
	       (got = pread(fd, bytes + len, (size_t)st.st_size - len, (off_t)len)) > 0)
		len += (size_t)got;
	bytes[len] = '\0';
	*ret_size = len;
	return bytes;
}

static char **make_argv(struct learn *learn, char *const *options, int watch_fd, int record_fd)
{
	struct string_list words = {0};
	char *const *program = learn->wishes.argv;

#define ADD(word) (*ARENA_PUSH(learn->arena, words.items, words.count) = (word))
	ADD("sbox");
	for (; *options != NULL; options++)
		ADD(*options);
	if (learn->wishes.store_dir != NULL) {
		ADD("--store");
		ADD(learn->wishes.store_dir);
	}
	ADD("--record-fd");
	ADD(arena_printf(learn->arena, "%d", record_fd));
	if (watch_fd >= 0) {
		ADD("--watch-fd");
		ADD(arena_printf(learn->arena, "%d", watch_fd));
	}
	ADD("--");
	for (; *program != NULL; program++)
		ADD(*program);
	ADD(NULL);
#undef ADD
	return (char **)words.items;
}

json_t *learn_launch(struct learn *learn, char *const *options, int watch_fd, bool silent,
		     int *ret_status, struct error *err)
{
	int record_fd = memfd_create("record", 0);
	size_t size = 0;
	json_t *end;

	if (record_fd < 0) {
		error_sys(err, "cannot make room for what a run tells");
		return NULL;
	}
	char **argv = make_argv(learn, options, watch_fd, record_fd);
	if (execute(learn, argv, silent, ret_status, err) != 0) {
		close(record_fd);
		return NULL;
	}
	const char *line = read_back(learn->arena, record_fd, &size);
	close(record_fd);
	end = line != NULL ? json_loadb(line, size, 0, NULL) : NULL;
	if (end == NULL)
		error_set(err, ERROR_SYSTEM, "the learning run did not begin: see above");
	return end;
}

static bool did_run(const json_t *end)
{
	static const char *const kinds[] = {"denied_start", "sbox_error", "not_executable",
					    "not_found"};
	const char *kind = json_string_value(json_object_get(json_object_get(end, "end"), "kind"));

	for (size_t i = 0; kind != NULL && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(kind, kinds[i]) == 0)
			return false;
	return kind != NULL;
}

static char **run_options(struct learn *learn, size_t sets)
{
	char **options = arena_alloc(learn->arena, (2 * sets + 3) * sizeof(*options));
	size_t at = 0;

	options[at++] = arena_strdup(learn->arena, "--profile");
	options[at++] = arena_strdup(learn->arena, learn->wishes.profile);
	for (size_t i = 0; i < sets; i++) {
		options[at++] = arena_strdup(learn->arena, "--set");
		options[at++] = (char *)learn->sets.items[i];
	}
	return options;
}

static int watch_run(struct learn *learn, size_t sets, struct error *err)
{
	int watch_fd = memfd_create("uses", 0);
	size_t size = 0;

	if (watch_fd < 0)
		return error_sys(err, "cannot make room for what is used");
	learn->end =
		learn_launch(learn, run_options(learn, sets), watch_fd, false, &learn->status, err);
	const char *bytes = learn->end != NULL ? read_back(learn->arena, watch_fd, &size) : NULL;
	close(watch_fd);
	if (learn->end == NULL)
		return -1;
	if (!did_run(learn->end))
		return 1;
	if (bytes == NULL || learn_read(learn->arena, bytes, size, &learn->uses) != 0)
		return error_set(err, ERROR_MISSING,
				 "what the run used could not be watched: learning needs the mount "
				 "tree and seccomp's listener (sbox doctor)");
	return 0;
}

static bool is_about_network(const json_t *end)
{
	const char *message =
		json_string_value(json_object_get(json_object_get(end, "end"), "message"));

	return message != NULL &&
	       (strstr(message, "network") != NULL || strstr(message, "gate") != NULL);
}

/* Without the gate, where there is none to be had, names are not heard; nothing else is lost. */
int learn_run(struct learn *learn, struct error *err)
{
	size_t sets = learn->sets.count;
	int rc = watch_run(learn, sets, err);
	bool needs_gate = learn->wishes.net.count > 0 || learn->base.network.mode != NETWORK_NONE;

	if (rc == 1 && !needs_gate && is_about_network(learn->end)) {
		fputs("sbox learn: once more without a gate: names that are asked for are not "
		      "heard\n",
		      stderr);
		rc = watch_run(learn, sets - 1, err);
	}
	return rc == 1 ? error_set(err, ERROR_MISSING, "the program did not run: nothing is learnt")
		       : rc;
}
