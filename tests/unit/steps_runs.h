// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_STEPS_RUNS_H
#define SBOX_STEPS_RUNS_H

/* Runs that differ in what they ask for; every list made for one of them is looked at as a whole.
 */
#include "steps_fixture.h"

static inline void usual(void)
{
	add_folder(PATH_EXEC, "/usr");
	add_folder(PATH_READ, "/etc/ssl/certs");
	add_path(PATH_READ, "/etc/ld.so.cache", S_IFREG | 0644);
	add_write("/work");
	add_link("/bin", "usr/bin");
	add_link("/lib", "usr/lib");
	add_link("/usr/inner", "elsewhere");
	profile.process.processes = 64;
	profile.process.memory_bytes = 1 << 30;
	profile.time.cpu_ms = 2500;
}

static inline void as_user(void)
{
	usual();
}

static inline void as_root(void)
{
	become_root();
	usual();
}

static inline void discard(void)
{
	usual();
	add_folder(PATH_READ, "/data");
	add_write("/data/out");
	profile.file.writes = WRITES_DISCARD;
	profile.file.growth_bytes = 100 << 20;
	add_path(PATH_HIDE, "/work/.env", S_IFREG | 0600);
	add_folder(PATH_PROTECT, "/work/.git/hooks");
}

static inline void hide_and_protect(void)
{
	usual();
	add_path(PATH_HIDE, "/work/.env", S_IFREG | 0600);
	add_folder(PATH_HIDE, "/work/secret");
	add_folder(PATH_READ, "/work/secret/inner");
	add_folder(PATH_HIDE, "/nowhere");
	add_folder(PATH_PROTECT, "/work/.git/hooks");
	add_folder(PATH_NOEXEC, "/work/data");
	add_folder(PATH_EXEC, "/work/data/bin");
	add_path(PATH_DEVICE, "/dev/kvm", S_IFCHR | 0660);
}

static const char *gate_allow[] = {"api.example.org:443", "*.example.net:8000-8010"};

static inline void gate(void)
{
	usual();
	profile.network.mode = NETWORK_ALLOW;
	profile.network.allow = (struct string_list){gate_allow, 2};
}

static inline void host_network(void)
{
	usual();
	profile.network.mode = NETWORK_HOST;
	profile.file.scratch_exec = YES;
}

static inline void bare(void)
{
	add_folder(PATH_EXEC, "/usr");
	host.landlock_abi = 0;
	profile.file.home = HOME_NONE;
	profile.file.on_missing = ON_MISSING_ALLOW;
	with_listener = false;
}

/* The program's folder below a private one, and a whole /etc of the host's. */
static inline void nested(void)
{
	add_folder(PATH_EXEC, "/usr");
	add_folder(PATH_READ, "/etc");
	add_write("/tmp/work");
	add_write("/home/sandbox/project");
	host.cgroup = (struct cgroup_host){.version = CGROUP_V1,
					   .memory = "/m",
					   .cpu = "/c",
					   .has_memory = true,
					   .has_cpu = true};
	profile.process.memory_bytes = 1 << 30;
	profile.process.cpus_milli = 2000;
}

static const struct {
	const char *name;
	void (*ask)(void);
} runs[] = {
	{"user", as_user},
	{"root", as_root},
	{"discard", discard},
	{"hide-protect", hide_and_protect},
	{"host-network", host_network},
	{"gate", gate},
	{"bare", bare},
	{"nested", nested},
};

static inline void arm_run(int i)
{
	runs[i].ask();
	make_steps();
}

#endif
