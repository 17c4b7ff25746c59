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
#define DEVICE_LIST(DEVICE)                                                                        \
	DEVICE("dev/null", 1, 3)                                                                   \
	DEVICE("dev/zero", 1, 5)                                                                   \
	DEVICE("dev/full", 1, 7)                                                                   \
	DEVICE("dev/random", 1, 8)                                                                 \
	DEVICE("dev/urandom", 1, 9)                                                                \
	DEVICE("dev/tty", 5, 0)

static const struct {
	const char *path; /* with its slash */
	unsigned major, minor;
} devices[] = {
#define DEVICE(path, major, minor) {"/" path, major, minor},
	DEVICE_LIST(DEVICE)
#undef DEVICE
};
enum { DEVICES = sizeof(devices) / sizeof(devices[0]) };

/* What needs no profile to be known, so that it can be made before there is one. A profile that
 * shows the host's own /dev covers it. */
static const char *const skeleton_folders[] = {"proc", "dev", "dev/pts", NULL};
static const char *const skeleton_files[] = {
#define DEVICE(path, major, minor) path,
	DEVICE_LIST(DEVICE)
#undef DEVICE
		NULL,
};
static const char *const skeleton_links[][2] = {
	{"dev/fd", "/proc/self/fd"},       {"dev/stdin", "/proc/self/fd/0"},
	{"dev/stdout", "/proc/self/fd/1"}, {"dev/stderr", "/proc/self/fd/2"},
	{"dev/ptmx", "pts/ptmx"},          {NULL, NULL},
};
static const struct skeleton skeleton = {skeleton_folders, skeleton_files, skeleton_links};

static const struct {
	const char *path, *target;
} links[] = {
	{"var/tmp", "../tmp"},
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
	bool own_name;        /* the host name inside is added, with an address of loopback */
} contents[] = {
	{"etc/passwd", passwd_text, false, false},
	{"etc/group", group_text, false, false},
	{"etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files dns\n", false, false},
	{"etc/hosts", "127.0.0.1 localhost\n::1 localhost ip6-localhost ip6-loopback\n", true,
	 true},
	{"etc/resolv.conf", "# no name server: [network] mode = none\n", true, false},
};

/* NETWORK_OWN_ADDRESS: the gate answers there. No other try and no search list: it knows at once.
 */
static const char gate_resolv[] = "nameserver 198.18.0.1\noptions attempts:1\n";

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
		bind->idmap = -1;
		bind->value[2] = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV |
				 (exec && folder->exec ? 0 : MOUNT_ATTR_NOEXEC);
	}
}

bool file_skeleton_has(const char *path)
{
	for (const char *const *folder = skeleton_folders; *folder != NULL; folder++)
		if (strcmp(*folder, path) == 0)
			return true;
	return false;
}

void file_arm_skeleton(struct steps *steps, bool own_proc)
{
	steps_add(steps, STEP_NEW_ROOT);
	steps_add(steps, STEP_SKELETON)->skeleton = &skeleton;
	for (size_t i = 0; i < DEVICES; i++) {
		struct step *device = steps_add(steps, STEP_DEVICE);

		device->source = devices[i].path;
		device->slot = steps->slots++;
		device->flags = (unsigned)makedev(devices[i].major, devices[i].minor);
		device->value[2] = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC;
	}
	if (own_proc)
		steps_add(steps, STEP_PROC);
	steps_add(steps, STEP_DEVPTS);
}

/* Made with the skeleton, in the first slots. */
static void attach_devices(struct arm *arm)
{
	for (unsigned i = 0; i < DEVICES; i++) {
		struct step *attach = steps_add(&arm->steps, STEP_ATTACH);

		attach->path = devices[i].path + 1;
		attach->slot = i;
	}
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

/*
 * With the host's network a program needs the host's resolver settings: a copy of them. The name
 * that hostname(1) gives has to resolve (Java, mail and cluster libraries ask for it first thing);
 * 127.0.1.1, so that 127.0.0.1 is still called localhost.
 */
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
		if (arm->profile->network.mode == NETWORK_ALLOW &&
		    strcmp(contents[i].path, "etc/resolv.conf") == 0)
			text = gate_resolv;
		if (contents[i].own_name)
			text = arena_printf(arm->arena, "127.0.1.1 %s\n%s",
					    arm->profile->process.hostname, text);
		need_parent_of(arm, contents[i].path);
		struct step *content = steps_add(&arm->steps, STEP_CONTENT);
		content->path = contents[i].path;
		content->text = text;
		content->value[0] = 0444;
	}
}

/* Of the only pid namespace there is, with whatever covers parts of it. */
static void add_host_proc(struct arm *arm)
{
	struct step *source = steps_add(&arm->steps, STEP_SOURCE);

	source->source = "/proc";
	source->slot = arm->steps.slots++;
	source->idmap = -1;
	source->value[2] =
		MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC;
	struct step *attach = steps_add(&arm->steps, STEP_ATTACH);
	attach->path = "proc";
	attach->slot = arm->steps.slots - 1;
}

void file_arm_private(struct arm *arm, const struct file_entries *entries)
{
	uint64_t scratch = arm->profile->file.scratch_bytes;
	struct step *root = steps_add(&arm->steps, STEP_SHOW_ROOT);

	file_arm_skeleton(&arm->steps, !arm->plan->keeper);
	/* a user's first namespace is one, so that is seen before */
	steps_add(&arm->steps, STEP_PRIVATE_MOUNTS)->flags =
		arm->host->root && arm->plan->inner_user;
	root->path = "/tmp";
	/* the skeleton's own files are charged to the same tmpfs: a little more room */
	root->text = arena_printf(arm->arena, "%llu", (unsigned long long)scratch + (256 << 10));
	root->source = arena_printf(arm->arena, "%llu", (unsigned long long)scratch / 4096 + 1024);
	static const char *const folders[] = {"etc", "run", "var"};
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		if (!is_taken(arm, entries, folders[i]))
			file_need_folder(arm, folders[i]);
	add_folders(arm, entries);
	attach_devices(arm);
	add_links(arm, entries);
	add_contents(arm, entries);
	if (arm->plan->keeper)
		add_host_proc(arm);
	for (size_t i = 0; i < sizeof(masked) / sizeof(masked[0]); i++) {
		struct step *mask = steps_add(&arm->steps, STEP_COVER);

		mask->path = masked[i];
		mask->flags = 1;
	}
	steps_add(&arm->steps, STEP_PIVOT);
	steps_add(&arm->steps, STEP_READ_ONLY_ROOT);
}
