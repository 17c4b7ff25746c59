// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "toolchain_internal.h"

const char *last_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

const char *folder_of(struct arena *arena, const char *path)
{
	return arena_strndup(arena, path, (size_t)(last_name(path) - path) - 1);
}

bool is_plain_path(const char *path)
{
	if (path[0] != '/' || strlen(path) > 4095)
		return false;
	for (const char *at = path; *at != '\0'; at++)
		if ((unsigned char)*at < ' ' || *at == 0x7f ||
		    (at[0] == '/' && at[1] == '.' &&
		     (at[2] == '\0' || at[2] == '/' ||
		      (at[2] == '.' && (at[3] == '\0' || at[3] == '/')))))
			return false;
	return true;
}

const char *trimmed(struct arena *arena, const char *path)
{
	size_t len = strlen(path);

	while (len > 1 && path[len - 1] == '/')
		len--;
	return arena_strndup(arena, path, len);
}

bool is_below_any(const struct host *host, enum path_kind kind, const char *path)
{
	for (size_t i = 0; i < host->paths[kind].count; i++) {
		const struct path_fact *fact = &host->paths[kind].items[i];

		/* as resolved, or as the profile has it: /bin */
		if (path_is_below(path, fact->path) ||
		    (fact->rule != NULL && path_is_below(path, fact->rule->path)))
			return true;
	}
	return false;
}

static void add_home(struct finding *finding, const char *home)
{
	for (size_t i = 0; i < finding->home_count; i++)
		if (strcmp(finding->homes[i], home) == 0)
			return;
	if (finding->home_count < HOMES_MAX)
		finding->homes[finding->home_count++] = home;
}

/* /home/ana/.cargo/bin on a PATH that came along with sudo: the rest of it is there too. */
static void add_hint(struct finding *finding, const char *path, const char *why)
{
	if (finding->hint_count == HINTS_MAX || !is_plain_path(path) ||
	    is_below_any(finding->host, PATH_EXEC, path))
		return;
	path = trimmed(finding->arena, path);
	const char *dot = strstr(path, "/.");
	finding->hints[finding->hint_count++] = (struct hint){path, why};
	if (dot != NULL && dot != path && !is_below_any(finding->host, PATH_WRITE, path))
		add_home(finding, arena_strndup(finding->arena, path, (size_t)(dot - path)));
}

static void add_path_hints(struct finding *finding)
{
	for (const char *at = finding->host->path; *at != '\0';) {
		size_t len = strcspn(at, ":");

		if (len > 0)
			add_hint(finding, arena_strndup(finding->arena, at, len), "PATH");
		at += len + (at[len] == ':');
	}
}

/* A venv is a link or a few lines that lead to the python it was made with. */
static void add_venv(struct finding *finding, const char *folder)
{
	char text[VENV_BYTES];
	const char *why = "the python of a venv";
	int fd = open(arena_printf(finding->arena, "%s/pyvenv.cfg", folder),
		      O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd < 0)
		return;
	ssize_t len = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[len > 0 ? len : 0] = '\0';
	for (char *line = text; line != NULL && *line != '\0';) {
		char *end = strchr(line, '\n');

		if (end != NULL)
			*end = '\0';
		const char *value = strchr(line, '=');
		if (value != NULL && strncmp(line, "home", 4) == 0) {
			value += 1 + strspn(value + 1, " ");
			add_hint(finding, arena_strdup(finding->arena, value), why);
		}
		line = end != NULL ? end + 1 : NULL;
	}
	const char *python = arena_printf(finding->arena, "%s/bin/python", folder);
	const char *real = realpath(python, NULL);
	if (real != NULL)
		add_hint(finding, folder_of(finding->arena, real), why);
}

/* The venvs that a run is likely about: the active one, the program's, those of the folder. */
static void add_venvs(struct finding *finding, const char *program)
{
	const char *active = getenv("VIRTUAL_ENV"), *cwd = finding->host->cwd;
	const char *slash = program != NULL ? strrchr(program, '/') : NULL;

	if (active != NULL && active[0] == '/')
		add_venv(finding, active);
	if (cwd != NULL) {
		add_venv(finding, arena_printf(finding->arena, "%s/.venv", cwd));
		add_venv(finding, arena_printf(finding->arena, "%s/venv", cwd));
	}
	if (slash == NULL || slash == program || (program[0] != '/' && cwd == NULL))
		return;
	const char *folder = arena_strndup(finding->arena, program, (size_t)(slash - program));
	if (program[0] != '/')
		folder = arena_printf(finding->arena, "%s/%s", cwd, folder);
	add_venv(finding, arena_printf(finding->arena, "%s/..", folder));
}

/* Who has set it uses version managers, and their programs use each other. */
static void add_variable_hint(struct finding *finding, const struct toolchain *toolchain)
{
	const char *value = toolchain->variable != NULL ? getenv(toolchain->variable) : NULL;

	if (value != NULL)
		add_hint(finding, value, toolchain->variable);
}

void toolchain_hints(struct finding *finding, const char *program)
{
	if (finding->context->home != NULL && is_plain_path(finding->context->home))
		add_home(finding, trimmed(finding->arena, finding->context->home));
	add_path_hints(finding);
	add_venvs(finding, program);
	for (size_t i = 0; i < toolchain_count; i++)
		add_variable_hint(finding, &toolchain_table[i]);
}
