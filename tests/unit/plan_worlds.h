// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_PLAN_WORLDS_H
#define SBOX_PLAN_WORLDS_H

/* Machines and wishes: each function changes the fixture's own by what its name says. */
#include "plan_fixture.h"

static void a_user(void)
{
}

static void root(void)
{
	become_root();
}

static void no_userns(void)
{
	host.user_namespaces = false;
	host.user_namespaces_why = "user.max_user_namespaces is 0 (sysctl -w "
				   "user.max_user_namespaces=10000)";
}

static void abi(int number)
{
	no_userns();
	host.landlock_abi = number;
}

static void abi_0(void)
{
	abi(0);
}

static void abi_1(void)
{
	abi(1);
}

static void abi_2(void)
{
	abi(2);
}

static void abi_3(void)
{
	abi(3);
}

static void abi_4(void)
{
	abi(4);
}

static void abi_5(void)
{
	abi(5);
}

static void abi_6(void)
{
	abi(6);
}

static void abi_8(void)
{
	abi(8);
}

static void abi_9(void)
{
	abi(9);
}

static void tree_abi_0(void)
{
	host.landlock_abi = 0;
}

static void tree_abi_1(void)
{
	host.landlock_abi = 1;
}

static void tree_abi_2(void)
{
	host.landlock_abi = 2;
}

static void no_seccomp(void)
{
	host.seccomp = false;
}

static void no_seccomp_in_place(void)
{
	no_userns();
	host.seccomp = false;
}

static void apparmor(void)
{
	host.apparmor = true;
}

static void apparmor_restricting(void)
{
	host.apparmor = host.looked = true;
	host.refused = CLONE_NEWUSER;
	host.refused_why = "the maps of a user namespace cannot be written (Permission denied; "
			   "AppArmor restricts user namespaces)";
}

static void container_user(void)
{
	host.filtered = host.looked = true;
	host.refused = CLONE_NEWUSER;
	host.refused_why = "a user namespace cannot be made (Operation not permitted; the seccomp "
			   "filter around sbox refuses it)";
}

static void container_root(void)
{
	become_root();
	host.root = false;
	host.root_lacks = "CAP_SYS_ADMIN and CAP_SYS_PTRACE";
	host.root_needs = "--cap-add SYS_ADMIN --cap-add SYS_PTRACE";
	host.filtered = true;
	host.paths[PATH_WRITE].items[0].fs_type = OVERLAYFS_SUPER_MAGIC;
}

static void container_root_owner(void)
{
	container_root();
	profile.privilege.user = "app";
	host.user_uid = host.user_gid = 1000;
	host.paths[PATH_WRITE].items[0].uid = 1000;
}

static void root_without_anything(void)
{
	host.uid = host.gid = 0;
}

static void rootless_container(void)
{
	host.uid = host.gid = 0;
	host.mapped_root = true;
}

static void root_in_a_namespace(void)
{
	become_root();
	host.idmap_refused = true;
}

static void root_no_userns(void)
{
	become_root();
	no_userns();
}

static void root_overlayfs(void)
{
	become_root();
	host.paths[PATH_WRITE].items[0].fs_type = OVERLAYFS_SUPER_MAGIC;
}

static void masked_proc(void)
{
	host.looked = true;
	host.proc_refused = true;
}

static void one_missing(uint64_t flag, const char *name)
{
	host.looked = true;
	host.refused = flag;
	host.refused_why = arena_printf(&arena,
					"a %s namespace cannot be made (No space left on "
					"device)",
					name);
}

static void no_net(void)
{
	one_missing(CLONE_NEWNET, "net");
}

static void no_net_abi_5(void)
{
	one_missing(CLONE_NEWNET, "net");
	host.landlock_abi = 5;
}

static void no_pid(void)
{
	one_missing(CLONE_NEWPID, "pid");
}

static void no_ipc(void)
{
	one_missing(CLONE_NEWIPC, "ipc");
}

static void no_uts(void)
{
	one_missing(CLONE_NEWUTS, "uts");
}

static void no_mnt(void)
{
	one_missing(CLONE_NEWNS, "mnt");
}

static void cgroup_2(void)
{
	host.cgroup = cgroups[5];
}

static void cgroup_2_in_place(void)
{
	no_userns();
	host.cgroup = cgroups[5];
}

static void discard_in_place(void)
{
	no_userns();
	profile.file.writes = WRITES_DISCARD;
}

static void store_in_place(void)
{
	no_userns();
	add_folder(PATH_HIDE, "/work/store")->rule = NULL;
}

static void old_kernel(void)
{
	use_kernel(5, 10);
	host.landlock_abi = 0;
}

static const char *destinations[] = {"api.example.org:443", "*.example.net:443",
				     "10.1.2.0/24:5432"};
static const char *published[] = {"8080", "9090:19090"};

static void gate(void)
{
	a_user();
	profile.network.mode = NETWORK_ALLOW;
	profile.network.allow = (struct string_list){destinations, 3};
	profile.network.deny = (struct string_list){destinations, 1};
	profile.network.listen = (struct string_list){published, 2};
}

/* No port of the host's to serve from the start: it may be late. */
static void gate_late(void)
{
	gate();
	profile.network.listen = (struct string_list){0};
}

static void gate_root(void)
{
	root();
	gate();
}

static void gate_no_net(void)
{
	no_net();
	gate();
}

static void gate_in_place(void)
{
	no_userns();
	gate();
}

static void gate_no_tproxy(void)
{
	gate();
	host.gate_why =
		"nothing can be captured in a net namespace (No such file or directory): the "
		"kernel needs nf_tables with TPROXY (modules nf_tables and nft_tproxy)";
}

#endif
