// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file_entries.h"
#include "run.h"

/*
 * A name under `protect` that is not there at the start cannot be covered by a mount. When
 * one is there at the end, in a folder that was there before, it is held back: it gets
 * another name, by which no tool of the caller's looks for it. Everything in the
 * sandbox is dead then, so what was looked at is what is renamed.
 */

/* One that names are looked for in; most of them lie in the same, which is opened once. */
struct folder {
	const struct absent_fact *of; /* the first name that it was opened for, or NULL */
	bool writable;                /* by the program: else nothing in it is new */
	int fd, errnum;
};

/* The folder as it was at the start; by device and inode, so that no link leads elsewhere. */
static int open_folder(const struct absent_fact *absent)
{
	struct stat st;
	int fd = open(absent->folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return -1;
	if (fstat(fd, &st) == 0 && st.st_dev == absent->device && st.st_ino == absent->inode)
		return fd;
	close(fd);
	errno = ESTALE;
	return -1;
}

static void leave_folder(struct folder *folder)
{
	if (folder->of != NULL && folder->fd >= 0)
		close(folder->fd);
	*folder = (struct folder){.fd = -1};
}

static void enter_folder(struct run *run, const struct absent_fact *absent, struct folder *folder)
{
	if (folder->of != NULL && strcmp(folder->of->folder, absent->folder) == 0 &&
	    folder->of->device == absent->device && folder->of->inode == absent->inode)
		return;
	leave_folder(folder);
	const struct file_entry *entry = file_entry_for(run->arm.entries, absent->folder);
	folder->of = absent;
	folder->writable = entry != NULL && (entry->kinds & KIND(PATH_WRITE)) != 0;
	if (!folder->writable)
		return;
	folder->fd = open_folder(absent);
	folder->errnum = errno;
}

static void write_down(struct run *run, const struct absent_fact *absent, const char *path)
{
	const struct record_denial denial = {
		.boundary = BOUNDARY_FILE,
		.op = "create",
		.object = path,
		.count = 1,
		.permit = arena_printf(run->arena, "[file] protect = !%s", absent->rule->path)};

	if (run->profile.audit.denials != DENIALS_OFF)
		denials_add(&run->denials, &denial);
}

/* The new name, or NULL. In place the program could know the run's id and have taken the first. */
static const char *rename_away(struct run *run, int fd, const char *name)
{
	char id[27];

	memcpy(id, run->id, sizeof(id));
	for (int i = 0; i < 2; i++) {
		const char *other = arena_printf(run->arena, "%s.held-%s", name, id);

		if (renameat2(fd, name, fd, other, RENAME_NOREPLACE) == 0)
			return other;
		run_id_make(id);
	}
	return NULL;
}

static const char *hold(struct run *run, const struct folder *folder,
			const struct absent_fact *absent)
{
	struct stat st;
	const char *path, *other = NULL;
	/* the folder itself was replaced: nothing says what the name in it stands for now */
	bool there = folder->fd < 0
			     ? folder->errnum == ESTALE || folder->errnum == ELOOP ||
				       folder->errnum == ENOTDIR
			     : fstatat(folder->fd, absent->name, &st, AT_SYMLINK_NOFOLLOW) == 0;

	if (!there)
		return NULL;
	if (folder->fd >= 0)
		other = rename_away(run, folder->fd, absent->name);
	path = arena_printf(run->arena, "%s/%s", absent->folder, absent->name);
	write_down(run, absent, path);
	return other != NULL
		       ? arena_printf(run->arena,
				      "%s was made by the program and is protected: it is "
				      "called %s now; rename it to accept it",
				      path, other)
		       : arena_printf(run->arena,
				      "%s was made by the program, is protected and cannot be "
				      "renamed: look at it before you use this folder",
				      path);
}

void hold_back(struct run *run)
{
	const struct host *host = &run->host;
	struct folder folder = {.fd = -1};

	if (run->arm.entries == NULL || run->profile.file.writes != WRITES_KEEP)
		return;
	for (size_t i = 0; i < host->absent_count; i++) {
		const char *said = NULL;

		enter_folder(run, &host->absent[i], &folder);
		if (folder.writable)
			said = hold(run, &folder, &host->absent[i]);
		if (said != NULL)
			*ARENA_PUSH(run->arena, run->held, run->held_count) = said;
	}
	leave_folder(&folder);
}
