// SPDX-License-Identifier: Apache-2.0
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "toolchain.h"

/*
 * A version's folder is shown whole, and some tools keep settings with passwords in
 * it: npm PREFIX/etc/npmrc, pip PREFIX/pip.conf, Maven conf/settings.xml. Such names are
 * hidden, and what else looks like a key that somebody put there.
 */

enum { ENTRIES_MAX = 100000 };

static const char *const names[] = {
	".netrc",
	"_netrc",
	".npmrc",
	"npmrc",
	".yarnrc",
	".yarnrc.yml",
	".pypirc",
	"pip.conf",
	".condarc",
	"condarc",
	"condarc.d",
	".mambarc",
	"credentials",
	".credentials",
	"credentials.toml",
	"settings.xml",
	"settings-security.xml",
	"gradle.properties",
	"init.gradle",
	".env",
	"auth.json",
	".git-credentials",
	".gitconfig",
	".ssh",
	".gnupg",
	".aws",
	".azure",
	".docker",
	".kube",
	".config",
	".pgpass",
	".my.cnf",
	"id_rsa",
	"id_dsa",
	"id_ecdsa",
	"id_ed25519",
};
static const char *const endings[] = {".key", ".pem", ".p12", ".pfx", ".jks", ".gpg", ".kdbx"};
static const char *const parts[] = {"token",   "secret",  "credential", "password",
				    "api_key", "api-key", "apikey",     "private_key"};

static bool ends_in(const char *name, const char *ending)
{
	size_t len = strlen(name), tail = strlen(ending);

	return len > tail && strcasecmp(name + len - tail, ending) == 0;
}

/* A program may be called "tokenizer"; what cannot be executed and says "token" is one. */
bool toolchain_is_secret(const char *name, bool executable)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++)
		if (!executable && ends_in(name, endings[i]))
			return true;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (!executable && strcasestr(name, parts[i]) != NULL)
			return true;
	return false;
}

static bool can_execute(int dir_fd, const char *name)
{
	struct stat st;

	return fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       (!S_ISREG(st.st_mode) || (st.st_mode & 0111) != 0);
}

/* What is covered is a file or a folder of its own: a link shows what it leads to, and
 * that is either hidden itself or not there. */
static void hide_name(struct arena *arena, struct host *host, int dir_fd, const char *folder,
		      const char *name)
{
	struct path_facts *facts = &host->paths[PATH_HIDE];
	struct path_fact fact = {.path = arena_printf(arena, "%s/%s", folder, name)};
	struct stat st;

	if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0 || S_ISLNK(st.st_mode))
		return;
	fact.mode = st.st_mode;
	fact.device = st.st_dev;
	fact.inode = st.st_ino;
	fact.uid = st.st_uid;
	fact.gid = st.st_gid;
	*ARENA_PUSH(arena, facts->items, facts->count) = fact;
}

/* Names are judged as programs first: most are, and only the others are asked about. */
static bool is_secret(int dir_fd, const char *name)
{
	return toolchain_is_secret(name, true) ||
	       (toolchain_is_secret(name, false) && !can_execute(dir_fd, name));
}

/* One folder of the way down; `path` is where fd is. Closes fd. */
struct way {
	struct arena *arena;
	struct host *host;
	struct error *err;
};

static int go_down(const struct way *way, int fd, const char *path, const char *pattern);

static int go_into(const struct way *way, int fd, const char *path, const char *name,
		   const char *pattern)
{
	int below = openat(fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (below >= 0)
		return go_down(way, below, arena_printf(way->arena, "%s/%s", path, name), pattern);
	if (errno == ENOENT || errno == ENOTDIR || errno == ELOOP)
		return 0;
	return error_sys(way->err, "[file] toolchains: cannot look through %s/%s for secrets", path,
			 name);
}

/* At the pattern's end the names are judged, at a "*" each folder is gone into. */
static int look_through(const struct way *way, DIR *dir, const char *path, const char *rest)
{
	const struct dirent *entry;
	size_t seen = 0;

	while ((entry = readdir(dir)) != NULL && seen++ < ENTRIES_MAX) {
		const char *name = entry->d_name;
		bool is_link = entry->d_type == DT_LNK;

		if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || is_link)
			continue;
		if (rest == NULL && is_secret(dirfd(dir), name))
			hide_name(way->arena, way->host, dirfd(dir), path, name);
		else if (rest != NULL && entry->d_type != DT_REG &&
			 go_into(way, dirfd(dir), path, name, rest) != 0)
			return -1;
	}
	if (seen <= ENTRIES_MAX)
		return 0;
	return error_set(way->err, ERROR_MISSING,
			 "[file] toolchains: %s has more than %d names, too many to look through "
			 "for secrets; name the paths under exec",
			 path, ENTRIES_MAX);
}

static int go_down(const struct way *way, int fd, const char *path, const char *pattern)
{
	size_t len = strcspn(pattern, "/");
	const char *rest = pattern + len + (pattern[len] == '/');
	int failed;

	if (len > 0 && !(len == 1 && pattern[0] == '*')) {
		failed = go_into(way, fd, path, arena_strndup(way->arena, pattern, len), rest);
		close(fd);
		return failed;
	}
	DIR *dir = fdopendir(fd);
	if (dir == NULL) {
		close(fd);
		return error_sys(way->err, "cannot read %s", path);
	}
	failed = look_through(way, dir, path, len > 0 ? rest : NULL);
	closedir(dir);
	return failed;
}

int toolchain_hide_secrets(struct arena *arena, struct host *host, const char *root,
			   const char *pattern, struct error *err)
{
	const struct way way = {arena, host, err};
	int fd = open(root, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return error_sys(err, "[file] toolchains: cannot look through %s for secrets",
				 root);
	return go_down(&way, fd, root, pattern);
}
