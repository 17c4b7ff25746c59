// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <linux/mount.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "boundary_file.h"

/*
 * What every sandbox has of its own: the skeleton (one sized tmpfs, read-only
 * but for its private folders), /proc, /dev, and a few synthetic files.
 */

const struct private_folder private_folders[] = {
	{"tmp", 01777, true, false},
	{"dev/shm", 01777, false, false},
	{"home/sandbox", 0700, true, true},
};
const size_t private_folder_count = sizeof(private_folders) / sizeof(private_folders[0]);

/* Character devices that every program expects, with the number each must have. */
static const struct {
	const char *path;
	unsigned major, minor;
} devices[] = {
	{"/dev/null", 1, 3},   {"/dev/zero", 1, 5},    {"/dev/full", 1, 7},
	{"/dev/random", 1, 8}, {"/dev/urandom", 1, 9}, {"/dev/tty", 5, 0},
};

static const struct {
	const char *path, *target;
} links[] = {
	{"dev/fd", "/proc/self/fd"},       {"dev/stdin", "/proc/self/fd/0"},
	{"dev/stdout", "/proc/self/fd/1"}, {"dev/stderr", "/proc/self/fd/2"},
	{"dev/ptmx", "pts/ptmx"},          {"var/tmp", "../tmp"},
	{"etc/mtab", "/proc/self/mounts"},
};

/* What /proc lets anybody read about the whole machine. What only root may read there
 * (kcore, kmsg, timer_list) the program cannot, and nothing in it can be written. */
static const char *const masked[] = {"proc/acpi", "proc/keys", "proc/key-users"};

static const char passwd_text[] = "root:x:0:0:root:/root:/usr/sbin/nologin\n"
				  "sandbox:x:1000:1000:sandbox:/home/sandbox:/bin/sh\n"
				  "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n";
static const char group_text[] = "root:x:0:\n"
				 "sandbox:x:1000:\n"
				 "nogroup:x:65534:\n";

static const struct {
	const char *path, *text;
	bool private_network; /* with the host's network the host's own file is shown */
} contents[] = {
	{"etc/passwd", passwd_text, false},
	{"etc/group", group_text, false},
	{"etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files dns\n", false},
	{"etc/hosts", "127.0.0.1 localhost\n::1 localhost ip6-localhost ip6-loopback\n", true},
	{"etc/resolv.conf", "# no name server: [network] mode = none\n", true},
};

/* Whether the profile itself decides what is at a path (here without its leading slash). */
static bool is_taken(struct arm *arm, const struct file_entries *entries, const char *inside)
{
	const char *path = arena_printf(arm->arena, "/%s", inside);

	for (size_t i = 0; i < arm->host->link_count; i++)
		if (path_is_below(path, arm->host->links[i].at))
			return true;
	for (size_t i = 0; i < entries->count; i++)
		if (entries->items[i].kinds != 0 && !entries->items[i].redundant &&
		    path_is_below(path, entries->items[i].path))
			return true;
	return false;
}

static const char *file_read_small(struct arena *arena, const char *path)
{
	char text[16384];
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return "";
	ssize_t len = read(fd, text, sizeof(text));
	close(fd);
	return arena_strndup(arena, text, len > 0 ? (size_t)len : 0);
}

static void need_parent_of(struct arm *arm, const char *inside)
{
	const char *slash = strrchr(inside, '/');

	if (slash != NULL)
		file_need_folder(arm, arena_strndup(arm->arena, inside, (size_t)(slash - inside)));
}

static void add_folders(struct arm *arm, const struct file_entries *entries)
{
	bool exec = arm->profile->file.scratch_exec == YES;

	for (size_t i = 0; i < private_folder_count; i++) {
		const struct private_folder *folder = &private_folders[i];

		if (is_taken(arm, entries, folder->path) ||
		    (folder->home && arm->profile->file.home == HOME_NONE))
			continue;
		need_parent_of(arm, folder->path);
		struct step *make = steps_add(&arm->steps, STEP_DIRECTORY);
		make->path = folder->path;
		make->value[0] = folder->mode;
		make->value[1] = arm->identity.build_uid;
		make->value[2] = arm->identity.build_gid;
		struct step *bind = steps_add(&arm->steps, STEP_SELF_BIND);
		bind->path = folder->path;
		bind->flags = 1;
		bind->idmap_fd = -1;
		bind->value[2] = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV |
				 (exec && folder->exec ? 0 : MOUNT_ATTR_NOEXEC);
	}
}

static void add_devices(struct arm *arm)
{
	for (size_t i = 0; i < sizeof(devices) / sizeof(devices[0]); i++) {
		struct step *source = steps_add(&arm->steps, STEP_SOURCE);

		source->source = devices[i].path;
		source->slot = arm->steps.slots++;
		source->flags = (unsigned)makedev(devices[i].major, devices[i].minor);
		source->idmap_fd = -1;
		source->value[2] = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC;
		struct step *point = steps_add(&arm->steps, STEP_CONTENT);
		point->path = devices[i].path + 1;
		point->text = "";
		point->value[0] = 0444;
		unsigned slot = arm->steps.items[arm->steps.count - 2].slot;
		struct step *attach = steps_add(&arm->steps, STEP_ATTACH);
		attach->path = devices[i].path + 1;
		attach->slot = slot;
	}
	steps_add(&arm->steps, STEP_DEVPTS);
}

static void add_links(struct arm *arm, const struct file_entries *entries)
{
	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++) {
		if (is_taken(arm, entries, links[i].path))
			continue;
		need_parent_of(arm, links[i].path);
		struct step *link = steps_add(&arm->steps, STEP_LINK);
		link->path = links[i].path;
		link->text = links[i].target;
	}
}

/* With the host's network a program needs the host's resolver settings: a copy of them. */
static void add_contents(struct arm *arm, const struct file_entries *entries)
{
	bool host_network = arm->profile->network.mode == NETWORK_HOST;

	for (size_t i = 0; i < sizeof(contents) / sizeof(contents[0]); i++) {
		const char *text = contents[i].text;

		if (is_taken(arm, entries, contents[i].path))
			continue;
		if (host_network && contents[i].private_network)
			text = file_read_small(arm->arena,
					       arena_printf(arm->arena, "/%s", contents[i].path));
		need_parent_of(arm, contents[i].path);
		struct step *content = steps_add(&arm->steps, STEP_CONTENT);
		content->path = contents[i].path;
		content->text = text;
		content->value[0] = 0444;
	}
}

void file_arm_private(struct arm *arm, const struct file_entries *entries)
{
	uint64_t scratch = arm->profile->file.scratch_bytes;
	struct step *root = steps_add(&arm->steps, STEP_NEW_ROOT);

	steps_add(&arm->steps, STEP_PRIVATE_MOUNTS);
	root->path = "/tmp";
	/* the skeleton's own files are charged to the same tmpfs: a little more room */
	root->text = arena_printf(arm->arena, "%llu", (unsigned long long)scratch + (256 << 10));
	root->source = arena_printf(arm->arena, "%llu", (unsigned long long)scratch / 4096 + 1024);
	static const char *const folders[] = {"proc", "dev", "dev/pts", "etc", "run", "var"};
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		if (!is_taken(arm, entries, folders[i]))
			file_need_folder(arm, folders[i]);
	add_folders(arm, entries);
	add_devices(arm);
	add_links(arm, entries);
	add_contents(arm, entries);
	steps_add(&arm->steps, STEP_PROC);
	for (size_t i = 0; i < sizeof(masked) / sizeof(masked[0]); i++) {
		struct step *mask = steps_add(&arm->steps, STEP_COVER);

		mask->path = masked[i];
		mask->flags = 1;
	}
	steps_add(&arm->steps, STEP_PIVOT);
	steps_add(&arm->steps, STEP_READ_ONLY_ROOT);
}
