// SPDX-License-Identifier: Apache-2.0
#include "cgroup_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/statfs.h>
#include <unistd.h>

enum hierarchy { MEMORY, PIDS, CPU, CPUACCT, UNIFIED, HIERARCHY_MAX };

static const char *const controllers[UNIFIED] = {"memory", "pids", "cpu", "cpuacct"};

struct look {
	struct arena *arena;
	const char *own[HIERARCHY_MAX];    /* path of the caller's group in that hierarchy */
	const char *folder[HIERARCHY_MAX]; /* where that is mounted, writable by the caller */
	int errnum;                        /* why a folder was not writable */
	bool proc_is_covered;
};

static bool list_has(const char *list, const char *word)
{
	size_t len = strlen(word);

	for (const char *at = list; at != NULL; at = strchr(at, ',')) {
		at += *at == ',';
		if (strncmp(at, word, len) == 0 && (at[len] == ',' || at[len] == '\0'))
			return true;
	}
	return false;
}

/* A file of /proc, whole; NULL when it cannot be read. */
static char *slurp(struct arena *arena, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t size = 4096, len = 0;
	ssize_t got = -1;

	if (fd < 0)
		return NULL;
	char *text = arena_alloc(arena, size);
	while ((got = read(fd, text + len, size - 1 - len)) > 0) {
		len += got;
		if (len < size - 1)
			continue;
		text = arena_grow(arena, text, size, size * 2);
		size *= 2;
	}
	close(fd);
	text[len] = '\0';
	return got < 0 ? NULL : text;
}

/* "4:memory,blkio:/path" or "0::/path" */
static void look_at_own_line(struct look *look, char *line)
{
	char *list = strchr(line, ':');
	char *path = list == NULL ? NULL : strchr(list + 1, ':');

	if (path == NULL)
		return;
	*path++ = '\0';
	list++;
	if (*list == '\0')
		look->own[UNIFIED] = path;
	for (int i = 0; i < UNIFIED; i++) {
		if (list_has(list, controllers[i]))
			look->own[i] = path;
	}
}

/* Blanks, tabs, newlines and backslashes are octal in mountinfo. */
static void unescape(char *text)
{
	char *to = text;

	for (const char *from = text; *from != '\0';) {
		if (from[0] == '\\' && from[1] >= '0' && from[1] <= '3' && from[2] != '\0' &&
		    from[3] != '\0') {
			*to++ = (from[1] - '0') * 64 + (from[2] - '0') * 8 + (from[3] - '0');
			from += 4;
		} else {
			*to++ = *from++;
		}
	}
	*to = '\0';
}

/* The folder of group `own` in a mount that shows `root` at `point`; NULL when it does not
 * show it: a container's mount may show a part of the tree only. */
static const char *join(struct arena *arena, const char *point, const char *root, const char *own)
{
	size_t len = strcmp(root, "/") == 0 ? 0 : strlen(root);

	if (strncmp(own, root, len) != 0 || (own[len] != '/' && own[len] != '\0'))
		return NULL;
	own += len;
	return strcmp(own, "/") == 0 ? arena_strdup(arena, point)
				     : arena_printf(arena, "%s%s", point, own);
}

static void try_mount(struct look *look, enum hierarchy which, const char *point, const char *root)
{
	if (look->own[which] == NULL || look->folder[which] != NULL)
		return;
	const char *folder = join(look->arena, point, root, look->own[which]);
	if (folder == NULL)
		return;
	if (faccessat(AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS) == 0)
		look->folder[which] = folder;
	else
		look->errnum = errno;
}

/* "ID PARENT DEV ROOT POINT OPTIONS [OPTIONAL…] - TYPE SOURCE SUPER" */
static void look_at_mount_line(struct look *look, char *line)
{
	char *tail = strstr(line, " - cgroup"), *save = NULL;
	char *fields[5];

	/* binfmt_misc has an empty folder there for itself, which the kernel knows about */
	if (strstr(line, " /proc/") != NULL && strstr(line, " /proc/sys/fs/binfmt_misc ") == NULL)
		look->proc_is_covered = true;
	if (tail == NULL)
		return;
	for (int i = 0; i < 5; i++) {
		fields[i] = strtok_r(i == 0 ? line : NULL, " ", &save);
		if (fields[i] == NULL)
			return;
	}
	char *type = strtok_r(tail + 3, " ", &save);
	strtok_r(NULL, " ", &save);
	const char *super = strtok_r(NULL, " ", &save);
	unescape(fields[3]);
	unescape(fields[4]);
	if (strcmp(type, "cgroup2") == 0)
		try_mount(look, UNIFIED, fields[4], fields[3]);
	for (int i = 0; i < UNIFIED && super != NULL && strcmp(type, "cgroup") == 0; i++) {
		if (list_has(super, controllers[i]))
			try_mount(look, i, fields[4], fields[3]);
	}
}

static void each_line(struct look *look, char *text, void (*on_line)(struct look *, char *))
{
	for (char *line = text; line != NULL && *line != '\0';) {
		char *end = strchr(line, '\n');

		if (end != NULL)
			*end++ = '\0';
		on_line(look, line);
		line = end;
	}
}

static bool use_v1(const struct look *look, struct cgroup_host *host)
{
	if (look->folder[MEMORY] == NULL && look->folder[PIDS] == NULL && look->folder[CPU] == NULL)
		return false;
	host->version = CGROUP_V1;
	host->memory = look->folder[MEMORY];
	host->pids = look->folder[PIDS];
	host->cpu = look->folder[CPU];
	host->cpuacct = look->folder[CPUACCT];
	host->has_memory = host->memory != NULL;
	host->has_pids = host->pids != NULL;
	host->has_cpu = host->cpu != NULL;
	return true;
}

static void take_controllers(struct cgroup_host *host, const char *text)
{
	host->has_memory = cgroup_has_word(text, "memory");
	host->has_pids = cgroup_has_word(text, "pids");
	host->has_cpu = cgroup_has_word(text, "cpu");
}

static bool has_any(const struct cgroup_host *host)
{
	return host->has_memory || host->has_pids || host->has_cpu;
}

/* Is this process the only one in the group? */
static bool is_alone(const char *group)
{
	char text[64], self[24];

	snprintf(self, sizeof(self), "%d\n", (int)getpid());
	return cgroup_read_text(group, "cgroup.procs", text, sizeof(text)) &&
	       strcmp(text, self) == 0;
}

static bool can_enable(struct arena *arena, const char *group)
{
	const char *file = arena_printf(arena, "%s/cgroup.subtree_control", group);

	return faccessat(AT_FDCWD, file, W_OK, AT_EACCESS) == 0;
}

/*
 * QUIRK(cgroup2): a group other than the root gives its children controllers only
 * while it holds no process itself; all versions, see "no internal process
 * constraint" in cgroup-v2.rst. Threaded mode would allow pids and cpu, but knows
 * neither memory nor cgroup.kill. Pinned by probe_v2_with_others, v2_steps_aside.
 */
static const char *use_v2(struct arena *arena, const char *group, struct cgroup_host *host)
{
	char text[256];

	if (!cgroup_read_text(group, "cgroup.controllers", text, sizeof(text)))
		return "the caller's control group cannot be read";
	take_controllers(host, text);
	if (!has_any(host))
		return "the caller's control group has no controller for memory, tasks or CPU";
	bool is_root = !cgroup_read_text(group, "cgroup.type", text, sizeof(text));
	host->alone = !is_root && can_enable(arena, group) && is_alone(group);
	if (!host->alone && (!is_root || !can_enable(arena, group))) {
		cgroup_read_text(group, "cgroup.subtree_control", text, sizeof(text));
		take_controllers(host, text);
		host->is_crowded = !is_root && can_enable(arena, group) && !has_any(host);
		if (!has_any(host))
			return "the caller's control group holds other processes (systemd-run "
			       "--scope -p Delegate=yes gives sbox one of its own)";
	}
	host->version = CGROUP_V2;
	host->unified = group;
	return NULL;
}

static const char *why_no_folder(const struct look *look)
{
	switch (look->errnum) {
	case 0:
		return "no control group file system is mounted that shows the caller's group";
	case EROFS:
		return "control groups are mounted read-only";
	case EACCES:
	case EPERM:
		return "the caller's control group is not delegated to the caller";
	default:
		return "the caller's control group is not reachable";
	}
}

/*
 * Where nearly every machine has them. Reading mountinfo instead takes the kernel 4 us a mount.
 * False: look there, since something is elsewhere, or shows only a part of the tree.
 */
static bool look_at_usual_places(struct look *look, const char *top)
{
	for (int i = 0; i < UNIFIED; i++) {
		const char *point = arena_printf(look->arena, "%s/%s", top, controllers[i]);
		struct statfs fs;

		if (look->own[i] == NULL)
			continue;
		if (statfs(point, &fs) != 0 || fs.f_type != CGROUP_SUPER_MAGIC)
			return false;
		try_mount(look, i, point, "/");
		if (look->folder[i] == NULL && look->errnum != EACCES)
			return false;
	}
	/* in v2 whoever can use his group has to know more */
	return look->own[MEMORY] != NULL;
}

void cgroup_probe_files(struct arena *arena, const char *own_file, const char *mounts_file,
			const char *top, struct cgroup_host *ret_host)
{
	struct look look = {.arena = arena};
	struct cgroup_host host = {.version = CGROUP_NONE};
	char *text = slurp(arena, own_file);

	*ret_host = host;
	if (text == NULL) {
		ret_host->why_not = "the kernel has no control groups, or /proc does not tell";
		return;
	}
	each_line(&look, text, look_at_own_line);
	if (top != NULL && look_at_usual_places(&look, top) && use_v1(&look, ret_host))
		return;
	memset(look.folder, 0, sizeof(look.folder));
	look.errnum = 0;
	text = NULL;
	for (int i = 0; i < HIERARCHY_MAX && text == NULL; i++) {
		if (look.own[i] != NULL)
			text = slurp(arena, mounts_file);
	}
	if (text == NULL) {
		ret_host->why_not = "no controller for memory, tasks or CPU is mounted";
		return;
	}
	each_line(&look, text, look_at_mount_line);
	ret_host->proc_is_covered = host.proc_is_covered = look.proc_is_covered;
	if (use_v1(&look, &host)) {
		*ret_host = host;
		return;
	}
	/* systemd gives groups of its own where the memory controller is in the one tree of v2 */
	host.may_ask = look.own[UNIFIED] != NULL && look.own[MEMORY] == NULL;
	ret_host->may_ask = host.may_ask;
	ret_host->why_not = look.folder[UNIFIED] == NULL
				    ? why_no_folder(&look)
				    : use_v2(arena, look.folder[UNIFIED], &host);
	if (ret_host->why_not == NULL)
		*ret_host = host;
	ret_host->is_crowded = host.is_crowded;
	if (ret_host->has_memory)
		ret_host->may_ask = false;
}

void cgroup_probe(struct arena *arena, struct cgroup_host *ret_host)
{
	cgroup_probe_files(arena, "/proc/self/cgroup", "/proc/self/mountinfo", NULL, ret_host);
}

void cgroup_probe_quickly(struct arena *arena, struct cgroup_host *ret_host)
{
	cgroup_probe_files(arena, "/proc/self/cgroup", "/proc/self/mountinfo", "/sys/fs/cgroup",
			   ret_host);
}
