// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "boundary_file.h"
#include "doctor.h"
#include "identity.h"
#include "obstacle.h"
#include "sys.h"

static void good(struct finding *finding, const char *found)
{
	*finding = (struct finding){.state = FINDING_GOOD, .found = found};
}

/* What each Landlock ABI brought, and with which kernel. */
static const struct {
	int abi;
	const char *right, *kernel;
} landlock_abis[] = {{2, "moves between folders", "5.19"},
		     {3, "truncation", "6.2"},
		     {5, "ioctl on devices", "6.10"},
		     {6, "signals and abstract sockets", "6.12"}};

void no_landlock(struct doctor *doctor, int errnum, struct finding *finding)
{
	char modules[256] = "";

	finding->state = FINDING_MISSING;
	finding->lost = "the second layer of the file boundary: the mount tree alone holds it";
	finding->found = errnum == ENOSYS ? "this kernel was built without Landlock"
					  : "Landlock is built in and switched off";
	finding->way_out = "a kernel with CONFIG_SECURITY_LANDLOCK (Linux 5.13, better 6.12)";
	if (errnum == ENOSYS)
		return;
	if (!obstacle_read(doctor->root, "/sys/kernel/security/lsm", modules, sizeof(modules)))
		strcpy(modules, "(what is there now)");
	modules[strcspn(modules, "\n")] = '\0';
	finding->way_out = arena_printf(doctor->arena,
					"boot with lsm=landlock,%s on the kernel's command "
					"line (GRUB_CMDLINE_LINUX in /etc/default/grub, then "
					"update-grub)",
					modules);
}

void check_landlock(struct doctor *doctor, struct finding *finding)
{
	const char *lost = NULL, *kernel = NULL;
	int abi = doctor->host.landlock_abi;

	if (abi == 0) {
		errno = 0;
		sys_landlock_create_ruleset(NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
		no_landlock(doctor, errno, finding);
		return;
	}
	good(finding, arena_printf(doctor->arena, "ABI %d", abi));
	for (size_t i = 0; i < sizeof(landlock_abis) / sizeof(landlock_abis[0]); i++) {
		if (abi >= landlock_abis[i].abi)
			continue;
		lost = arena_printf(
			doctor->arena, "%s%s%s (ABI %d)",
			lost != NULL ? lost : "as a second layer: ", lost != NULL ? ", " : "",
			landlock_abis[i].right, landlock_abis[i].abi);
		kernel = landlock_abis[i].kernel;
	}
	if (lost == NULL)
		return;
	finding->state = abi == 1 ? FINDING_WEAKER : FINDING_NOTE;
	finding->lost = lost;
	finding->way_out = arena_printf(doctor->arena, "Linux %s has all of them", kernel);
}

static const char *type_name(struct arena *arena, uint32_t type)
{
	static const struct {
		uint32_t type;
		const char *name;
	} rows[] = {{0xef53, "ext4"},       {OVERLAYFS_SUPER_MAGIC, "overlayfs"},
		    {TMPFS_MAGIC, "tmpfs"}, {0x58465342, "xfs"},
		    {0x9123683e, "btrfs"},  {0x01021997, "9p"},
		    {0x6969, "nfs"},        {0x65735546, "fuse"},
		    {0xff534d42, "cifs"},   {0x2fc12fc1, "zfs"}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].type == type)
			return rows[i].name;
	return arena_printf(arena, "file system %#x", type);
}

/* Whether the default profile takes this folder as its workspace. */
void check_workspace(struct doctor *doctor, struct finding *finding)
{
	struct profile profile;
	struct error err = {0};
	const char *note = NULL;
	struct statfs fs;

	finding->state = FINDING_NOTE;
	finding->way_out = "mkdir work && cd work, and start sbox there";
	if (doctor->context.cwd == NULL || statfs(doctor->context.cwd, &fs) != 0) {
		finding->found = "the current folder is gone";
		return;
	}
	const char *type = type_name(doctor->arena, (uint32_t)fs.f_type);
	if (profile_load(doctor->arena, &doctor->context, "agent", NULL, 0, &profile, &note,
			 &err) != 0) {
		finding->found = arena_strdup(doctor->arena, err.text);
		return;
	}
	good(finding, arena_printf(doctor->arena, "%s, on %s", doctor->context.cwd, type));
	if ((fs.f_flags & ST_RDONLY) != 0) {
		finding->state = FINDING_MISSING;
		finding->found =
			arena_printf(doctor->arena, "%s is read-only", doctor->context.cwd);
		finding->lost = "changes in this folder cannot be kept";
		finding->way_out = "write writes = discard in the profile, or use another folder";
	} else if (!doctor->host.root && access(".", W_OK) != 0) {
		finding->state = FINDING_NOTE;
		finding->lost = "this caller may not write here, and neither may the program";
		finding->way_out = "chown the folder, or use another";
	}
}

static int try_idmap(struct doctor *doctor, const struct stat *st)
{
	struct arm arm = {.arena = doctor->arena,
			  .identity = {.outer_uid = LEASE_FIRST, .outer_gid = LEASE_FIRST}};
	struct error err = {0};
	bool made = idmap_number(&arm, st->st_uid, st->st_gid, &err) == 0 &&
		    idmaps_open(&arm, &err) == 0;
	int fd = made ? arm.idmaps[0].fd : -1;
	int tree = fd < 0 ? -1
			  : sys_open_tree(AT_FDCWD, doctor->context.cwd,
					  OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
	const struct mount_attr attr = {.attr_set = MOUNT_ATTR_IDMAP, .userns_fd = (uint64_t)fd};
	int errnum = tree < 0 ? (fd < 0 ? err.errnum : errno) : 0;

	if (tree >= 0 && sys_mount_setattr(tree, "", AT_EMPTY_PATH, &attr) != 0)
		errnum = errno;
	if (tree >= 0)
		close(tree);
	idmaps_close(&arm);
	return errnum;
}

void check_idmap(struct doctor *doctor, struct finding *finding)
{
	struct statfs fs;
	struct stat st;

	if (doctor->host.can_become && !doctor->host.root) {
		*finding = (struct finding){
			.state = FINDING_WEAKER,
			.found = "not without mounting",
			.lost = "programs write only where everybody may, or where [privilege] "
				"user names the owner",
			.way_out = "what the check mounts says"};
		return;
	}
	if (!doctor->host.root) {
		good(finding, "not needed: the program runs with this caller's own uid outside");
		return;
	}
	if (doctor->context.cwd == NULL || stat(doctor->context.cwd, &st) != 0 ||
	    statfs(doctor->context.cwd, &fs) != 0) {
		*finding = (struct finding){.state = FINDING_NOTE,
					    .found = "not tried: no current folder"};
		return;
	}
	int errnum = try_idmap(doctor, &st);
	const char *type = type_name(doctor->arena, (uint32_t)fs.f_type);
	if (errnum == 0) {
		good(finding, arena_printf(doctor->arena, "works on %s here", type));
		return;
	}
	finding->state = FINDING_WEAKER;
	finding->found = arena_printf(doctor->arena, "refused on %s in %s (%s)", type,
				      doctor->context.cwd, strerror(errnum));
	finding->lost = "a run by root cannot keep changes in this folder";
	finding->way_out = "put the folder on a volume (ext4, xfs, btrfs, or tmpfs from Linux "
			   "6.3); or give it to an ordinary user, and run sbox as that user or "
			   "with [privilege] user = that user";
}

void check_discard(struct doctor *doctor, struct finding *finding)
{
	const struct trial *trial = &doctor->discard;

	if (trial->ran) {
		good(finding, "a throw-away layer over the workspace works");
		return;
	}
	finding->state = doctor->trial.ran ? FINDING_WEAKER : FINDING_MISSING;
	finding->found = trial->message != NULL ? trial->message : "not tried";
	finding->lost = "writes = discard";
	if (doctor->host.kernel_major < 6 ||
	    (doctor->host.kernel_major == 6 && doctor->host.kernel_minor < 6))
		finding->way_out = "Linux 6.6, or writes = keep";
}

/* The store, or the nearest folder above it that is there: who could write to it. */
void check_store(struct doctor *doctor, struct finding *finding)
{
	const char *store = doctor->context.store, *at = store;
	struct statvfs fs;
	struct stat st;

	while (at[1] != '\0' && stat(at, &st) != 0) {
		const char *slash = strrchr(at, '/');

		at = slash == at ? "/" : arena_strndup(doctor->arena, at, (size_t)(slash - at));
	}
	good(finding,
	     arena_printf(doctor->arena, at == store ? "%s" : "%s, made at the first run", store));
	if (stat(at, &st) != 0 || access(at, W_OK | X_OK) != 0) {
		finding->found = arena_printf(doctor->arena, "%s: %s cannot be written to (%s)",
					      store, at, strerror(errno));
		finding->way_out = "sbox --store DIR with a folder of the caller's own";
	} else if (at == store && (st.st_uid != geteuid() || (st.st_mode & 022) != 0)) {
		finding->found = arena_printf(doctor->arena, "%s is not this caller's alone", at);
		finding->way_out = arena_printf(doctor->arena, "chown and chmod 700 %s", at);
	} else if (statvfs(at, &fs) == 0 && (uint64_t)fs.f_bavail * fs.f_frsize < 16 << 20) {
		finding->found = arena_printf(doctor->arena, "%s has less than 16 MB left", at);
		finding->way_out = "sbox audit prune, or make room";
	} else {
		return;
	}
	finding->state = FINDING_MISSING;
	finding->lost = "nothing runs without a record";
}
